/* store-spoil ENTRY: puts bytes that are no executable into a sound entry. */
#include "store/entry.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf program = STET_BUF_INIT, out = STET_BUF_INIT;
    struct stet_entry_file f;
    struct stet_kept k;

    if (argc != 2 || stet_store_entry_open(&f, argv[1], &err) != STET_OK ||
        stet_store_entry_program(&f, &program, &err) != STET_OK) {
        fprintf(stderr, "store-spoil: %s\n", err.text);
        return 1;
    }
    k = (struct stet_kept){
        .parts = f.parts,
        .name = f.name,
        .format = f.format,
        .plugin_path = f.plugin_path,
        .program = stet_buf_as_view(&program),
        .executable = STET_VIEW("this was never an executable"),
    };
    if (stet_store_entry_pack(&out, &k, &err) != STET_OK ||
        stet_fs_write(argv[1], stet_buf_as_view(&out), &err) != STET_OK) {
        fprintf(stderr, "store-spoil: %s\n", err.text);
        return 1;
    }
    stet_store_entry_close(&f);
    stet_buf_release(&program);
    stet_buf_release(&out);
    return 0;
}
