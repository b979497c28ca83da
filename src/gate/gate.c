/* Finds the family, then checks clause by clause, from the specific to the general. */
#include "gate/gate.h"

#include "base/mem.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_HASHES = 1 << 16 };

struct met {
    struct stet_hash hash;
    uint32_t times;
};

struct tally {
    struct met *items;
    size_t count, room;
};

struct stet_tallies {
    struct tally programs, graphs, options;
};

enum stet_rc stet_gate_init(struct stet_gate *g, const struct stet_contract *c, bool foreign,
                            struct stet_err *err)
{
    *g = (struct stet_gate){.contract = c, .foreign = foreign, .family_count = c->family_count};
    g->families = stet_mem_calloc(c->family_count + 1, sizeof *g->families);
    return g->families ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
}

static void drop(struct tally *t)
{
    stet_mem_free(t->items);
}

void stet_gate_release(struct stet_gate *g)
{
    for (uint32_t i = 0; g->families && i < g->family_count; i++) {
        drop(&g->families[i].programs);
        drop(&g->families[i].graphs);
        drop(&g->families[i].options);
    }
    stet_mem_free(g->families);
    *g = (struct stet_gate){0};
}

/* ---- does a program fit a family ---- */

static bool has_type(struct stet_view list, struct stet_view type)
{
    if (stet_view_is(list, "any"))
        return true;
    while (list.len) {
        const char *bar = memchr(list.ptr, '|', list.len);
        size_t n = bar ? (size_t)(bar - list.ptr) : list.len;

        if (stet_view_eq(stet_view_of(list.ptr, n), type))
            return true;
        n += bar != NULL;
        list = stet_view_of(list.ptr + n, list.len - n);
    }
    return false;
}

static bool names(const struct stet_clause_arg *a, struct stet_view name)
{
    if (a->many)
        return name.len >= a->name.len && !memcmp(name.ptr, a->name.ptr, a->name.len);
    return stet_view_eq(a->name, name);
}

/* An argument is usually at its position in the contract. */
static const struct stet_clause_arg *find_arg(const struct stet_family *f, struct stet_view name,
                                              uint32_t hint)
{
    if (hint < f->arg_count && names(&f->args[hint], name))
        return &f->args[hint];
    for (uint32_t i = 0; i < f->arg_count; i++)
        if (names(&f->args[i], name))
            return &f->args[i];
    return NULL;
}

/* Keeps this breach if its clause is more specific (smaller) than that of the one kept so far; true
 * if it was kept. */
static bool keep_breach(struct stet_breach *b, enum stet_clause clause,
                        const struct stet_clause_arg *a, struct stet_view argument, uint32_t number)
{
    if (b->clause <= clause)
        return false;
    b->clause = clause;
    b->argument = argument;
    b->number = number;
    if (a)
        b->line = a->line;
    return true;
}

static void dims_text(struct stet_buf *out, const struct stet_seen_arg *s)
{
    stet_buf_char(out, '[');
    for (uint32_t i = 0; i < s->rank; i++) {
        stet_buf_str(out, i ? ", " : "");
        if (s->dims[i] < 0)
            stet_buf_char(out, '?');
        else
            stet_buf_printf(out, "%" PRId64, s->dims[i]);
    }
    stet_buf_char(out, ']');
}

/* Writes "tokens: int32[6, 48] …; the contract has tokens: int32[6, 33]". */
static void say_arg(struct stet_breach *b, const struct stet_seen_arg *s,
                    const struct stet_clause_arg *a, const char *what)
{
    struct stet_buf out = {.cap = 4096};

    stet_buf_printf(&out, "%.*s: %.*s", STET_FMT(s->name), STET_FMT(s->type));
    dims_text(&out, s);
    stet_buf_printf(&out, " %s; the contract has ", what);
    stet_gate_contract_print_arg(&out, a);
    snprintf(b->what, sizeof b->what, "%s", out.ptr ? out.ptr : what);
    stet_buf_release(&out);
}

static void say_dim(struct stet_breach *b, const struct stet_seen_arg *s,
                    const struct stet_clause_arg *a, uint32_t d)
{
    struct stet_buf out = {.cap = 4096};

    stet_buf_printf(&out, "dimension %u of %.*s is ", d, STET_FMT(s->name));
    if (s->dims[d] < 0)
        stet_buf_str(&out, "dynamic");
    else
        stet_buf_printf(&out, "%" PRId64, s->dims[d]);
    stet_buf_str(&out, ", allowed is ");
    stet_gate_contract_print_dim(&out, &a->dims[d]);
    snprintf(b->what, sizeof b->what, "%s", out.ptr ? out.ptr : "a dimension is not allowed");
    stet_buf_release(&out);
}

