/* Makes a contract from a good run: families from the programs, sizes from the arguments, budgets
 * from the counts of the process that needed most. */
#include "contract/contract_run.h"

#include "base/mem.h"
#include "launch/cpu.h"
#include "stet_version.h"

#include <stdio.h>

enum {
    OVERLOADS = 4,     /* more signatures of one name are not listed separately */
    OF_ONE_ROOT = 24,  /* more arguments of one root are not listed separately */
    LEAST_WARM_UP = 10 /* steps */
};

/* One compile, once its family is known. */
struct member {
    uint32_t family, process;
    struct stet_hash graph, program, options;
    bool library;
};

struct maker {
    struct stet_contract *c;
    struct stet_lanes *l;
    struct member *members;
    uint32_t count;
};

static bool no_memory(struct stet_err *err)
{
    stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    return false;
}

/* ---- families ---- */

static bool same_arg(const struct stet_clause_arg *a, const struct stet_seen_arg *s)
{
    return stet_view_eq(a->name, s->name) && stet_view_eq(a->type, s->type) && a->rank == s->rank &&
           a->donated == s->donated && stet_view_eq(a->sharding, s->sharding) &&
           stet_view_eq(a->layout, s->layout);
}

static bool same_signature(const struct stet_family *f, const struct stet_seen *s)
{
    if (!stet_view_eq(f->name, s->family) || f->arg_count != s->arg_count ||
        !stet_view_eq(f->calls, s->calls) || !stet_view_eq(f->terms.mesh, s->mesh))
        return false;
    for (uint32_t i = 0; i < s->arg_count; i++)
        if (!same_arg(&f->args[i], &s->args[i]))
            return false;
    return true;
}

static bool add_arg(struct stet_contract *c, struct stet_family *f, const struct stet_seen_arg *s)
{
    struct stet_clause_arg *a = stet_gate_family_add_arg(f, &c->arena);

    if (!a)
        return false;
    *a = (struct stet_clause_arg){.name = s->name,
                                  .type = s->type,
                                  .rank = s->rank,
                                  .dims = STET_NEW_ARRAY(&c->arena, struct stet_dim, s->rank + 1),
                                  .donated = s->donated,
                                  .sharding = s->sharding,
                                  .layout = s->layout};
    for (uint32_t d = 0; a->dims && d < s->rank; d++)
        a->dims[d].kind = STET_DIM_SET;
    return a->dims != NULL;
}

static struct stet_family *family_of(struct stet_contract *c, const struct stet_seen *s)
{
    for (uint32_t i = 0; i < c->family_count; i++)
        if (same_signature(&c->families[i], s))
            return &c->families[i];
    return NULL;
}

static struct stet_family *new_family(struct stet_contract *c, const struct stet_seen *s)
{
    struct stet_family *f = stet_gate_contract_add_family(c);

    if (!f)
        return NULL;
    f->name = s->family;
    f->calls = s->calls;
    f->has_calls = s->calls.len > 0;
    f->terms.mesh = s->mesh;
    f->terms.has_mesh = s->mesh.len > 0;
    for (uint32_t i = 0; i < s->arg_count; i++)
        if (!add_arg(c, f, &s->args[i]))
            return NULL;
    return f;
}

static bool add_member(struct maker *m, const struct stet_sighting *s, const struct stet_seen *seen,
                       struct stet_family *f)
{
    for (uint32_t i = 0; i < seen->arg_count; i++)
        for (uint32_t d = 0; d < seen->args[i].rank; d++)
            if (!stet_gate_dim_add(&f->args[i].dims[d], seen->args[i].dims[d], &m->c->arena))
                return false;
    m->members[m->count++] = (struct member){(uint32_t)(f - m->c->families),
                                             s->process,
                                             seen->graph,
                                             stet_hash_mix(seen->program, seen->options),
                                             seen->options,
                                             s->library};
    return true;
}

static bool take(struct maker *m, uint32_t number, struct stet_err *err)
{
    const struct stet_sighting *s = &m->l->x.history.sightings[number];
    struct stet_family *f = NULL;
    struct stet_arena arena;
    struct stet_seen seen;
    enum stet_rc rc;
    bool fine = true;

    if (s->past || s->failed)
        return true;
    stet_arena_init(&arena, (size_t)64 << 20);
    rc = stet_contract_see(&m->l->x, number, &seen, &arena, err);
    if (rc == STET_OK && !(f = family_of(m->c, &seen))) {
        /* The first of its kind is kept, because its family uses its text. */
        rc = stet_contract_see(&m->l->x, number, &seen, &m->c->arena, err);
        f = rc == STET_OK ? new_family(m->c, &seen) : NULL;
    }
    if (rc != STET_NOT_FOUND)
        fine = (rc == STET_OK && f && add_member(m, s, &seen, f)) || no_memory(err);
    stet_arena_release(&arena);
    return fine;
}

