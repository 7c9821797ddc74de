# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# The four interface targets, each with its headers as a file set. A header belongs to the target whose
# dependencies it needs; its path says which.

find_package(Threads REQUIRED)
find_package(absl REQUIRED)

# A host that writes no files needs none of the writers' libraries.
set(RBPROF_HAS_OUTPUT FALSE)
if(NOT RBPROF_WITH_OUTPUT STREQUAL "OFF")
  set(RBPROF_HAS_OUTPUT TRUE)
  foreach(package IN ITEMS ZLIB fmt nlohmann_json Protozero)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      set(RBPROF_HAS_OUTPUT FALSE)
      if(RBPROF_WITH_OUTPUT STREQUAL "ON")
        message(FATAL_ERROR "rbprof: RBPROF_WITH_OUTPUT is ON, but ${package} is not found. Install it (on "
                            "Debian: tools/setup), or set RBPROF_WITH_OUTPUT=OFF.")
      endif()
      message(STATUS "rbprof: ${package} is not found, so there is no rbprof::output")
    endif()
  endforeach()
endif()

if(NOT RBPROF_WITH_CRUBY STREQUAL "OFF")
  include(RbprofRuby)
  rbprof_find_ruby(RBPROF_HAS_CRUBY)
  if(NOT RBPROF_HAS_CRUBY)
    if(RBPROF_WITH_CRUBY STREQUAL "ON")
      message(FATAL_ERROR "rbprof: RBPROF_WITH_CRUBY is ON, but pkg-config finds no Ruby. Install ruby-dev, "
                          "or set RBPROF_RUBY_PC to the name of your Ruby's .pc file.")
    endif()
    message(STATUS "rbprof: no Ruby found by pkg-config, so there is no rbprof::cruby")
  endif()
else()
  set(RBPROF_HAS_CRUBY FALSE)
endif()

set(RBPROF_HAS_MRUBY FALSE)
if(NOT RBPROF_WITH_MRUBY STREQUAL "OFF")
  find_package(Mruby 3.1 QUIET)
  set(RBPROF_HAS_MRUBY ${Mruby_FOUND})
  if(RBPROF_HAS_MRUBY)
    message(STATUS "rbprof: mruby is ${Mruby_VERSION}, with ${RBPROF_MRUBY_DEFINITIONS}")
  elseif(RBPROF_WITH_MRUBY STREQUAL "ON")
    message(FATAL_ERROR "rbprof: RBPROF_WITH_MRUBY is ON, but there is no mruby 3.1 or later. Install libmruby-dev, or set "
                        "RBPROF_MRUBY_CONFIG to your mruby's mruby-config.")
  else()
    message(STATUS "rbprof: no mruby 3.1 or later found, so there is no rbprof::mruby")
  endif()
endif()

file(GLOB_RECURSE RBPROF_ALL_HEADERS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/rbprof/*.hpp"
     "${PROJECT_SOURCE_DIR}/include/rbprof/*.h")
list(SORT RBPROF_ALL_HEADERS)
set(RBPROF_CRUBY_HEADERS ${RBPROF_ALL_HEADERS})
list(FILTER RBPROF_CRUBY_HEADERS INCLUDE REGEX "/rbprof/(vm/cruby|cruby\\.hpp|app/.*cruby|app/ruby_)")
set(RBPROF_MRUBY_HEADERS ${RBPROF_ALL_HEADERS})
list(FILTER RBPROF_MRUBY_HEADERS INCLUDE REGEX "/rbprof/(vm/mruby|mruby\\.hpp|app/.*mruby)")
set(RBPROF_OUTPUT_HEADERS ${RBPROF_ALL_HEADERS})
list(FILTER RBPROF_OUTPUT_HEADERS INCLUDE REGEX "/rbprof/(output/|app/bridge)")
set(RBPROF_CORE_HEADERS ${RBPROF_ALL_HEADERS})
list(REMOVE_ITEM RBPROF_CORE_HEADERS ${RBPROF_CRUBY_HEADERS} ${RBPROF_MRUBY_HEADERS} ${RBPROF_OUTPUT_HEADERS})

function(rbprof_add_target name export_name headers)
  add_library(${name} INTERFACE)
  add_library(rbprof::${export_name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${export_name})
  target_compile_features(${name} INTERFACE cxx_std_20)
  # The interface has the include directory even while a file set is empty.
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:include>)
  target_sources(${name} INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  # Every header compiles alone: target all_verify_interface_header_sets.
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
endfunction()

rbprof_add_target(rbprof rbprof "${RBPROF_CORE_HEADERS}")
target_link_libraries(
  rbprof
  INTERFACE Threads::Threads
            absl::flat_hash_map
            absl::flat_hash_set
            absl::inlined_vector
            absl::hash
            absl::status
            absl::statusor
            absl::strings
            absl::synchronization
            absl::core_headers)

if(RBPROF_HAS_OUTPUT)
  rbprof_add_target(rbprof_output output "${RBPROF_OUTPUT_HEADERS}")
  target_link_libraries(rbprof_output INTERFACE rbprof ZLIB::ZLIB fmt::fmt nlohmann_json::nlohmann_json
                                                Protozero::protozero)
endif()

if(RBPROF_HAS_CRUBY)
  rbprof_add_target(rbprof_cruby cruby "${RBPROF_CRUBY_HEADERS}")
  target_link_libraries(rbprof_cruby INTERFACE rbprof PkgConfig::RBPROF_RUBY)
  # Hosts that include <ruby.h> before our headers: Ruby 3.3 includes <cstdbool>, where g++ 16's library has a
  # #warning that is not silent in system headers.
  target_compile_options(
    rbprof_cruby
    INTERFACE $<$<OR:$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,16>>,$<CXX_COMPILER_ID:Clang>>:-Wno-error=cpp>
  )
endif()

if(RBPROF_HAS_MRUBY)
  rbprof_add_target(rbprof_mruby mruby "${RBPROF_MRUBY_HEADERS}")
  target_link_libraries(rbprof_mruby INTERFACE rbprof Mruby::mruby)
endif()
