/* What programs take in memory, counted where it comes from malloc: reader-memory [LIST]; LIST (or
 * standard input) names a program a line. Exit 0 when each takes at most 8 times its input without
 * its constants, also while it is read, 1 when not.
 *
 * Below a kilobyte there is a floor of 3 KB on top. The first tables of a reader are on the stack,
 * of which it takes no more than 48 KB; each program is read on one that is looked at
 * afterwards. */
#include "base/fs.h"
#include "decode/decode.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 8, SMALL = 1024, FLOOR = 3 << 10, STACK = 48 << 10, PAINT = 0xa5 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

/* What is in use, the latest last. */
static struct piece {
    void *ptr;
    size_t weight;
} pieces[1 << 16];
static size_t piece_count, held, most;

/* As malloc counts: with a word of its own, in steps of 16 bytes, at least 32. What it gives beyond
 * that, when a piece is left over that is too small for anybody else, is chance. */
static size_t weight(size_t size)
{
    size_t whole = (size + sizeof(size_t) + 15) & ~(size_t)15;

    return whole < 32 ? 32 : whole;
}

static void *put(void *ptr, size_t size)
{
    if (!ptr)
        return NULL;
    if (piece_count == sizeof pieces / sizeof *pieces)
        abort();
    pieces[piece_count++] = (struct piece){ptr, weight(size)};
    held += weight(size);
    if (held > most)
        most = held;
    return ptr;
}

/* Those that others made are not there. */
static void take(const void *ptr)
{
    size_t i = piece_count;

    while (i > 0 && pieces[i - 1].ptr != ptr)
        i--;
    if (!ptr || !i)
        return;
    held -= pieces[i - 1].weight;
    pieces[i - 1] = pieces[--piece_count];
}

void *__wrap_malloc(size_t size)
{
    return put(__real_malloc(size), size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return put(__real_calloc(n, size), n * size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
    uintptr_t before = (uintptr_t)ptr;
    void *moved = __real_realloc(ptr, size);

    if (moved)
        take((const void *)before);
    return put(moved, size);
}

void __wrap_free(void *ptr)
{
    take(ptr);
    __real_free(ptr);
}

/* ---- a reader on a stack of its own ---- */

static _Alignas(64) unsigned char stack[256 << 10];

struct reading {
    struct stet_program *p;
    struct stet_view bytes;
    struct stet_err *err;
    enum stet_rc rc;
};

static void *read_it(void *context)
{
    struct reading *r = context;

    r->rc = stet_decode(r->p, r->bytes, r->err);
    return NULL;
}

/* Gives the bytes of stack it took, some of which are the thread's own; 0 without a
 * thread. */
static size_t read_on_stack(struct reading *r)
{
    pthread_attr_t attr;
    pthread_t thread;
    size_t clean = 0;
    bool ran;

    memset(stack, PAINT, sizeof stack);
    pthread_attr_init(&attr);
    ran = pthread_attr_setstack(&attr, stack, sizeof stack) == 0 &&
          pthread_create(&thread, &attr, read_it, r) == 0;
    if (ran)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    while (clean < sizeof stack && stack[clean] == PAINT)
        clean++;
    return ran ? sizeof stack - clean : 0;
}

/* ---- measuring ---- */

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

static bool measure(const char *path, struct worst *kept, struct worst *reading,
                    struct worst *stacked)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    struct stet_file f;
    struct reading r = {.p = &p, .err = &err};
    size_t before, input, took, peak, depth;
    bool fine;

    if (stet_file_open(&f, path, &err) != STET_OK) {
        printf("FAIL %s: %s\n", path, err.text);
        return false;
    }
    before = most = held;
    r.bytes = f.bytes;
    depth = read_on_stack(&r);
    if (r.rc != STET_OK) {
        fine = held == before && depth; /* MLIR writes some that nobody reads; they leave nothing */
        stet_file_close(&f);
        return fine;
    }
    input = f.bytes.len - (size_t)p.constant_bytes;
    took = held - before;
    peak = most - before;
    fine = peak <= TIMES * input + (input < SMALL ? FLOOR : 0) && depth && depth <= STACK;
    if (!fine)
        printf("TOO MUCH %s: %zu bytes without constants, %zu held, %zu while reading, %zu on the "
               "stack\n",
               path, input, took, peak, depth);
    note(stacked, (double)depth / 1024, path);
    if (input >= SMALL) {
        note(kept, (double)took / (double)input, path);
        note(reading, (double)peak / (double)input, path);
    }
    stet_program_release(&p);
    if (held != before) { /* the input is among both */
        printf("FAIL %s: %zd bytes are left behind\n", path, (ssize_t)(held - before));
        fine = false;
    }
    stet_file_close(&f);
    return fine;
}

int main(int argc, char **argv)
{
    struct worst kept = {0}, reading = {0}, stacked = {0};
    unsigned fine = 0, all = 0;
    char line[8192];
    FILE *list = argc > 1 ? fopen(argv[1], "r") : stdin;

    if (!list)
        return 2;
    for (; fgets(line, sizeof(line), list); all++) {
        line[strcspn(line, "\n")] = '\0';
        fine += measure(line, &kept, &reading, &stacked);
    }
    printf(
        "%u of %u programs take at most %d times their input; the most of 1 KB or more: %.2f held "
        "(%s), %.2f while reading (%s); %.1f KB of stack (%s)\n",
        fine, all, TIMES, kept.times, kept.path, reading.times, reading.path, stacked.times,
        stacked.path);
    return fine == all && all ? 0 : 1;
}
