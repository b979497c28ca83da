/* One comparison, kept small: its causes as text, and what the evidence needs. */
#include "explain/history_internal.h"

#include "base/mem.h"
#include "explain/words.h"

static struct stet_view keep(struct stet_history *h, struct stet_view v)
{
    return v.ptr ? stet_arena_copy(&h->arena, v) : v;
}

static struct stet_place keep_place(struct stet_history *h, struct stet_place p)
{
    if (!p.line)
        return (struct stet_place){0};
    p.file = keep(h, p.file);
    p.function = keep(h, p.function);
    return p;
}

/* Where each argument of a program is used first and last, reshapes and converts included. */
struct use {
    const struct stet_op *first, *last;
};

struct uses {
    const struct stet_program *program;
    struct use *items;
};

static bool note_use(const struct stet_op *op, void *context)
{
    struct uses *u = context;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_op_operand(op, i);

        if (stet_value_def(v) || v->index >= u->program->argument_count ||
            u->program->arguments[v->index].value != v || !stet_loc_file(op->loc))
            continue;
        if (!u->items[v->index].first)
            u->items[v->index].first = op;
        u->items[v->index].last = op;
    }
    return true;
}

static bool is_of_argument(const struct stet_change *c)
{
    return c->kind == STET_CHANGE_ARGUMENT || c->kind == STET_CHANGE_ARGUMENT_CAME;
}

static bool find_uses(struct uses *u, const struct stet_program *p, const struct stet_diff *d)
{
    bool asked = false;

    for (uint32_t i = 0; i < d->change_count && i < STET_REPORTED_MOST; i++)
        asked |= is_of_argument(&d->changes[i]);
    u->program = p;
    u->items = stet_mem_calloc((size_t)p->argument_count + 1, sizeof *u->items);
    if (u->items && asked)
        stet_program_walk(p, note_use, u);
    return u->items != NULL;
}

/* Returns the operation that shows the change; NULL when only its own place is known. */
static const struct stet_op *use_of(const struct stet_change *c, const struct uses *u)
{
    uint32_t i = c->of.argument;

    if (!is_of_argument(c) || i >= u->program->argument_count)
        return NULL;
    /* A donated argument is overwritten where it is used last. */
    return c->facet == STET_FACET_DONATION ? u->items[i].last : u->items[i].first;
}

static struct stet_place place_of(const struct stet_change *c, const struct stet_op *use)
{
    struct stet_place p = stet_place_of(use ? use->loc : c->loc);

    if (!p.line)
        p = stet_place_of(c->loc);
    if (!p.line)
        p = (struct stet_place){c->file, c->function, c->line};
    return p;
}

static struct stet_change_subject keep_subject(struct stet_history *h,
                                               struct stet_change_subject of)
{
    of.name = keep(h, of.name);
    of.in = keep(h, of.in);
    of.target = keep(h, of.target);
    return of;
}

/* Causes come first in a diff; consequences are only kept while there is room. */
static void keep_changes(struct stet_history *h, struct stet_finding *f, const struct stet_diff *d,
                         const struct uses *uses)
{
    uint32_t n = d->change_count < STET_REPORTED_MOST ? d->change_count : STET_REPORTED_MOST;
    struct stet_reported_change *told =
        STET_NEW_ARRAY(&h->arena, struct stet_reported_change, n ? n : 1);

    if (!told)
        return;
    for (uint32_t i = 0; i < n; i++) {
        const struct stet_change *c = &d->changes[i];
        const struct stet_op *use = use_of(c, uses);

        struct stet_view inside =
            c->kind == STET_CHANGE_CONSTANT ? stet_place_inside(c->loc) : (struct stet_view){0};

        told[i] = (struct stet_reported_change){.kind = c->kind,
                                                .facet = c->facet,
                                                .follows = c->follows,
                                                .of = keep_subject(h, c->of),
                                                .data = c->data,
                                                .from = keep(h, c->from),
                                                .to = keep(h, c->to),
                                                .op = keep(h, c->op),
                                                .place = keep_place(h, place_of(c, use)),
                                                .inside = keep(h, inside),
                                                .count = c->count,
                                                .order = use ? use->id : c->order};
    }
    f->changes = told;
    f->change_count = n;
    f->left_out = d->change_count - n + d->left_out;
}

