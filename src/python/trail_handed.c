/* Calls that hand on what they are given: a copy of an object, one of its fields, an item. */
#include "python/trail_calls.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* ---- copies of objects ---- */

/* eqx.tree_at(lambda m: m.steps, model, value) */
static verdict replaced(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref where = stet_python_argument(m, n, 0), value = stet_python_argument(m, n, 2);
    struct stet_python_part *head = stet_python_trail_head(t), kept;
    bool named = !head;
    verdict v;

    for (stet_python_ref c = where;
         head && where && c < a->count && a->nodes[c].start < a->nodes[where].end; c++)
        named |= stet_python_kind(a, c) == PY_IDENTIFIER && head->how == PY_AT_FIELD &&
                 stet_view_eq(stet_python_text(a, c), head->name);
    if (!named || !value)
        return stet_python_trail_of(t, stet_python_argument(m, n, 1));
    if (!head) {
        v = stet_python_verdict_at(t, n, PY_VARIES);
        v.open = stet_python_kind(a, where) != PY_LAMBDA; /* which part it is was not seen */
        return v;
    }
    kept = t->path[--t->parts];
    v = stet_python_trail_of(t, value);
    t->path[t->parts++] = kept;
    stet_python_way_mark(t, n, v, PY_WAY_COPIES);
    return v.how >= PY_COUNTS && !v.itself ? stet_python_verdict_used(t, n, v)
                                           : stet_python_verdict_at(t, n, PY_VARIES);
}

/* dataclasses.replace(settings, rate=…), row._replace(weight=…), model.clone(drop=…) */
static verdict copied(struct stet_python_trail *t, stet_python_ref n,
                      const struct stet_python_callee *c)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_part *head = stet_python_trail_head(t), kept;
    stet_python_ref given = head && head->how != PY_AT_EACH && head->how != PY_AT_INDEX
                                ? stet_python_keyword(m, n, head->name)
                                : 0;
    stet_python_ref of = c->object ? c->object : stet_python_argument(m, n, 0);
    verdict v;

    if (!head)
        return stet_python_verdict_join(
            t, n,
            stet_python_verdict_used(
                t, n, stet_python_trail_arguments(t, n, c->object ? 0 : 1, PY_OF_VALUE)),
            stet_python_trail_of(t, of));
    if (!given)
        return stet_python_trail_of(t, of);
    kept = t->path[--t->parts];
    v = stet_python_trail_of(t, stet_python_argument_value(m, given));
    t->path[t->parts++] = kept;
    stet_python_way_mark(t, n, v, PY_WAY_COPIES);
    if (v.itself && v.how < PY_VARIES) /* rate=settings.rate * 0.5 */
        v = stet_python_verdict_at(t, n, PY_VARIES);
    return v;
}

/* ---- items and fields ---- */

/* The first step of the path is a keyword of a library's object: types.SimpleNamespace(rate=3). */
static bool named_field(struct stet_python_trail *t, stet_python_ref n, verdict *v)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_part *head = stet_python_trail_head(t);
    bool named = head && (head->how == PY_AT_FIELD || head->how == PY_AT_KEY);
    stet_python_ref given = named ? stet_python_keyword(m, n, head->name) : 0;
    struct stet_python_part kept;

    if (!given)
        return false;
    kept = t->path[--t->parts];
    *v = stet_python_trail_of(t, stet_python_argument_value(m, given));
    t->path[t->parts++] = kept;
    return true;
}

bool stet_python_trail_bound_by(struct stet_python_trail *t, stet_python_ref n, verdict *v)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_part *head = stet_python_trail_head(t);
    struct stet_python_part kept[2];
    stet_python_ref given = 0;

    if (t->parts < 2 || head->how != PY_AT_FIELD)
        return false;
    if (head[-1].how == PY_AT_KEY && stet_view_is(head->name, "keywords"))
        given = stet_python_keyword(m, n, head[-1].name);
    else if (head[-1].how == PY_AT_INDEX && head[-1].index >= 0 && stet_view_is(head->name, "args"))
        given = stet_python_argument(m, n, (uint32_t)head[-1].index + 1);
    if (!given)
        return false;
    memcpy(kept, head - 1, sizeof kept);
    t->parts -= 2;
    *v = stet_python_trail_of(t, stet_python_argument_value(m, given));
    memcpy(&t->path[t->parts], kept, sizeof kept);
    t->parts += 2;
    return true;
}

/* Row(*columns): a field is one of the items. */
static verdict spread(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref list = stet_python_field(a, n, PY_FIELD_ARGUMENTS);
    stet_python_ref splat = list ? stet_python_child_of(a, list, PY_LIST_SPLAT) : 0;
    struct stet_python_part kept;
    verdict v;

    if (!splat)
        return stays;
    kept = t->path[--t->parts];
    v = stet_python_trail_into(t, stet_python_child(a, splat),
                               (struct stet_python_part){PY_AT_INDEX, -1, {0}});
    t->path[t->parts++] = kept;
    return v;
}

/* row.pop("k"), rows.pop() */
static verdict taken(struct stet_python_trail *t, stet_python_ref n, stet_python_ref object)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref key = stet_python_argument(m, n, 0);
    struct stet_view text = key ? stet_python_string(&m->ast, key) : (struct stet_view){0};
    verdict v;

    if (text.len)
        return stet_python_trail_into(t, object, (struct stet_python_part){PY_AT_KEY, -1, text});
    v = stet_python_trail_into(t, object, (struct stet_python_part){PY_AT_EACH, -1, {0}});
    v.queued = true;
    v.open = true; /* which item was taken was not seen */
    return v;
}