/* Returns the most specific clause that an argument breaks, or STET_CLAUSES. Also gives how much of
 * it fits (1 to 4) and which dimension does not. */
static enum stet_clause judge_arg(const struct stet_gate *g, const struct stet_clause_arg *a,
                                  const struct stet_seen_arg *s, unsigned *score, uint32_t *dim)
{
    bool typed = has_type(a->type, s->type);

    *dim = 0;
    *score = typed ? 2 : 1;
    if (!a->any_shape && a->rank != s->rank)
        return typed ? STET_CLAUSE_RANK : STET_CLAUSE_DTYPE;
    ++*score;
    for (; !a->any_shape && *dim < s->rank; ++*dim)
        if (!stet_gate_dim_allows(&a->dims[*dim], s->dims[*dim]))
            return typed ? STET_CLAUSE_DIMS : STET_CLAUSE_DTYPE;
    ++*score;
    if (!typed)
        return STET_CLAUSE_DTYPE;
    if (!a->many && !stet_view_eq(a->sharding, s->sharding))
        return STET_CLAUSE_SHARDING;
    if (!g->foreign && !a->many && a->donated != s->donated)
        return STET_CLAUSE_DONATED;
    if (!g->foreign && !a->many && !stet_view_eq(a->layout, s->layout))
        return STET_CLAUSE_LAYOUT;
    return STET_CLAUSES;
}

/* Returns how much of the argument fits. Records a misfit if it is the first of its kind. */
static unsigned fit_arg(const struct stet_gate *g, const struct stet_clause_arg *a,
                        const struct stet_seen_arg *s, uint32_t number, struct stet_breach *b)
{
    unsigned score;
    uint32_t dim;
    enum stet_clause clause = judge_arg(g, a, s, &score, &dim);

    if (clause == STET_CLAUSES || !keep_breach(b, clause, a, s->name, number))
        return score;
    if (clause == STET_CLAUSE_DTYPE)
        say_arg(b, s, a, "has another dtype");
    else if (clause == STET_CLAUSE_RANK)
        say_arg(b, s, a, "has another rank");
    else if (clause == STET_CLAUSE_DIMS)
        say_dim(b, s, a, dim);
    else if (clause == STET_CLAUSE_SHARDING)
        snprintf(b->what, sizeof b->what, "%.*s is sharded %.120s; the contract has %.120s",
                 STET_FMT(s->name), s->sharding.len ? s->sharding.ptr : "not at all",
                 a->sharding.len ? a->sharding.ptr : "no sharding");
    else if (clause == STET_CLAUSE_DONATED)
        snprintf(b->what, sizeof b->what, "%.*s is %s", STET_FMT(s->name),
                 s->donated ? "donated; in the contract it is not"
                            : "not donated; in the contract it is");
    else
        snprintf(b->what, sizeof b->what, "%.*s has the layout %.100s; the contract has %.100s",
                 STET_FMT(s->name), s->layout.len ? s->layout.ptr : "that is default",
                 a->layout.len ? a->layout.ptr : "the default");
    return score;
}

static bool is_among(const struct stet_seen *s, struct stet_view name, uint32_t hint)
{
    if (hint < s->arg_count && stet_view_eq(s->args[hint].name, name))
        return true;
    for (uint32_t i = 0; i < s->arg_count; i++)
        if (stet_view_eq(s->args[i].name, name))
            return true;
    return false;
}

