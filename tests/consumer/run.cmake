# Installs the build tree into a temporary prefix, builds the consumer project against it and runs its programs.
#   cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DMAKE_IMAGES=... -DCONFIG=... -DCXX=... -DCXX_FLAGS=...
#         -DWITH_TORCH=ON|OFF -P run.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed with ${result}: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)
set(configure ${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DCMAKE_PREFIX_PATH=${prefix})

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix} --config ${CONFIG})
set(components packer,reader)
if(WITH_TORCH)
  string(APPEND components ",torch")
endif()
run(${configure} -B ${WORK_DIR}/build -DIMGPACK_COMPONENTS=${components})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)

run(${MAKE_IMAGES} ${WORK_DIR}/images 2 6)
run(${WORK_DIR}/build/pack_and_read ${WORK_DIR}/images ${WORK_DIR}/images.rec)
run(${WORK_DIR}/build/read_packed ${WORK_DIR}/images.rec)
run(${WORK_DIR}/build/load_batches ${WORK_DIR}/images.rec train)
if(WITH_TORCH)
  run(${WORK_DIR}/build/batch_tensors ${WORK_DIR}/images.rec)
endif()
if(EXISTS ${prefix}/bin/imgpack)
  run(${prefix}/bin/imgpack verify ${WORK_DIR}/images.rec --source ${WORK_DIR}/images)
endif()

# A component that is not there is refused by name.
execute_process(COMMAND ${configure} -B ${WORK_DIR}/refused -DIMGPACK_COMPONENTS=telepathy
                RESULT_VARIABLE result ERROR_VARIABLE errors OUTPUT_QUIET)
if(result EQUAL 0 OR NOT errors MATCHES "no component telepathy")
  message(FATAL_ERROR "asking for an unknown component did not fail as it should:\n${errors}")
endif()
file(REMOVE_RECURSE ${WORK_DIR})
