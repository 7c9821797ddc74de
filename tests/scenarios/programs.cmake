# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# What tests of the command-line host need: sets RBPROF_HOST_TESTS, RBPROF_RUBY_PROGRAM and RBPROF_READER, and builds
# the reader of profiles once.
set(RBPROF_HOST_TESTS FALSE)
if(NOT RBPROF_BUILD_EXAMPLES OR NOT RBPROF_HAS_CRUBY)
  return()
endif()
# The interpreter of the Ruby that the host embeds: what a program prints under either is compared.
pkg_get_variable(RBPROF_RUBY_OF_HOST "${RBPROF_RUBY_MODULE_NAME}" ruby)
if(EXISTS "${RBPROF_RUBY_OF_HOST}")
  set(RBPROF_RUBY_PROGRAM "${RBPROF_RUBY_OF_HOST}") # also where an earlier configuration was for another Ruby
else()
  find_program(RBPROF_RUBY_PROGRAM ruby)
endif()
find_program(RBPROF_GO_PROGRAM go)
find_path(RBPROF_GO_PPROF src/github.com/google/pprof/profile/profile.go PATHS /usr/share/gocode NO_DEFAULT_PATH)
if(NOT RBPROF_RUBY_PROGRAM OR NOT RBPROF_GO_PROGRAM OR NOT RBPROF_GO_PPROF)
  message(STATUS "rbprof: tests of rbprof-cruby need ruby, go and Go's pprof package")
  return()
endif()
set(RBPROF_HOST_TESTS TRUE)
set(RBPROF_READER "${PROJECT_BINARY_DIR}/tests/pprof_facts")
if(TARGET pprof_facts)
  return()
endif()
add_custom_command(
  OUTPUT "${RBPROF_READER}"
  COMMAND "${CMAKE_COMMAND}" -E env GO111MODULE=off "GOPATH=${RBPROF_GO_PPROF}" "${RBPROF_GO_PROGRAM}" build -o
          "${RBPROF_READER}" "${PROJECT_SOURCE_DIR}/tests/tools/pprof_facts.go"
  DEPENDS "${PROJECT_SOURCE_DIR}/tests/tools/pprof_facts.go"
  VERBATIM)
add_custom_target(pprof_facts ALL DEPENDS "${RBPROF_READER}")
