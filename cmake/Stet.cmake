# Helpers of the build: a module is a folder, a unit test is a file. Adding a source file to either
# needs no change here.

# stet_module(NAME [modules it may use...]): src/NAME/*.c as the static library stet_NAME.
function(stet_module name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  if(NOT sources)
    return()
  endif()
  add_library(stet_${name} STATIC ${sources})
  target_include_directories(stet_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src
    ${CMAKE_BINARY_DIR}/generated)
  foreach(other ${ARGN})
    if(TARGET stet_${other})
      target_link_libraries(stet_${name} PUBLIC stet_${other})
    endif()
  endforeach()
endfunction()
