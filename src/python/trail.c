/* Expressions: which part of one makes it differ. */
#include "python/trail.h"

enum { MOST_STEPS = 12000, MOST_DEPTH = 64 };

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* ---- verdicts ---- */

/* A call at the end of several is where its own name is. */
static uint32_t line_of(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref name = stet_python_kind(&m->ast, n) == PY_CALL
                               ? stet_python_field(&m->ast, n, PY_FIELD_FUNCTION)
                               : 0;

    if (name && stet_python_kind(&m->ast, name) == PY_ATTRIBUTE)
        n = stet_python_field(&m->ast, name, PY_FIELD_ATTRIBUTE);
    return stet_python_line(m, n);
}

verdict stet_python_verdict_at(const struct stet_python_trail *t, stet_python_ref n,
                               enum stet_python_varying how)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref statement = stet_python_statement_of(m, n);

    return (verdict){.how = how,
                     .module = m,
                     .at = statement ? statement : n,
                     .line = line_of(m, n),
                     .way = stet_python_way_to(t, n)};
}

static bool is_same_place(const verdict *a, const verdict *b)
{
    return a->module == b->module && a->at == b->at;
}

static bool is_in_function(const struct stet_python_trail *t, const verdict *v, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;

    return v->module == m && v->at &&
           stet_python_function_around(m, v->at) == stet_python_function_around(m, n);
}

verdict stet_python_verdict_join(const struct stet_python_trail *t, stet_python_ref n, verdict a,
                                 verdict b)
{
    a.itself = b.itself = a.itself || b.itself;
    if (a.how != b.how || a.how == PY_STAYS)
        return b.how > a.how || (b.sets && !a.how) ? b : a;
    if (a.how == PY_COUNTS)
        return a.at ? a : b;
    if (a.absent && b.absent)
        return a;
    if (is_same_place(&a, &b)) {
        a.guessed &= b.guessed;
        a.open &= b.open;
        a.exact |= b.exact;
        return a;
    }
    if (a.exact != b.exact)
        return a.exact ? a : b;
    if (a.how == PY_MAY_VARY) {
        verdict here = stet_python_verdict_at(t, n, PY_MAY_VARY);

        return !b.at ? a : !a.at ? b : here;
    }
    if (a.guessed != b.guessed)
        return a.guessed ? b : a;
    if (a.counted != b.counted) /* what draws or measures decides before what counts */
        return a.counted ? b : a;
    {
        verdict here = stet_python_verdict_at(t, n, PY_VARIES);

        here.counted = a.counted;
        here.guessed = !a.counted;
        here.open = a.open || b.open;
        return here;
    }
}

verdict stet_python_verdict_used(const struct stet_python_trail *t, stet_python_ref n, verdict v)
{
    bool computed =
        v.how == PY_COUNTS || (v.how == PY_VARIES && v.counted && is_in_function(t, &v, n));

    if (computed) {
        bool exact = v.exact, itself = v.itself, open = v.open, data = v.data;
        uint32_t way = v.way;

        v = stet_python_verdict_at(t, n, PY_VARIES);
        v.way = way ? way : v.way;
        v.counted = !data;
        v.data = data;
        v.exact = exact;
        v.itself = itself;
        v.open = open;
    }
    return v;
}

/* ---- paths ---- */

bool stet_python_trail_is_head(const struct stet_python_trail *t, struct stet_view name,
                               int32_t index)
{
    const struct stet_python_part *head = t->parts ? &t->path[t->parts - 1] : NULL;

    if (!head)
        return true;
    switch (head->how) {
    case PY_AT_INDEX:
        return name.len == 0 && (index < 0 || head->index < 0 || head->index == index);
    case PY_AT_KEY:
    case PY_AT_FIELD:
        return !name.len || stet_view_eq(name, head->name);
    case PY_AT_EACH:
        return true;
    }
    return true;
}

