/* The store's folder: putting and getting beside plain files that are synced and renamed, in turn
 * and with the same bytes; then what it costs to open a store and look up a key as the store grows.
 */
#include "bench.h"

#include "store/store.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES = 300, SIZE = 256 << 10, PROGRAM = 32 << 10, LOOKUPS = 1000 };

static char folder[64];

static void die(const struct stet_err *err)
{
    fprintf(stderr, "bench_store: %s\n", err->text);
    exit(1);
}

/* About as compressible as executables are. */
static void make_bytes(char *out, size_t size, unsigned random)
{
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        out[i] = (char)(i % 4 == 3 ? random >> 24 : (random >> 24) & 3);
    }
}

static struct stet_kept kept_of(unsigned number, char text[32], struct stet_view program,
                                struct stet_view executable)
{
    struct stet_kept k = {.name = STET_VIEW("bench"),
                          .format = STET_VIEW("mlir"),
                          .program = program,
                          .executable = executable};

    snprintf(text, 32, "program %u", number);
    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k.parts.part[i] = STET_VIEW("same");
    k.parts.part[STET_COMPONENT_PROGRAM] = stet_view_str(text);
    return k;
}

static double put_ours(const struct stet_store *s, const struct stet_kept *k)
{
    struct stet_err err = STET_ERR_INIT;
    double begin = bench_now_ns();
    uint64_t bytes;

    if (stet_store_put(s, k, &bytes, &err) != STET_OK)
        die(&err);
    return (bench_now_ns() - begin) / 1e6;
}

static double put_plain(const char *path, const struct stet_kept *k)
{
    struct stet_err err = STET_ERR_INIT;
    double begin = bench_now_ns();

    if (stet_fs_write(path, k->executable, &err) != STET_OK)
        die(&err);
    return (bench_now_ns() - begin) / 1e6;
}

static double get_ours(const struct stet_store *s, struct stet_hash key)
{
    struct stet_buf program = STET_BUF_INIT, executable = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    double begin = bench_now_ns();
    struct stet_entry_file f;

    if (stet_store_get(s, key, &f, &err) != STET_OK ||
        stet_store_entry_program(&f, &program, &err) != STET_OK ||
        stet_store_entry_executable(&f, &executable, &err) != STET_OK)
        die(&err);
    stet_store_entry_close(&f);
    stet_buf_release(&program);
    stet_buf_release(&executable);
    return (bench_now_ns() - begin) / 1e6;
}

static double get_plain(const char *path)
{
    struct stet_err err = STET_ERR_INIT;
    double begin = bench_now_ns();
    struct stet_file f;

    if (stet_file_open(&f, path, &err) != STET_OK)
        die(&err);
    stet_file_close(&f);
    return (bench_now_ns() - begin) / 1e6;
}

/* Median and 99th percentile of both, as two figures; `value` is ours. */
static void tell(const char *what, double *ours, double *plain)
{
    char name[64];
    double low = bench_quantile(ours, ENTRIES, 0.1), high = bench_quantile(ours, ENTRIES, 0.9);

    snprintf(name, sizeof name, "store.%s.median", what);
    bench_print(name, "ms", bench_quantile(ours, ENTRIES, 0.5), low, high,
                "plain files, synced and renamed", bench_quantile(plain, ENTRIES, 0.5), 0);
    snprintf(name, sizeof name, "store.%s.p99", what);
    bench_print(name, "ms", bench_quantile(ours, ENTRIES, 0.99), low, high,
                "plain files, synced and renamed", bench_quantile(plain, ENTRIES, 0.99), 0);
}

static void throughput(const char *what, const double *ours, const double *plain)
{
    double a = 0, b = 0, megabytes = (double)ENTRIES * (double)SIZE / 1e6;
    char name[64];

    for (int i = 0; i < ENTRIES; i++) {
        a += ours[i];
        b += plain[i];
    }
    snprintf(name, sizeof name, "store.%s.throughput", what);
    bench_print(name, "MB/s", megabytes / a * 1e3, 0, 0, "plain files, synced and renamed",
                megabytes / b * 1e3, 0);
}

