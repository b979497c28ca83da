/* The texts are torch's own (torch/_dynamo/guards.py, torch/csrc/dynamo/guards.cpp), 2.4 to 2.13.
 */
#include "ingest/guard_text.h"

#include "base/path.h"

#define NONE ((size_t)-1)

static size_t find(struct stet_view in, const char *what)
{
    const char *p = in.len ? memmem(in.ptr, in.len, what, strlen(what)) : NULL;

    return p ? (size_t)(p - in.ptr) : NONE;
}

static struct stet_view from(struct stet_view v, size_t at)
{
    return at >= v.len ? stet_view_of(v.ptr, 0) : stet_view_of(v.ptr + at, v.len - at);
}

static struct stet_view upto(struct stet_view v, size_t at)
{
    return stet_view_of(v.ptr, at < v.len ? at : v.len);
}

static bool number(struct stet_view *v, int64_t *out)
{
    size_t i = 0;
    int64_t n = 0;

    for (; i < v->len && v->ptr[i] >= '0' && v->ptr[i] <= '9' && n < INT64_C(1) << 52; i++)
        n = n * 10 + (v->ptr[i] - '0');
    *v = from(*v, i);
    *out = n;
    return i > 0;
}

/* torch itself, wherever it is. */
static bool is_dynamo(struct stet_view file)
{
    return find(file, "torch/_dynamo/") != NONE;
}

bool stet_ingest_guard_is_library(struct stet_view file)
{
    return stet_path_is_installed(file) || file.ptr[0] == '<' || is_dynamo(file);
}

bool stet_ingest_guard_is_torch(struct stet_view file)
{
    return find(file, "-packages/torch/") != NONE || is_dynamo(file);
}

/* "0/3: " */
static struct stet_view entry(struct stet_guard *g, struct stet_view v)
{
    struct stet_view rest = v;
    int64_t frame, compile;

    if (stet_view_starts(rest, "!")) /* compiled autograd's own numbering comes before it */
        rest = from(rest, 1);
    if (!number(&rest, &frame) || !stet_view_starts(rest, "/"))
        return v;
    rest = from(rest, 1);
    if (!number(&rest, &compile) || !stet_view_starts(rest, ": "))
        return v;
    g->compile = compile;
    return from(rest, 2);
}

/* `  File "a.py", line 3, in f`, innermost last. */
static void user_stack(struct stet_guard *g, struct stet_view stack)
{
    size_t at;

    while ((at = find(stack, "File \"")) != NONE) {
        struct stet_view file, function = {0}, rest = from(stack, at + 6);
        int64_t line = 0;
        size_t quote = find(rest, "\", line "), newline;

        stack = rest;
        if (quote == NONE)
            return;
        file = upto(rest, quote);
        rest = from(rest, quote + 8);
        if (!number(&rest, &line))
            continue;
        if (stet_view_starts(rest, ", in ")) {
            newline = find(rest, "\n");
            function = from(upto(rest, newline), 5);
        }
        if (!stet_ingest_guard_is_library(file)) {
            g->file = file;
            g->line = (uint64_t)line;
            g->function = stet_view_trim(function);
        }
    }
}

/* "code  # mp/tl/a.py:13 in forward (HINT: …)". The code may end in its own comment: the first part
 * that is a place ends it. */
static void comment(struct stet_guard *g, struct stet_view v)
{
    size_t hint = find(v, "(HINT: "), start = 0;
    struct stet_view file, function;
    uint64_t line;

    if (hint != NONE) {
        g->hint = stet_view_trim(from(v, hint + 7));
        if (stet_view_ends(g->hint, ")"))
            g->hint.len--;
    }
    for (;;) {
        struct stet_view rest = from(v, start), part;
        size_t next = find(rest, "  # "), paren = find(rest, " (");

        part = stet_view_trim(upto(rest, next < paren ? next : paren));
        if (start && stet_ingest_guard_place(part, &file, &line, &function)) {
            g->code = stet_view_trim(upto(v, start - 4));
            g->place = part;
            return;
        }
        if (next == NONE)
            break;
        start += next + 4;
    }
    g->place = stet_view_trim(upto(v, hint));
}

bool stet_ingest_guard_place(struct stet_view place, struct stet_view *file, uint64_t *line,
                             struct stet_view *function)
{
    size_t in = find(place, " in "), colon;
    struct stet_view front = upto(place, in), digits;
    int64_t n;

    for (colon = front.len; colon > 0 && front.ptr[colon - 1] != ':'; colon--)
        ;
    if (!colon)
        return false;
    digits = from(front, colon);
    if (!number(&digits, &n) || digits.len)
        return false;
    *file = upto(front, colon - 1);
    *line = (uint64_t)n;
    *function = in == NONE ? (struct stet_view){"", 0} : stet_view_trim(from(place, in + 4));
    return true;
}

