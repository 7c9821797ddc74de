# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# examples/<name>/*.cpp with a main.cpp, or examples/<name>.cpp, becomes <build>/examples/<name>, with '-' for '_'.
# A name with "mruby" in it is linked with mruby, every other one with Ruby. An example with a main.c is a host in C of
# mruby, linked with the bridge.

file(GLOB RBPROF_EXAMPLE_MAINS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp"
     "${PROJECT_SOURCE_DIR}/examples/*/main.cpp" "${PROJECT_SOURCE_DIR}/examples/*/main.c")
if(RBPROF_EXAMPLE_MAINS MATCHES "main\\.c(;|$)")
  enable_language(C)
endif()
foreach(main IN LISTS RBPROF_EXAMPLE_MAINS)
  set(sources "${main}")
  cmake_path(GET main STEM name)
  if(name STREQUAL "main")
    cmake_path(GET main PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    file(GLOB sources CONFIGURE_DEPENDS "${directory}/*.cpp" "${directory}/*.c")
  endif()
  set(vm cruby)
  if(name MATCHES "mruby")
    set(vm mruby)
  elseif(main MATCHES "\\.c$")
    set(vm mruby)
    list(APPEND sources "${PROJECT_SOURCE_DIR}/include/rbprof/app/bridge_mruby.cpp")
  endif()
  string(REPLACE "_" "-" name "${name}")
  if(NOT TARGET rbprof::${vm})
    message(STATUS "rbprof: the example ${name} needs rbprof::${vm}; it is left out")
    continue()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE rbprof::${vm} rbprof::output rbprof_own)
  set_target_properties(
    ${name}
    PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples"
               C_STANDARD 99
               C_STANDARD_REQUIRED ON
               C_EXTENSIONS OFF)
endforeach()
