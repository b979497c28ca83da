/* Arguments that were added, removed, moved or changed; outputs; meshes. */
#include "explain/changes.h"

static struct stet_view argument_name(struct stet_comparison *c, const struct stet_argument *a)
{
    return a->name.len ? a->name : stet_explain_change_text(c, "#%u", a->value->index);
}

static const struct stet_argument *counterpart(const struct stet_side *s,
                                               const struct stet_program *other,
                                               const struct stet_argument *arg)
{
    /* `arg` is an element of a list, never NULL; the analyzer takes the address of another list's
     * element for NULL. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    const struct stet_value *v = s->value_match[arg->value->id];

    return v && v->index < other->argument_count ? &other->arguments[v->index] : NULL;
}

/* The subject of the changes. */
struct subject {
    struct stet_view name;
    const struct stet_value *value; /* NULL for outputs */
    bool rank_moved;
};

/* The line of an argument's first use is where it enters. */
static void point_at_use(struct stet_change *change, struct stet_side *s,
                         const struct stet_value *v)
{
    const struct stet_op *op = stet_side_need_first_uses(s) ? s->first_uses[v->index] : NULL;

    if (op)
        stet_explain_change_locate(change, op);
}

static struct stet_change *say(struct stet_comparison *c, const struct subject *of, unsigned facet,
                               struct stet_change_subject what, struct stet_view from,
                               struct stet_view to)
{
    struct stet_change *change;

    what.name = of->name;
    what.argument = of->value ? of->value->index : 0;
    change = stet_explain_change_add(
        c,
        &(struct stet_change){.kind = of->value ? STET_CHANGE_ARGUMENT : STET_CHANGE_OUTPUT,
                              .facet = facet,
                              .follows = STET_NO_FACET,
                              .of = what,
                              .from = from,
                              .to = to},
        NULL, NULL);
    if (change && of->value) {
        change->order = of->value->index;
        point_at_use(change, c->b, of->value);
    }
    return change;
}

static struct stet_change_subject aspect(enum stet_change_aspect a)
{
    return (struct stet_change_subject){.aspect = a};
}

static struct stet_view size_text(struct stet_comparison *c, const struct stet_type *t, uint32_t i)
{
    if (t->dims[i] != STET_DYNAMIC)
        return stet_explain_change_text(c, "%lld", (long long)t->dims[i]);
    if (stet_type_rest(t)->bounds && stet_type_rest(t)->bounds[i] != STET_DYNAMIC)
        return stet_explain_change_text(c, "<=%lld", (long long)stet_type_rest(t)->bounds[i]);
    return stet_explain_change_text(c, "?");
}

static void compare_dims(struct stet_comparison *c, const struct subject *of,
                         const struct stet_type *x, const struct stet_type *y)
{
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t bound_x = stet_type_rest(x)->bounds ? stet_type_rest(x)->bounds[i] : 0,
                bound_y = stet_type_rest(y)->bounds ? stet_type_rest(y)->bounds[i] : 0;
        struct stet_change *change;

        if (x->dims[i] == y->dims[i] && bound_x == bound_y)
            continue;
        c->shape_moved = true;
        stet_explain_sizes_add(c, x->dims[i] == STET_DYNAMIC ? bound_x : x->dims[i],
                               y->dims[i] == STET_DYNAMIC ? bound_y : y->dims[i]);
        change = say(c, of, STET_FACET_SHAPES,
                     (struct stet_change_subject){.aspect = STET_ASPECT_DIMENSION, .index = i},
                     size_text(c, x, i), size_text(c, y, i));
        if (change)
            change->data = stet_explain_change_sizes(x->dims[i], y->dims[i]);
    }
}

static bool same_layout(const struct stet_type *x, const struct stet_type *y)
{
    if (stet_content_layout_is_plain(x) || stet_content_layout_is_plain(y))
        return stet_content_layout_is_plain(x) == stet_content_layout_is_plain(y);
    return x->rank == y->rank &&
           stet_view_eq(stet_type_rest(x)->layout_extra, stet_type_rest(y)->layout_extra) &&
           !stet_type_rest(x)->layout == !stet_type_rest(y)->layout &&
           (!stet_type_rest(x)->layout ||
            !memcmp(stet_type_rest(x)->layout, stet_type_rest(y)->layout,
                    x->rank * sizeof *stet_type_rest(x)->layout));
}

