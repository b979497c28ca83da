/* The plain driver: every file of a corpus through the fuzz target, and once each torn in half. */
#include "fuzz.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>

static bool feed(const char *folder, const char *name)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_file file;
    char *path = stet_fs_join(folder, name);
    bool fine = path && stet_file_open(&file, path, &err) == STET_OK;

    if (fine) {
        LLVMFuzzerTestOneInput((const uint8_t *)file.bytes.ptr, file.bytes.len);
        LLVMFuzzerTestOneInput((const uint8_t *)file.bytes.ptr, file.bytes.len / 2);
        stet_file_close(&file);
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    stet_mem_free(path);
    return fine;
}

int main(int argc, char **argv)
{
    int fed = 0, refused = 0;

    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);

        if (!folder) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(folder));)
            if (entry->d_name[0] != '.')
                *(feed(argv[i], entry->d_name) ? &fed : &refused) += 1;
        closedir(folder);
    }
    printf("%d files replayed, %d could not be read\n", fed, refused);
    return refused || !fed;
}
