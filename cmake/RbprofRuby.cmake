# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# Ruby by pkg-config: CMake's own FindRuby looks for the interpreter, while a host links the library.
# Used by the build and by the installed package.

set(RBPROF_RUBY_PC "" CACHE STRING "Name of Ruby's .pc file; empty: first of ruby, ruby-3.4, ruby-3.3, ruby-3.1")

# Sets `found` and makes PkgConfig::RBPROF_RUBY, whose include directories are SYSTEM.
function(rbprof_find_ruby found)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND AND NOT TARGET PkgConfig::RBPROF_RUBY)
    set(candidates ${RBPROF_RUBY_PC})
    if(NOT candidates)
      set(candidates ruby ruby-3.4 ruby-3.3 ruby-3.1)
    endif()
    # pkg_search_module keeps its first answer in the cache; ask anew when the question has changed.
    if(NOT RBPROF_RUBY_ASKED STREQUAL "${candidates}")
      unset(__pkg_config_checked_RBPROF_RUBY CACHE)
      unset(pkgcfg_lib_RBPROF_RUBY_ruby CACHE)
      set(RBPROF_RUBY_ASKED "${candidates}" CACHE INTERNAL "")
    endif()
    pkg_search_module(RBPROF_RUBY IMPORTED_TARGET GLOBAL QUIET ${candidates})
    if(RBPROF_RUBY_FOUND)
      message(STATUS "rbprof: Ruby is ${RBPROF_RUBY_MODULE_NAME} ${RBPROF_RUBY_VERSION}")
    endif()
  endif()
  if(TARGET PkgConfig::RBPROF_RUBY)
    set(${found} TRUE PARENT_SCOPE)
  else()
    set(${found} FALSE PARENT_SCOPE)
  endif()
endfunction()