/* ---- helpers ---- */

/* A family that takes any arguments. */
static struct stet_family open_family(struct stet_view name, bool library)
{
    return (struct stet_family){.name = name,
                                .open = true,
                                .library = library,
                                .programs = STET_NO_BUDGET,
                                .graphs = STET_NO_BUDGET,
                                .options = STET_NO_BUDGET,
                                .compiles = STET_NO_BUDGET,
                                .terms = {.settled = STET_NO_BUDGET, .waited_ns = STET_NO_BUDGET}};
}

/* Gives the members of family `k` to family `i`, and removes `k`. */
static void merge(struct maker *m, uint32_t i, uint32_t k)
{
    struct stet_contract *c = m->c;

    for (uint32_t n = 0; n < m->count; n++) {
        if (m->members[n].family == k)
            m->members[n].family = i;
        else if (m->members[n].family > k)
            m->members[n].family--;
    }
    memmove(&c->families[k], &c->families[k + 1], (c->family_count - k - 1) * sizeof *c->families);
    c->family_count--;
}

static bool is_of_library(const struct maker *m, uint32_t family)
{
    for (uint32_t n = 0; n < m->count; n++)
        if (m->members[n].family == family && !m->members[n].library)
            return false;
    return true;
}

/* Puts the programs of libraries (operations outside any jitted function) into one family. Their
 * sizes follow from those of the user's functions, so a drift would break both. The family is the
 * last one of the file. */
static bool fold_libraries(struct maker *m)
{
    struct stet_family *last;
    uint32_t all = UINT32_MAX;

    for (uint32_t k = 0; k < m->c->family_count; k++) {
        if (!is_of_library(m, k))
            continue;
        if (all == UINT32_MAX)
            m->c->families[all = k] = open_family(STET_VIEW("*"), true);
        else
            merge(m, all, k--);
    }
    if (all == UINT32_MAX)
        return true;
    last = stet_gate_contract_add_family(m->c);
    if (last) {
        *last = m->c->families[all];
        merge(m, m->c->family_count - 2, all);
    }
    return last != NULL;
}

/* Folds functions with many signatures, such as one for every shape, into one line. */
static void fold_overloads(struct maker *m)
{
    struct stet_contract *c = m->c;

    for (uint32_t i = 0; i < c->family_count; i++) {
        struct stet_family *f = &c->families[i];
        uint32_t same = 0;

        if (stet_view_starts(f->name, "SyncTensorsGraph") || !f->name.len)
            continue;
        for (uint32_t k = 0; k < c->family_count; k++)
            same += stet_view_eq(c->families[k].name, f->name);
        if (same <= OVERLOADS)
            continue;
        *f = open_family(f->name, false);
        for (uint32_t k = i + 1; k < c->family_count; k++)
            if (stet_view_eq(c->families[k].name, f->name))
                merge(m, i, k--);
    }
}

/* ---- budgets ---- */

enum which { GRAPH, PROGRAM, OPTIONS };

static struct stet_hash hash_of(const struct member *m, enum which w)
{
    return w == GRAPH ? m->graph : w == PROGRAM ? m->program : m->options;
}

static bool is_peer(const struct member *a, const struct member *b)
{
    return a->family == b->family && a->process == b->process;
}

/* Counts the distinct hashes among the members like `at`, up to and including it. The count is
 * complete at the last such member. */
static uint64_t distinct(const struct maker *m, const struct member *at, enum which w)
{
    uint64_t n = 0;

    for (const struct member *a = m->members; a <= at; a++) {
        bool seen = !is_peer(a, at);

        for (const struct member *b = m->members; b < a && !seen; b++)
            seen = is_peer(b, at) && stet_hash_eq(hash_of(a, w), hash_of(b, w));
        n += !seen;
    }
    return n;
}

static void at_least(uint64_t *budget, uint64_t n)
{
    if (*budget == STET_NO_BUDGET || *budget < n)
        *budget = n;
}

static void count_budgets(struct maker *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct member *at = &m->members[i];
        struct stet_family *f = &m->c->families[at->family];
        uint64_t times = 0;
        bool last = true;

        if (f->library)
            continue;
        for (uint32_t k = 0; k < m->count; k++) {
            bool peer = is_peer(&m->members[k], at);

            last &= k <= i || !peer;
            times += k <= i && peer && stet_hash_eq(m->members[k].program, at->program);
        }
        at_least(&f->compiles, times);
        if (!last)
            continue;
        at_least(&f->programs, distinct(m, at, PROGRAM));
        at_least(&f->graphs, distinct(m, at, GRAPH));
        at_least(&f->options, distinct(m, at, OPTIONS));
    }
}