/* Returns how close a program is to a family; b->clause is STET_CLAUSES if it fits. */
static uint64_t fit(const struct stet_gate *g, const struct stet_family *f,
                    const struct stet_seen *s, struct stet_breach *b)
{
    uint64_t score = 0;
    uint32_t many = 0;

    *b = (struct stet_breach){
        .clause = STET_CLAUSES, .family = f, .line = f->line, .number = UINT32_MAX};
    for (uint32_t i = 0; i < s->arg_count; i++) {
        const struct stet_clause_arg *a = find_arg(f, s->args[i].name, i);

        if (a)
            score += fit_arg(g, a, &s->args[i], i, b);
        else if (!f->open && keep_breach(b, STET_CLAUSE_ARGUMENTS, NULL, s->args[i].name, i))
            snprintf(b->what, sizeof b->what, "argument %.*s is not in the contract",
                     STET_FMT(s->args[i].name));
    }
    for (uint32_t i = 0; i < f->arg_count; i++) {
        const struct stet_clause_arg *a = &f->args[i];

        many += a->many;
        if (!a->many && !is_among(s, a->name, i) &&
            keep_breach(b, STET_CLAUSE_ARGUMENTS, a, a->name, UINT32_MAX))
            snprintf(b->what, sizeof b->what, "argument %.*s of the contract is not there",
                     STET_FMT(a->name));
    }
    if (f->arg_count == s->arg_count && !many)
        score++;
    return score;
}

/* ---- arguments in another order ---- */

enum { MOST_ARGS = 1024, NOBODY = UINT16_MAX };

struct order {
    const struct stet_gate *g;
    const struct stet_family *f;
    const struct stet_seen *s;
    uint16_t holder[MOST_ARGS]; /* of each of the contract's arguments */
    bool tried[MOST_ARGS];
};

/* Finds a position for an argument, moving others if that makes room. */
static bool place(struct order *o, uint32_t i)
{
    for (uint32_t k = 0, dim; k < o->f->arg_count; k++) {
        unsigned score;

        if (o->tried[k] ||
            judge_arg(o->g, &o->f->args[k], &o->s->args[i], &score, &dim) != STET_CLAUSES)
            continue;
        o->tried[k] = true;
        if (o->holder[k] == NOBODY || place(o, o->holder[k])) {
            o->holder[k] = (uint16_t)i;
            return true;
        }
    }
    return false;
}

/* PyTorch/XLA does not name arguments, and another graph takes the same ones in another order. */
static bool fits_in_any_order(const struct stet_gate *g, const struct stet_family *f,
                              const struct stet_seen *s)
{
    struct order o = {g, f, s, {0}, {0}};

    if (f->arg_count != s->arg_count || f->arg_count > MOST_ARGS)
        return false;
    memset(o.holder, 0xff, sizeof o.holder);
    for (uint32_t i = 0; i < s->arg_count; i++) {
        memset(o.tried, 0, sizeof o.tried);
        if (!place(&o, i))
            return false;
    }
    return true;
}

const struct stet_family *stet_gate_family(const struct stet_gate *g, const struct stet_seen *s,
                                           struct stet_breach *out)
{
    const struct stet_contract *c = g->contract;
    const struct stet_family *best = NULL, *any = NULL;
    uint64_t most = 0;

    for (uint32_t i = 0; i < c->family_count; i++) {
        const struct stet_family *f = &c->families[i];
        struct stet_breach b;
        uint64_t score;

        if (stet_view_is(f->name, "*"))
            any = any ? any : f;
        if (!stet_view_eq(f->name, s->family))
            continue;
        score = fit(g, f, s, &b);
        if (b.clause != STET_CLAUSES && s->framework == STET_FRAMEWORK_TORCH_XLA &&
            fits_in_any_order(g, f, s))
            b = (struct stet_breach){
                .clause = STET_CLAUSES, .family = f, .line = f->line, .number = UINT32_MAX};
        if (b.clause == STET_CLAUSES) {
            *out = b;
            return f;
        }
        if (!best || score > most) {
            best = f;
            most = score;
            *out = b;
        }
    }
    /* All graphs of PyTorch/XLA have one name: a graph with little in common is not a member. */
    if (best && s->framework == STET_FRAMEWORK_TORCH_XLA &&
        most * 2 < 4 * (uint64_t)(s->arg_count > best->arg_count ? s->arg_count : best->arg_count))
        best = NULL;
    if (!best && any)
        fit(g, best = any, s, out);
    return best;
}

/* ---- budgets ---- */

/* Returns how often it was counted before. Adds a new one to the list if `take`. */
static uint32_t times_met(struct tally *t, struct stet_hash h, bool take)
{
    for (size_t i = 0; i < t->count; i++)
        if (stet_hash_eq(t->items[i].hash, h))
            return take ? t->items[i].times++ : t->items[i].times;
    if (!take || t->count >= MOST_HASHES)
        return 0;
    if (!stet_vec_room(&t->items, &t->room, t->count, sizeof *t->items))
        return 0; /* an uncounted compile is not a breach */
    t->items[t->count++] = (struct met){.hash = h, .times = 1};
    return 0;
}

