/* See avoided.h. */
#include "session/avoided.h"

#include "base/human.h"
#include "base/known.h"
#include "base/map.h"
#include "base/vec.h"
#include "fingerprint/traits.h"
#include "journal/values_record.h"
#include "session/place_json.h"

#include <stdlib.h>

/* The item of a line, created if it is new; NULL when out of memory. */
static struct stet_avoided_line *line_of(struct stet_avoided *a, struct stet_map *places,
                                         const struct stet_trigger *at)
{
    uint64_t key = stet_hash_bytes(at->file).lo ^ at->line;
    struct stet_avoided_line *l;
    uint32_t i, from = 0;

    while ((i = stet_map_next(places, key, &from)) != STET_MAP_NONE) {
        STET_KNOWN(a->lines); /* each number in the map is the place of a line */
        l = &a->lines[i];
        if (l->at.line == at->line && stet_view_eq(l->at.file, at->file))
            return l;
    }
    if (!stet_vec_room(&a->lines, &a->line_room, a->line_count, sizeof *a->lines) ||
        !stet_map_add(places, key, (uint32_t)a->line_count))
        return NULL;
    l = &a->lines[a->line_count++];
    *l = (struct stet_avoided_line){.at = *at, .first_ns = UINT64_MAX};
    return l;
}

static void add_served(struct stet_avoided *a, struct stet_map *places,
                       const struct stet_compile_event *c)
{
    static const struct stet_trigger nowhere;
    struct stet_avoided_sum one = {.compiles = 1};
    struct stet_avoided_line *l = line_of(a, places, c->trigger.line ? &c->trigger : &nowhere);

    if (c->instead_ns)
        one = (struct stet_avoided_sum){1, 1, c->served_ns, c->instead_ns};
    stet_avoided_add(&a->all, &one);
    stet_avoided_add(&a->by[c->served], &one);
    if (!l)
        return;
    l->first_ns = c->time_ns < l->first_ns ? c->time_ns : l->first_ns;
    stet_avoided_add(&l->all, &one);
    stet_avoided_add(&l->by[c->served], &one);
}

static bool is_of(struct stet_view name, const struct stet_trigger *at,
                  const struct stet_compile_event *c)
{
    return stet_view_eq(name, c->name) && at->line == c->trigger.line &&
           stet_view_eq(at->file, c->trigger.file);
}

static void add_refusal(struct stet_avoided *a, const struct stet_compile_event *c)
{
    struct stet_avoided_refusal *r = a->refusals, *end = r + a->refusal_count;

    while (r < end && !(r->alone && c->unlifted_alone && is_of(r->name, &r->at, c)))
        r++;
    if (r < end) {
        r->alone++;
        return;
    }
    if (stet_vec_room(&a->refusals, &a->refusal_room, a->refusal_count, sizeof *a->refusals))
        a->refusals[a->refusal_count++] = (struct stet_avoided_refusal){
            .name = c->name, .why = c->unlifted, .at = c->trigger, .alone = c->unlifted_alone};
}

/* A function that was compiled once has lost nothing. */
static void drop_single_refusals(struct stet_avoided *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->refusal_count; i++) {
        if (a->refusals[i].alone != 1)
            a->refusals[kept++] = a->refusals[i];
    }
    a->refusal_count = kept;
}

/* A function has one item, however many of its programs were compared. */
static void add_difference(struct stet_avoided *a, const struct stet_compile_event *c)
{
    struct stet_avoided_difference *d = a->differences, *end = d + a->difference_count;

    while (d < end && !is_of(d->name, &d->at, c))
        d++;
    if (d == end) {
        if (!stet_vec_room(&a->differences, &a->difference_room, a->difference_count,
                           sizeof *a->differences))
            return;
        d = &a->differences[a->difference_count++];
        *d = (struct stet_avoided_difference){.name = c->name, .at = c->trigger};
    }
    d->elements += c->elements;
    d->ulp = c->ulp > d->ulp ? c->ulp : d->ulp;
}

static void add_lifting(struct stet_avoided *a, const struct stet_compile_event *c)
{
    a->compared += c->compared;
    a->ahead += c->lift_ahead_ns > 0;
    a->ahead_ns += c->lift_ahead_ns;
    a->plain += c->lift_plain;
    a->plain_ns += c->lift_plain_ns;
    a->plain_waited_ns += c->lift_plain_waited_ns;
    if (c->unlifted.len && !(c->unlifted_alone && stet_journal_values_function(c->values).library))
        add_refusal(a, c);
    if (c->elements)
        add_difference(a, c);
}

