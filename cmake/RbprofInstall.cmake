# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# Install, the CMake package with its components, and pkg-config files.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(RBPROF_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/rbprof")
set(RBPROF_PKGCONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
# The .pc files find their prefix from where they lie, so the tree may be moved.
file(RELATIVE_PATH RBPROF_PKGCONFIG_TO_PREFIX "/${RBPROF_PKGCONFIG_DIR}" "/")

# One export for each component, so that a host which wants the core alone needs the core's libraries alone.
function(rbprof_install component target description requires)
  install(TARGETS ${target} EXPORT rbprof-${component} FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT rbprof-${component} NAMESPACE rbprof:: DESTINATION "${RBPROF_CMAKE_DIR}")

  set(PC_NAME "rbprof-${component}")
  if(component STREQUAL "core")
    set(PC_NAME rbprof)
  endif()
  set(PC_DESCRIPTION "${description}")
  set(PC_REQUIRES "${requires}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/rbprof.pc.in" "${PROJECT_BINARY_DIR}/pkgconfig/${PC_NAME}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${PC_NAME}.pc" DESTINATION "${RBPROF_PKGCONFIG_DIR}")
endfunction()

rbprof_install(
  core rbprof "sampling profiler for programs that embed Ruby"
  "absl_flat_hash_map absl_flat_hash_set absl_inlined_vector absl_hash absl_status absl_statusor absl_strings absl_synchronization absl_core_headers"
)
if(RBPROF_HAS_OUTPUT)
  rbprof_install(output rbprof_output "rbprof's writers of profile files" "rbprof zlib fmt nlohmann_json")
  # What hosts in C compile themselves.
  install(FILES "${PROJECT_SOURCE_DIR}/include/rbprof/app/bridge_cruby.cpp"
                "${PROJECT_SOURCE_DIR}/include/rbprof/app/bridge_mruby.cpp"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rbprof/app")
endif()
if(RBPROF_HAS_CRUBY)
  rbprof_install(cruby rbprof_cruby "rbprof for hosts of CRuby" "rbprof ${RBPROF_RUBY_MODULE_NAME}")
endif()
if(RBPROF_HAS_MRUBY)
  # mruby has no .pc file to require.
  rbprof_install(mruby rbprof_mruby "rbprof for hosts of mruby; compile with the flags of mruby-config" "rbprof")
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/rbprofConfig.cmake.in" "${PROJECT_BINARY_DIR}/rbprofConfig.cmake"
  INSTALL_DESTINATION "${RBPROF_CMAKE_DIR}")
# While the version is 0.x, a new minor version may change anything.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/rbprofConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)
install(
  FILES "${PROJECT_BINARY_DIR}/rbprofConfig.cmake" "${PROJECT_BINARY_DIR}/rbprofConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindProtozero.cmake" "${PROJECT_SOURCE_DIR}/cmake/RbprofRuby.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindMruby.cmake"
  DESTINATION "${RBPROF_CMAKE_DIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/rbprof")