/* ---- shortening ---- */

static struct stet_view root_of(struct stet_view name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '[' || name.ptr[i] == '.')
            return stet_view_of(name.ptr, i);
    return (struct stet_view){0};
}

static bool has_word(struct stet_view list, struct stet_view word)
{
    const char *at = list.len ? memmem(list.ptr, list.len, word.ptr, word.len) : NULL;

    return at && (at == list.ptr || at[-1] == '|') &&
           (at + word.len == list.ptr + list.len || at[word.len] == '|');
}

/* params['a'] … params['z'] → params*: float32[...] */
static bool fold_args(struct stet_contract *c, struct stet_family *f)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < f->arg_count;) {
        struct stet_view root = root_of(f->args[i].name), types = {0};
        uint32_t n = i + 1;

        while (root.len && n < f->arg_count && stet_view_eq(root_of(f->args[n].name), root))
            n++;
        if (n - i <= OF_ONE_ROOT) {
            while (i < n)
                f->args[out++] = f->args[i++];
            continue;
        }
        for (; i < n; i++)
            if (!has_word(types, f->args[i].type)) {
                types = stet_arena_printf(&c->arena, "%.*s%s%.*s", STET_FMT(types),
                                          types.len ? "|" : "", STET_FMT(f->args[i].type));
                if (!types.ptr)
                    return false;
            }
        f->args[out++] =
            (struct stet_clause_arg){.name = root, .many = true, .type = types, .any_shape = true};
    }
    f->arg_count = out;
    return true;
}

/* A mesh that all families share is written once. */
static void lift_mesh(struct stet_contract *c)
{
    struct stet_view mesh = {0};

    for (uint32_t i = 0; i < c->family_count; i++) {
        struct stet_view m = c->families[i].terms.mesh;

        if (m.len && mesh.len && !stet_view_eq(m, mesh))
            return;
        mesh = m.len ? m : mesh;
    }
    c->terms.mesh = mesh;
    c->terms.has_mesh = mesh.len > 0;
    for (uint32_t i = 0; i < c->family_count; i++)
        c->families[i].terms.has_mesh = false;
}

/* ---- the launch ---- */

/* Returns the length of "3.11" in "3.11.7": a contract does not fix the runner's patch release. */
static size_t to_minor(struct stet_view v)
{
    size_t n = 0;

    for (int dots = 0; n < v.len && (dots += v.ptr[n] == '.') < 2;)
        n++;
    return n;
}

/* The build id of the CPU backend differs between two builds of one version. Its platform version
 * is Stet's version, which the contract has. */
static bool is_own_build(const struct stet_part *part)
{
    return stet_view_is(part->name, STET_LAUNCH_CPU_LIBRARY);
}

static bool take_part(struct stet_contract *c, const struct stet_part *part)
{
    struct stet_pairs *list = part->flags ? &c->terms.flags : &c->terms.bundle;
    struct stet_pair *p;

    if (!part->value.len || is_own_build(part))
        return true;
    for (uint32_t i = 0; i < list->count; i++)
        if (stet_view_eq(list->items[i].name, part->name))
            return true;
    p = stet_gate_pairs_add(list, &c->arena);
    if (!p)
        return false;
    p->name = stet_arena_copy(&c->arena, part->name);
    p->value = stet_arena_copy(&c->arena, stet_contract_part(part));
    if (stet_view_is(p->name, "Python"))
        p->value.len = to_minor(p->value);
    return p->value.ptr != NULL;
}

static bool say_unset(struct stet_contract *c, const char *name)
{
    struct stet_pairs *list = &c->terms.flags;
    struct stet_pair *p;

    for (uint32_t i = 0; i < list->count; i++)
        if (stet_view_is(list->items[i].name, name))
            return true;
    p = stet_gate_pairs_add(list, &c->arena);
    if (p)
        *p = (struct stet_pair){.name = stet_view_str(name), .unset = true};
    return p != NULL;
}

static bool take_launch(struct maker *m)
{
    struct stet_run_digest *d = &m->l->x.digest;
    bool fine = true;

    for (size_t i = 0; fine && i < d->process_count; i++) {
        const struct stet_process_digest *p = &d->processes[i];
        const struct stet_bundle *b = p->compile_count ? stet_session_bundle(d, p) : NULL;

        for (uint32_t k = 0; fine && b && k < b->count; k++)
            fine = take_part(m->c, &b->parts[k]);
        if (!b || m->c->made_on.len)
            continue;
        m->c->on_cpu = stet_contract_on_cpu(p);
        m->c->made_on = m->c->on_cpu ? STET_VIEW("cpu") : (struct stet_view){0};
        for (size_t k = 0; !m->c->on_cpu && k < p->plugin_count; k++)
            if (p->plugins[k].platform.len)
                m->c->made_on = stet_arena_copy(&m->c->arena, p->plugins[k].platform);
    }
    return fine &&
           (!d->compiles || (say_unset(m->c, "XLA_FLAGS") && say_unset(m->c, "LIBTPU_INIT_ARGS")));
}

