/* store-move STORE COMPONENT VALUE [PROGRAM]: every entry as if that component had been VALUE when
 * it was compiled, and its program that file; it gets the key that goes with it.
 * store-move STORE version VALUE: every entry as if a Stet of that version had written it. */
#include "store/layout.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool set_version(const struct stet_store *s, struct stet_hash key, unsigned version)
{
    struct stet_buf b = STET_BUF_INIT;
    char head[STET_ENTRY_HEAD], path[PATH_MAX + 64];
    struct stet_hash sum;
    bool done;
    int fd;

    stet_store_path(s, key, path);
    fd = open(path, O_RDWR | O_CLOEXEC);
    done = fd >= 0 && pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head;
    stet_buf_u32(&b, version);
    memcpy(head + sizeof stet_entry_magic, b.ptr, b.len);
    sum = stet_hash_bytes(stet_view_of(head, sizeof head));
    b.len = 0;
    stet_buf_add(&b, head, sizeof head);
    stet_buf_u64(&b, sum.hi);
    stet_buf_u64(&b, sum.lo);
    done = done && pwrite(fd, b.ptr, b.len, 0) == (ssize_t)b.len;
    if (fd >= 0)
        close(fd);
    stet_buf_release(&b);
    return done;
}

static bool move(const struct stet_store *s, struct stet_hash key, const char *component,
                 const char *value, const struct stet_file *other, struct stet_err *err)
{
    struct stet_buf program = STET_BUF_INIT, executable = STET_BUF_INIT, options = STET_BUF_INIT;
    struct stet_entry_file f;
    struct stet_kept k;
    uint64_t bytes;

    if (stet_store_get(s, key, &f, err) != STET_OK ||
        stet_store_entry_program(&f, &program, err) != STET_OK ||
        stet_store_entry_executable(&f, &executable, err) != STET_OK)
        return false;
    stet_store_entry_options(&f, &options);
    k = (struct stet_kept){
        .parts = f.parts,
        .name = f.name,
        .format = f.format,
        .plugin_path = f.plugin_path,
        .options = stet_buf_as_view(&options),
        .program = other->bytes.len ? other->bytes : stet_buf_as_view(&program),
        .executable = stet_buf_as_view(&executable),
    };
    for (size_t i = 0; i < STET_COMPONENTS; i++) {
        if (!strcmp(stet_store_component_name((enum stet_component)i), component))
            k.parts.part[i] = stet_view_str(value);
    }
    if (stet_store_put(s, &k, &bytes, err) != STET_OK || stet_store_remove(s, key, err) != STET_OK)
        return false;
    stet_store_entry_close(&f);
    stet_buf_release(&program);
    stet_buf_release(&executable);
    stet_buf_release(&options);
    return true;
}

int main(int argc, char **argv)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_stored_list all;
    struct stet_file other = {0};
    struct stet_store s;

    if (argc < 4 || (argc > 4 && stet_file_open(&other, argv[4], &err) != STET_OK) ||
        stet_store_open(&s, argv[1], &err) != STET_OK ||
        stet_store_list(&s, &all, &err) != STET_OK) {
        fprintf(stderr, "store-move: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < all.count; i++) {
        bool done = strcmp(argv[2], "version")
                        ? move(&s, all.items[i].key, argv[2], argv[3], &other, &err)
                        : set_version(&s, all.items[i].key, (unsigned)atoi(argv[3]));

        if (!done) {
            fprintf(stderr, "store-move: %s\n", err.text);
            return 1;
        }
    }
    stet_store_list_release(&all);
    stet_file_close(&other);
    return 0;
}
