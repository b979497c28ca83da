/* Reads captured programs and drops the least recently used ones. */
#include "session/program_cache.h"

#include "base/mem.h"
#include "decode/decode.h"
#include "explain/side.h"
#include "ledger/captured.h"

#include <stdio.h>

enum { BOOKS = 64, OPTIONS = 64, OPERATIONS = 500000, OPTIONS_MOST = 64 << 20 };

struct book {
    struct stet_hash hash;
    struct stet_file file;
    struct stet_program program;
    struct stet_fingerprint fingerprint;
    struct stet_side *tables;
    uint64_t used; /* 0: empty */
};

struct slip {
    struct stet_hash hash;
    struct stet_options options;
    uint64_t used;
};

struct placed {
    struct stet_hash hash;
    char *path;
};

struct stet_session_programs {
    struct placed *places;
    size_t place_count, place_next; /* next: the place that is probably needed next */
    struct book books[BOOKS];
    struct slip slips[OPTIONS];
    uint64_t clock;
};

struct stet_session_programs *stet_session_programs_new(void)
{
    return stet_mem_calloc(1, sizeof(struct stet_session_programs));
}

static void put_back(struct book *b)
{
    if (b->used) {
        stet_side_release(b->tables);
        stet_mem_free(b->tables);
        stet_program_release(&b->program);
        stet_file_close(&b->file);
    }
    *b = (struct book){0};
}

void stet_session_programs_free(struct stet_session_programs *s)
{
    if (!s)
        return;
    for (int i = 0; i < BOOKS; i++)
        put_back(&s->books[i]);
    for (int i = 0; i < OPTIONS; i++)
        if (s->slips[i].used)
            stet_options_release(&s->slips[i].options);
    for (size_t i = 0; i < s->place_count; i++)
        stet_mem_free(s->places[i].path);
    stet_mem_free(s->places);
    stet_mem_free(s);
}

void stet_session_programs_place(struct stet_session_programs *s, struct stet_hash program,
                                 const char *path)
{
    size_t n = s->place_count;
    struct placed *more =
        n & (n - 1) ? s->places : stet_mem_resize(s->places, n ? 2 * n : 1, sizeof *more);

    if (!more)
        return;
    s->places = more;
    more[n] = (struct placed){program, stet_mem_strdup(path)};
    s->place_count += more[n].path != NULL;
}

static const char *place_of(struct stet_session_programs *s, struct stet_hash program)
{
    for (size_t i = 0; i < s->place_count; i++) {
        size_t at = (s->place_next + i) % s->place_count;

        if (!stet_hash_eq(s->places[at].hash, program))
            continue;
        s->place_next = at + 1;
        return s->places[at].path;
    }
    return NULL;
}

/* programs/<hash>.<ext>[.zst] */
static enum stet_rc open_captured(struct stet_file *f, const char *folder, struct stet_hash hash,
                                  const char *const *extensions, uint64_t most,
                                  struct stet_err *err)
{
    char text[STET_HASH_TEXT], path[4200];

    stet_hash_format(hash, text);
    for (; *extensions; extensions++) {
        snprintf(path, sizeof path, "%s/programs/%s.%s", folder, text, *extensions);
        if (stet_fs_is_plain(path))
            return stet_ledger_captured_open(f, path, most, err);
    }
    return stet_fail(err, STET_NOT_FOUND, "program %.12s was not captured", text);
}

static enum stet_rc read_book(struct book *b, const char *folder, const char *path,
                              const struct stet_compile_event *c, struct stet_err *err)
{
    static const char *const extensions[] = {
        "mlirbc.zst", "mlir.zst", "hlo.pb.zst", "hlo_with_config.pb.zst", "bin.zst", NULL};
    enum stet_rc rc =
        path ? stet_ledger_captured_open(&b->file, path, c->program_size, err)
             : open_captured(&b->file, folder, c->program, extensions, c->program_size, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_decode(&b->program, b->file.bytes, err);
    if (rc == STET_OK) {
        b->tables = stet_mem_alloc(sizeof *b->tables);
        rc = b->tables ? stet_side_prepare(b->tables, &b->program, (struct stet_view){0},
                                           &b->fingerprint, err)
                       : stet_fail(err, STET_NO_MEMORY, "out of memory for a program");
        if (rc != STET_OK) {
            stet_mem_free(b->tables);
            stet_program_release(&b->program);
        }
    }
    if (rc != STET_OK) {
        stet_file_close(&b->file);
        *b = (struct book){0};
    }
    return rc;
}

/* Drops large programs until the rest fits into its share of memory; the last one always stays. */
static void spare(struct stet_session_programs *s)
{
    for (;;) {
        struct book *oldest = NULL, *newest = NULL;
        uint64_t operations = 0;

        for (int i = 0; i < BOOKS; i++) {
            struct book *b = &s->books[i];

            if (!b->used)
                continue;
            operations += b->program.op_count;
            oldest = !oldest || b->used < oldest->used ? b : oldest;
            newest = !newest || b->used > newest->used ? b : newest;
        }
        if (operations <= OPERATIONS || oldest == newest)
            return;
        put_back(oldest);
    }
}

static struct book *find_book(struct stet_session_programs *s, const char *folder,
                              const struct stet_compile_event *c, struct stet_err *err)
{
    struct stet_hash hash = c->program;
    struct book *oldest = &s->books[0];

    for (int i = 0; i < BOOKS; i++) {
        struct book *b = &s->books[i];

        if (b->used && stet_hash_eq(b->hash, hash)) {
            b->used = ++s->clock;
            return b;
        }
        if (b->used < oldest->used)
            oldest = b;
    }
    put_back(oldest);
    spare(s);
    if (read_book(oldest, folder, place_of(s, hash), c, err) != STET_OK)
        return NULL;
    oldest->hash = hash;
    oldest->used = ++s->clock;
    return oldest;
}

/* Options that cannot be read count as unknown. */
static const struct stet_options *find_options(struct stet_session_programs *s, const char *folder,
                                               struct stet_hash hash)
{
    static const char *const extensions[] = {"options.zst", NULL};
    struct slip *oldest = &s->slips[0];
    struct stet_file file;

    if (stet_hash_is_zero(hash))
        return NULL;
    for (int i = 0; i < OPTIONS; i++) {
        struct slip *o = &s->slips[i];

        if (o->used && stet_hash_eq(o->hash, hash)) {
            o->used = ++s->clock;
            return &o->options;
        }
        if (o->used < oldest->used)
            oldest = o;
    }
    if (open_captured(&file, folder, hash, extensions, OPTIONS_MOST, NULL) != STET_OK)
        return NULL;
    if (oldest->used)
        stet_options_release(&oldest->options);
    oldest->used = 0;
    if (stet_options_decode(&oldest->options, file.bytes, NULL) == STET_OK) {
        oldest->hash = hash;
        oldest->used = ++s->clock;
    }
    stet_file_close(&file);
    return oldest->used ? &oldest->options : NULL;
}

enum stet_rc stet_session_programs_open(struct stet_session_programs *s, const char *folder,
                                        const struct stet_compile_event *c,
                                        struct stet_history_side *out, struct stet_err *err)
{
    struct book *b = find_book(s, folder, c, err);

    if (!b)
        return err ? err->rc : STET_NOT_FOUND;
    *out = (struct stet_history_side){{&b->program, &b->fingerprint, b->tables},
                                      find_options(s, folder, c->options)};
    return STET_OK;
}
