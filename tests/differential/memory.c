/* What programs take in memory, counted where it comes from malloc: reader-memory [LIST]; LIST (or
 * standard input) names a program a line. Exit 0 when each holds at most 8 times its input without
 * its constants, 1 when not.
 *
 * Below a kilobyte there is a floor of 3 KB on top, and while a program is read there are tables
 * beside it: no more than 24 KB above those 8 times, and for bytecode no more than 3 times the
 * input and 4 KB. */
#include "base/fs.h"
#include "decode/decode.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

enum {
    TIMES = 8,
    SMALL = 1024,
    FLOOR = 3 << 10,
    TABLES = 24 << 10,
    BYTECODE_TIMES = 3,
    BYTECODE_TABLES = 4 << 10,
};

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

static size_t held, most;

/* With the word that malloc keeps before each piece. */
static size_t weight(void *ptr)
{
    return ptr ? malloc_usable_size(ptr) + sizeof(size_t) : 0;
}

static void *count(void *ptr)
{
    held += weight(ptr);
    if (held > most)
        most = held;
    return ptr;
}

void *__wrap_malloc(size_t size)
{
    return count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return count(__real_calloc(n, size));
}

void *__wrap_realloc(void *ptr, size_t size)
{
    size_t before = weight(ptr);
    void *moved = __real_realloc(ptr, size);

    if (moved)
        held -= before;
    return count(moved);
}

void __wrap_free(void *ptr)
{
    held -= weight(ptr);
    __real_free(ptr);
}

struct worst {
    double times;
    char path[512];
};

static void note(struct worst *w, double times, const char *path)
{
    if (times <= w->times)
        return;
    w->times = times;
    snprintf(w->path, sizeof w->path, "%.511s", path);
}

static bool measure(const char *path, struct worst *kept, struct worst *reading)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    struct stet_file f;
    size_t before, input, took, peak;
    bool fine;

    if (stet_file_open(&f, path, &err) != STET_OK) {
        printf("FAIL %s: %s\n", path, err.text);
        return false;
    }
    before = most = held;
    if (stet_decode(&p, f.bytes, &err) != STET_OK) {
        fine = held == before; /* MLIR writes some that nobody reads; they leave nothing */
        stet_file_close(&f);
        return fine;
    }
    input = f.bytes.len - (size_t)p.constant_bytes;
    took = held - before;
    peak = most - before;
    fine = took <= TIMES * input + (input < SMALL ? FLOOR : 0) && peak <= TIMES * input + TABLES &&
           (p.source != STET_SOURCE_BYTECODE ||
            peak - took <= BYTECODE_TIMES * input + BYTECODE_TABLES);
    if (!fine)
        printf("TOO MUCH %s: %zu bytes without constants, %zu held, %zu while reading\n", path,
               input, took, peak);
    if (input >= SMALL) {
        note(kept, (double)took / (double)input, path);
        note(reading, (double)peak / (double)input, path);
    }
    stet_program_release(&p);
    stet_file_close(&f);
    if (held != before) {
        printf("FAIL %s: %zd bytes are left behind\n", path, (ssize_t)(held - before));
        return false;
    }
    return fine;
}

int main(int argc, char **argv)
{
    struct worst kept = {0}, reading = {0};
    unsigned fine = 0, all = 0;
    char line[8192];
    FILE *list = argc > 1 ? fopen(argv[1], "r") : stdin;

    if (!list)
        return 2;
    for (; fgets(line, sizeof(line), list); all++) {
        line[strcspn(line, "\n")] = '\0';
        fine += measure(line, &kept, &reading);
    }
    printf("%u of %u programs hold at most %d times their input; the most: %.2f (%s), with tables "
           "%.2f (%s)\n",
           fine, all, TIMES, kept.times, kept.path, reading.times, reading.path);
    return fine == all && all ? 0 : 1;
}
