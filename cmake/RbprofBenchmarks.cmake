# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# benchmarks/<x>_bench.cpp becomes <build>/benchmarks/<x>_bench. Those whose name has "cruby" in it need Ruby,
# those with "mruby" mruby.

file(GLOB_RECURSE RBPROF_BENCHMARK_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/*_bench.cpp")
if(NOT RBPROF_BENCHMARK_SOURCES)
  return()
endif()
find_package(benchmark REQUIRED)
foreach(source IN LISTS RBPROF_BENCHMARK_SOURCES)
  cmake_path(GET source STEM name)
  if((name MATCHES "cruby" AND NOT RBPROF_HAS_CRUBY) OR (name MATCHES "mruby" AND NOT RBPROF_HAS_MRUBY))
    continue()
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE rbprof::rbprof rbprof::output benchmark::benchmark rbprof_own)
  if(name MATCHES "cruby")
    target_link_libraries(${name} PRIVATE rbprof::cruby)
  elseif(name MATCHES "mruby")
    target_link_libraries(${name} PRIVATE rbprof::mruby)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
endforeach()