static struct stet_view layout_text(struct stet_comparison *c, const struct stet_type *t)
{
    if (stet_content_layout_is_plain(t))
        return stet_explain_change_text(c, "default");
    for (uint32_t i = 0; stet_type_rest(t)->layout && i < t->rank; i++)
        stet_buf_printf(&c->scratch, "%s%lld", i ? "," : "{",
                        (long long)stet_type_rest(t)->layout[i]);
    stet_buf_printf(&c->scratch, "%.*s}", STET_FMT(stet_type_rest(t)->layout_extra));
    return stet_explain_change_taken(c);
}

static void compare_types(struct stet_comparison *c, const struct subject *of,
                          const struct stet_type *x, const struct stet_type *y)
{
    bool shaped = stet_explain_compare_shaped(x) && stet_explain_compare_shaped(y);

    if (shaped ? !stet_type_eq(x->element, y->element) : !stet_type_eq(x, y)) {
        struct stet_change *change =
            say(c, of, STET_FACET_DTYPES, aspect(shaped ? STET_ASPECT_DTYPE : STET_ASPECT_TYPE),
                shaped ? stet_explain_change_dtype(c, x) : stet_explain_change_type(c, x),
                shaped ? stet_explain_change_dtype(c, y) : stet_explain_change_type(c, y));

        c->dtype_moved = true;
        if (change)
            change->data = stet_explain_change_types(x, y);
    }
    if (!shaped)
        return;
    if (x->rank != y->rank) {
        uint64_t from, to;

        c->rank_moved = true;
        if (stet_type_elements(x, &from) && stet_type_elements(y, &to))
            stet_explain_sizes_add(c, (int64_t)from, (int64_t)to);
        say(c, of, STET_FACET_RANKS, aspect(STET_ASPECT_RANK),
            stet_explain_change_text(c, "%u (%.*s)", x->rank,
                                     STET_FMT(stet_explain_change_type(c, x))),
            stet_explain_change_text(c, "%u (%.*s)", y->rank,
                                     STET_FMT(stet_explain_change_type(c, y))));
    } else {
        compare_dims(c, of, x, y);
    }
    if (!same_layout(x, y))
        say(c, of, STET_FACET_LAYOUTS, aspect(STET_ASPECT_LAYOUT), layout_text(c, x),
            layout_text(c, y));
}

/* If outputs were added or removed, the position in the list has no meaning. */
static bool same_alias(const struct stet_comparison *c, int32_t x, int32_t y)
{
    if (c->a->program->output_count != c->b->program->output_count)
        return (x >= 0) == (y >= 0);
    return x == y;
}

static struct stet_view donation(struct stet_comparison *c, const struct stet_argument *a)
{
    if (a->alias >= 0)
        return stet_explain_change_text(c, "overwritten by output %d", a->alias);
    return stet_explain_change_text(c, a->donor ? "donated" : "kept");
}

enum { DEEPEST = 8, MOST_LEAVES = 64 };

/* The texts and numbers of an attribute in order, without the brackets around them. */
struct leaves {
    struct stet_view texts[MOST_LEAVES];
    int64_t numbers[MOST_LEAVES];
    uint32_t count;
};

static void add_leaf(struct leaves *l, struct stet_view text, int64_t number)
{
    if (l->count < MOST_LEAVES) {
        l->texts[l->count] = text;
        l->numbers[l->count++] = number;
    }
}

static void gather_leaves(struct leaves *l, const struct stet_attr *a, int depth)
{
    if (!a || depth > DEEPEST)
        return;
    if (a->kind == STET_ATTR_RECORD || a->kind == STET_ATTR_DICT)
        for (uint32_t i = 0; i < a->count; i++)
            gather_leaves(l, a->named[i].value, depth + 1);
    else if (a->kind == STET_ATTR_ARRAY)
        for (uint32_t i = 0; i < a->count; i++)
            gather_leaves(l, a->items[i], depth + 1);
    else if (a->kind == STET_ATTR_INTS)
        for (uint32_t i = 0; i < a->count; i++)
            add_leaf(l, (struct stet_view){0}, a->ints[i]);
    else if (a->kind == STET_ATTR_INTEGER)
        add_leaf(l, (struct stet_view){0}, stet_attr_int(a));
    else if (a->kind != STET_ATTR_BOOL && a->kind != STET_ATTR_UNIT) /* is_closed */
        add_leaf(l, stet_attr_text(a), 0);
}