verdict stet_python_trail_ask(struct stet_python_trail *t, stet_python_ref n,
                              enum stet_python_aspect aspect)
{
    enum stet_python_aspect before = t->aspect;
    unsigned parts = t->parts;
    struct stet_python_part kept[STET_PYTHON_PARTS];
    verdict v;

    memcpy(kept, t->path, sizeof kept);
    t->aspect = aspect;
    t->parts = 0;
    v = stet_python_trail_of(t, n);
    t->aspect = before;
    t->parts = parts;
    memcpy(t->path, kept, sizeof kept);
    return v;
}

verdict stet_python_trail_into(struct stet_python_trail *t, stet_python_ref n,
                               struct stet_python_part part)
{
    verdict v;

    if (!stet_python_trail_push(t, part))
        return (verdict){.how = PY_MAY_VARY};
    v = part.how == PY_AT_EACH ? stet_python_trail_items(t, n) : stet_python_trail_of(t, n);
    t->parts--;
    return v;
}

verdict stet_python_trail_test(struct stet_python_trail *t, stet_python_ref n)
{
    bool before = t->decides;
    verdict v;

    t->decides = true;
    v = stet_python_trail_ask(t, n, PY_OF_VALUE);
    t->decides = before;
    return v;
}

/* ---- expressions ---- */

static verdict children(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    verdict v = stays;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
        v = stet_python_verdict_join(t, n, v, stet_python_trail_of(t, c));
    return v;
}

static bool is_list(const struct stet_python_ast *a, stet_python_ref n)
{
    enum stet_python_kind k = stet_python_kind(a, stet_python_bare(a, n));

    return k == PY_LIST || k == PY_TUPLE || k == PY_LIST_COMPREHENSION || k == PY_STRING;
}

/* `[0] * n`: as long as n is large. */
static verdict repeated(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);
    stet_python_ref right = stet_python_field(a, n, PY_FIELD_RIGHT);

    if (!is_list(a, left) && is_list(a, right)) {
        stet_python_ref swapped = left;

        left = right;
        right = swapped;
    }
    return stet_python_verdict_used(
        t, n,
        stet_python_verdict_join(t, n, stet_python_trail_of(t, left),
                                 stet_python_trail_ask(t, right, PY_OF_VALUE)));
}

/* `row + [0] * (width - len(row))`: what the length of the row adds is taken off again. */
static verdict filled(struct stet_python_trail *t, stet_python_ref n, stet_python_ref left,
                      stet_python_ref right)
{
    const struct stet_python_module *m = t->x->frame->module, *before = t->cancels_in;
    uint32_t name = t->cancels;
    verdict v;

    t->cancels_in = m;
    t->cancels = stet_python_name(&m->ast, stet_python_bare(&m->ast, left));
    v = stet_python_trail_of(t, right);
    t->cancels_in = before;
    t->cancels = name;
    if (v.how >= PY_COUNTS)
        return stet_python_verdict_used(t, n, v);
    return stet_python_verdict_join(t, n, v, stet_python_trail_of(t, left));
}

/* A number that is computed from listed ones is decided where it is computed; the list may be data.
 */
static verdict computed(struct stet_python_trail *t, stet_python_ref n, verdict v)
{
    if (v.itself && v.how < PY_COUNTS &&
        t->aspect == PY_OF_VALUE) { /* another number than before */
        v = stet_python_verdict_at(t, n, PY_VARIES);
        v.itself = true;
    }
    stet_python_way_mark(t, n, v, PY_WAY_COMPUTES);
    if (!v.listed || v.how != PY_VARIES || t->aspect != PY_OF_VALUE)
        return stet_python_verdict_used(t, n, v);
    v = stet_python_verdict_at(t, n, PY_VARIES);
    v.open = true;
    return v;
}

static verdict binary(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);
    stet_python_ref right = stet_python_field(a, n, PY_FIELD_RIGHT);
    char op = stet_python_at(a, n)->op;

    if (t->aspect == PY_OF_SIZE && op == '*' && (is_list(a, left) || is_list(a, right)))
        return repeated(t, n);
    if (t->aspect == PY_OF_SIZE && op == '+')
        return filled(t, n, left, right);
    return computed(t, n, children(t, n));
}

