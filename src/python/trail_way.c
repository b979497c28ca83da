/* The way of a value: the statements between a use and the line that makes it differ. The last of
 * them is not always the one to edit: a number that counts or a list of values is what it is, and
 * the line that turns it into a size or computes with it is where a person begins. */
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

enum {
    MOST_PLACES = 20000, /* that one question remembers */
    MOST_STATEMENTS = 48,
};

/* ---- remembering ---- */

uint32_t stet_python_way_to(const struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref statement = stet_python_statement_of(m, n);
    struct stet_python_ways *w = t->ways;
    const struct stet_python_stop *now = w && w->now ? &w->stops.items[w->now - 1] : NULL;

    if (!w)
        return 0;
    if (!statement)
        statement = n;
    if (now && now->module == m && now->statement == statement && now->aspect == t->aspect)
        return w->now;
    if (w->stops.count == MOST_PLACES)
        return w->now;
    STET_VEC_PUSH(&w->stops, (struct stet_python_stop){.module = m,
                                                       .statement = statement,
                                                       .line = stet_python_line(m, n),
                                                       .from = w->now,
                                                       .aspect = t->aspect});
    return (uint32_t)w->stops.count;
}

verdict stet_python_way_mark(const struct stet_python_trail *t, stet_python_ref n, verdict v,
                             unsigned does)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref statement = stet_python_statement_of(m, n);
    struct stet_python_ways *w = t->ways;

    for (uint32_t at = w && v.how ? v.way : 0; at; at = w->stops.items[at - 1].from) {
        struct stet_python_stop *p = &w->stops.items[at - 1];

        if (p->module == m && p->statement == statement) {
            p->does |= does;
            break;
        }
    }
    return v;
}

/* ---- choosing ---- */

/* A statement of a way, with all that it does there. */
struct statement {
    const struct stet_python_stop *place;
    unsigned does;
    bool value; /* a number is followed there, not an array */
};

struct way {
    struct statement items[MOST_STATEMENTS]; /* the use comes first */
    size_t count;
};

static bool is_same(const struct stet_python_stop *a, const struct stet_python_stop *b)
{
    return a->module == b->module && a->statement == b->statement;
}

/* What a way passes again is listed once, where it comes first. */
static void add(struct way *way, const struct stet_python_stop *p)
{
    size_t i = 0;

    while (i < way->count && !is_same(way->items[i].place, p))
        i++;
    if (i == MOST_STATEMENTS)
        return;
    if (i == way->count)
        way->items[way->count++].place = p;
    else if (i + 1 < way->count)
        return; /* it came back */
    else if (p->does && !way->items[i].does)
        way->items[i].place = p; /* of a statement with several lines */
    way->items[i].does |= p->does;
    way->items[i].value |= p->aspect == PY_OF_VALUE;
}

static void list(const struct stet_python_ways *w, uint32_t at, struct way *way)
{
    uint32_t back[MOST_STATEMENTS * 4];
    size_t n = 0;

    memset(way, 0, sizeof *way);
    for (; at && n < sizeof back / sizeof *back; at = w->stops.items[at - 1].from)
        back[n++] = at;
    while (n)
        add(way, &w->stops.items[back[--n] - 1]);
}

/* The value of an assignment; 0 for another statement. */
static stet_python_ref assigned(const struct stet_python_stop *p)
{
    const struct stet_python_ast *a = &p->module->ast;
    stet_python_ref n = stet_python_kind(a, p->statement) == PY_EXPRESSION_STATEMENT
                            ? stet_python_child(a, p->statement)
                            : p->statement;

    return stet_python_kind(a, n) == PY_ASSIGNMENT ? stet_python_field(a, n, PY_FIELD_RIGHT) : 0;
}

/* Does it only give another name to what there is: `n = self.size`, `n = len(rows)`? */
static bool renames(const struct stet_python_stop *p)
{
    const struct stet_python_module *m = p->module;
    stet_python_ref value = stet_python_bare(&m->ast, assigned(p));

    switch (value ? stet_python_kind(&m->ast, value) : PY_COMMENT) {
    case PY_IDENTIFIER:
    case PY_ATTRIBUTE:
    case PY_SUBSCRIPT:
        return true;
    case PY_CALL:
        return stet_python_meaning(m, stet_python_field(&m->ast, value, PY_FIELD_FUNCTION)) ==
               PY_MEANS_LENGTH;
    default:
        return false;
    }
}

/* A loop over values, a counter, a container that grows, a value at module level: it is what it
 * is. */
static bool is_given(const struct stet_python_stop *p)
{
    const struct stet_python_ast *a = &p->module->ast;
    enum stet_python_kind k = stet_python_kind(a, p->statement);

    if (k == PY_EXPRESSION_STATEMENT)
        k = stet_python_kind(a, stet_python_child(a, p->statement));
    return k == PY_FOR || k == PY_AUGMENTED ||
           !stet_python_function_around(p->module, p->statement);
}