/* ---- shapes ---- */

static void shape_facts(struct stet_finding *f)
{
    struct stet_facts *facts = &f->facts;

    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if (c->facet != STET_FACET_SHAPES)
            continue;
        if (c->kind == STET_CHANGE_ARGUMENT && !facts->argument_shape) {
            facts->argument_shape = true;
            facts->size_from = c->data.sizes[0];
            facts->size_to = c->data.sizes[1];
        }
        if (c->kind == STET_CHANGE_TYPE && c->data.has_sizes && !facts->inner_shape) {
            facts->inner_shape = true;
            facts->inner_from = c->data.sizes[0];
            facts->inner_to = c->data.sizes[1];
            facts->made_so = stet_view_ends(c->op, ".broadcast") ||
                             stet_view_ends(c->op, ".iota") || stet_view_ends(c->op, ".pad");
        }
        facts->topk |= stet_view_ends(c->op, "top_k") || stet_view_ends(c->op, "topk");
        facts->gather |= stet_view_ends(c->op, "gather") && c->kind == STET_CHANGE_TYPE;
    }
}

static bool is_named(const struct stet_op *op, const char *name)
{
    return op && stet_view_is(stet_words_mnemonic(op), name);
}

/* The operation that sorted what this slice takes the first or last part of; NULL if none did. */
static const struct stet_op *sort_below(const struct stet_op *slice)
{
    const struct stet_op *def = stet_value_def(stet_op_operand(slice, 0));

    if ((is_named(def, "get-tuple-element") || is_named(def, "get_tuple_element")) &&
        def->operand_count == 1)
        def = stet_value_def(stet_op_operand(def, 0));
    return is_named(def, "sort") ? def : NULL;
}

static int64_t sorted_dimension(const struct stet_op *sort)
{
    const struct stet_attr *one = stet_op_attr(sort, "dimension");
    const struct stet_attr *list = stet_op_attr(sort, "dimensions");

    if (one && one->kind == STET_ATTR_INTEGER)
        return stet_attr_int(one);
    return list && list->kind == STET_ATTR_INTS && list->count == 1 ? list->ints[0] : -1;
}

/* Frameworks that have no top-k of their own sort and take a part. */
static const struct stet_op *cuts_a_sort(const struct stet_op *op)
{
    const struct stet_op *sort =
        is_named(op, "slice") && op->operand_count == 1 && op->result_count == 1 ? sort_below(op)
                                                                                 : NULL;
    const struct stet_type *whole = sort ? stet_op_operand(op, 0)->type : NULL;
    const struct stet_type *part = sort ? op->results[0].type : NULL;
    int64_t d = sort ? sorted_dimension(sort) : -1;

    if (!sort || whole->rank != part->rank)
        return NULL;
    if (d < 0)
        d += whole->rank;
    return d >= 0 && d < whole->rank && whole->dims[d] != part->dims[d] ? sort : NULL;
}

static bool sorts_truth(const struct stet_op *sort)
{
    const struct stet_type *key = stet_op_operand(sort, 0)->type->element;

    return key && key->kind == STET_TYPE_INTEGER && key->width == 1;
}

struct cut {
    const struct stet_finding *finding;
    const struct stet_op *found; /* the sort */
};

static bool find_cut(const struct stet_op *op, void *context)
{
    struct cut *cut = context;

    for (uint32_t i = 0; i < cut->finding->change_count && !cut->found; i++) {
        const struct stet_reported_change *c = &cut->finding->changes[i];

        if (c->kind == STET_CHANGE_TYPE && c->facet == STET_FACET_SHAPES && c->order == op->id)
            cut->found = cuts_a_sort(op);
    }
    return !cut->found;
}

