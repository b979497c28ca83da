/* Replaces the sizes of arguments in families, and lowers their number of programs. */
#include "contract/bucket_clauses.h"

#include "base/fs.h"
#include "base/mem.h"
#include "gate/contract.h"

#include <stdlib.h>

struct edit {
    const struct stet_bucket_clause *b;
    const struct stet_buckets_set *set;
    struct stet_contract c;
    struct stet_size_place named; /* of --argument */
};

static bool place_matches(const struct stet_clause_arg *a, const struct stet_size_place *p)
{
    return stet_view_eq(a->name, p->argument) && !a->any_shape && p->dim < a->rank;
}

/* Allows the buckets of an axis; false when out of memory. */
static bool allow(struct edit *e, struct stet_dim *d, const struct stet_size_place *p)
{
    struct stet_dim own = {.kind = STET_DIM_SET};

    for (uint32_t i = 0; i < e->set->count; i++) {
        int64_t size = e->set->dims[(size_t)i * e->b->curve->rank + p->axis];

        if (e->b->function)
            size = stet_session_sizes_at(e->b->function, p, size);
        if (!stet_gate_dim_add(&own, size, &e->c.arena))
            return false;
    }
    *d = own;
    return true;
}

/* A program for each bucket, graph and set of options; never more than before. */
static void lower_budget(struct stet_family *f, uint64_t buckets)
{
    uint64_t most = buckets;

    if (f->graphs != STET_NO_BUDGET)
        most *= f->graphs;
    if (f->options != STET_NO_BUDGET)
        most *= f->options;
    if (most < f->programs)
        f->programs = most;
}

/* The number of dimensions that were set; -1 when out of memory. */
static int edit_family(struct edit *e, struct stet_family *f)
{
    const struct stet_size_function *from = e->b->function;
    uint32_t places = from ? from->place_count : 1;
    int found = 0;

    for (uint32_t i = 0; i < places; i++) {
        const struct stet_size_place *p = from ? &from->places[i] : &e->named;

        for (uint32_t k = 0; k < f->arg_count; k++) {
            if (!place_matches(&f->args[k], p))
                continue;
            if (!allow(e, &f->args[k].dims[p->dim], p))
                return -1;
            found++;
        }
    }
    if (found)
        lower_budget(f, e->set->count);
    return found;
}

/* Replaces the text of a family, from the last one of the file to the first. */
static void replace(struct stet_buf *text, const struct stet_family *f)
{
    struct stet_buf out = STET_BUF_INIT;
    size_t end = f->end;

    while (end > f->begin && (text->ptr[end - 1] == ' ' || text->ptr[end - 1] == '\n'))
        end--;
    stet_buf_add(&out, text->ptr, f->begin);
    stet_gate_contract_print_family(&out, f);
    if (out.len && !out.failed) /* the end of its line stays */
        out.len--;
    stet_buf_add(&out, text->ptr + end, text->len - end);
    out.failed |= text->failed;
    stet_buf_release(text);
    *text = out;
}

static bool name_place(struct edit *e)
{
    const char *colon = e->b->argument ? strrchr(e->b->argument, ':') : NULL;
    char *end = NULL;
    long dim = colon ? strtol(colon + 1, &end, 10) : -1;

    if (!e->b->function_name || !colon || end == colon + 1 || *end || dim < 0 || dim > 64 ||
        e->b->curve->rank != 1)
        return false;
    e->named.argument = stet_view_of(e->b->argument, (size_t)(colon - e->b->argument));
    e->named.dim = (uint32_t)dim;
    return true;
}

static enum stet_rc edit_all(struct edit *e, struct stet_buf *text, const char *file,
                             uint32_t *changed, struct stet_err *err)
{
    struct stet_view name =
        e->b->function ? e->b->function->name : stet_view_str(e->b->function_name);
    uint32_t before = *changed;

    for (uint32_t i = e->c.family_count; i-- > 0;) {
        int found =
            stet_view_eq(e->c.families[i].name, name) ? edit_family(e, &e->c.families[i]) : 0;

        if (found < 0)
            return stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
        if (found)
            replace(text, &e->c.families[i]);
        *changed += found > 0;
    }
    if (*changed == before)
        return stet_fail(
            err, STET_NOT_FOUND, "%s has no family %.*s with the sizes of %.*s", file,
            STET_FMT(name),
            STET_FMT(e->b->function ? e->b->function->places[0].argument : e->named.argument));
    return text->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for a contract") : STET_OK;
}

enum stet_rc stet_contract_buckets(const char *file, const struct stet_bucket_clause *b,
                                   uint32_t *changed, struct stet_err *err)
{
    struct edit e = {.b = b, .set = &b->curve->sets[b->curve->best]};
    struct stet_buf text = STET_BUF_INIT;
    struct stet_contract again;
    struct stet_file bytes = {0};
    enum stet_rc rc;

    if (!b->function && !name_place(&e))
        return stet_fail(
            err, STET_USAGE,
            "give --function=NAME and --argument=NAME:DIM, the argument that has these lengths");
    rc = stet_gate_contract_read(&e.c, file, err);
    if (rc != STET_OK)
        return rc;
    rc = stet_file_open(&bytes, file, err);
    stet_buf_view(&text, bytes.bytes);
    if (rc == STET_OK)
        rc = edit_all(&e, &text, file, changed, err);
    if (rc == STET_OK)
        rc = stet_gate_contract_parse(&again, stet_buf_as_view(&text), file, err);
    if (rc == STET_OK) {
        stet_gate_contract_release(&again);
        rc = stet_fs_write(file, stet_buf_as_view(&text), err);
    }
    stet_buf_release(&text);
    stet_file_close(&bytes);
    stet_gate_contract_release(&e.c);
    return rc;
}