/* Of a container as written: are its items different ones? */
static bool items_differ(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref first = stet_python_child(a, n);

    for (stet_python_ref c = first ? stet_python_next(a, first) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) != PY_COMMENT &&
            !stet_view_eq(stet_python_text(a, c), stet_python_text(a, first)))
            return true;
    return false;
}

static verdict splats(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    verdict v = stays;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_LIST_SPLAT || stet_python_kind(a, c) == PY_DICT_SPLAT)
            v = stet_python_verdict_join(t, n, v, stet_python_trail_of(t, stet_python_child(a, c)));
    return v;
}

/* Each time another item of a container as written: the line of the new value, if it is there. */
static verdict each_listed(const struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    verdict v = stet_python_verdict_at(t, n, PY_VARIES);

    v.listed = true;
    for (stet_python_ref c = n; c < m->ast.count && m->ast.nodes[c].start < m->ast.nodes[n].end;
         c++)
        if (stet_python_trail_is_new(t, m, c)) {
            v.line = stet_python_line(m, c);
            break;
        }
    return v;
}

/* An item of a list or tuple as written. */
static verdict item_of(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    struct stet_python_part head = *stet_python_trail_head(t);
    int32_t at = 0;
    verdict v = stays;

    if (head.how == PY_AT_EACH && items_differ(a, n) && !t->still)
        return each_listed(t, n);
    t->parts--;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_COMMENT)
            continue;
        if (stet_python_kind(a, c) == PY_LIST_SPLAT)
            v = stet_python_verdict_join(t, n, v,
                                         stet_python_trail_into(t, stet_python_child(a, c), head));
        else if (head.how == PY_AT_EACH || head.index < 0 || at++ == head.index)
            v = stet_python_verdict_join(t, n, v, stet_python_trail_of(t, c));
    }
    t->path[t->parts++] = head;
    return v;
}

static struct stet_view key_text(const struct stet_python_ast *a, stet_python_ref n)
{
    return stet_python_kind(a, n) == PY_STRING ? stet_python_string(a, n) : (struct stet_view){0};
}

/* A dictionary as written: the item of a key, or all. */
static verdict dictionary(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    struct stet_python_part *head = stet_python_trail_head(t), kept;
    verdict v = stays;
    bool named = false;

    if (!head)
        return t->aspect == PY_OF_SIZE ? splats(t, n)
                                       : stet_python_verdict_used(t, n, children(t, n));
    kept = *head;
    if (kept.how == PY_AT_EACH && items_differ(a, n) && !t->still)
        return each_listed(t, n);
    t->parts--;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        stet_python_ref key = stet_python_child(a, c);
        struct stet_view text = key ? key_text(a, key) : (struct stet_view){0};

        if (stet_python_kind(a, c) == PY_PAIR &&
            (kept.how != PY_AT_KEY || stet_view_eq(text, kept.name))) {
            v = stet_python_verdict_join(
                t, n, v, stet_python_trail_of(t, stet_python_field(a, c, PY_FIELD_VALUE)));
            named = true;
        }
    }
    t->path[t->parts++] = kept;
    return named ? v : splats(t, n); /* {**other, "k": v} */
}

static verdict container(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    struct stet_python_part *head = stet_python_trail_head(t);
    verdict v;

    if (stet_python_kind(a, n) == PY_DICTIONARY)
        return dictionary(t, n);
    if (head && (head->how == PY_AT_INDEX || head->how == PY_AT_EACH))
        return item_of(t, n);
    if (t->aspect == PY_OF_SIZE)
        return splats(t, n);
    v = children(t, n);
    return v.how == PY_COUNTS && v.at ? v : stet_python_verdict_used(t, n, v);
}