static void sort_facts(struct stet_finding *f, const struct stet_program *p)
{
    struct cut cut = {f, NULL};

    if (f->facts.inner_shape && !f->facts.argument_shape && !f->facts.topk)
        stet_program_walk(p, find_cut, &cut);
    f->facts.masked = cut.found && sorts_truth(cut.found);
    f->facts.cut = cut.found && !f->facts.masked;
}

/* An integer that is a size, or moved by the same amount or in the same proportion. */
static bool moves_alike(const struct stet_facts *facts, double from, double to)
{
    double x = (double)facts->inner_from, y = (double)facts->inner_to;

    return from != to && (from * y == to * x || to - from == y - x);
}

/* A constant list of integers, an arange, that is as long as the size. */
static bool is_list_of_size(const struct stet_finding *f, const struct stet_reported_change *c)
{
    const struct stet_change_element *e = &c->data.elements[0];

    return c->kind == STET_CHANGE_TYPE && stet_view_ends(c->op, ".constant") && e->known &&
           e->kind == STET_TYPE_INTEGER && e->width > 1 && c->data.has_sizes &&
           c->data.sizes[0] == f->facts.inner_from && c->data.sizes[1] == f->facts.inner_to;
}

static bool is_whole(double v)
{
    return v == (double)(int64_t)v;
}

static void constant_facts(struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count && f->facts.inner_shape; i++) {
        const struct stet_reported_change *c = &f->changes[i];
        const double *v = c->data.values;

        f->facts.constant_is_size |= c->kind == STET_CHANGE_CONSTANT && c->data.has_values &&
                                     is_whole(v[0]) && is_whole(v[1]) &&
                                     moves_alike(&f->facts, v[0], v[1]);
        f->facts.constant_is_size |= is_list_of_size(f, c);
    }
}

/* ---- arguments ---- */

static const struct stet_argument *argument_of(const struct stet_program *p,
                                               const struct stet_reported_change *c)
{
    return c->of.argument < p->argument_count ? &p->arguments[c->of.argument] : NULL;
}

struct additions {
    const struct stet_value *value;
    uint32_t adds, others;
};

static bool count_use(const struct stet_op *op, void *context)
{
    struct additions *u = context;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (stet_op_operand(op, i) != u->value)
            continue;
        if (stet_view_ends(stet_op_name(op), ".add"))
            u->adds++;
        else
            u->others++;
    }
    return true;
}

/* Added once to something and used for nothing else: a gradient to accumulate into. */
static bool is_accumulated(const struct stet_program *p, const struct stet_argument *a)
{
    struct additions u = {a->value, 0, 0};

    stet_program_walk(p, count_use, &u);
    return u.adds == 1 && u.others == 0;
}

/* Does another argument have exactly the sizes of this one? Labels do, offsets do not. */
static bool has_company(const struct stet_finding *f, const struct stet_reported_change *of)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if (c != of && c->kind == STET_CHANGE_ARGUMENT && c->facet == STET_FACET_SHAPES &&
            c->data.has_sizes && of->data.has_sizes && c->data.sizes[0] == of->data.sizes[0] &&
            c->data.sizes[1] == of->data.sizes[1])
            return true;
    }
    return false;
}

/* Is this what the program before returned, where the program now returns something else? A weight
 * that happens to have the type is returned by both. */
static bool returns_more(const struct stet_program *before, const struct stet_program *now,
                         const struct stet_type *t)
{
    for (uint32_t i = 0; i < before->output_count && i < now->output_count; i++)
        if (stet_type_eq(before->outputs[i].type, t) && !stet_type_eq(now->outputs[i].type, t))
            return true;
    return false;
}

