/* Every program of the second run against the nearest one of the first; what lies below; memory. */
#include "cli/rundiff.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/explain.h"
#include "cli/explain_shelf.h"
#include "cli/run_text.h"
#include "cli/torch_moves.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct side {
    const struct stet_run *run;
    struct stet_run_digest digest;
};

struct moves {
    struct stet_explained x; /* A as the past, B as what is compared with it */
    struct side a, b;
    bool moved[STET_THINGS];
    /* Functions with programs that only A has, and that no program of B came from. */
    struct gone {
        struct stet_view function;
        uint32_t programs;
    } *gone;
    size_t gone_count;
};

bool stet_rundiff_is_run(const char *name)
{
    char path[4200];
    struct stat st;

    snprintf(path, sizeof path, "%s/run.json", name);
    if (stet_fs_exists(path))
        return true;
    return (!strcmp(name, "latest") || (strchr(name, '-') && name[1])) && stat(name, &st) != 0;
}

/* ---- comparing ---- */

static enum stet_rc open_side(void *context, uint32_t number, struct stet_history_side *out,
                              struct stet_err *err)
{
    struct moves *m = context;
    const struct stet_sighting *s = &m->x.history.sightings[number];
    struct side *side = s->past ? &m->a : &m->b;
    const struct stet_compile_event *c =
        &side->digest.processes[s->tag >> 32].compiles[s->tag & UINT32_MAX];

    return stet_shelf_open(m->x.shelf, side->run->folder, c, out, err);
}

/* Each program of B stands in a process of its own: nothing but A is before it. */
static enum stet_rc add_side(struct moves *m, struct side *side, bool past, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; rc == STET_OK && i < side->digest.process_count; i++) {
        const struct stet_process_digest *p = &side->digest.processes[i];
        const struct stet_bundle *bundle = stet_explain_bundle(&side->digest, p);

        for (size_t k = 0; rc == STET_OK && k < p->compile_count; k++) {
            struct stet_sighting s = stet_explain_sighting(p, (uint32_t)i, k);
            struct stet_history_side program;
            uint32_t id;

            s.past = past;
            s.process = m->x.history.sighting_count;
            s.tag = (uint64_t)i << 32 | k;
            s.bundle = bundle;
            if (!p->compiles[k].load && stet_shelf_open(m->x.shelf, side->run->folder,
                                                        &p->compiles[k], &program, NULL) == STET_OK)
                rc = stet_history_add(&m->x.history, &s, &program, NULL, &id, err);
        }
    }
    return rc;
}

static enum stet_rc compare(struct moves *m, struct stet_err *err)
{
    enum stet_rc rc = stet_run_load(&m->a.digest, m->a.run->folder, err);

    if (rc == STET_OK)
        rc = stet_run_load(&m->b.digest, m->b.run->folder, err);
    if (rc == STET_OK)
        rc = stet_explain_begin(&m->x, m->b.run->id, m->b.run->folder, err);
    m->x.history.open = open_side;
    m->x.history.context = m;
    if (rc == STET_OK)
        rc = add_side(m, &m->a, true, err);
    if (rc == STET_OK)
        rc = add_side(m, &m->b, false, err);
    return rc;
}

/* ---- what is told ---- */

struct entry {
    enum stet_cause_thing thing;
    struct stet_view what, from, to, file, function;
    uint32_t line;
};

struct entries {
    struct entry *items;
    size_t count, room;
};

static void add(struct moves *m, struct entries *all, struct entry e)
{
    m->moved[e.thing] = true;
    for (size_t i = 0; i < all->count; i++) {
        const struct entry *o = &all->items[i];

        if (o->thing == e.thing && o->line == e.line && stet_view_eq(o->what, e.what) &&
            stet_view_eq(o->from, e.from) && stet_view_eq(o->to, e.to) &&
            stet_view_eq(o->function, e.function))
            return;
    }
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 64;
        struct entry *more = stet_mem_resize(all->items, room, sizeof *more);

        if (!more)
            return;
        all->items = more;
        all->room = room;
    }
    all->items[all->count++] = e;
}

static struct stet_view words_of(struct moves *m, const struct stet_told *c)
{
    char what[STET_WORDS_MOST];

    return stet_arena_copy(&m->x.history.arena, stet_words_subject(what, c->kind, &c->of));
}