static const struct {
    const char *words;
    enum stet_guard_kind kind;
} tensor_kinds[] = {
    {"' size mismatch", STET_GUARD_SIZE},
    {"' stride mismatch", STET_GUARD_STRIDE},
    {"' rank mismatch", STET_GUARD_RANK},
    {"' dtype mismatch", STET_GUARD_DTYPE},
    {"' requires_grad mismatch", STET_GUARD_REQUIRES_GRAD},
    {"' dispatch key set mismatch", STET_GUARD_DISPATCH},
    {"' Tensor device index mismatch", STET_GUARD_DEVICE},
    {"' device index mismatch", STET_GUARD_DEVICE},
};

static bool tensor(struct stet_guard *g, struct stet_view v)
{
    struct stet_view rest = {0};
    size_t at = NONE, i, word;
    int64_t dim;

    if (!stet_view_starts(v, "tensor '"))
        return false;
    for (i = 0; i < sizeof tensor_kinds / sizeof *tensor_kinds; i++) {
        at = find(v, tensor_kinds[i].words);
        if (at != NONE)
            break;
    }
    if (at == NONE || at < 8)
        return false;
    g->kind = tensor_kinds[i].kind;
    g->source = from(upto(v, at), 8);
    rest = from(v, at + strlen(tensor_kinds[i].words));
    word = find(rest, "at index ");
    if (word != NONE) {
        struct stet_view digits = from(rest, word + 9);

        if (number(&digits, &dim) && dim < 1 << 20)
            g->dim = (int)dim;
    }
    word = find(rest, "xpected ");
    if (word != NONE) {
        rest = from(rest, word + 8);
        rest = upto(rest, find(rest, ". Guard failed on a parameter")); /* torch's advice follows */
        word = find(rest, ", actual ");
        g->expected = stet_view_trim(upto(rest, word));
        if (word != NONE)
            g->actual = stet_view_trim(from(rest, word + 9));
    }
    return true;
}

/* The text between the first '(' and what ends its argument. */
static struct stet_view argument(struct stet_view v)
{
    size_t open = find(v, "("), comma;
    struct stet_view inner = from(v, open == NONE ? v.len : open + 1);

    comma = find(inner, ", ");
    if (comma == NONE)
        comma = find(inner, ")");
    return stet_view_trim(upto(inner, comma));
}

static void shape(struct stet_guard *g, struct stet_view v)
{
    size_t size = find(v, ".size()["), start = size;
    struct stet_view digits = from(v, size + 8);
    int64_t dim;

    g->kind = STET_GUARD_SHAPE;
    while (start > 0 && v.ptr[start - 1] != ' ' && v.ptr[start - 1] != '(')
        start--;
    g->source = from(upto(v, size), start);
    if (number(&digits, &dim) && dim < 1 << 20)
        g->dim = (int)dim;
    g->expected = v;
}

static bool function_like(struct stet_guard *g, struct stet_view v)
{
    static const struct {
        const char *start;
        enum stet_guard_kind kind;
    } known[] = {
        {"___check_type_id(", STET_GUARD_TYPE},
        {"type(", STET_GUARD_TYPE},
        {"TYPE_MISMATCH(", STET_GUARD_TYPE},
        {"___check_obj_id(", STET_GUARD_IDENTITY},
        {"Duplicate tensor", STET_GUARD_ALIAS},
        {"_has_dynamo_dim_marking is ", STET_GUARD_MARKING},
        {"GLOBAL_STATE changed", STET_GUARD_STATE},
        {"___key_to_id(", STET_GUARD_KEY},
        {"set(", STET_GUARD_KEY},
        {"list(dict.keys(", STET_GUARD_KEY},
        {"expected type of '", STET_GUARD_TYPE},
        {"___check_current_backend(", STET_GUARD_STATE},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!stet_view_starts(v, known[i].start))
            continue;
        g->kind = known[i].kind;
        if (known[i].kind == STET_GUARD_STATE) {
            size_t colon = find(v, ": ");

            g->source = colon == NONE ? v : stet_view_trim(from(v, colon + 2));
        } else if (stet_view_starts(v, "expected type of '")) {
            struct stet_view rest = from(v, 18);
            size_t found = find(rest, "found ");

            g->source = upto(rest, find(rest, "'"));
            g->expected = STET_VIEW("Tensor");
            if (found != NONE)
                g->actual = stet_view_trim(from(rest, found + 6));
        } else if (known[i].kind == STET_GUARD_MARKING) {
            bool came = find(v, " is present on runtime tensor") != NONE;

            g->expected = came ? STET_VIEW("absent") : STET_VIEW("present");
            g->actual = came ? STET_VIEW("present") : STET_VIEW("absent");
        } else if (known[i].kind != STET_GUARD_ALIAS) {
            g->source = argument(v);
        }
        return true;
    }
    return false;
}