/* How many items [f(k) for k in rows if k > 3] has. */
static verdict clauses(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    verdict v = stays, one;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_FOR_IN) {
            v = stet_python_verdict_join(
                t, n, v,
                stet_python_trail_ask(t, stet_python_field(a, c, PY_FIELD_RIGHT), PY_OF_SIZE));
        } else if (stet_python_kind(a, c) == PY_IF_CLAUSE) {
            one = stet_python_trail_test(t, stet_python_child(a, c));
            if (one.how != PY_STAYS) /* what is selected decides how many there are */
                v = stet_python_verdict_join(t, n, v, stet_python_verdict_at(t, n, PY_VARIES));
        }
    }
    return v;
}

/* {k: f(v) for k, v in table.items()} has the keys of the table: the table; 0 for other ones. */
static stet_python_ref keyed_as(const struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref body = stet_python_field(a, n, PY_FIELD_BODY);
    stet_python_ref clause = stet_python_child_of(a, n, PY_FOR_IN);
    stet_python_ref left = clause ? stet_python_field(a, clause, PY_FIELD_LEFT) : 0;
    stet_python_ref call = clause ? stet_python_field(a, clause, PY_FIELD_RIGHT) : 0;
    uint32_t key =
        stet_python_kind(a, body) == PY_PAIR ? stet_python_name(a, stet_python_child(a, body)) : 0;

    if (!key || stet_python_kind(a, left) != PY_PATTERN_LIST ||
        stet_python_name(a, stet_python_child(a, left)) != key ||
        stet_python_kind(a, call) != PY_CALL)
        return 0;
    return stet_python_callee_object(m, call);
}

bool stet_python_trail_is_key(const struct stet_python_trail *t, stet_python_ref n)
{
    return n && !t->presence && t->keyed_in == t->x->frame &&
           stet_view_eq(t->key_text, stet_python_text(&t->x->frame->module->ast, n));
}

/* {k: f(rows[k]) for k in names}: what f makes of the item with the key that is followed. */
static verdict value_of_key(struct stet_python_trail *t, stet_python_ref pair, struct stet_view key)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    const struct stet_python_frame *in = t->keyed_in;
    struct stet_view name = t->key, text = t->key_text;
    verdict v;

    t->keyed_in = t->x->frame;
    t->key = key;
    t->key_text = stet_python_text(a, stet_python_child(a, pair));
    v = stet_python_trail_of(t, stet_python_field(a, pair, PY_FIELD_VALUE));
    t->keyed_in = in;
    t->key = name;
    t->key_text = text;
    return v;
}

static verdict comprehension(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    struct stet_python_part *head = stet_python_trail_head(t), kept;
    stet_python_ref body = stet_python_field(a, n, PY_FIELD_BODY), table, pair = 0;
    bool before = t->items;
    verdict v;

    if (stet_python_kind(a, body) == PY_PAIR) {
        pair = body;
        body = stet_python_field(a, body, PY_FIELD_VALUE);
    }
    if (!head && t->aspect == PY_OF_SIZE)
        return stet_python_verdict_used(t, n, clauses(t, n));
    if (!head)
        return stet_python_verdict_join(t, n, stet_python_verdict_used(t, n, clauses(t, n)),
                                        stet_python_trail_of(t, body));
    table = head->how == PY_AT_KEY ? keyed_as(t->x->frame->module, n) : 0;
    v = table ? stet_python_trail_of(t, table) : stays;
    if (v.how >= PY_COUNTS)
        return v;
    kept = *head;
    t->parts--;
    t->items = (before || kept.how == PY_AT_EACH) && !t->still;
    v = pair && kept.how == PY_AT_KEY ? value_of_key(t, pair, kept.name)
                                      : stet_python_trail_of(t, body);
    t->items = before;
    t->path[t->parts++] = kept;
    return v;
}

/* A container as written that has no items. */
static bool is_empty(const struct stet_python_ast *a, stet_python_ref n)
{
    n = n ? stet_python_bare(a, n) : 0;
    return n && (is_list(a, n) || stet_python_kind(a, n) == PY_DICTIONARY) &&
           stet_python_kind(a, n) != PY_STRING && !stet_python_child(a, n);
}