static int oldest_first(const void *x, const void *y)
{
    const struct stet_avoided_line *a = x, *b = y;

    return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

void stet_avoided_make(struct stet_avoided *a, const struct stet_run_digest *d)
{
    struct stet_map places = {0};

    *a = (struct stet_avoided){0};
    for (size_t p = 0; p < d->process_count; p++) {
        for (size_t i = 0; i < d->processes[p].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            add_lifting(a, c);
            if (!c->load && c->ended && !c->error_code && c->served)
                add_served(a, &places, c);
        }
    }
    stet_map_release(&places);
    drop_single_refusals(a);
    if (a->line_count)
        qsort(a->lines, a->line_count, sizeof *a->lines, oldest_first);
}

void stet_avoided_release(struct stet_avoided *a)
{
    stet_mem_free(a->lines);
    stet_mem_free(a->refusals);
    stet_mem_free(a->differences);
    *a = (struct stet_avoided){0};
}

void stet_avoided_add(struct stet_avoided_sum *s, const struct stet_avoided_sum *more)
{
    s->compiles += more->compiles;
    s->known += more->known;
    s->took_ns += more->took_ns;
    s->instead_ns += more->instead_ns;
}

uint64_t stet_avoided_ns(const struct stet_avoided_sum *s)
{
    return s->instead_ns > s->took_ns ? s->instead_ns - s->took_ns : 0;
}

struct stet_avoided_sum stet_avoided_kept(const struct stet_avoided *a)
{
    const struct stet_avoided_sum *lifted = &a->by[STET_SERVED_LIFTED];

    return (struct stet_avoided_sum){a->all.compiles - lifted->compiles,
                                     a->all.known - lifted->known, a->all.took_ns - lifted->took_ns,
                                     a->all.instead_ns - lifted->instead_ns};
}

static int most_first(const void *x, const void *y)
{
    const struct stet_avoided_line *a = x, *b = y;
    uint64_t m = stet_avoided_ns(&a->all), n = stet_avoided_ns(&b->all);
    int files;

    if (m != n)
        return m < n ? 1 : -1;
    if (a->all.compiles != b->all.compiles)
        return a->all.compiles < b->all.compiles ? 1 : -1;
    files = stet_view_cmp(a->at.file, b->at.file);
    return files ? files : (a->at.line > b->at.line) - (a->at.line < b->at.line);
}

void stet_avoided_sort(struct stet_avoided *a)
{
    if (a->line_count)
        qsort(a->lines, a->line_count, sizeof *a->lines, most_first);
}

bool stet_avoided_any(const struct stet_avoided *a)
{
    for (size_t i = 0; i < a->line_count; i++) {
        const struct stet_avoided_line *l = &a->lines[i];

        if (l->by[STET_SERVED_LIFTED].compiles || !l->all.known || stet_avoided_ns(&l->all))
            return true;
    }
    return false;
}

/* ---- JSON ---- */

static void sum_json(struct stet_json *j, const struct stet_avoided_sum *s)
{
    stet_json_uint(j, "compiles", s->compiles);
    stet_json_uint(j, "known", s->known);
    stet_json_number(j, "took_s", (double)s->took_ns / 1e9);
    stet_json_number(j, "instead_of_s", (double)s->instead_ns / 1e9);
}

static void by_json(struct stet_json *j, const struct stet_avoided_sum by[STET_SERVED_COUNT])
{
    stet_json_object(j, "by");
    for (int i = STET_SERVED_COMPILED + 1; i < STET_SERVED_COUNT; i++) {
        if (!by[i].compiles)
            continue;
        stet_json_object(j, stet_journal_served_word((enum stet_served)i));
        sum_json(j, &by[i]);
        stet_json_end_object(j);
    }
    stet_json_end_object(j);
}

/* Begins an object about a function; the caller ends it. */
static void function_json(struct stet_json *j, struct stet_view name, const struct stet_trigger *at)
{
    stet_json_object(j, NULL);
    stet_json_string(j, "function", stet_text_function(stet_traits_function_of(name)));
    stet_session_place_json(j, at->file, at->line);
}

static void refusals_json(struct stet_json *j, const struct stet_avoided *a)
{
    if (!a->refusal_count)
        return;
    stet_json_array(j, "unlifted");
    for (size_t i = 0; i < a->refusal_count; i++) {
        function_json(j, a->refusals[i].name, &a->refusals[i].at);
        stet_json_string(j, "why", a->refusals[i].why);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void lifting_json(struct stet_json *j, const struct stet_avoided *a)
{
    if (!a->compared && !a->ahead && !a->plain)
        return;
    stet_json_object(j, "lifting");
    stet_json_uint(j, "compared", a->compared);
    stet_json_uint(j, "in_background", a->ahead);
    stet_json_number(j, "in_background_s", (double)a->ahead_ns / 1e9);
    stet_json_uint(j, "plain", a->plain);
    stet_json_number(j, "plain_s", (double)a->plain_ns / 1e9);
    stet_json_number(j, "plain_waited_s", (double)a->plain_waited_ns / 1e9);
    stet_json_array(j, "different");
    for (size_t i = 0; i < a->difference_count; i++) {
        function_json(j, a->differences[i].name, &a->differences[i].at);
        stet_json_uint(j, "elements", a->differences[i].elements);
        stet_json_uint(j, "ulp", a->differences[i].ulp);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_end_object(j);
}

void stet_avoided_json(struct stet_json *j, const struct stet_avoided *a)
{
    if (a->all.compiles) {
        stet_json_object(j, "avoided");
        sum_json(j, &a->all);
        by_json(j, a->by);
        stet_json_array(j, "lines");
        for (size_t i = 0; i < a->line_count; i++) {
            stet_json_object(j, NULL);
            stet_session_place_json(j, a->lines[i].at.file, a->lines[i].at.line);
            sum_json(j, &a->lines[i].all);
            by_json(j, a->lines[i].by);
            stet_json_end_object(j);
        }
        stet_json_end_array(j);
        stet_json_end_object(j);
    }
    refusals_json(j, a);
    lifting_json(j, a);
}
