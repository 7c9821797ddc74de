# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# The same with the profiler itself, beside one file that has exceptions: both are linked into one program, and its file
# is read.

if(NOT RBPROF_HAS_CRUBY)
  return()
endif()
# Of two definitions of an inline function the linker takes either: both orders must work.
foreach(order IN ITEMS host writer)
  add_library(noexcept_${order} OBJECT ${order}.cpp)
  target_link_libraries(noexcept_${order} PRIVATE rbprof::rbprof rbprof_own)
endforeach()
target_link_libraries(noexcept_host PRIVATE rbprof::cruby)
target_compile_options(noexcept_host PRIVATE -fno-exceptions -fno-rtti)
target_link_libraries(noexcept_writer PRIVATE rbprof::output)

include(../scenarios/programs.cmake)
foreach(order IN ITEMS "host;writer" "writer;host")
  list(GET order 0 first)
  list(GET order 1 second)
  set(target noexcept_${first}_first)
  add_executable(${target} $<TARGET_OBJECTS:noexcept_${first}> $<TARGET_OBJECTS:noexcept_${second}>)
  target_link_libraries(${target} PRIVATE rbprof::cruby rbprof::output)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}.pb.gz")
  set(check "\"$1\" \"$2\" && gzip -t \"$2\"")
  if(RBPROF_HOST_TESTS)
    string(APPEND check " && \"$3\" \"$2\" | grep -q worker")
  endif()
  set(test "noexcept: a host without exceptions writes a profile by a file that has them, ${first} first")
  add_test(NAME "${test}" COMMAND sh -c "${check}" sh $<TARGET_FILE:${target}> "${file}" "${RBPROF_READER}")
  set_tests_properties("${test}" PROPERTIES LABELS "noexcept;cruby" TIMEOUT 120)
endforeach()
