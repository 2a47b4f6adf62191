# Installing and exporting: find_package(imgpack COMPONENTS packer) and then link imgpack::packer.
#
# Every library is a component with an export file of its own, so that a program needs only the dependencies of the
# components it asks for. Which those are is read off the targets: static libraries hand their private dependencies on
# to whoever links them.
include(CMakePackageConfigHelpers)

set(IMGPACK_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/imgpack)

# The line of an installed component's file that makes LINKED (an entry of LINK_LIBRARIES) exist.
function(imgpack_dependency_line linked out)
  if(linked MATCHES "^imgpack(::|_)(.+)$")
    set(line "include(\"\${CMAKE_CURRENT_LIST_DIR}/imgpack-${CMAKE_MATCH_2}.cmake\")")
  elseif(linked MATCHES "^PkgConfig::(.+)$")
    set(line "imgpack_find_module(${CMAKE_MATCH_1} ${${CMAKE_MATCH_1}_MODULE_NAME})")
  elseif(linked MATCHES "^(fmt|nlohmann_json|Threads|JPEG|ZLIB|GIF)::")
    set(line "imgpack_find_package(${CMAKE_MATCH_1})")
  elseif(linked MATCHES "^protobuf::")
    set(line "imgpack_find_package(Protobuf)")
  elseif(linked MATCHES "^CUDA::")
    set(line "imgpack_find_package(CUDAToolkit)")
  elseif(linked STREQUAL "torch")
    set(line "imgpack_find_package(Torch)")
  elseif(linked MATCHES "^::@")
    set(line "")  # CMake's mark of a link that another directory has added
  else()
    message(FATAL_ERROR "ImgpackInstall.cmake does not know how an installed imgpack finds ${linked}")
  endif()
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

# Installs one library with its export file, and the file that finds its dependencies and then includes that.
function(imgpack_install_component library component)
  install(TARGETS ${library} EXPORT imgpack-${component} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT imgpack-${component} NAMESPACE imgpack:: FILE imgpack-${component}-targets.cmake
          DESTINATION ${IMGPACK_PACKAGE_DIR})

  set(lines "")
  get_target_property(linked_libraries ${library} LINK_LIBRARIES)
  foreach(linked IN LISTS linked_libraries)
    imgpack_dependency_line("${linked}" line)
    list(APPEND lines "${line}")
  endforeach()
  list(REMOVE_ITEM lines "")
  list(REMOVE_DUPLICATES lines)
  list(JOIN lines "\n" lines)
  string(CONCAT text
    "if(TARGET imgpack::${component})\n  return()\nendif()\n"
    "${lines}\n"
    "if(NOT imgpack_missing)\n"
    "  include(\"\${CMAKE_CURRENT_LIST_DIR}/imgpack-${component}-targets.cmake\")\n"
    "endif()\n")
  file(WRITE ${PROJECT_BINARY_DIR}/package/imgpack-${component}.cmake "${text}")
  install(FILES ${PROJECT_BINARY_DIR}/package/imgpack-${component}.cmake DESTINATION ${IMGPACK_PACKAGE_DIR})
endfunction()

get_property(libraries GLOBAL PROPERTY IMGPACK_LIBRARIES)
set(IMGPACK_COMPONENTS "")
foreach(library IN LISTS libraries)
  get_target_property(component ${library} EXPORT_NAME)
  list(APPEND IMGPACK_COMPONENTS ${component})
  imgpack_install_component(${library} ${component})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/imgpack DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/imgpackConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/package/imgpackConfig.cmake
                              INSTALL_DESTINATION ${IMGPACK_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/imgpackConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/imgpackConfig.cmake
              ${PROJECT_BINARY_DIR}/package/imgpackConfigVersion.cmake
        DESTINATION ${IMGPACK_PACKAGE_DIR})
