/* Maps bytes of a program to the program's hash, so that known bytes need not be decoded and hashed
 * again: a symbolic link <folder>/programs/<2 hex>/<hash of the bytes> with the target
 * "<version>:<hash of the program>". One call reads it and another creates it; the target does not
 * exist. It is only a hint: the user of it compares the bytes. */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int path_of(const struct stet_store *s, struct stet_hash bytes, char out[PATH_MAX + 64])
{
    char name[STET_HASH_TEXT];

    stet_hash_format(bytes, name);
    snprintf(out, PATH_MAX + 64, "%s/programs/%.2s/%s", s->folder, name, name);
    return (int)(strlen(out) - strlen(name) - 1);
}

bool stet_store_alias(const struct stet_store *s, struct stet_hash bytes, unsigned version,
                      struct stet_hash *program)
{
    char path[PATH_MAX + 64], text[64], expected[16];
    ssize_t n;
    int prefix;

    path_of(s, bytes, path);
    n = readlink(path, text, sizeof text);
    prefix = snprintf(expected, sizeof expected, "%u:", version);
    return n == prefix + 32 && !memcmp(text, expected, (size_t)prefix) &&
           stet_hash_parse(stet_view_of(text + prefix, 32), program);
}

void stet_store_alias_set(const struct stet_store *s, struct stet_hash bytes, unsigned version,
                          struct stet_hash program)
{
    char path[PATH_MAX + 64], text[64], name[STET_HASH_TEXT];
    int folder = path_of(s, bytes, path);

    if (s->read_only)
        return;
    stet_hash_format(program, name);
    snprintf(text, sizeof text, "%u:%s", version, name);
    if (symlink(text, path) == 0)
        return;
    if (errno == EEXIST) {
        unlink(path); /* of another version */
    } else {
        path[folder] = '\0';
        if (stet_store_mkdirs(s, path, NULL) != STET_OK)
            return;
        path[folder] = '/';
    }
    if (symlink(text, path) != 0)
        return; /* another process was faster, or the disk is full: only a hint is missing */
}
