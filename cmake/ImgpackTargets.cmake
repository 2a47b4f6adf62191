# Functions that declare the project's targets, so that all follow one rule.

set(IMGPACK_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                     -Woverloaded-virtual -Wcast-align -Wno-missing-field-initializers)

function(imgpack_compile_settings target)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${IMGPACK_WARNINGS}>"
                         $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(IMGPACK_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
endfunction()

# imgpack_library(NAME SOURCES ... PUBLIC lib... PRIVATE lib...): static library imgpack_NAME with the alias imgpack::NAME.
function(imgpack_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(imgpack_${name} STATIC ${ARG_SOURCES})
  add_library(imgpack::${name} ALIAS imgpack_${name})
  set_target_properties(imgpack_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(imgpack_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(imgpack_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(imgpack_${name} PUBLIC cxx_std_20)
  target_link_libraries(imgpack_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  imgpack_compile_settings(imgpack_${name})
  set_property(GLOBAL APPEND PROPERTY IMGPACK_LIBRARIES imgpack_${name})
endfunction()

# imgpack_test(NAME SOURCES ... LIBRARIES ... [LABELS ...]): a doctest program, run as one CTest test.
function(imgpack_test name)
  if(NOT IMGPACK_BUILD_TESTS OR IMGPACK_FUZZ)  # with clang, only the fuzzers are of interest
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS cpu)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE imgpack_test_main imgpack_test_support ${ARG_LIBRARIES})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1$<SEMICOLON>-g1>)  # the code under test keeps its own settings; tests compile faster
  imgpack_compile_settings(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()

# imgpack_fuzzer(NAME SOURCES ... LIBRARIES ...): a fuzzer (LLVMFuzzerTestOneInput and fuzz_seeds). NAME_replay runs the seeds and
# mutations of them in the ordinary tests; with IMGPACK_FUZZ, NAME is the libFuzzer program.
function(imgpack_fuzzer name)
  if(NOT IMGPACK_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name}_replay ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/support/fuzz_replay.cc)
  target_include_directories(${name}_replay PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_replay PRIVATE imgpack_test_support ${ARG_LIBRARIES})
  imgpack_compile_settings(${name}_replay)
  add_test(NAME ${name}_replay COMMAND ${name}_replay)
  set_tests_properties(${name}_replay PROPERTIES LABELS "cpu;fuzz" TIMEOUT 600)
  if(IMGPACK_FUZZ)
    add_executable(${name} ${ARG_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE imgpack_test_support ${ARG_LIBRARIES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    imgpack_compile_settings(${name})
  endif()
endfunction()