static void argument_facts(struct stet_finding *f, const struct stet_program *a,
                           const struct stet_program *b)
{
    uint32_t added = 0, looked = 0;

    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];
        bool came = c->kind == STET_CHANGE_ARGUMENT_CAME;
        const struct stet_program *p = came ? b : a;
        const struct stet_argument *arg;

        if (c->kind == STET_CHANGE_ARGUMENT && c->facet == STET_FACET_SHAPES) {
            arg = argument_of(b, c);
            if (arg && arg->value->type->rank == 1 && arg->value->type->element &&
                arg->value->type->element->kind == STET_TYPE_INTEGER &&
                arg->value->type->element->width > 1 && !has_company(f, c)) {
                f->facts.vector = true;
                f->facts.vector_at = i;
            }
            if (arg && !f->facts.selects && stet_facts_is_selection(b, arg))
                f->facts.selects = i + 1;
            if (arg && !f->facts.returned && returns_more(a, b, arg->value->type))
                f->facts.returned = i + 1;
        }
        if (!came && c->kind != STET_CHANGE_ARGUMENT_WENT)
            continue;
        f->facts.came += came;
        f->facts.went += !came;
        arg = argument_of(p, c);
        f->facts.made += came && arg && stet_facts_is_result(a, arg->value->type);
        f->facts.scalars += arg && !arg->value->type->rank;
        if (arg && looked < 8) {
            looked++;
            f->facts.updates += stet_facts_scales_update(p, arg);
            added += is_accumulated(p, arg);
        }
    }
    f->facts.accumulates = looked && added == looked;
}

/* ---- lines ---- */

/* Lines are kept by process: each rank compiles its own. */
static uint64_t line_key(const struct stet_sighting *s, uint64_t line)
{
    return line ^ ((uint64_t)s->process + 1) * 0x9e3779b97f4a7c15u;
}

struct new_line {
    const struct stet_history *h;
    const struct stet_sighting *s;
    struct stet_place found;
};

static bool find_new(const struct stet_op *op, void *context)
{
    struct new_line *n = context;
    struct stet_place place;

    if (stet_traits_silent(stet_op_name(op)))
        return true;
    place = stet_place_of(op->loc);
    if (!place.line ||
        stet_map_get(&n->h->index->lines,
                     line_key(n->s, stet_place_hash(place.file, place.line))) != STET_NONE)
        return true;
    n->found = place;
    return false;
}

void stet_facts_lines(struct stet_history *h, struct stet_facts *facts,
                      const struct stet_sighting *s, const struct stet_program *p)
{
    struct new_line n = {h, s, {{0}, {0}, 0}};

    for (uint32_t i = 0; i < s->traits->line_count; i++)
        facts->new_lines +=
            stet_map_get(&h->index->lines, line_key(s, s->traits->lines[i])) == STET_NONE;
    if (!facts->new_lines)
        return;
    stet_program_walk(p, find_new, &n);
    facts->new_line = keep_place(h, n.found);
    for (uint32_t i = 0; i < s->traits->line_count; i++)
        stet_map_put(&h->index->lines, line_key(s, s->traits->lines[i]), 0);
}

/* ---- all of it ---- */

/* Two options are lists with one item for each argument or output. */
static bool counts_values(struct stet_view path)
{
    return stet_view_ends(path, "allow_spmd_sharding_propagation_to_parameters") ||
           stet_view_ends(path, "allow_spmd_sharding_propagation_to_output");
}

static void add_option(void *context, struct stet_view path, struct stet_view from,
                       struct stet_view to)
{
    if (!counts_values(path) || from.len == to.len)
        stet_diff_add_option(context, path, from, to);
}

/* The earliest place, in the order of the program, of a cause that is evidence for the class; else
 * of any change with a place. The place of constants is arbitrary, mostly at the beginning. */
static struct stet_place origin_of(const struct stet_finding *f)
{
    const struct stet_reported_change *best = NULL;