/* A sharding has one entry for each dimension. With another rank it has more or fewer empty
 * entries. */
static bool same_axes(const struct stet_attr *x, const struct stet_attr *y)
{
    struct leaves a = {.count = 0}, b = {.count = 0};

    gather_leaves(&a, x, 0);
    gather_leaves(&b, y, 0);
    for (uint32_t i = 0; i < a.count && a.count == b.count; i++)
        if (a.numbers[i] != b.numbers[i] || !stet_view_eq(a.texts[i], b.texts[i]))
            return false;
    return a.count == b.count;
}

/* No sharding, or one over the mesh that has no axes. */
static bool shards_nothing(const struct stet_attr *a)
{
    const struct stet_attr *mesh =
        a && a->kind == STET_ATTR_RECORD ? stet_attr_field(a, "mesh_or_ref") : NULL;

    return !a || (mesh && mesh->kind == STET_ATTR_SYMBOL &&
                  stet_view_is(stet_attr_text(mesh), "empty_mesh"));
}

static void say_attribute(struct stet_comparison *c, const struct subject *of, unsigned class,
                          const struct stet_attr *x, const struct stet_attr *y)
{
    enum stet_change_aspect a = class == STET_CLASS_SHARDINGS ? STET_ASPECT_SHARDING
                                : class == STET_CLASS_LAYOUTS ? STET_ASPECT_LAYOUT
                                                              : STET_ASPECT_ATTRIBUTE;
    struct stet_change *change;

    if (class == STET_CLASS_SHARDINGS && shards_nothing(x) && shards_nothing(y))
        return;
    change = say(c, of, class, aspect(a), stet_explain_change_attr(c, x),
                 stet_explain_change_attr(c, y));
    if (change && of->rank_moved && x && y && same_axes(x, y))
        change->follows = STET_FACET_RANKS;
}

/* Every other attribute an argument or output carries. */
static void compare_dictionaries(struct stet_comparison *c, const struct subject *of,
                                 const struct stet_attr *x, const struct stet_attr *y)
{
    for (int side = 0; side < 2; side++) {
        const struct stet_attr *mine = side ? y : x, *theirs = side ? x : y;

        for (uint32_t i = 0; mine && i < mine->count; i++) {
            const struct stet_named_attr *n = &mine->named[i];
            enum stet_attr_class class = stet_canon_attr(&c->a->canon, n);
            const struct stet_attr *other = NULL;

            for (uint32_t j = 0; theirs && j < theirs->count; j++)
                if (stet_view_eq(theirs->named[j].name, n->name))
                    other = theirs->named[j].value;
            if (class >= STET_CLASS_SKELETON || class == STET_CLASS_DONATION || (side && other) ||
                (other && stet_attr_eq(n->value, other)))
                continue;
            say_attribute(c, of, class, side ? NULL : n->value, side ? n->value : other);
        }
    }
}

static void compare_pair(struct stet_comparison *c, const struct stet_argument *x,
                         const struct stet_argument *y)
{
    const struct stet_type *from = x->value->type, *to = y->value->type;
    struct subject of = {argument_name(c, y), y->value, from->rank != to->rank};

    compare_types(c, &of, from, to);
    if (x->donor != y->donor || !same_alias(c, x->alias, y->alias))
        say(c, &of, STET_FACET_DONATION, aspect(STET_ASPECT_DONATION), donation(c, x),
            donation(c, y));
    compare_dictionaries(c, &of, x->attrs, y->attrs);
}

static void say_moved(struct stet_comparison *c, enum stet_change_kind kind,
                      const struct stet_argument *arg, struct stet_view from, struct stet_view to)
{
    bool of_a = kind == STET_CHANGE_ARGUMENT_WENT;
    struct stet_change *change = stet_explain_change_add(
        c,
        &(struct stet_change){.kind = kind,
                              .facet = STET_NO_FACET,
                              .follows = STET_NO_FACET,
                              .of = {.name = argument_name(c, arg), .argument = arg->value->index},
                              .from = from,
                              .to = to,
                              .line_of_a = of_a},
        NULL, NULL);

    if (change && kind != STET_CHANGE_ARGUMENT_MOVED)
        change->data = of_a ? stet_explain_change_types(arg->value->type, NULL)
                            : stet_explain_change_types(NULL, arg->value->type);
    if (change)
        point_at_use(change, of_a ? c->a : c->b, arg->value);
}

/* An argument moved if it changed places with others, not if others were added or removed before
 * it. */
