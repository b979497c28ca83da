/* Finds the nearest entry of the store for each miss. An entry with the same program and another
 * component is the best evidence: it explains why the whole cache missed. Otherwise the program
 * changed, and the nearest entry is one of the same family. */
#include "session/miss.h"

#include "base/mem.h"
#include "decode/decode.h"
#include "decode/options.h"
#include "fingerprint/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>

enum { LOOK = 512 }; /* entries examined, the last used first */

/* An entry of the store, read once for all misses. */
struct candidate {
    struct stet_entry_file file;
    bool printed; /* `print` was made, or cannot be made */
    bool has_print;
    struct stet_fingerprint print;
};

struct near {
    struct stet_store store;
    struct candidate items[LOOK];
    size_t count;
};

static struct stet_view line_of(struct stet_view words, const char *name)
{
    size_t n = strlen(name);

    while (words.len) {
        const char *end = memchr(words.ptr, '\n', words.len);
        size_t len = end ? (size_t)(end - words.ptr) : words.len;

        if (len > n && words.ptr[n] == '=' && !memcmp(words.ptr, name, n))
            return stet_view_of(words.ptr + n + 1, len - n - 1);
        len += end != NULL;
        words = stet_view_of(words.ptr + len, words.len - len);
    }
    return (struct stet_view){0};
}

static bool is_miss(const struct stet_compile_event *c)
{
    return !c->load && c->ended && !c->error_code && !c->served && c->store.len;
}

static bool written_by(const struct stet_run_digest *d, struct stet_hash key)
{
    for (size_t p = 0; p < d->process_count; p++) {
        for (size_t i = 0; i < d->processes[p].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            if (c->stored && stet_hash_eq(c->key, key))
                return true;
        }
    }
    return false;
}

static enum stet_rc open_near(struct near *n, const struct stet_run_digest *d,
                              struct stet_view folder, struct stet_err *err)
{
    struct stet_stored_list all;
    char path[PATH_MAX + 64];
    enum stet_rc rc;

    snprintf(path, sizeof path, "%.*s", STET_FMT(folder));
    rc = stet_store_open(&n->store, path, err);
    if (rc == STET_OK)
        rc = stet_store_list(&n->store, &all, err);
    if (rc != STET_OK)
        return rc;
    for (size_t i = all.count; i > 0 && n->count < LOOK; i--) {
        struct candidate *c = &n->items[n->count];

        if (written_by(d, all.items[i - 1].key))
            continue;
        *c = (struct candidate){0};
        stet_store_path(&n->store, all.items[i - 1].key, path);
        n->count += stet_store_entry_open(&c->file, path, NULL) == STET_OK;
    }
    stet_store_list_release(&all);
    return STET_OK;
}

static bool print_of(const struct stet_entry_file *f, struct stet_fingerprint *out)
{
    struct stet_buf code = STET_BUF_INIT;
    struct stet_program program;
    bool made = false;

    if (stet_store_entry_program(f, &code, NULL) == STET_OK &&
        stet_decode(&program, stet_buf_as_view(&code), NULL) == STET_OK) {
        made = stet_fingerprint_make(out, &program, (struct stet_view){0}, NULL) == STET_OK;
        stet_arena_release(&program.arena);
    }
    stet_buf_release(&code);
    return made;
}

/* Returns a larger number for a nearer entry. `own` is the fingerprint of the program that missed,
 * or NULL. */
static int nearness(struct candidate *c, const struct stet_key_parts *parts, struct stet_view name,
                    const struct stet_fingerprint *own)
{
    int score = 0;

    for (size_t i = 0; i < STET_COMPONENTS; i++)
        score += stet_view_eq(parts->part[i], c->file.parts.part[i]);
    if (stet_view_eq(parts->part[STET_COMPONENT_PROGRAM],
                     c->file.parts.part[STET_COMPONENT_PROGRAM]))
        return score + 1000;
    if (!c->printed && own) {
        c->printed = true;
        c->has_print = print_of(&c->file, &c->print);
    }
    if (own && c->has_print && stet_hash_eq(own->skeleton, c->print.skeleton))
        score += 500 - 20 * __builtin_popcount(stet_fingerprint_moved(own, &c->print));
    return score + (stet_view_eq(name, c->file.name) ? 10 : 0);
}

