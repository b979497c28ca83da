/* Reads the CPU backend's account of memory (src/backend/api/memory_log.c): the files account-<pid>
 * of a folder, records of five little-endian numbers. A record that is torn or all zeros has a
 * wrong check, and is skipped. */
#include "fit/fit_internal.h"

#include "base/fs.h"
#include "base/reader.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { RECORD = 40, CHECKED = 32, MOST_ACCOUNT = 1 << 24 };

static void take(struct stet_fit *fit, struct stet_hash program, uint64_t beside)
{
    for (size_t i = 0; i < fit->count; i++) {
        struct stet_fit_program *p = &fit->programs[i];

        if (!stet_hash_eq(p->item->program, program))
            continue;
        p->beside_known = true;
        if (beside > p->beside)
            p->beside = beside;
    }
}

static void read_file(struct stet_fit *fit, const char *path)
{
    struct stet_file f = {0};

    if (stet_file_open_small(&f, path, MOST_ACCOUNT, NULL) != STET_OK)
        return;
    for (size_t at = 0; at + RECORD <= f.bytes.len; at += RECORD) {
        struct stet_view bytes = stet_view_of(f.bytes.ptr + at, RECORD);
        struct stet_hash program;
        struct stet_reader r;
        uint64_t beside, check;

        stet_reader_init(&r, bytes, 0);
        program.hi = stet_reader_u64(&r);
        program.lo = stet_reader_u64(&r);
        beside = stet_reader_u64(&r);
        stet_reader_u64(&r); /* its arguments */
        check = stet_reader_u64(&r);
        if (stet_hash_bytes(stet_view_of(bytes.ptr, CHECKED)).lo == check)
            take(fit, program, beside);
    }
    stet_file_close(&f);
}

void stet_fit_account_read(struct stet_fit *fit, const char *folder)
{
    DIR *dir = opendir(folder);
    char path[PATH_MAX];

    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!strncmp(e->d_name, "account-", 8) &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path &&
            stet_fs_is_plain(path))
            read_file(fit, path);
    }
    if (dir)
        closedir(dir);
}
