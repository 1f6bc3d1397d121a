# SPDX-License-Identifier: MIT
#
# The headers of this folder, for the CMakeLists.txt of the library that uses them:
#
#   include(generated/rocm-xio/nvme-kv.cmake)
#   target_link_libraries(<library> PUBLIC $<BUILD_INTERFACE:xiokv::rocm-xio>)
#
# BUILD_INTERFACE keeps the target out of install(EXPORT): what is installed finds nvme-kv.h
# beside the headers that include it, by install(FILES "${KV_HEADERS_DIR}/nvme-kv.h" ...).
#
#   KV_HEADERS_DIR        this folder
#   KV_HEADERS_GENERATE   ON: whenever CMake configures, and after each change of xiokv.toml,
#                         xiokv.lock, the spec file, the profile or xiokv-gen, xiokv-gen build
#                         brings the headers up to date. OFF, as it is: no xiokv is needed.
#   nvme-kv-is-current    a test, made after enable_testing() where xiokv-gen is found
#
# xiokv-gen is looked for on the PATH; -DXIOKV_GEN=<path> names another one.
if(CMAKE_VERSION VERSION_LESS 3.20)
  message(FATAL_ERROR "nvme-kv.cmake needs CMake 3.20, and this is ${CMAKE_VERSION}")
endif()
set(KV_HEADERS_DIR "${CMAKE_CURRENT_LIST_DIR}")
option(KV_HEADERS_GENERATE "Bring nvme-kv.h up to date with xiokv-gen build" OFF)
find_program(XIOKV_GEN xiokv-gen DOC "The generator of nvme-kv.h")

# Sets <result> to the folder of the xiokv.toml above this file; empty after an installation.
function(_nvme_kv_project result)
  set(folder "${KV_HEADERS_DIR}")
  while(NOT EXISTS "${folder}/xiokv.toml")
    get_filename_component(above "${folder}" DIRECTORY)
    if(above STREQUAL folder)
      set(folder "")
      break()
    endif()
    set(folder "${above}")
  endwhile()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# Runs xiokv-gen build now, and lets a change of what it reads configure again.
function(_nvme_kv_generate project)
  if(NOT project OR NOT XIOKV_GEN)
    message(FATAL_ERROR
            "KV_HEADERS_GENERATE needs the project's xiokv.toml above ${KV_HEADERS_DIR}, and "
            "xiokv-gen: install the Python package xiokv (python -m pip install "
            "path/to/xiokv), or give -DXIOKV_GEN=path/to/xiokv-gen.")
  endif()
  execute_process(
    COMMAND "${XIOKV_GEN}" --project "${project}" build --emit-only --json
    OUTPUT_VARIABLE built
    ERROR_VARIABLE said
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "xiokv-gen build ended with ${code}:\n${said}")
  endif()
  string(JSON count LENGTH "${built}" inputs)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON input GET "${built}" inputs ${index})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${XIOKV_GEN}")
endfunction()

if(NOT TARGET xiokv::rocm-xio)
  add_library(nvme-kv INTERFACE)
  target_include_directories(nvme-kv INTERFACE "$<BUILD_INTERFACE:${KV_HEADERS_DIR}>")
  add_library(xiokv::rocm-xio ALIAS nvme-kv)
  _nvme_kv_project(_nvme_kv_folder)
  if(KV_HEADERS_GENERATE)
    _nvme_kv_generate("${_nvme_kv_folder}")
  endif()
  if(_nvme_kv_folder AND XIOKV_GEN)
    add_test(NAME nvme-kv-is-current
             COMMAND "${XIOKV_GEN}" --project "${_nvme_kv_folder}" check)
  endif()
  unset(_nvme_kv_folder)
endif()
