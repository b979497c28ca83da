# Helpers of the build: a module is a folder, a unit test is a file. Adding a source file to either
# needs no change here.

# STET_LAYERS: the modules of tools/layers.txt, lowest first; STET_USES_<module>: what each may use.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/layers.txt)
file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt lines REGEX "^[a-z]+:")
set(STET_LAYERS "")
foreach(line ${lines})
  string(REGEX REPLACE " *#.*" "" line "${line}")
  string(REGEX REPLACE ":.*" "" module "${line}")
  string(REGEX MATCHALL "[a-z]+" uses "${line}")
  list(REMOVE_ITEM uses ${module})
  list(APPEND STET_LAYERS ${module})
  set(STET_USES_${module} ${uses})
endforeach()

# stet_uses(TARGET SCOPE MODULE...): links stet_MODULE where this build has it.
function(stet_uses target scope)
  foreach(module ${ARGN})
    target_link_libraries(${target} ${scope} $<TARGET_NAME_IF_EXISTS:stet_${module}>)
  endforeach()
endfunction()

# stet_module(NAME SOURCE...): the static library stet_NAME, linked as tools/layers.txt allows.
# Without sources it is made of src/NAME/*.c and of the folders below.
function(stet_module name)
  set(sources ${ARGN})
  if(NOT sources)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
    list(FILTER sources EXCLUDE REGEX "/main\\.c$") # of an executable
  endif()
  add_library(stet_${name} STATIC ${sources})
  target_include_directories(stet_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src
    ${CMAKE_BINARY_DIR}/generated)
  stet_uses(stet_${name} PUBLIC ${STET_USES_${name}})
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

# stet_exports(TARGET): a shared object libNAME.so that exports what libNAME.map lists and is never unloaded.
include(CheckLinkerFlag)
check_linker_flag(C "-Wl,--exclude-libs,ALL" STET_HAVE_EXCLUDE_LIBS) # the map alone does it where this is unknown
function(stet_exports target)
  get_target_property(name ${target} OUTPUT_NAME)
  if(NOT name)
    set(name ${target})
  endif()
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/lib${name}.map)
  target_link_options(${target} PRIVATE $<$<BOOL:${STET_HAVE_EXCLUDE_LIBS}>:-Wl,--exclude-libs,ALL>
    -Wl,-z,nodelete -Wl,--version-script=${map})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()