/* ___dict_contains('m', b), with or without "not" before: what was true at the compile. */
static bool contains(struct stet_guard *g, struct stet_view v)
{
    bool absent = stet_view_starts(v, "not ");
    struct stet_view inner = absent ? from(v, 4) : v;
    size_t open, comma;

    if (!stet_view_starts(inner, "___dict_contains("))
        return false;
    g->kind = STET_GUARD_KEY;
    open = find(inner, "(");
    inner = from(inner, open + 1);
    comma = find(inner, ", ");
    g->source = upto(inner, comma);
    if (comma != NONE) {
        g->holder = stet_view_trim(from(inner, comma + 2));
        if (stet_view_ends(g->holder, ")"))
            g->holder.len--;
    }
    g->expected = absent ? STET_VIEW("absent") : STET_VIEW("present");
    g->actual = absent ? STET_VIEW("present") : STET_VIEW("absent");
    return true;
}

static void compared(struct stet_guard *g, struct stet_view v)
{
    size_t is = find(v, " is "), equals = find(v, " == ");

    if (find(v, ".size()[") != NONE || find(v, ".stride()[") != NONE) {
        if (find(v, ".size()[") != NONE)
            shape(g, v);
        else
            g->kind = STET_GUARD_SHAPE;
    } else if (equals != NONE) {
        g->kind = STET_GUARD_EQUALS;
        g->source = stet_view_trim(upto(v, equals));
        g->expected = stet_view_trim(from(v, equals + 4));
        if (stet_view_starts(g->source, "len(") && stet_view_ends(g->source, ")")) {
            g->kind = STET_GUARD_LENGTH;
            g->source = from(upto(g->source, g->source.len - 1), 4);
        } else if (stet_view_is(g->expected, "None")) {
            g->kind = STET_GUARD_NONE;
        }
    } else if (is != NONE && (stet_view_ends(v, " is None") || stet_view_ends(v, " is not None"))) {
        g->kind = STET_GUARD_NONE;
        g->source = stet_view_trim(upto(v, is));
        g->expected = stet_view_ends(v, "not None") ? STET_VIEW("not None") : STET_VIEW("None");
        g->actual = stet_view_ends(v, "not None") ? STET_VIEW("None") : STET_VIEW("not None");
    } else if (stet_view_starts(v, "not ") && find(v, "(") == NONE) {
        g->kind = STET_GUARD_LENGTH;
        g->source = stet_view_trim(from(v, 4));
        g->expected = STET_VIEW("0");
    }
}

/* L['x'] in older versions is x today. Only a complete name is converted: L['x'].y stays. */
static void unwrap(struct stet_view *source)
{
    if (source->len > 5 && stet_view_starts(*source, "L['") && stet_view_ends(*source, "']") &&
        find(from(upto(*source, source->len - 2), 3), "'") == NONE)
        *source = from(upto(*source, source->len - 2), 3);
}

void stet_ingest_guard_parse(struct stet_guard *g, struct stet_view text)
{
    size_t stack, hash;

    *g = (struct stet_guard){.compile = -1, .dim = -1};
    text = entry(g, stet_view_trim(text));
    stack = find(text, "\nUser stack trace:");
    if (stack != NONE)
        user_stack(g, from(text, stack));
    text = upto(text, stack);
    hash = find(text, "  # ");
    g->expr = stet_view_trim(upto(text, hash));
    if (hash != NONE)
        comment(g, from(text, hash + 4));
    if (!tensor(g, g->expr) && !contains(g, g->expr) && !function_like(g, g->expr))
        compared(g, g->expr);
    unwrap(&g->source);
}

bool stet_ingest_guard_same_source(struct stet_view source, struct stet_view what)
{
    const char *quote;
    size_t n, rest;

    if (stet_view_eq(source, what))
        return true;
    if (!stet_view_starts(source, "L['"))
        return false;
    quote = memchr(source.ptr + 3, '\'', source.len - 3);
    if (!quote || (size_t)(quote - source.ptr) + 2 > source.len)
        return false;
    n = (size_t)(quote - source.ptr) - 3;
    rest = source.len - n - 5;
    return what.len == n + rest && !memcmp(what.ptr, source.ptr + 3, n) &&
           !memcmp(what.ptr + n, quote + 2, rest);
}
