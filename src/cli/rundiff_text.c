/* See rundiff_text.h. */
#include "cli/rundiff_text.h"

#include "base/human.h"
#include "base/json.h"
#include "base/text.h"
#include "ledger/job_runs.h"
#include "session/place_json.h"
#include "session/rundiff.h"

#include <inttypes.h>
#include <stdio.h>

static void put_side(struct stet_buf *out, const struct stet_rundiff_side *side)
{
    stet_buf_str(out, side->run->id);
    if (side->rank != STET_RUNDIFF_ALL)
        stet_buf_printf(out, " rank %lld", (long long)side->rank);
}

struct pens {
    const char *bold, *dim, *plain;
};

static void put_head(struct stet_buf *out, const struct stet_rundiff *m, const struct pens *pens)
{
    unsigned changed = stet_rundiff_moved(m);

    put_side(out, &m->a);
    stet_buf_str(out, " -> ");
    put_side(out, &m->b);
    stet_buf_str(out, ": ");
    if (!changed)
        stet_buf_str(out, m->gone_count ? "programs are gone" : "nothing changed");
    for (int i = 0, n = 0; i < STET_THINGS; i++)
        if (m->moved[i])
            stet_buf_printf(out, "%s%s%s%s", n++ ? ", " : "", pens->bold,
                            stet_cause_thing_name((enum stet_cause_thing)i), pens->plain);
    stet_buf_printf(out, "%s\n", changed ? " changed" : "");
    if (changed > 1)
        stet_buf_printf(out,
                        "%u things changed together: change one at a time to see what each costs\n",
                        changed);
}

static void put_entry(struct stet_buf *out, const struct stet_rundiff_entry *e,
                      const struct pens *pens)
{
    stet_buf_printf(out, "  %.*s  %.*s -> %.*s", STET_FMT(e->what),
                    STET_FMT(e->from.ptr ? e->from : STET_VIEW("none")),
                    STET_FMT(e->to.ptr ? e->to : STET_VIEW("none")));
    if (e->line)
        stet_buf_printf(out, "  %s%.*s:%u in %.*s%s", pens->dim, STET_FMT(stet_text_path(e->file)),
                        e->line, STET_FMT(e->function), pens->plain);
    stet_buf_char(out, '\n');
}

static void put_thing(struct stet_buf *out, const struct stet_rundiff *m, enum stet_cause_thing t,
                      const struct pens *pens, bool every)
{
    size_t shown = 0, hidden = 0;

    if (m->moved[t])
        stet_buf_printf(out, "\n%s%s%s\n", pens->bold, stet_cause_thing_name(t), pens->plain);
    for (size_t i = 0; i < m->count; i++) {
        if (m->items[i].thing != t)
            continue;
        if (shown >= 12 && !every) {
            hidden++;
            continue;
        }
        shown++;
        put_entry(out, &m->items[i], pens);
    }
    if (hidden)
        stet_buf_printf(out, "  %s%zu more (--all)%s\n", pens->dim, hidden, pens->plain);
}

static void put_memory(struct stet_buf *out, const struct stet_rundiff_memory *one)
{
    if (!one->was || !one->is || one->was == one->is)
        return;
    stet_buf_printf(out, "\nmemory of %.*s: ", STET_FMT(one->function));
    stet_text_bytes(out, one->was);
    stet_buf_str(out, " -> ");
    stet_text_bytes(out, one->is);
    stet_buf_str(out, " of temporaries\n");
}

static void text(struct stet_buf *out, const struct stet_rundiff *m, bool colour, bool every)
{
    const struct pens pens = {stet_pen(STET_PEN_BOLD, colour), stet_pen(STET_PEN_DIM, colour),
                              stet_pen(STET_PEN_PLAIN, colour)};

    put_head(out, m, &pens);
    for (int t = 0; t < STET_THINGS; t++)
        put_thing(out, m, (enum stet_cause_thing)t, &pens, every);
    for (size_t i = 0; i < m->memory_count; i++)
        put_memory(out, &m->memory[i]);
    for (size_t i = 0; i < m->gone_count; i++)
        stet_buf_printf(out, "\n%u %s of %.*s %s no longer compiled\n", m->gone[i].programs,
                        m->gone[i].programs == 1 ? "program" : "programs",
                        STET_FMT(m->gone[i].function), m->gone[i].programs == 1 ? "is" : "are");
}

