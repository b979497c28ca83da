/* The floor of `stet lint`: what tree-sitter alone takes to parse the same files, in one thread.
 * Reads paths from standard input; prints seconds of CPU. tools/bench-lint.sh calls it. */
#include "base/fs.h"
#include "python/ast.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);

int main(void)
{
    TSParser *parser = ts_parser_new();
    unsigned long long bytes = 0;
    unsigned files = 0;
    char path[4096];

    ts_parser_set_language(parser, tree_sitter_python());
    while (fgets(path, sizeof path, stdin)) {
        struct stet_file f;
        TSTree *tree;

        path[strcspn(path, "\n")] = '\0';
        if (stet_file_open(&f, path, NULL) != STET_OK)
            continue;
        tree = ts_parser_parse_string(parser, NULL, f.bytes.len ? f.bytes.ptr : "",
                                      (uint32_t)f.bytes.len);
        ts_tree_delete(tree);
        bytes += f.bytes.len;
        files++;
        stet_file_close(&f);
    }
    ts_parser_delete(parser);
    fprintf(stderr, "%.3f %u %llu\n", (double)clock() / CLOCKS_PER_SEC, files, bytes);
    return 0;
}
