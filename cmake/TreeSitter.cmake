# tree-sitter's core and its Python grammar: C sources of two packages of tools/third-party.txt,
# fetched once for all presets into build/third_party and compiled as they are, as the library tree_sitter.
set(third_party ${CMAKE_SOURCE_DIR}/build/third_party CACHE PATH "where fetched sources lie")

function(stet_fetch_source name)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env CMAKE=${CMAKE_COMMAND} ${CMAKE_SOURCE_DIR}/tools/fetch-source.sh ${name} ${third_party}/${name}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${name} could not be fetched")
  endif()
endfunction()

stet_fetch_source(tree-sitter)
stet_fetch_source(tree-sitter-python)

set(core ${third_party}/tree-sitter/vendor/tree-sitter/lib)
set(python ${third_party}/tree-sitter-python/src)
add_library(tree_sitter STATIC ${core}/src/lib.c ${python}/parser.c ${python}/scanner.c)
target_include_directories(tree_sitter SYSTEM PUBLIC ${core}/include PRIVATE ${core}/src ${python})
# Others' code: our warnings are not for it, and it is the whole cost of a cold run, so -O3 always
# but under the sanitizers, which are asked to see our own code.
target_compile_options(tree_sitter PRIVATE -w -O2 $<$<CONFIG:RelWithDebInfo>:-O3>)
# A fuzzer learns nothing of ours from the parser's tables, and watching them took more than half of its time.
# The address sanitizer sees the parser in the asan build, which replays the same inputs.
if(STET_FUZZ)
  target_compile_options(tree_sitter PRIVATE -fno-sanitize=all)
endif()