static void put_and_get(void)
{
    static double ours[ENTRIES], plain[ENTRIES];
    static char program[PROGRAM], executable[SIZE], path[128], text[32];
    struct stet_hash keys[ENTRIES];
    struct stet_store s;

    snprintf(path, sizeof path, "%s/ours", folder);
    stet_store_open(&s, path, NULL);
    make_bytes(program, PROGRAM, 1);
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct stet_kept k;

        make_bytes(executable, SIZE, i);
        k = kept_of(i, text, stet_view_of(program, PROGRAM), stet_view_of(executable, SIZE));
        keys[i] = stet_store_key_of(&k.parts);
        snprintf(path, sizeof path, "%s/plain-%u", folder, i);
        ours[i] = put_ours(&s, &k);
        plain[i] = put_plain(path, &k);
    }
    throughput("put", ours, plain);
    tell("put", ours, plain);
    for (unsigned i = 0; i < ENTRIES; i++) {
        snprintf(path, sizeof path, "%s/plain-%u", folder, i);
        ours[i] = get_ours(&s, keys[i]);
        plain[i] = get_plain(path);
    }
    throughput("get", ours, plain);
    tell("get", ours, plain);
}

/* All of them from the beginning: a miss that ends at a folder which is not there is cheaper than
 * any in a store that is in use, and would make all others look dear. */
static void make_folders(const struct stet_store *s)
{
    char path[PATH_MAX + 64];

    for (uint64_t i = 0; i < 256; i++) {
        stet_store_path(s, (struct stet_hash){i << 56, 0}, path);
        *strrchr(path, '/') = '\0';
        if (stet_fs_mkdirs(path, NULL) != STET_OK)
            exit(1);
    }
}

/* Small entries, not synced: only their number matters. */
static void grow(const struct stet_store *s, unsigned from, unsigned to)
{
    char path[PATH_MAX + 64], text[32];

    for (unsigned i = from; i < to; i++) {
        struct stet_kept k = kept_of(i, text, STET_VIEW("p"), STET_VIEW("x"));
        struct stet_buf out = STET_BUF_INIT;
        int fd;

        stet_store_path(s, stet_store_key_of(&k.parts), path);
        stet_store_entry_pack(&out, &k, NULL);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || stet_fs_write_all(fd, out.ptr, out.len) != 0) {
            perror(path);
            exit(1);
        }
        close(fd);
        stet_buf_release(&out);
    }
}

static double look_up(const char *path, unsigned number, bool there)
{
    char text[32];
    struct stet_kept k = kept_of(number, text, STET_VIEW("p"), STET_VIEW("x"));
    struct stet_hash key = stet_store_key_of(&k.parts);
    double begin = bench_now_ns();
    struct stet_entry_file f;
    struct stet_store s;
    enum stet_rc rc;

    stet_store_open(&s, path, NULL);
    rc = stet_store_get(&s, key, &f, NULL);
    if (rc == STET_OK)
        stet_store_entry_close(&f);
    if (rc != (there ? STET_OK : STET_NOT_FOUND))
        exit(1);
    return (bench_now_ns() - begin) / 1e3;
}

static void curve(void)
{
    static const unsigned sizes[] = {100, 1000, 10000, 100000};
    static double hit[LOOKUPS], miss[LOOKUPS];
    double hit_small = 0, miss_small = 0;
    char path[128], name[64];
    struct stet_store s;
    unsigned have = 0, random = 7;

    snprintf(path, sizeof path, "%s/many", folder);
    stet_store_open(&s, path, NULL);
    make_folders(&s);
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        grow(&s, have, sizes[n]);
        have = sizes[n];
        for (unsigned i = 0; i < LOOKUPS; i++) {
            random = random * 1664525u + 1013904223u;
            hit[i] = look_up(path, random % have, true);
            miss[i] = look_up(path, 10000000 + random % 1000000, false);
        }
        if (!n) {
            hit_small = bench_quantile(hit, LOOKUPS, 0.5);
            miss_small = bench_quantile(miss, LOOKUPS, 0.5);
        }
        /* flat: three times that of a hundred entries is the most */
        snprintf(name, sizeof name, "store.open-and-hit.%u-entries", have);
        bench_print(name, "us", bench_quantile(hit, LOOKUPS, 0.5),
                    bench_quantile(hit, LOOKUPS, 0.1), bench_quantile(hit, LOOKUPS, 0.9),
                    "100 entries", hit_small, 3 * hit_small);
        snprintf(name, sizeof name, "store.open-and-miss.%u-entries", have);
        bench_print(name, "us", bench_quantile(miss, LOOKUPS, 0.5),
                    bench_quantile(miss, LOOKUPS, 0.1), bench_quantile(miss, LOOKUPS, 0.9),
                    "100 entries", miss_small, 3 * miss_small);
    }
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/stet-bench-store-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    put_and_get();
    curve();
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