static void facets_detail(struct stet_miss *m, struct stet_arena *a, uint32_t moved)
{
    for (unsigned f = 0; f < STET_FACETS; f++) {
        if (moved & (1u << f))
            m->detail =
                stet_arena_printf(a, "%.*s%s%s", STET_FMT(m->detail), m->detail.len ? ", " : "",
                                  stet_facet_name((enum stet_facet)f));
    }
}

struct first_option {
    struct stet_arena *arena;
    struct stet_view text;
    unsigned count;
};

static void see_option(void *context, struct stet_view path, struct stet_view from,
                       struct stet_view to)
{
    struct first_option *f = context;

    if (!f->count++)
        f->text = stet_arena_printf(f->arena, "%.*s: %.*s -> %.*s", STET_FMT(path),
                                    from.ptr ? (int)from.len : 5, from.ptr ? from.ptr : "unset",
                                    to.ptr ? (int)to.len : 5, to.ptr ? to.ptr : "unset");
}

static void options_detail(struct stet_miss *m, struct stet_arena *a,
                           const struct stet_entry_file *from, const struct stet_entry_file *to)
{
    struct stet_buf x = STET_BUF_INIT, y = STET_BUF_INIT;
    struct first_option first = {.arena = a};
    struct stet_options before, after;

    stet_store_entry_options(from, &x);
    stet_store_entry_options(to, &y);
    if (x.len && y.len && stet_options_decode(&before, stet_buf_as_view(&x), NULL) == STET_OK) {
        if (stet_options_decode(&after, stet_buf_as_view(&y), NULL) == STET_OK) {
            first.text = STET_VIEW("the content of a file that one of them names");
            stet_options_diff(&before, &after, see_option, &first);
            stet_options_release(&after);
        }
        stet_options_release(&before);
    }
    m->detail = first.text;
    if (first.count > 1)
        m->detail =
            stet_arena_printf(a, "%.*s, and %u more", STET_FMT(first.text), first.count - 1);
    stet_buf_release(&x);
    stet_buf_release(&y);
}

/* True when the entry has neither the program nor, as far as is known, one of its family. */
static bool is_stranger(const struct stet_key_parts *parts, const struct candidate *c,
                        const struct stet_fingerprint *print)
{
    return !stet_view_eq(parts->part[STET_COMPONENT_PROGRAM],
                         c->file.parts.part[STET_COMPONENT_PROGRAM]) &&
           !(print && c->has_print && stet_hash_eq(print->skeleton, c->print.skeleton));
}

/* `own` is the entry that the miss itself was stored as, or NULL. */
static void blame(struct stet_miss *m, struct stet_arena *a, const struct stet_key_parts *parts,
                  struct candidate *c, const struct stet_entry_file *own,
                  const struct stet_fingerprint *print)
{
    int first = -1;

    if (is_stranger(parts, c, print))
        return; /* no component differs: the program is new */
    m->nearest = c->file.key;
    for (int i = 0; i < STET_COMPONENTS; i++) {
        if (stet_view_eq(parts->part[i], c->file.parts.part[i]))
            continue;
        if (first < 0)
            first = i;
        else
            m->also++;
    }
    if (first < 0)
        return;
    m->has_moved = true;
    m->moved = (enum stet_component)first;
    m->from = stet_arena_copy(a, c->file.parts.part[first]);
    m->to = stet_arena_copy(a, parts->part[first]);
    if (first == STET_COMPONENT_PROGRAM)
        facets_detail(m, a, stet_fingerprint_moved(print, &c->print));
    if (first == STET_COMPONENT_OPTIONS && own)
        options_detail(m, a, &c->file, own);
}