static void take_settled(struct maker *m)
{
    const struct stet_history *h = &m->l->x.history;
    uint64_t last = 0;

    for (uint32_t i = 0; i < h->sighting_count; i++) {
        const struct stet_sighting *s = &h->sightings[i];

        if (s->past)
            continue;
        if (!s->step_known || !h->orders[s->process].steps_known)
            return; /* the run gives no basis for this clause */
        last = s->step + 1 > last ? s->step + 1 : last;
    }
    if (last)
        m->c->terms.settled = last > LEAST_WARM_UP ? last : LEAST_WARM_UP;
}

enum stet_rc stet_contract_make(struct stet_contract *c, struct stet_lanes *l, bool helpers,
                                struct stet_err *err)
{
    uint32_t n = l->x.history.sighting_count;
    struct maker m = {.c = c, .l = l, .members = stet_mem_calloc(n + 1, sizeof *m.members)};
    bool fine = true;

    stet_gate_contract_init(c);
    if (!m.members)
        fine = no_memory(err);
    for (uint32_t i = 0; fine && i < n; i++)
        fine = take(&m, i, err);
    if (fine && !helpers)
        fine = fold_libraries(&m) || no_memory(err);
    if (fine) {
        fold_overloads(&m);
        count_budgets(&m);
        lift_mesh(c);
        take_settled(&m);
    }
    for (uint32_t i = 0; fine && i < c->family_count; i++)
        fine = fold_args(c, &c->families[i]) || no_memory(err);
    fine = fine && (take_launch(&m) || no_memory(err));
    fine = fine && (!l->has_torch || stet_contract_take_torch(c, &l->torch) || no_memory(err));
    stet_mem_free(m.members);
    if (fine && !c->family_count && !c->frame_count)
        fine =
            (stet_fail(err, STET_NOT_FOUND, "run %s compiled nothing that can be read", l->run->id),
             false);
    if (fine && !c->arena.failed)
        return STET_OK;
    stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    stet_gate_contract_release(c);
    return err ? err->rc : STET_NO_MEMORY;
}

/* ---- the file ---- */

static const char about[] =
    "# What this run may compile. Hand edits are welcome; `stet help contract` has every clause.\n"
    "#   tokens: int32[{8,16,32}, 512..2048 step 512]   sizes that are allowed; * is any\n"
    "#   at most 4 programs of 1 graph                   budgets of one process\n"
    "#   params*: float32[...]                           all arguments that begin so, any shape\n"
    "#   name(...)                                       any arguments\n"
    "#   *(...) library only                             programs that no function of yours made\n"
    "# `stet check` compares, `stet contract update` shows what would have to change.\n";

static void list_clauses(struct stet_buf *out, bool travels)
{
    const char *before = "";

    for (int i = 0; i < STET_CLAUSES; i++)
        if (stet_gate_clause_travels((enum stet_clause)i) == travels) {
            stet_buf_printf(out, "%s%s", before, stet_gate_clause_name((enum stet_clause)i));
            before = ", ";
        }
    stet_buf_char(out, '\n');
}

/* Leaves out the command's arguments. The file is made to be committed, and arguments may be
 * confidential. `stet show RUN` has them. */
static void head(struct stet_buf *out, const struct stet_run *run)
{
    stet_buf_printf(out, "# From run %s by stet %s.\n", run->id, STET_VERSION);
    stet_buf_str(out, about);
}

void stet_contract_write(struct stet_buf *out, const struct stet_contract *c,
                         const struct stet_lanes *l)
{
    struct stet_buf body = STET_BUF_INIT;
    const char *rest;

    stet_gate_contract_print(&body, c);
    rest = body.ptr ? strchr(body.ptr, '\n') : NULL;
    if (!rest) {
        out->failed = true;
        stet_buf_release(&body);
        return;
    }
    stet_buf_add(out, body.ptr, (size_t)(rest + 1 - body.ptr));
    head(out, l->run);
    if (c->on_cpu) {
        stet_buf_str(out, "\n# Made on the embedded CPU backend. These clauses hold for the "
                          "target, too:\n#   ");
        list_clauses(out, true);
        stet_buf_str(out, "# These are the backend's own and are not checked elsewhere:\n#   ");
        list_clauses(out, false);
    } else {
        stet_buf_char(out, '\n');
    }
    stet_buf_str(out, rest + 1);
    stet_buf_release(&body);
}