static bool is_call_statement(const struct stet_python_stop *p)
{
    const struct stet_python_ast *a = &p->module->ast;

    return stet_python_kind(a, p->statement) == PY_EXPRESSION_STATEMENT &&
           stet_python_kind(a, stet_python_child(a, p->statement)) == PY_CALL;
}

static bool is_waiting(const struct stet_python_trail *t, const struct stet_python_stop *p)
{
    const struct stet_python_module *m = NULL;

    return stet_python_trail_waits(t, 1, &m) == p->statement && m == p->module;
}

/* The first statement of a way before `end` that does one of these things. */
static size_t first_that(const struct stet_python_trail *t, const struct way *way, size_t end,
                         unsigned does)
{
    size_t i = 0;

    while (i < end && (!(way->items[i].does & does) || renames(way->items[i].place) ||
                       (!(does & PY_WAY_SIZES) && is_waiting(t, way->items[i].place))))
        i++;
    return i;
}

static stet_python_ref function_of(const struct stet_python_stop *p)
{
    return stet_python_function_around(p->module, p->statement);
}

/* Does the statement after a maker of arrays compute their size, in the same function? */
static bool computes_size(const struct way *way, size_t maker)
{
    const struct statement *s = &way->items[maker + 1];
    const struct stet_python_stop *m = way->items[maker].place;

    return maker + 1 < way->count && s->value && s->place->module == m->module &&
           function_of(s->place) == function_of(m) &&
           (s->does & (PY_WAY_COMPUTES | PY_WAY_REDUCES | PY_WAY_DRAWS | PY_WAY_CHOOSES)) &&
           !renames(s->place);
}

/* A function that makes an array of a size which it was given: the statement that computes it for
 * the call. The maker itself if there is none before `end`, or if the size is its own. */
static size_t given_size(const struct way *way, size_t maker, size_t end)
{
    const struct stet_python_stop *m = way->items[maker].place;

    if (stet_python_kind(&m->module->ast, m->statement) != PY_RETURN || maker + 1 > end ||
        (way->items[maker + 1].place->module == m->module &&
         function_of(way->items[maker + 1].place) == function_of(m)))
        return maker;
    for (size_t i = maker + 1; i <= end && i < way->count; i++)
        if (way->items[i].value && !renames(way->items[i].place) &&
            way->items[i].does & (PY_WAY_COMPUTES | PY_WAY_REDUCES | PY_WAY_DRAWS | PY_WAY_CHOOSES))
            return i;
    return maker;
}

/* Is the number that is followed computed from what is no number: how large something is, or an
 * object that the last statement only takes? */
static bool is_made_number(const struct stet_python_trail *t, const struct way *way, size_t end)
{
    bool number = t->numbers && way->items[0].value;

    if (number && (renames(way->items[end].place) || is_call_statement(way->items[end].place)))
        return true;
    for (size_t i = 0; number && i <= end; i++)
        if (!way->items[i].value)
            return true;
    return false;
}

static verdict moved_to(verdict v, const struct stet_python_stop *p)
{
    v.module = p->module;
    v.at = p->statement;
    v.line = p->line;
    return v;
}

verdict stet_python_way_settle(const struct stet_python_trail *t, verdict v, bool sure)
{
    struct way way;
    size_t end = 0, to;

    if (!t->ways || !v.way || !v.at)
        return v;
    list(t->ways, v.way, &way);
    while (end < way.count &&
           (way.items[end].place->module != v.module || way.items[end].place->statement != v.at))
        end++;
    if (end == way.count || !end)
        return v;
    if (sure && !is_given(way.items[end].place) && !is_made_number(t, &way, end) &&
        (way.items[0].value || !is_call_statement(way.items[end].place)))
        return v;
    if (way.items[0].value) {
        to = first_that(t, &way, end,
                        PY_WAY_COMPUTES | PY_WAY_CHOOSES | PY_WAY_REDUCES | PY_WAY_DRAWS |
                            PY_WAY_COPIES);
        return to < end ? moved_to(v, way.items[to].place) : v;
    }
    to = first_that(t, &way, end, PY_WAY_SIZES | PY_WAY_STACKS | PY_WAY_SELECTS);
    if (to == end ||
        (!is_given(way.items[end].place) &&
         way.items[end].does & (PY_WAY_REDUCES | PY_WAY_SELECTS | PY_WAY_DRAWS | PY_WAY_CHOOSES)))
        return v;
    return moved_to(v,
                    way.items[computes_size(&way, to) ? to + 1 : given_size(&way, to, end)].place);
}