/* jax.tree.map(f, x): what f makes of the leaves, otherwise what they are. */
static verdict of_leaves(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_callee f = stet_python_trail_denoted(t, stet_python_argument(m, n, 0));
    struct stet_python_frame frame = {
        .module = f.module, .function = f.definition, .call = n, .caller = t->x->frame, .tree = 1};
    unsigned parts = t->parts;
    verdict v = stays;

    if (t->aspect != PY_OF_PLACE && f.definition && !f.bound &&
        stet_python_kind(&f.module->ast, f.definition) != PY_CLASS)
        v = stet_python_trail_returns(t, &frame);
    t->parts = parts;
    return v.how || v.itself ? v : stet_python_trail_of(t, stet_python_argument(m, n, 1));
}

/* getattr(x, "rate"), {k: getattr(x, k) for k in names}; any of its fields otherwise. */
static verdict attribute_of(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref of = stet_python_argument(m, n, 0), name = stet_python_argument(m, n, 1);
    struct stet_view text = name ? stet_python_string(&m->ast, name) : (struct stet_view){0};
    verdict v;

    if (stet_python_trail_is_key(t, name))
        text = t->key;
    if (text.len)
        return stet_python_trail_into(t, of, (struct stet_python_part){PY_AT_FIELD, -1, text});
    v = stet_python_trail_of(t, of);
    v.guessed = true;
    return v;
}

/* table.get("k") */
static verdict looked_up(struct stet_python_trail *t, stet_python_ref n, stet_python_ref object)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref key = stet_python_argument(m, n, 0);
    struct stet_view text = key ? stet_python_string(&m->ast, key) : (struct stet_view){0};

    return stet_python_trail_into(t, object,
                                  text.len ? (struct stet_python_part){PY_AT_KEY, -1, text}
                                           : (struct stet_python_part){PY_AT_INDEX, -1, {0}});
}

/* a, b = zip(*rows) */
static verdict zipped(struct stet_python_trail *t, stet_python_ref n,
                      const struct stet_python_callee *c)
{
    struct stet_python_part each = {.how = PY_AT_EACH, .index = -1};
    verdict v;

    stet_python_trail_push(t, each);
    v = stet_python_trail_items_of_call(t, n, c);
    t->parts--;
    return v;
}

/* A field or a key of what a library makes. */
static verdict field_of_made(struct stet_python_trail *t, stet_python_ref n,
                             const struct stet_python_callee *c)
{
    stet_python_ref of = c->object ? c->object : stet_python_argument(t->x->frame->module, n, 0);
    verdict v;

    if (stet_python_trail_tuple(t, n, &v))
        return v;
    /* a library's copy of an object has the same fields */
    v = of ? stet_python_trail_of(t, of) : spread(t, n);
    return v.how ? v : stet_python_verdict_at(t, n, PY_MAY_VARY);
}

/* ---- all ---- */

bool stet_python_trail_handed_on(struct stet_python_trail *t, stet_python_ref n,
                                 const struct stet_python_callee *c, verdict *v)
{
    const struct stet_python_module *m = t->x->frame->module;

    if (c->meaning == PY_MEANS_GETS_ATTRIBUTE && stet_python_argument(m, n, 0))
        *v = attribute_of(t, n);
    else if (c->meaning == PY_MEANS_TAKES_NEXT)
        *v = stet_python_trail_into(t, stet_python_argument(m, n, 0),
                                    (struct stet_python_part){PY_AT_EACH, -1, {0}});
    else if (stet_python_takes_item(c->meaning) && stet_python_trail_put(t, c->object, v))
        return true;
    else if (stet_python_changes_items(c->meaning) && c->object)
        *v = taken(t, n, c->object);
    else if (c->meaning == PY_MEANS_REPLACES)
        *v = replaced(t, n);
    else if (c->meaning == PY_MEANS_REPLACES_FIELDS ||
             (t->parts && c->meaning == PY_MEANS_KEEPS_FORM)) /* model.clone(rate=r) */
        *v = copied(t, n, c);
    else
        return false;
    return true;
}

bool stet_python_trail_part_of_call(struct stet_python_trail *t, stet_python_ref n,
                                    const struct stet_python_callee *c, verdict *v)
{
    const struct stet_python_module *m = t->x->frame->module;

    if (stet_python_trail_begins(t, PY_AT_EACH))
        *v = stet_python_trail_items_of_call(t, n, c);
    else if (named_field(t, n, v))
        return true;
    else if (c->transform && c->transform->kind == PY_MAPS && stet_python_argument(m, n, 1))
        *v = of_leaves(t, n);
    else if (!t->parts)
        return false;
    else if (c->meaning == PY_MEANS_CONVERTS || stet_python_passes_items(c->meaning))
        *v = stet_python_trail_of(t, stet_python_argument(m, n, 0));
    else if (c->meaning == PY_MEANS_ASSEMBLES)
        *v = stet_python_trail_of(t, stet_python_argument(m, n, 1));
    else if (c->object && c->effect == PY_GIVES_KEYED)
        *v = looked_up(t, n, c->object);
    else if (c->meaning == PY_MEANS_ZIPS)
        *v = zipped(t, n, c);
    else if (stet_python_trail_begins(t, PY_AT_FIELD) || stet_python_trail_begins(t, PY_AT_KEY))
        *v = field_of_made(t, n, c);
    else
        return false;
    return true;
}
