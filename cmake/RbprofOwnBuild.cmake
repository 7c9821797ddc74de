# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# What our own tests, examples and benchmarks share. Nothing of it reaches a user of the targets.

add_library(rbprof_own INTERFACE)
target_compile_options(rbprof_own INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                            $<$<BOOL:${RBPROF_WERROR}>:-Werror>)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # We have no modules. CMake 3.28 and later would look for some in every source, with options that ccache can't take.
  set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
  find_program(RBPROF_CCACHE ccache)
  if(RBPROF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${RBPROF_CCACHE}")
  endif()
endif()
