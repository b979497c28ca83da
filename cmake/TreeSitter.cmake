# tree-sitter's core and its Python grammar: C sources of two npm packages of known content, fetched
# once for all presets into build/third_party and compiled as they are, as the library tree_sitter.
set(third_party ${CMAKE_SOURCE_DIR}/build/third_party CACHE PATH "where fetched sources lie")

function(stet_fetch_npm package version sha512)
  execute_process(
    COMMAND ${CMAKE_SOURCE_DIR}/tools/fetch-npm.sh ${package} ${version} ${sha512}
      ${third_party}/${package}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${package} ${version} could not be fetched")
  endif()
endfunction()

stet_fetch_npm(tree-sitter 0.25.1
  sha512-mrcEdkYtHfrK1A6fs3O6FxkBo0Qig5XUXqHhxUOQu0bmPo00QF4XaSx4edpazdHwxnSCjlGKGgIqWdaN4dvTLA==)
stet_fetch_npm(tree-sitter-python 0.25.0
  sha512-eCmJx6zQa35GxaCtQD+wXHOhYqBxEL+bp71W/s3fcDMu06MrtzkVXR437dRrCrbrDbyLuUDJpAgycs7ncngLXw==)

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
