/* Pack: "STETLINT", version, build hash, count, then per entry key, offset, length (all 64-bit
 * little-endian, sorted by key), then the summaries, and last the hash of all before it. */
#include "lint/summary_cache.h"

#include "base/mem.h"
#include "base/reader.h"
#include "stet_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { VERSION = 7, HEAD = 8 + 8 + 16 + 8, ROW = 32 };

/* A file that was built or installed again has another time of change. The date of the build is not
 * part of it: the same source makes the same program. */
struct stet_hash lint_cache_build(void)
{
    struct stet_hash h = stet_hash_bytes(STET_VIEW(STET_VERSION));
    struct stat st;

    if (stat("/proc/self/exe", &st) == 0) {
        h = stet_hash_mix_u64(h, (uint64_t)st.st_size);
        h = stet_hash_mix_u64(h, (uint64_t)st.st_mtim.tv_sec);
        h = stet_hash_mix_u64(h, (uint64_t)st.st_mtim.tv_nsec);
        h = stet_hash_mix_u64(h, (uint64_t)st.st_ctim.tv_sec);
        h = stet_hash_mix_u64(h, (uint64_t)st.st_ctim.tv_nsec);
    }
    return h;
}

static uint64_t u64_at(const struct lint_cache *c, size_t offset)
{
    uint64_t v;

    memcpy(&v, c->file.bytes.ptr + offset, sizeof v);
    return le64toh(v);
}

static bool is_sound(const struct lint_cache *c)
{
    struct stet_view b = c->file.bytes;
    struct stet_hash build = lint_cache_build(), sum;
    uint64_t count;

    if (b.len < HEAD + 16 || memcmp(b.ptr, "STETLINT", 8) != 0 || u64_at(c, 8) != VERSION ||
        u64_at(c, 16) != build.hi || u64_at(c, 24) != build.lo)
        return false;
    count = u64_at(c, 32);
    if (count > (b.len - HEAD - 16) / ROW)
        return false;
    sum = stet_hash_bytes(stet_view_of(b.ptr, b.len - 16));
    return sum.hi == u64_at(c, b.len - 16) && sum.lo == u64_at(c, b.len - 8);
}

void lint_cache_open(struct lint_cache *c, const char *folder, struct stet_hash paths)
{
    char name[STET_HASH_TEXT + 8];

    *c = (struct lint_cache){0};
    if (!folder || stet_fs_mkdirs(folder, NULL) != STET_OK)
        return;
    stet_hash_format(paths, name);
    memcpy(name + STET_HASH_TEXT - 1, ".pack", sizeof ".pack");
    c->path = stet_fs_join(folder, name);
    if (!c->path || stet_file_open(&c->file, c->path, NULL) != STET_OK)
        return;
    if (is_sound(c))
        c->count = u64_at(c, 32);
    else
        stet_file_close(&c->file);
}

void lint_cache_close(struct lint_cache *c)
{
    stet_file_close(&c->file);
    stet_mem_free(c->path);
    *c = (struct lint_cache){0};
}

struct stet_view lint_cache_find(const struct lint_cache *c, struct stet_hash key)
{
    uint64_t low = 0, high = c->count;

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        size_t row = HEAD + (size_t)mid * ROW;
        struct stet_hash k = {u64_at(c, row), u64_at(c, row + 8)};
        int order = stet_hash_cmp(k, key);

        if (order == 0) {
            uint64_t offset = u64_at(c, row + 16), length = u64_at(c, row + 24);

            if (offset > c->file.bytes.len || length > c->file.bytes.len - offset)
                break;
            return stet_view_of(c->file.bytes.ptr + offset, (size_t)length);
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return (struct stet_view){0};
}

static int by_key(const void *a, const void *b)
{
    return stet_hash_cmp(((const struct lint_cache_entry *)a)->key,
                         ((const struct lint_cache_entry *)b)->key);
}

static void put_hash(struct stet_buf *out, struct stet_hash h)
{
    stet_buf_u64(out, h.hi);
    stet_buf_u64(out, h.lo);
}

void lint_cache_write(const struct lint_cache *c, struct lint_cache_entry *entries, size_t count)
{
    struct stet_buf out = STET_BUF_INIT;
    uint64_t offset = HEAD + (uint64_t)count * ROW;

    if (!c->path)
        return;
    qsort(entries, count, sizeof *entries, by_key);
    stet_buf_str(&out, "STETLINT");
    stet_buf_u64(&out, VERSION);
    put_hash(&out, lint_cache_build());
    stet_buf_u64(&out, count);
    for (size_t i = 0; i < count; i++) {
        put_hash(&out, entries[i].key);
        stet_buf_u64(&out, offset);
        stet_buf_u64(&out, entries[i].bytes.len);
        offset += entries[i].bytes.len;
    }
    for (size_t i = 0; i < count; i++)
        stet_buf_view(&out, entries[i].bytes);
    if (!out.failed)
        put_hash(&out, stet_hash_bytes(stet_buf_as_view(&out)));
    if (!out.failed)
        stet_fs_write(c->path, stet_buf_as_view(&out), NULL);
    stet_buf_release(&out);
}