static void json(struct stet_buf *out, const struct stet_rundiff *m)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.rundiff/1");
    stet_json_cstr(&j, "a", m->a.run->id);
    stet_json_cstr(&j, "b", m->b.run->id);
    if (m->a.rank != STET_RUNDIFF_ALL)
        stet_json_int(&j, "rank_a", m->a.rank);
    if (m->b.rank != STET_RUNDIFF_ALL)
        stet_json_int(&j, "rank_b", m->b.rank);
    stet_json_array(&j, "moved");
    for (int i = 0; i < STET_THINGS; i++)
        if (m->moved[i])
            stet_json_cstr(&j, NULL, stet_cause_thing_name((enum stet_cause_thing)i));
    stet_json_end_array(&j);
    stet_json_bool(&j, "together", stet_rundiff_moved(m) > 1);
    stet_json_array(&j, "changes");
    for (size_t i = 0; i < m->count; i++) {
        const struct stet_rundiff_entry *e = &m->items[i];

        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "moved", stet_cause_thing_name(e->thing));
        stet_json_string(&j, "what", e->what);
        stet_json_told(&j, "from", e->from);
        stet_json_told(&j, "to", e->to);
        stet_json_told(&j, "function", e->function);
        stet_session_place_json(&j, e->file, e->line);
        stet_json_end_object(&j);
    }
    stet_json_end_array(&j);
    stet_json_array(&j, "memory");
    for (size_t i = 0; i < m->memory_count; i++) {
        stet_json_object(&j, NULL);
        stet_json_string(&j, "function", m->memory[i].function);
        stet_json_uint(&j, "temp_bytes_from", m->memory[i].was);
        stet_json_uint(&j, "temp_bytes_to", m->memory[i].is);
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

enum stet_rc stet_cli_rundiff_write(struct stet_buf *out, const struct stet_run *a,
                                    const struct stet_run *b, const struct stet_rundiff_view *view,
                                    bool *moved, struct stet_err *err)
{
    struct stet_rundiff m;
    enum stet_rc rc = stet_rundiff_make(&m, a, b, view->ranks, err);

    *moved = false;
    if (rc != STET_OK)
        return rc;
    if (view->format == STET_FORMAT_JSON)
        json(out, &m);
    else
        text(out, &m, view->colour, view->all);
    *moved = stet_rundiff_moved(&m) != 0 || m.gone_count;
    stet_rundiff_release(&m);
    return STET_OK;
}

/* A rank may be of any run of its job. */
static enum stet_rc find_side(struct stet_runs *runs, const char *name, int64_t *rank,
                              struct stet_run *out, struct stet_err *err)
{
    char own[4096];
    const struct stet_run *found;
    enum stet_rc rc;

    snprintf(own, sizeof own, "%s", name);
    *rank = stet_rundiff_rank(own);
    rc = *rank == STET_RUNDIFF_ALL ? stet_ledger_runs_find(runs, own, &found, err)
                                   : stet_ledger_job_find(runs, own, true, &found, err);
    if (rc == STET_OK)
        *out = *found; /* finding the second run may grow the list */
    return rc;
}

int stet_cli_rundiff_print(const char *a, const char *b, const struct stet_rundiff_view *view)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_rundiff_view own = *view;
    struct stet_run sides[2];
    struct stet_runs runs;
    bool moved = false;
    enum stet_rc rc = stet_ledger_runs_open(&runs, &err);

    if (rc != STET_OK)
        return stet_cli_complain(&err);
    rc = find_side(&runs, a, &own.ranks[0], &sides[0], &err);
    if (rc == STET_OK)
        rc = find_side(&runs, b, &own.ranks[1], &sides[1], &err);
    if (rc == STET_OK)
        rc = stet_cli_rundiff_write(&out, &sides[0], &sides[1], &own, &moved, &err);
    stet_ledger_runs_close(&runs);
    if (rc != STET_OK) {
        stet_buf_release(&out);
        return stet_cli_complain(&err);
    }
    return stet_cli_print(&out, moved ? STET_EXIT_FINDING : STET_EXIT_FINE);
}