static bool over(struct tally *t, struct stet_hash h, uint64_t budget)
{
    return budget != STET_NO_BUDGET && !times_met(t, h, false) && t->count >= budget;
}

static bool says(struct stet_breach *b, enum stet_clause clause, const char *what, uint64_t budget,
                 const char *unit)
{
    b->clause = clause;
    snprintf(b->what, sizeof b->what, "%s: the contract allows %" PRIu64 " %s%s", what, budget,
             unit, budget == 1 ? "" : "s");
    return true;
}

static bool breaks_mesh(const struct stet_contract *c, const struct stet_family *f,
                        const struct stet_seen *s, struct stet_breach *b)
{
    const struct stet_terms *t = f->terms.has_mesh ? &f->terms : &c->terms;

    /* The mesh of the whole contract applies to programs that have a mesh. */
    if (!t->has_mesh || stet_view_eq(t->mesh, s->mesh) || (t == &c->terms && !s->mesh.len))
        return false;
    b->clause = STET_CLAUSE_MESH;
    b->line = t->mesh_line;
    snprintf(b->what, sizeof b->what, "its mesh is %.*s; the contract has %.*s",
             STET_FMT(s->mesh.len ? s->mesh : STET_VIEW("none")),
             STET_FMT(t->mesh.len ? t->mesh : STET_VIEW("none")));
    return true;
}

static bool breaks_calls(const struct stet_gate *g, const struct stet_family *f,
                         const struct stet_seen *s, struct stet_breach *b)
{
    if (!f->has_calls || g->foreign || stet_view_eq(f->calls, s->calls))
        return false;
    b->clause = STET_CLAUSE_CALLS;
    snprintf(b->what, sizeof b->what, "it calls %.*s; the contract has %.*s",
             STET_FMT(s->calls.len ? s->calls : STET_VIEW("no kernel")),
             STET_FMT(f->calls.len ? f->calls : STET_VIEW("none")));
    return true;
}

static bool breaks_budget(struct stet_gate *g, const struct stet_family *f,
                          const struct stet_seen *s, struct stet_breach *b)
{
    struct stet_tallies *t = &g->families[f - g->contract->families];
    /* Different options make a different program of the same operations. */
    struct stet_hash program = stet_hash_mix(s->program, s->options);

    b->line = f->programs_line;
    /* A graph with more results has other options, too. */
    if (over(&t->graphs, s->graph, f->graphs))
        return says(b, STET_CLAUSE_GRAPHS, "another graph", f->graphs, "graph");
    if (over(&t->options, s->options, f->options))
        return says(b, STET_CLAUSE_OPTIONS, "another set of compile options", f->options, "set");
    if (over(&t->programs, program, f->programs))
        return says(b, STET_CLAUSE_PROGRAMS, "another program of the same graph", f->programs,
                    "program");
    if (f->compiles != STET_NO_BUDGET && times_met(&t->programs, program, false) >= f->compiles)
        return says(b, STET_CLAUSE_COMPILES, "the same program is compiled again", f->compiles,
                    "compile");
    times_met(&t->options, s->options, true);
    times_met(&t->graphs, s->graph, true);
    times_met(&t->programs, program, true);
    return false;
}

bool stet_gate_breaks(struct stet_gate *g, const struct stet_seen *s, struct stet_breach *out)
{
    const struct stet_family *f = stet_gate_family(g, s, out);

    if (!f) {
        *out = (struct stet_breach){.clause = STET_CLAUSE_FAMILY, .number = UINT32_MAX};
        snprintf(out->what, sizeof out->what, "%.*s with %u argument%s is in no family",
                 STET_FMT(s->family), s->arg_count, s->arg_count == 1 ? "" : "s");
        return true;
    }
    /* A mesh can explain a broken sharding clause, but no clause before it. */
    if (out->clause >= STET_CLAUSE_MESH) {
        struct stet_breach mesh = *out;

        if (breaks_mesh(g->contract, f, s, &mesh)) {
            *out = mesh;
            return true;
        }
    }
    if (out->clause != STET_CLAUSES)
        return true;
    return breaks_calls(g, f, s, out) || breaks_budget(g, f, s, out);
}
