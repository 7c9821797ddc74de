# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# mruby comes with a static library and a script, mruby-config, and with no .pc file. Makes Mruby::mruby; its compile
# definitions are those of the library (MRB_...), without which the headers describe other structures.
#
#   RBPROF_MRUBY_CONFIG   the script; when it is not installed, or of another mruby than the default
#   RBPROF_MRUBY_LIBRARY, RBPROF_MRUBY_INCLUDE_DIR, RBPROF_MRUBY_DEFINITIONS   for a library without a script
#
# Headers of mruby 4.0 as distributions pack them include a list of symbols, mruby/presym/id.h, that is generated when
# mruby is built and is not packed. rbprof uses none of these symbols, so an empty one stands in.
#
# Used by the build and by the installed package.

find_program(RBPROF_MRUBY_CONFIG mruby-config)
set(RBPROF_MRUBY_FLAGS "")
set(RBPROF_MRUBY_LIBS "")
if(RBPROF_MRUBY_CONFIG)
  execute_process(COMMAND "${RBPROF_MRUBY_CONFIG}" --cflags OUTPUT_VARIABLE RBPROF_MRUBY_FLAGS
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${RBPROF_MRUBY_CONFIG}" --libs OUTPUT_VARIABLE RBPROF_MRUBY_LIBS
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  separate_arguments(RBPROF_MRUBY_FLAGS UNIX_COMMAND "${RBPROF_MRUBY_FLAGS}")
  separate_arguments(RBPROF_MRUBY_LIBS UNIX_COMMAND "${RBPROF_MRUBY_LIBS}")
endif()

# The script may name the place where a distribution built it, so the directory of the script is looked at first.
get_filename_component(RBPROF_MRUBY_PREFIX "${RBPROF_MRUBY_CONFIG}" DIRECTORY)
find_path(RBPROF_MRUBY_INCLUDE_DIR mruby.h HINTS "${RBPROF_MRUBY_PREFIX}/../include")
find_library(RBPROF_MRUBY_LIBRARY mruby HINTS "${RBPROF_MRUBY_PREFIX}/../lib")

set(RBPROF_MRUBY_FOUND_DEFINITIONS ${RBPROF_MRUBY_FLAGS})
list(FILTER RBPROF_MRUBY_FOUND_DEFINITIONS INCLUDE REGEX "^-DMRB_")
list(TRANSFORM RBPROF_MRUBY_FOUND_DEFINITIONS REPLACE "^-D" "")
set(RBPROF_MRUBY_DEFINITIONS "${RBPROF_MRUBY_FOUND_DEFINITIONS}" CACHE STRING "The MRB_ definitions that libmruby was built with")

set(RBPROF_MRUBY_NEEDS ${RBPROF_MRUBY_LIBS})
list(FILTER RBPROF_MRUBY_NEEDS INCLUDE REGEX "^-l")
list(REMOVE_ITEM RBPROF_MRUBY_NEEDS -lmruby)
list(APPEND RBPROF_MRUBY_NEEDS -lm)

set(Mruby_VERSION "")
if(RBPROF_MRUBY_INCLUDE_DIR AND EXISTS "${RBPROF_MRUBY_INCLUDE_DIR}/mruby/version.h")
  set(RBPROF_MRUBY_NUMBERS "")
  foreach(part IN ITEMS MAJOR MINOR TEENY)
    file(STRINGS "${RBPROF_MRUBY_INCLUDE_DIR}/mruby/version.h" line REGEX "^#define MRUBY_RELEASE_${part} +[0-9]+")
    string(REGEX REPLACE "^.* ([0-9]+)$" "\\1" number "${line}")
    list(APPEND RBPROF_MRUBY_NUMBERS "${number}")
  endforeach()
  list(JOIN RBPROF_MRUBY_NUMBERS "." Mruby_VERSION)
endif()

set(RBPROF_MRUBY_INCLUDE_DIRS "${RBPROF_MRUBY_INCLUDE_DIR}")
if(Mruby_VERSION VERSION_GREATER_EQUAL 4 AND NOT EXISTS "${RBPROF_MRUBY_INCLUDE_DIR}/mruby/presym/id.h")
  set(RBPROF_MRUBY_STAND_IN "${CMAKE_CURRENT_BINARY_DIR}/rbprof-mruby-stand-in")
  # Written when it differs, so that configuring again does not compile everything again.
  file(CONFIGURE OUTPUT "${RBPROF_MRUBY_STAND_IN}/mruby/presym/id.h" CONTENT "/* No symbols: see FindMruby.cmake of rbprof. */\n")
  list(APPEND RBPROF_MRUBY_INCLUDE_DIRS "${RBPROF_MRUBY_STAND_IN}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Mruby
  REQUIRED_VARS RBPROF_MRUBY_LIBRARY RBPROF_MRUBY_INCLUDE_DIR
  VERSION_VAR Mruby_VERSION)
mark_as_advanced(RBPROF_MRUBY_CONFIG RBPROF_MRUBY_INCLUDE_DIR RBPROF_MRUBY_LIBRARY)

if(Mruby_FOUND AND NOT TARGET Mruby::mruby)
  add_library(Mruby::mruby STATIC IMPORTED GLOBAL)
  set_target_properties(
    Mruby::mruby
    PROPERTIES IMPORTED_LOCATION "${RBPROF_MRUBY_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${RBPROF_MRUBY_INCLUDE_DIRS}"
               INTERFACE_COMPILE_DEFINITIONS "${RBPROF_MRUBY_DEFINITIONS}"
               INTERFACE_LINK_LIBRARIES "${RBPROF_MRUBY_NEEDS}")
endif()