    for (int strict = 2; strict >= 0 && !best; strict--)
        for (uint32_t i = 0; i < f->change_count; i++) {
            const struct stet_reported_change *c = &f->changes[i];

            if (!c->place.line ||
                (strict > 1 && c->kind == STET_CHANGE_TYPE && stet_view_ends(c->op, "constant")) ||
                (strict && (c->follows != STET_NO_FACET ||
                            stet_diff_change_cause(c->kind, c->facet, c->op) != f->pair)))
                continue;
            if (!best || c->order < best->order)
                best = c;
        }
    return best ? best->place : (struct stet_place){0};
}

/* PyTorch/XLA's arguments have no names. Where much of the code is another, and arguments came or
 * went, the arguments that were matched may be different ones: that their shapes differ is no
 * evidence. */
static bool is_other_code(const struct stet_sighting *s, const struct stet_diff *d)
{
    bool form = stet_cause_is(d->cause, STET_CAUSE_IS_FORM);
    bool moved = false;

    for (uint32_t i = 0; form && i < d->change_count && !moved; i++)
        moved = d->changes[i].kind == STET_CHANGE_ARGUMENT_CAME ||
                d->changes[i].kind == STET_CHANGE_ARGUMENT_WENT;
    return moved && s->traits->framework == STET_FRAMEWORK_TORCH_XLA &&
           (d->ops_came + d->ops_went) * 4 > d->ops_matched;
}

enum stet_rc stet_facts_gather(struct stet_history *h, struct stet_finding *f,
                               const struct stet_sighting *s, const struct stet_history_side *a,
                               const struct stet_history_side *b, struct stet_err *err)
{
    struct uses uses;
    struct stet_diff d;
    enum stet_rc rc = stet_diff_make(&d, &a->program, &b->program, err);

    if (rc != STET_OK)
        return rc;
    if (a->options && b->options)
        stet_options_diff(a->options, b->options, add_option, &d);
    f->facts.same = d.cause == STET_CAUSE_IDENTICAL;
    f->facts.unfed = d.ops_unexplained;
    f->facts.new_ops = d.ops_came;
    f->facts.only_arguments = !d.ops_came && !d.ops_went;
    f->facts.only_more = d.cause == STET_CAUSE_GRAPH_CHANGE && !d.also_count && d.ops_came &&
                         !d.ops_went && !(d.moved & ~(1u << STET_FACET_ATTRIBUTES));
    f->facts.bounded_known = d.bounded.known;
    if (d.bounded.forbids) {
        f->facts.forbids = keep(h, stet_words_mnemonic(d.bounded.forbids));
        f->facts.forbids_why = stet_view_str(d.bounded.why);
        f->facts.forbids_at = keep_place(h, stet_place_of(d.bounded.forbids->loc));
    }
    if (is_other_code(s, &d)) {
        d.cause = STET_CAUSE_GRAPH_CHANGE;
        d.also_count = 0;
    }
    f->pair = d.cause;
    for (uint32_t i = 0; i < d.also_count && i < STET_ALSO_MOST; i++)
        f->pair_also[f->pair_also_count++] = d.also[i];
    if (!find_uses(&uses, b->program.program, &d)) {
        stet_diff_release(&d);
        return stet_fail(err, STET_NO_MEMORY, "out of memory for findings");
    }
    keep_changes(h, f, &d, &uses);
    stet_mem_free(uses.items);
    stet_diff_release(&d);
    shape_facts(f);
    sort_facts(f, b->program.program);
    constant_facts(f);
    argument_facts(f, a->program.program, b->program.program);
    f->pair_origin = origin_of(f);
    if (f->pair == STET_CAUSE_OPTIONS_DRIFT) /* no operation differs: the options of the call do */
        f->pair_origin = s->trigger;
    if (!f->pair_origin.line)
        f->pair_origin = s->traits->place;
    return h->arena.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for findings") : STET_OK;
}