static void find_nearest(struct stet_miss *m, struct stet_arena *a, struct near *n,
                         const struct stet_compile_event *c)
{
    struct stet_entry_file own;
    struct stet_key_parts parts;
    struct stet_fingerprint print;
    struct candidate *best = NULL;
    bool kept = stet_store_get(&n->store, c->key, &own, NULL) == STET_OK;
    bool printed = kept && print_of(&own, &print);
    int most = 0;

    stet_store_key_from_words(&parts, c->components);
    for (size_t i = 0; i < n->count; i++) {
        int score = nearness(&n->items[i], &parts, c->name, printed ? &print : NULL);

        if (score > most) {
            most = score;
            best = &n->items[i];
        }
    }
    if (best)
        blame(m, a, &parts, best, kept ? &own : NULL, printed ? &print : NULL);
    if (kept)
        stet_store_entry_close(&own);
}

static void close_near(struct near *n)
{
    for (size_t i = 0; n && i < n->count; i++)
        stet_store_entry_close(&n->items[i].file);
    stet_mem_free(n);
}

static void add(struct stet_misses *m, const struct stet_run_digest *d,
                const struct stet_compile_event *c, struct near **near)
{
    struct stet_miss *one = &m->items[m->count++];
    struct stet_view folder = line_of(c->components, "store");

    *one = (struct stet_miss){.name = stet_arena_copy(&m->arena, c->name),
                              .outcome = c->outcome,
                              .word = stet_arena_copy(&m->arena, c->store)};
    if (!folder.len)
        return;
    if (!*near) {
        *near = stet_mem_calloc(1, sizeof **near);
        if (*near && open_near(*near, d, folder, NULL) != STET_OK)
            (*near)->count = 0;
    }
    if (*near)
        find_nearest(one, &m->arena, *near, c);
}

/* A lifted program is not the store's. */
static void drop_lifted(struct stet_served_tally *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->places; i++) {
        if (t->served[i] == STET_SERVED_LIFTED)
            continue;
        t->name[n] = t->name[i];
        t->served[n] = t->served[i];
        t->count[n++] = t->count[i];
    }
    t->places = n;
}

enum stet_rc stet_misses_make(struct stet_misses *m, const struct stet_run_digest *d,
                              struct stet_err *err)
{
    struct near *near = NULL;
    size_t room = 1;

    *m = (struct stet_misses){0};
    stet_arena_init(&m->arena, (size_t)256 << 20);
    for (size_t p = 0; p < d->process_count; p++)
        room += d->processes[p].compile_count;
    m->items = STET_NEW_ARRAY(&m->arena, struct stet_miss, room);
    for (size_t p = 0; m->items && p < d->process_count; p++) {
        for (size_t i = 0; i < d->processes[p].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            m->compiles += !c->load && c->ended && !c->error_code;
            m->served += !c->load && c->served && c->served != STET_SERVED_LIFTED;
            if (is_miss(c))
                add(m, d, c, &near);
        }
    }
    close_near(near);
    stet_session_served_count(&m->places, d);
    drop_lifted(&m->places);
    for (size_t i = 0; i < m->places.places; i++)
        m->places.name[i] = stet_arena_copy(&m->arena, m->places.name[i]);
    if (!m->arena.failed)
        return STET_OK;
    stet_misses_release(m);
    return stet_fail(err, STET_NO_MEMORY, "out of memory for the store's misses");
}

void stet_misses_release(struct stet_misses *m)
{
    stet_arena_release(&m->arena);
    *m = (struct stet_misses){0};
}

void stet_misses_json(const struct stet_misses *m, struct stet_json *j, const char *key)
{
    char nearest[STET_HASH_TEXT];

    stet_json_array(j, key);
    for (size_t i = 0; i < m->count; i++) {
        const struct stet_miss *one = &m->items[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "program", one->name);
        stet_json_string(j, "reason", one->word);
        if (one->has_moved) {
            stet_json_cstr(j, "moved", stet_store_component_name(one->moved));
            stet_json_string(j, "from", one->from);
            stet_json_string(j, "to", one->to);
            stet_json_string(j, "detail", one->detail);
            stet_json_uint(j, "also", one->also);
        }
        if (!stet_hash_is_zero(one->nearest)) {
            stet_hash_format(one->nearest, nearest);
            stet_json_cstr(j, "nearest", nearest);
        }
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}