static verdict conditional(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref yes = stet_python_child(a, n), test = yes ? stet_python_next(a, yes) : 0;
    stet_python_ref no = test ? stet_python_next(a, test) : 0;
    verdict decides, v;

    if (stet_python_trail_begins(t, PY_AT_EACH) && (is_empty(a, yes) || is_empty(a, no)))
        return stet_python_trail_of(t, is_empty(a, yes) ? no : yes); /* whether there are items */
    decides = stet_python_trail_test(t, test);
    if (decides.how >= PY_COUNTS ||
        (decides.how && (t->aspect == PY_OF_RANK || t->aspect == PY_OF_TYPE)))
        return stet_python_way_mark(t, n, stet_python_verdict_at(t, n, PY_VARIES), PY_WAY_CHOOSES);
    v = stet_python_verdict_join(t, n, stet_python_trail_of(t, yes), stet_python_trail_of(t, no));
    if (v.how != PY_STAYS || !decides.how)
        return v;
    v = stet_python_verdict_at(t, n, PY_VARIES);
    v.guessed = true;
    return v;
}

/* None, where one asks whether there is something: the line that takes it away, if none adds it. */
static verdict nothing_there(struct stet_python_trail *t, stet_python_ref n)
{
    verdict v;

    if (!t->presence || t->decides)
        return stays;
    v = stet_python_verdict_at(t, n, PY_VARIES);
    v.absent = v.guessed = true;
    return v;
}

/* ---- all ---- */

static verdict of_kind(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;

    switch (stet_python_kind(a, n)) {
    case PY_IDENTIFIER:
        return stet_python_trail_name(t, n);
    case PY_ATTRIBUTE:
        return stet_python_trail_attribute(t, n);
    case PY_SUBSCRIPT:
        return stet_python_trail_subscript(t, n);
    case PY_CALL:
        return stet_python_trail_call(t, n);
    case PY_CONDITIONAL:
        return conditional(t, n);
    case PY_LIST:
    case PY_TUPLE:
    case PY_SET:
    case PY_DICTIONARY:
    case PY_EXPRESSION_LIST:
        return container(t, n);
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
    case PY_SET_COMPREHENSION:
    case PY_GENERATOR:
        return comprehension(t, n);
    case PY_BINARY:
        return binary(t, n);
    case PY_KEYWORD_ARGUMENT:
    case PY_NAMED_EXPRESSION:
    case PY_PAIR:
        return stet_python_trail_of(t, stet_python_field(a, n, PY_FIELD_VALUE));
    case PY_PARENTHESIZED:
    case PY_LIST_SPLAT:
    case PY_DICT_SPLAT:
    case PY_AWAIT:
        return children(t, n);
    case PY_INTEGER:
    case PY_FLOAT:
        return t->began && !t->parts ? stet_python_verdict_at(t, n, PY_VARIES) : stays;
    case PY_NONE_:
        return nothing_there(t, n);
    case PY_LAMBDA:
    case PY_COMMENT:
    case PY_TYPE:
        return stays;
    default:
        return stet_python_verdict_used(
            t, n, stet_python_way_mark(t, n, children(t, n), PY_WAY_COMPUTES));
    }
}

verdict stet_python_trail_of(struct stet_python_trail *t, stet_python_ref n)
{
    struct stet_python_ways *ways = t->ways;
    uint32_t came;
    verdict v;

    if (!n)
        return stays;
    if (++t->steps > MOST_STEPS || t->depth >= MOST_DEPTH)
        return (verdict){.how = PY_MAY_VARY};
    t->depth++;
    came = ways ? ways->now : 0;
    if (ways)
        ways->now = stet_python_way_to(t, n);
    v = of_kind(t, n);
    if (ways)
        ways->now = came;
    t->depth--;
    if (t->once && v.how == PY_MAY_VARY)
        v = stays;
    return v;
}
