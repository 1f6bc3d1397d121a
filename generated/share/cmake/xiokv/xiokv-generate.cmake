# Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
# SPDX-License-Identifier: MIT
#
# xiokv_generate(TARGET <name> [PROJECT <folder>] [CHECK])
#
# Makes the interface library <name>, which gives the headers of an xiokv project, nvme-kv.h of
# rocm-xio among them, to whoever links with it. A library that is itself exported links with
# $<BUILD_INTERFACE:name>. PROJECT is the folder of its xiokv.toml, by default the current
# source folder.
#
#   without CHECK   The build renders the headers into the build folder, again whenever
#                   xiokv.toml, xiokv.lock, the spec file or the profile changes, or xiokv-gen
#                   itself. The project's folder is only read.
#   with CHECK      The headers are those that the project has, and the build fails where
#                   they, or other generated files, are not what their inputs render to.
#
# xiokv-gen is looked for on the PATH; -DXIOKV_GEN=<path> names another one.
function(xiokv_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "CHECK" "TARGET;PROJECT" "")
  if(NOT arg_TARGET OR arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "write: xiokv_generate(TARGET <name> [PROJECT <folder>] [CHECK])")
  endif()
  get_filename_component(project "${arg_PROJECT}" ABSOLUTE)
  set(made "${CMAKE_CURRENT_BINARY_DIR}/xiokv/${arg_TARGET}")
  _xiokv_find_generator()

  # What is rendered now tells CMake which headers the build may write again.
  set(headers)
  if(arg_CHECK)
    _xiokv_run(include "${project}" path include)
    set(does check)
    set(command check)
    set(options)
  else()
    _xiokv_run(ignored "${project}" build --out "${made}/output")
    set(include "${made}/output/include")
    set(does build)
    set(command build)
    set(options --out "${made}/output")
    file(GLOB_RECURSE headers "${include}/*" "${made}/output/rocm-xio/*.h")
  endif()

  # Which files it depends on, xiokv-gen tells each time anew beside the stamp.
  add_custom_command(
    OUTPUT "${made}/stamp"
    BYPRODUCTS ${headers}
    COMMAND "${XIOKV_GEN}" --project "${project}" ${command} ${options} --stamp "${made}/stamp"
    DEPENDS "${XIOKV_GEN}"
    DEPFILE "${made}/stamp.d"
    COMMENT "xiokv-gen ${does}: ${arg_TARGET}"
    VERBATIM)
  add_custom_target(${arg_TARGET}-xiokv ALL DEPENDS "${made}/stamp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${project}/xiokv.toml")

  add_library(${arg_TARGET} INTERFACE)
  _xiokv_give_headers(${arg_TARGET} "${include}")
  if(EXISTS "${include}/../rocm-xio/nvme-kv.h")
    _xiokv_give_headers(${arg_TARGET} "${include}/../rocm-xio")
  endif()
  add_dependencies(${arg_TARGET} ${arg_TARGET}-xiokv)
endfunction()

# Lets whoever links with a target include the headers, in a standard that they know.
function(_xiokv_give_headers target folder)
  target_include_directories(${target} SYSTEM INTERFACE "${folder}")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    target_compile_features(${target} INTERFACE c_std_11)
  endif()
  if("CXX" IN_LIST languages)
    target_compile_features(${target} INTERFACE cxx_std_17)
  endif()
endfunction()

# Sets XIOKV_GEN in the cache, or stops.
function(_xiokv_find_generator)
  find_program(XIOKV_GEN xiokv-gen DOC "The generator of the xiokv headers")
  if(NOT XIOKV_GEN)
    message(FATAL_ERROR
            "xiokv_generate: no xiokv-gen on the PATH. Install the Python package xiokv "
            "(python -m pip install path/to/xiokv) and put its bin folder on the PATH, "
            "or give -DXIOKV_GEN=path/to/xiokv-gen.")
  endif()
endfunction()

# Runs xiokv-gen on a project while CMake configures; puts what it prints into <result>.
function(_xiokv_run result project)
  execute_process(
    COMMAND "${XIOKV_GEN}" --project "${project}" ${ARGN}
    OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE said
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "xiokv_generate: xiokv-gen ${command} ended with ${code}:\n${said}")
  endif()
  set(${result} "${printed}" PARENT_SCOPE)
endfunction()

# Puts the path of libxiokv into <result>: what is installed, or else what xiokv-gen compiles
# for the project that governs a folder; empty where there is neither.
function(_xiokv_find_library result installed folder)
  if(EXISTS "${installed}")
    set(${result} "${installed}" PARENT_SCOPE)
    return()
  endif()
  set(${result} "" PARENT_SCOPE)
  find_program(XIOKV_GEN xiokv-gen DOC "The generator of the xiokv headers")
  if(NOT XIOKV_GEN)
    return()
  endif()
  execute_process(
    COMMAND "${XIOKV_GEN}" path library
    WORKING_DIRECTORY "${folder}"
    OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE code)
  if(code EQUAL 0)
    get_filename_component(name "${installed}" NAME)
    set(${result} "${printed}/${name}" PARENT_SCOPE)
  endif()
endfunction()
