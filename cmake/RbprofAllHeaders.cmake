# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# rbprof_write_includes(<file> <header>...): a source file that includes all of them, for tests that compile
# everything in a special way.
function(rbprof_write_includes file)
  set(text "")
  foreach(header IN LISTS ARGN)
    file(RELATIVE_PATH relative "${PROJECT_SOURCE_DIR}/include" "${header}")
    string(APPEND text "#include <${relative}>\n")
  endforeach()
  # Only written when it has changed, so that nothing is compiled for nothing.
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
endfunction()
