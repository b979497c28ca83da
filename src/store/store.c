/* See store.h: paths, reading, writing, removing. */
#include "store/store.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum stet_rc stet_store_open(struct stet_store *s, const char *folder, struct stet_err *err)
{
    const char *mode = getenv("STET_STORE_MODE");

    *s = (struct stet_store){.read_only = mode && !strcmp(mode, "read-only")};
    if (strlen(folder) >= sizeof s->folder)
        return stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    strcpy(s->folder, folder);
    return STET_OK;
}

char *stet_store_default(struct stet_err *err)
{
    const char *own = getenv("STET_STORE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;

    if (own && *own == '/')
        folder = stet_mem_strdup(own);
    else if (xdg && *xdg == '/')
        folder = stet_fs_join(xdg, "stet/store");
    else if (home && *home == '/')
        folder = stet_fs_join(home, ".cache/stet/store");
    else
        stet_fail(err, STET_IO, "no home folder: set STET_STORE");
    if (!folder)
        stet_fail(err, STET_NO_MEMORY, "out of memory");
    return folder;
}

void stet_store_path(const struct stet_store *s, struct stet_hash key, char out[PATH_MAX + 64])
{
    char name[STET_HASH_TEXT];

    stet_hash_format(key, name);
    snprintf(out, PATH_MAX + 64, "%s/entries/%.2s/%s.stet", s->folder, name, name);
}

enum stet_rc stet_store_get(const struct stet_store *s, struct stet_hash key,
                            struct stet_entry_file *out, struct stet_err *err)
{
    char path[PATH_MAX + 64];
    enum stet_rc rc;

    stet_store_path(s, key, path);
    rc = stet_entry_open(out, path, err);
    if (rc != STET_OK)
        return rc;
    if (!stet_hash_eq(out->key, key)) {
        stet_entry_close(out);
        return stet_fail(err, STET_BAD_INPUT, "%s: holds the entry of another key", path);
    }
    return STET_OK;
}

void stet_store_touch(const struct stet_store *s, struct stet_hash key)
{
    char path[PATH_MAX + 64];

    stet_store_path(s, key, path);
    if (!s->read_only)
        utimensat(AT_FDCWD, path, NULL, 0);
}

enum stet_rc stet_store_put_bytes(const struct stet_store *s, struct stet_hash key,
                                  struct stet_view bytes, struct stet_err *err)
{
    char path[PATH_MAX + 64];
    enum stet_rc rc;
    char *slash;

    if (s->read_only)
        return stet_fail(err, STET_UNSUPPORTED, "%s: the store is read-only", s->folder);
    stet_store_path(s, key, path);
    slash = strrchr(path, '/');
    *slash = '\0';
    rc = stet_fs_mkdirs(path, err);
    *slash = '/';
    return rc == STET_OK ? stet_fs_write(path, bytes, err) : rc;
}

enum stet_rc stet_store_put(const struct stet_store *s, const struct stet_kept *e, uint64_t *bytes,
                            struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    enum stet_rc rc = stet_entry_pack(&out, e, err);

    *bytes = 0;
    if (rc == STET_OK)
        rc = stet_store_put_bytes(s, stet_key_of(&e->parts), stet_buf_as_view(&out), err);
    if (rc == STET_OK)
        *bytes = out.len;
    stet_buf_release(&out);
    return rc;
}

enum stet_rc stet_store_remove(const struct stet_store *s, struct stet_hash key,
                               struct stet_err *err)
{
    char path[PATH_MAX + 64];

    stet_store_path(s, key, path);
    if (unlink(path) == 0)
        return STET_OK;
    if (errno == ENOENT)
        return STET_NOT_FOUND;
    return stet_fail_errno(err, "%s: cannot remove", path);
}