static void gather_programs(struct moves *m, struct entries *all)
{
    const struct stet_history *h = &m->x.history;

    for (uint32_t i = 0; i < h->finding_count; i++) {
        const struct stet_finding *f = &h->findings[i];
        const struct stet_sighting *s = &h->sightings[f->sighting];

        if (f->facts.first)
            add(m, all,
                (struct entry){.thing = STET_THING_BRANCH,
                               .what = STET_VIEW("program"),
                               .to = s->traits->function,
                               .file = s->traits->place.file,
                               .line = s->traits->place.line,
                               .function = s->traits->function});
        for (uint32_t k = 0; k < f->change_count; k++) {
            const struct stet_told *c = &f->changes[k];
            enum stet_cause_thing thing =
                stet_cause_thing(stet_diff_change_cause(c->kind, c->facet, c->op));

            if (c->follows == STET_NO_FACET && thing < STET_THINGS)
                add(m, all,
                    (struct entry){thing, words_of(m, c), c->from, c->to, c->place.file,
                                   s->traits->function, c->place.line});
        }
    }
}

static const struct stet_part *part_of(const struct stet_bundle *b, struct stet_view name)
{
    for (uint32_t i = 0; b && i < b->count; i++)
        if (stet_view_eq(b->parts[i].name, name))
            return &b->parts[i];
    return NULL;
}

/* The first process of each stands for its run. */
static void gather_bundles(struct moves *m, struct entries *all)
{
    const struct stet_bundle *a = NULL, *b = NULL;

    if (m->a.digest.process_count)
        a = stet_explain_bundle(&m->a.digest, &m->a.digest.processes[0]);
    if (m->b.digest.process_count)
        b = stet_explain_bundle(&m->b.digest, &m->b.digest.processes[0]);
    for (int turn = 0; turn < 2; turn++) {
        const struct stet_bundle *mine = turn ? a : b, *other = turn ? b : a;

        for (uint32_t i = 0; mine && i < mine->count; i++) {
            const struct stet_part *p = &mine->parts[i], *o = part_of(other, p->name);

            if ((o && turn) || (o && stet_view_eq(o->value, p->value)))
                continue;
            add(m, all,
                (struct entry){.thing = p->flags ? STET_THING_PROFILE : STET_THING_BUNDLE,
                               .what = p->name,
                               .from = turn ? p->value
                                       : o  ? o->value
                                            : (struct stet_view){0},
                               .to = turn ? (struct stet_view){0} : p->value});
        }
    }
}

struct telling {
    struct moves *m;
    struct entries *all;
};

static void tell_torch(void *context, const struct stet_torch_move *t)
{
    struct telling *to = context;
    add(to->m, to->all,
        (struct entry){t->thing, t->what, t->from, t->to, t->at.file, t->at.function,
                       (uint32_t)t->at.line});
}

/* The largest temporaries of a function in each run. */
static void memory_of(const struct stet_history *h, const struct stet_sighting *s, uint64_t *was,
                      uint64_t *is)
{
    *was = *is = 0;
    for (uint32_t i = 0; i < h->sighting_count; i++) {
        const struct stet_sighting *o = &h->sightings[i];
        uint64_t *to = o->past ? was : is;

        if (o->has_memory && stet_view_eq(o->traits->function, s->traits->function) &&
            o->temp_bytes > *to)
            *to = o->temp_bytes;
    }
}

static bool is_first_of_function(const struct stet_history *h, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        if (!h->sightings[i].past &&
            stet_view_eq(h->sightings[i].traits->function, h->sightings[number].traits->function))
            return false;
    return !h->sightings[number].past;
}

static int by_key(const void *a, const void *b)
{
    return stet_hash_cmp(*(const struct stet_hash *)a, *(const struct stet_hash *)b);
}

static void add_gone(struct moves *m, struct stet_view function)
{
    size_t i = 0;

    while (i < m->gone_count && !stet_view_eq(m->gone[i].function, function))
        i++;
    if (i == m->gone_count)
        m->gone[m->gone_count++] = (struct gone){.function = function};
    m->gone[i].programs++;
}