static void compare_order(struct stet_comparison *c)
{
    const struct stet_program *p = c->b->program;
    uint32_t highest = 0;
    bool any = false;

    for (uint32_t i = 0; i < p->argument_count; i++) {
        const struct stet_argument *x = counterpart(c->b, c->a->program, &p->arguments[i]);
        uint32_t at = x ? x->value->index : 0;

        if (!x)
            continue;
        if (any && at < highest)
            say_moved(c, STET_CHANGE_ARGUMENT_MOVED, &p->arguments[i],
                      stet_explain_change_text(c, "place %u", at),
                      stet_explain_change_text(c, "place %u", i));
        else
            highest = at;
        any = true;
    }
}

static void compare_lists(struct stet_comparison *c)
{
    const struct stet_program *a = c->a->program, *b = c->b->program;

    for (uint32_t i = 0; i < a->argument_count; i++)
        if (!counterpart(c->a, b, &a->arguments[i]))
            say_moved(c, STET_CHANGE_ARGUMENT_WENT, &a->arguments[i],
                      stet_explain_change_type(c, a->arguments[i].value->type),
                      (struct stet_view){0});
    for (uint32_t i = 0; i < b->argument_count; i++) {
        const struct stet_argument *x = counterpart(c->b, a, &b->arguments[i]);

        if (!x)
            say_moved(c, STET_CHANGE_ARGUMENT_CAME, &b->arguments[i], (struct stet_view){0},
                      stet_explain_change_type(c, b->arguments[i].value->type));
        else
            compare_pair(c, x, &b->arguments[i]);
    }
}

/* Types of outputs follow from operations; only what the caller requested for the outputs is
 * left. */
static void compare_outputs(struct stet_comparison *c)
{
    const struct stet_program *a = c->a->program, *b = c->b->program;

    if (a->output_count != b->output_count)
        return;
    for (uint32_t i = 0; i < b->output_count; i++) {
        struct stet_view name = b->outputs[i].name;
        struct subject of = {name.len ? name : stet_explain_change_text(c, "#%u", i), NULL,
                             a->outputs[i].type->rank != b->outputs[i].type->rank};

        compare_dictionaries(c, &of, a->outputs[i].attrs, b->outputs[i].attrs);
    }
}

void stet_explain_compare_arguments(struct stet_comparison *c)
{
    compare_lists(c);
    compare_order(c);
    compare_outputs(c);
}

/* ---- meshes ---- */

/* A mesh without axes is JAX's form of no mesh. */
static bool is_real_mesh(struct stet_side *s, const struct stet_op *op)
{
    const struct stet_attr *mesh, *axes;

    if (stet_canon_kind(&s->canon, op) != STET_KIND_MESH)
        return false;
    mesh = stet_op_attr(op, "mesh");
    axes = mesh ? stet_attr_field(mesh, "axes") : NULL;
    return !axes || axes->count;
}

static const struct stet_op *next_mesh(struct stet_side *s, uint32_t *at)
{
    for (; *at < s->program->op_count; ++*at)
        if (s->ops[*at] && is_real_mesh(s, s->ops[*at]))
            return s->ops[(*at)++];
    return NULL;
}

void stet_explain_compare_meshes(struct stet_comparison *c)
{
    uint32_t at_a = 0, at_b = 0;

    if (!(c->moved >> STET_FACET_SHARDINGS & 1))
        return;
    for (;;) {
        const struct stet_op *x = next_mesh(c->a, &at_a), *y = next_mesh(c->b, &at_b);
        const struct stet_attr *mesh_x = x ? stet_op_attr(x, "mesh") : NULL;
        const struct stet_attr *mesh_y = y ? stet_op_attr(y, "mesh") : NULL;

        if (!x && !y)
            return;
        if (mesh_x && mesh_y && stet_attr_eq(mesh_x, mesh_y))
            continue;
        stet_explain_change_add(c,
                                &(struct stet_change){.kind = STET_CHANGE_ATTRIBUTE,
                                                      .facet = STET_FACET_SHARDINGS,
                                                      .follows = STET_NO_FACET,
                                                      .of = {.aspect = STET_ASPECT_MESH,
                                                             .name = stet_op_symbol(y ? y : x)},
                                                      .from = stet_explain_change_attr(c, mesh_x),
                                                      .to = stet_explain_change_attr(c, mesh_y)},
                                x, y);
    }
}
