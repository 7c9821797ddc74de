# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# protozero is header-only and comes without a CMake package. Makes Protozero::protozero.
# Used by the build and by the installed package.

find_path(Protozero_INCLUDE_DIR protozero/pbf_writer.hpp)
mark_as_advanced(Protozero_INCLUDE_DIR)
if(Protozero_INCLUDE_DIR AND EXISTS "${Protozero_INCLUDE_DIR}/protozero/version.hpp")
  file(STRINGS "${Protozero_INCLUDE_DIR}/protozero/version.hpp" Protozero_VERSION
       REGEX "PROTOZERO_VERSION_STRING")
  string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" Protozero_VERSION "${Protozero_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Protozero
  REQUIRED_VARS Protozero_INCLUDE_DIR
  VERSION_VAR Protozero_VERSION)

if(Protozero_FOUND AND NOT TARGET Protozero::protozero)
  add_library(Protozero::protozero INTERFACE IMPORTED GLOBAL)
  target_include_directories(Protozero::protozero INTERFACE "${Protozero_INCLUDE_DIR}")
endif()