static void gather_gone(struct moves *m)
{
    const struct stet_history *h = &m->x.history;
    struct stet_hash *here = stet_mem_calloc(h->sighting_count, sizeof *here);
    bool *met = stet_mem_calloc(h->sighting_count, sizeof *met);
    size_t n = 0;

    m->gone = stet_mem_calloc(h->sighting_count, sizeof *m->gone);
    if (here && met && m->gone) {
        for (uint32_t i = 0; i < h->sighting_count; i++)
            if (!h->sightings[i].past)
                here[n++] = h->sightings[i].traits->fingerprint.key;
        for (uint32_t i = 0; i < h->finding_count; i++)
            if (h->findings[i].against != STET_NONE)
                met[h->findings[i].against] = true;
        qsort(here, n, sizeof *here, by_key);
        for (uint32_t i = 0; i < h->sighting_count; i++) {
            const struct stet_sighting *s = &h->sightings[i];

            if (s->past && !s->failed && s->traits->readable && !met[i] &&
                !bsearch(&s->traits->fingerprint.key, here, n, sizeof *here, by_key))
                add_gone(m, s->traits->function);
        }
    }
    stet_mem_free(here);
    stet_mem_free(met);
}

/* ---- printing ---- */

static unsigned count_moved(const struct moves *m)
{
    unsigned n = 0;

    for (int i = 0; i < STET_THINGS; i++)
        n += m->moved[i];
    return n;
}

static void text(struct stet_buf *out, const struct moves *m, const struct entries *all,
                 bool colour, bool every)
{
    const char *bold = stet_pen(STET_PEN_BOLD, colour), *dim = stet_pen(STET_PEN_DIM, colour);
    const char *plain = stet_pen(STET_PEN_PLAIN, colour);
    unsigned moved = count_moved(m);

    stet_buf_printf(out, "%s -> %s: ", m->a.run->id, m->b.run->id);
    if (!moved)
        stet_buf_str(out, m->gone_count ? "programs went away" : "nothing moved");
    for (int i = 0, n = 0; i < STET_THINGS; i++)
        if (m->moved[i])
            stet_buf_printf(out, "%s%s%s%s", n++ ? ", " : "", bold,
                            stet_cause_thing_name((enum stet_cause_thing)i), plain);
    stet_buf_printf(out, "%s\n", moved ? " moved" : "");
    if (moved > 1)
        stet_buf_printf(out,
                        "%u things moved together: change one at a time to see which one "
                        "costs what\n",
                        moved);
    for (int t = 0; t < STET_THINGS; t++) {
        size_t shown = 0, hidden = 0;

        if (m->moved[t])
            stet_buf_printf(out, "\n%s%s%s\n", bold,
                            stet_cause_thing_name((enum stet_cause_thing)t), plain);
        for (size_t i = 0; i < all->count; i++) {
            const struct entry *e = &all->items[i];

            if ((int)e->thing != t)
                continue;
            if (shown >= 12 && !every) {
                hidden++;
                continue;
            }
            shown++;
            stet_buf_printf(out, "  %.*s  %.*s -> %.*s", STET_FMT(e->what),
                            STET_FMT(e->from.ptr ? e->from : STET_VIEW("none")),
                            STET_FMT(e->to.ptr ? e->to : STET_VIEW("none")));
            if (e->line)
                stet_buf_printf(out, "  %s%.*s:%u in %.*s%s", dim,
                                STET_FMT(stet_text_path(e->file)), e->line, STET_FMT(e->function),
                                plain);
            stet_buf_char(out, '\n');
        }
        if (hidden)
            stet_buf_printf(out, "  %s%zu more (--all)%s\n", dim, hidden, plain);
    }
    for (uint32_t i = 0; i < m->x.history.sighting_count; i++) {
        const struct stet_sighting *s = &m->x.history.sightings[i];
        uint64_t was, is;

        if (!is_first_of_function(&m->x.history, i))
            continue;
        memory_of(&m->x.history, s, &was, &is);
        if (!was || !is || was == is)
            continue;
        stet_buf_printf(out, "\nmemory of %.*s: ", STET_FMT(s->traits->function));
        stet_text_bytes(out, was);
        stet_buf_str(out, " -> ");
        stet_text_bytes(out, is);
        stet_buf_str(out, " of temporaries\n");
    }
    for (size_t i = 0; i < m->gone_count; i++)
        stet_buf_printf(out, "\n%u %s of %.*s %s compiled no more\n", m->gone[i].programs,
                        m->gone[i].programs == 1 ? "program" : "programs",
                        STET_FMT(m->gone[i].function), m->gone[i].programs == 1 ? "is" : "are");
}

