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

# stet_embed(FILE NAME HEADER): the text of src/FILE as `static const char NAME[]` in a generated
# header; made again when the file changes.
function(stet_embed file name header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${file})
  file(READ ${CMAKE_SOURCE_DIR}/src/${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${header} @ONLY
    CONTENT "/* Made from ${file}. */\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\nstatic const char ${name}[] =\n\"${text}\";\n")
endfunction()

# stet_embed_hash(FILE NAME HEADER): SHA-256 of src/FILE in hex as the macro NAME, appended to a
# generated header; for the policy of a page that allows its own scripts alone.
function(stet_embed_hash file name header)
  file(SHA256 ${CMAKE_SOURCE_DIR}/src/${file} hash)
  file(APPEND ${CMAKE_BINARY_DIR}/generated/${header} "#define ${name} \"${hash}\"\n")
endfunction()