static void json(struct stet_buf *out, const struct moves *m, const struct entries *all)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.rundiff/1");
    stet_json_cstr(&j, "a", m->a.run->id);
    stet_json_cstr(&j, "b", m->b.run->id);
    stet_json_array(&j, "moved");
    for (int i = 0; i < STET_THINGS; i++)
        if (m->moved[i])
            stet_json_cstr(&j, NULL, stet_cause_thing_name((enum stet_cause_thing)i));
    stet_json_end_array(&j);
    stet_json_bool(&j, "together", count_moved(m) > 1);
    stet_json_array(&j, "changes");
    for (size_t i = 0; i < all->count; i++) {
        const struct entry *e = &all->items[i];

        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "moved", stet_cause_thing_name(e->thing));
        stet_json_string(&j, "what", e->what);
        stet_json_told(&j, "from", e->from);
        stet_json_told(&j, "to", e->to);
        stet_json_told(&j, "function", e->function);
        stet_json_told(&j, "file", e->line ? e->file : (struct stet_view){0});
        if (e->line)
            stet_json_uint(&j, "line", e->line);
        else
            stet_json_null(&j, "line");
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    stet_json_array(&j, "memory");
    for (uint32_t i = 0; i < m->x.history.sighting_count; i++) {
        uint64_t was, is;

        if (!is_first_of_function(&m->x.history, i))
            continue;
        memory_of(&m->x.history, &m->x.history.sightings[i], &was, &is);
        if (!was && !is)
            continue;
        stet_json_object(&j, NULL);
        stet_json_string(&j, "function", m->x.history.sightings[i].traits->function);
        stet_json_uint(&j, "temp_bytes_from", was);
        stet_json_uint(&j, "temp_bytes_to", is);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    stet_json_array(&j, "gone");
    for (size_t i = 0; i < m->gone_count; i++) {
        stet_json_object(&j, NULL);
        stet_json_string(&j, "function", m->gone[i].function);
        stet_json_uint(&j, "programs", m->gone[i].programs);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}

enum stet_rc stet_rundiff_write(struct stet_buf *out, const struct stet_run *a,
                                const struct stet_run *b, const struct stet_rundiff_view *view,
                                bool *moved, struct stet_err *err)
{
    struct moves m = {.a.run = a, .b.run = b};
    struct entries entries = {0};
    struct stet_arena arena; /* torch.compile's words */
    enum stet_rc rc;

    stet_arena_init(&arena, 64 << 20);
    rc = compare(&m, err);
    if (rc == STET_OK) {
        gather_bundles(&m, &entries);
        gather_programs(&m, &entries);
        gather_gone(&m);
        rc = stet_torch_moves(a, b, &arena, tell_torch, &(struct telling){&m, &entries}, err);
    }
    if (rc == STET_OK) {
        if (view->format == STET_FORMAT_JSON)
            json(out, &m, &entries);
        else
            text(out, &m, &entries, view->colour, view->all);
    }
    *moved = count_moved(&m) != 0 || m.gone_count;
    stet_mem_free(m.gone);
    stet_mem_free(entries.items);
    stet_arena_release(&arena);
    stet_explained_release(&m.x);
    stet_run_unload(&m.a.digest);
    stet_run_unload(&m.b.digest);
    return rc;
}

int stet_rundiff(const char *a, const char *b, const struct stet_rundiff_view *view)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    const struct stet_run *found;
    struct stet_run first; /* the list may grow by the second */
    struct stet_runs runs;
    bool moved = false;
    enum stet_rc rc = stet_runs_open(&runs, &err);

    if (rc != STET_OK)
        return stet_complain(&err);
    rc = stet_runs_find(&runs, a, &found, &err);
    if (rc == STET_OK) {
        first = *found;
        rc = stet_runs_find(&runs, b, &found, &err);
    }
    if (rc == STET_OK)
        rc = stet_rundiff_write(&out, &first, found, view, &moved, &err);
    stet_runs_close(&runs);
    if (rc != STET_OK) {
        stet_buf_release(&out);
        return stet_complain(&err);
    }
    return stet_print(&out, moved ? STET_EXIT_FINDING : STET_EXIT_FINE);
}
