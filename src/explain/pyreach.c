/* What a loop runs: its own lines, and those of the functions and modules of the same file that it
 * calls. The only way to a line where programs have none of their own. */
#include "explain/pysource.h"

#include <strings.h>

enum { LONGEST = 4000, NAMES = 512 };

/* A name is looked up in the whole file, so each is once; those past the room are not followed. */
struct names {
    struct stet_view at[NAMES];
    uint32_t count;
};

struct walk {
    struct stet_py_reach *reach;
    struct names called, made;
};

static bool is_new(struct names *n, struct stet_view name)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (stet_view_eq(n->at[i], name))
            return false;
    if (n->count == NAMES)
        return false;
    n->at[n->count++] = name;
    return true;
}

static bool is_loop(struct stet_view s)
{
    s = stet_view_unindent(s);
    return stet_view_starts(s, "for ") || stet_view_starts(s, "while ");
}

/* ---- what is called ---- */

static void add_span(const struct stet_pyfile *f, uint32_t header, struct stet_py_reach *r)
{
    struct stet_py_span span = {header + 1, stet_py_block_end(f, header)};

    for (uint32_t i = 0; i < r->count; i++)
        if (r->spans[i].first == span.first)
            return;
    if (span.first <= span.last && span.last - span.first < LONGEST &&
        r->count < sizeof r->spans / sizeof *r->spans)
        r->spans[r->count++] = span;
}

static uint32_t find_class(const struct stet_pyfile *f, struct stet_view name)
{
    for (uint32_t at = 1; at <= f->count; at++) {
        struct stet_view s = stet_view_unindent(f->lines[at - 1]);

        if (f->starts[at - 1] == at && stet_view_starts(s, "class ") && s.len > 6 + name.len &&
            !memcmp(s.ptr + 6, name.ptr, name.len) && !stet_is_word(s.ptr[6 + name.len]))
            return at;
    }
    return 0;
}

/* A module that is called runs its `forward`. */
static void add_class(const struct stet_pyfile *f, uint32_t class, struct stet_py_reach *r)
{
    uint32_t end = stet_py_block_end(f, class);

    for (uint32_t at = class + 1; at <= end; at++) {
        struct stet_view s = stet_view_unindent(f->lines[at - 1]);

        if (f->starts[at - 1] == at &&
            (stet_view_starts(s, "def forward(") || stet_view_starts(s, "def __call__(")))
            add_span(f, at, r);
    }
}

typedef void called_fn(const struct stet_pyfile *f, struct stet_view name, struct walk *w);

static void each_call(const struct stet_pyfile *f, struct stet_view text, called_fn *called,
                      struct walk *w)
{
    for (size_t i = 0; i < text.len;) {
        size_t n = 0;

        while (i + n < text.len && stet_is_word(text.ptr[i + n]))
            n++;
        if (n && i + n < text.len && text.ptr[i + n] == '(')
            called(f, stet_view_of(text.ptr + i, n), w);
        i += n ? n : 1;
    }
}

static void made_by(const struct stet_pyfile *f, struct stet_view name, struct walk *w)
{
    uint32_t class = is_new(&w->made, name) ? find_class(f, name) : 0;

    if (class)
        add_class(f, class, w->reach);
}

/* A function of the file, or a variable or field that holds a module of it. */
static void called(const struct stet_pyfile *f, struct stet_view name, struct walk *w)
{
    uint32_t def;

    if (!is_new(&w->called, name))
        return;
    def = stet_py_find_def(f, name);
    if (def) {
        add_span(f, def, w->reach);
        return;
    }
    for (uint32_t at = 1; at <= f->count; at++) {
        struct stet_view s =
            f->starts[at - 1] == at ? stet_py_statement(f, at) : (struct stet_view){0};

        if (stet_view_eq(stet_py_assigned(s), name))
            each_call(f, s, made_by, w);
    }
}

/* Does a statement begin here? Remarks and what only stands there as text do nothing. */
static bool is_code(const struct stet_pyfile *f, uint32_t line)
{
    struct stet_view s = stet_view_unindent(f->lines[line - 1]);

    return f->starts[line - 1] == line && s.len && !memchr("#\"'\r", *s.ptr, 4);
}

void stet_py_reach_from(const struct stet_pyfile *f, uint32_t at, struct stet_py_reach *out)
{
    uint32_t headers[16], n = stet_py_around(f, at, headers, 16), from = stet_py_def_of(f, at);
    struct walk w = {.reach = out};

    *out = (struct stet_py_reach){.count = 0};
    for (uint32_t i = n; i-- > 0;)
        from = is_loop(f->lines[headers[i] - 1]) ? headers[i] : from;
    if (!from)
        return;
    add_span(f, from, out);
    for (uint32_t i = 0; i < out->count; i++)
        for (uint32_t line = out->spans[i].first; line <= out->spans[i].last; line++)
            if (is_code(f, line))
                each_call(f, stet_py_statement(f, line), called, &w);
}

bool stet_py_reach_next(const struct stet_pyfile *f, const struct stet_py_reach *r, uint32_t *span,
                        uint32_t *line)
{
    if (!*line)
        *span = 0;
    for (; *span < r->count; ++*span, *line = 0) {
        uint32_t at = *line ? *line + 1 : r->spans[*span].first;

        for (; at <= r->spans[*span].last && at <= f->count; at++) /* it may have been read anew */
            if (is_code(f, at)) {
                *line = at;
                return true;
            }
    }
    return false;
}

/* ---- what a statement does with a number ---- */

struct stet_view stet_py_assigned(struct stet_view statement)
{
    struct stet_view s = stet_view_unindent(statement), name;
    size_t n = 0, i;

    if (stet_view_starts(s, "self."))
        s = stet_view_of(s.ptr + 5, s.len - 5);
    while (n < s.len && stet_is_word(s.ptr[n]))
        n++;
    name = stet_view_of(s.ptr, n);
    for (i = n; i < s.len && s.ptr[i] == ' '; i++)
        ;
    return n && i + 1 < s.len && s.ptr[i] == '=' && s.ptr[i + 1] != '=' ? name
                                                                        : (struct stet_view){0};
}

struct stet_view stet_py_called_on(struct stet_view statement, struct stet_view method)
{
    for (size_t i = 1; i + method.len + 1 < statement.len; i++) {
        const char *at = statement.ptr + i;
        size_t n = 0;

        if (*at != '.' || memcmp(at + 1, method.ptr, method.len) != 0 || at[1 + method.len] != '(')
            continue;
        while (n < i && stet_is_word(at[-(ptrdiff_t)n - 1]))
            n++;
        return stet_view_of(at - n, n);
    }
    return (struct stet_view){0};
}

/* Where the bracket that opens at `open` closes; text.len when it does not. */
static size_t close_of(struct stet_view text, size_t open)
{
    int depth = 0;

    for (size_t i = open; i < text.len; i++) {
        depth += text.ptr[i] == '(' || text.ptr[i] == '[' || text.ptr[i] == '{';
        depth -= text.ptr[i] == ')' || text.ptr[i] == ']' || text.ptr[i] == '}';
        if (!depth)
            return i;
    }
    return text.len;
}

static struct stet_view inside(struct stet_view text, size_t open)
{
    size_t end = close_of(text, open);

    return stet_view_of(text.ptr + open + 1, end > open ? end - open - 1 : 0);
}

/* Does a bracket open here that takes a part of something? A list's has nothing before it, nor has
 * one in a text. */
static bool is_subscript(struct stet_view s, size_t at)
{
    return at && s.ptr[at] == '[' &&
           (stet_is_word(s.ptr[at - 1]) || s.ptr[at - 1] == ')' || s.ptr[at - 1] == ']');
}

bool stet_py_uses_as_size(struct stet_view statement, struct stet_view name)
{
    static const char *const makers[] = {"arange(",  "zeros(",  "ones(",   "full(",    "empty(",
                                         "rand(",    "randn(",  "narrow(", "view(",    "reshape(",
                                         "expand(",  "repeat(", "topk(",   "one_hot(", "linspace(",
                                         "randint(", "split(",  "chunk(",  "resize_("};

    for (size_t i = 0; i < statement.len; i++) {
        struct stet_view part;

        if (!is_subscript(statement, i))
            continue;
        part = inside(statement, i);
        if (part.len && memchr(part.ptr, ':', part.len) && stet_py_mentions(part, name))
            return true;
    }
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++) {
        const char *at = memmem(statement.ptr, statement.len, makers[m], strlen(makers[m]));

        if (at &&
            stet_py_mentions(
                inside(statement, (size_t)(at - statement.ptr) + strlen(makers[m]) - 1), name))
            return true;
    }
    return false;
}

/* The end of what begins at `from`: the next `end`, or comma, outside brackets. */
static size_t item_end(struct stet_view s, size_t from, char end)
{
    int depth = 0;

    for (size_t i = from; i < s.len; i++) {
        char c = s.ptr[i];

        if (!depth && (c == end || c == ','))
            return i;
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
    }
    return s.len;
}

/* "a" and "c" in [a:b, c]. */
static bool in_starts(struct stet_view subscript, struct stet_view name)
{
    for (size_t i = 0; i < subscript.len; i = item_end(subscript, i, ',') + 1)
        if (stet_py_mentions(stet_view_of(subscript.ptr + i, item_end(subscript, i, ':') - i),
                             name))
            return true;
    return false;
}

/* Functions that take what they take a part of first, then where it begins. */
static bool begins_part(struct stet_view s, size_t open)
{
    static const char *const names[] = {".slice", "slice_in_dim", "index_in_dim",
                                        "roll",   "split",        "take"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (stet_view_ends(stet_view_of(s.ptr, open), names[i]))
            return true;
    return false;
}

static bool is_second(struct stet_view arguments, struct stet_view name)
{
    size_t first = item_end(arguments, 0, ',') + 1;

    return first < arguments.len &&
           stet_py_mentions(
               stet_view_of(arguments.ptr + first, item_end(arguments, first, ',') - first), name);
}

bool stet_py_uses_as_start(struct stet_view statement, struct stet_view name)
{
    statement.len = statement.len < LONGEST ? statement.len : LONGEST;
    for (size_t i = 1; i < statement.len; i++)
        if (is_subscript(statement, i) ? in_starts(inside(statement, i), name)
                                       : statement.ptr[i] == '(' && begins_part(statement, i) &&
                                             is_second(inside(statement, i), name))
            return true;
    return false;
}

static bool names_device(struct stet_view s)
{
    for (size_t i = 0; i + 3 <= s.len; i++)
        if (!strncasecmp(s.ptr + i, "dev", 3) || !strncasecmp(s.ptr + i, "xla", 3))
            return true;
    return false;
}

bool stet_py_moves(struct stet_view s)
{
    for (size_t i = 0; i + 4 <= s.len; i++)
        if (!memcmp(s.ptr + i, ".to(", 4) && names_device(inside(s, i + 3)))
            return true;
    return false;
}

/* What Python calls an operation that holds the number; `whole`: its first argument is one. */
static const struct {
    const char *operation, *python;
    bool whole;
} spellings[] = {
    {"power", "**", true},
    {"power", "pow(", false},
    {"concatenate", "roll(", false},
    {"dynamic-slice", "roll(", false},
    {"compare", "arange(", true},
    {"constant", "arange(", true},
    {"iota", "arange(", true},
    {"broadcast", "arange(", true},
    {"broadcast", "one_hot(", false},
    {"broadcast", "zeros(", true},
    {"broadcast", "ones(", true},
    {"broadcast", "full(", true},
    {"broadcast", "empty(", true},
    {"broadcast", "expand(", false},
    {"broadcast", "repeat(", false},
    {"slice", "narrow(", false},
    {"slice", "select(", false},
    {"slice", "split(", false},
    {"slice", "chunk(", false},
    {"compare", "triu(", false},
    {"compare", "tril(", false},
    {"compare", "one_hot(", false},
    {"sort", "topk(", false},
    {"topk", "topk(", false},
    {"iota", "one_hot(", false},
};

/* The end of an argument that says where, of what type or along what: device=x.device. `from` where
 * there is none. */
static size_t past_keyword(struct stet_view text, size_t from, size_t n)
{
    static const char *const words[] = {"device", "dtype", "dim", "dims", "layout", "generator"};
    size_t i = from + n;
    int depth = 0;

    while (i < text.len && text.ptr[i] == ' ')
        i++;
    if (i >= text.len || text.ptr[i] != '=')
        return from;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (!stet_view_is(stet_view_of(text.ptr + from, n), words[w]))
            continue;
        for (; i < text.len && (depth || text.ptr[i] != ','); i++) {
            depth += text.ptr[i] == '(' || text.ptr[i] == '[';
            depth -= text.ptr[i] == ')' || text.ptr[i] == ']';
        }
        return i;
    }
    return from;
}

/* A name that may stand for another number each time; one in capitals is a constant. */
static bool has_name(struct stet_view text)
{
    for (size_t i = 0; i < text.len;) {
        bool small = false;
        size_t n = 0, past;

        for (; i + n < text.len && stet_is_word(text.ptr[i + n]); n++)
            small |= text.ptr[i + n] >= 'a' && text.ptr[i + n] <= 'z';
        past = n ? past_keyword(text, i, n) : i;
        if (past == i && small && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return true;
        i = past > i ? past : i + (n ? n : 1);
    }
    return false;
}

/* x.pow(p) has the tensor before it, torch.pow(x, p) as its first argument. */
static bool is_method(struct stet_view s, size_t at)
{
    if (!at || s.ptr[at - 1] != '.')
        return false;
    return !(at >= 6 && !memcmp(s.ptr + at - 6, "torch.", 6)) &&
           !(at >= 2 && !memcmp(s.ptr + at - 2, "F.", 2) &&
             (at == 2 || !stet_is_word(s.ptr[at - 3])));
}

static struct stet_view argument_part(struct stet_view s, size_t at, size_t open, bool whole)
{
    struct stet_view part = inside(s, open);
    int depth = 0;

    if (whole || is_method(s, at))
        return part;
    for (size_t i = 0; i < part.len; i++) {
        depth += part.ptr[i] == '(' || part.ptr[i] == '[';
        depth -= part.ptr[i] == ')' || part.ptr[i] == ']';
        if (!depth && part.ptr[i] == ',')
            return stet_view_of(part.ptr + i + 1, part.len - i - 1);
    }
    return (struct stet_view){0};
}

static struct stet_view exponent(struct stet_view s, size_t at)
{
    size_t end;

    while (at < s.len && s.ptr[at] == ' ')
        at++;
    for (end = at; end < s.len && (stet_is_word(s.ptr[end]) || s.ptr[end] == '.' ||
                                   s.ptr[end] == '-' || s.ptr[end] == '(');
         end++)
        if (s.ptr[end] == '(')
            end = close_of(s, end);
    return stet_view_of(s.ptr + at, (end < s.len ? end : s.len) - at);
}

/* "i", "self.at + 1, 2": no text, call or comparison. */
static bool is_position(struct stet_view part)
{
    for (size_t i = 0; i < part.len; i++)
        if (!stet_is_word(part.ptr[i]) && !memchr(" .+-*,", part.ptr[i], 6))
            return false;
    return true;
}

/* The bounds in x[a:b], or the position in x[a], where they have a name. */
static struct stet_view bounds(struct stet_view s)
{
    for (size_t i = 1; i < s.len; i++) {
        struct stet_view part;

        if (!is_subscript(s, i))
            continue;
        part = inside(s, i);
        if (part.len && (memchr(part.ptr, ':', part.len) || is_position(part)) && has_name(part))
            return part;
    }
    return (struct stet_view){0};
}

/* `**` has something before it that is raised: f(**options) has not. */
static bool is_raised(struct stet_view s, size_t at)
{
    while (at && s.ptr[at - 1] == ' ')
        at--;
    return at && (stet_is_word(s.ptr[at - 1]) || s.ptr[at - 1] == ')' || s.ptr[at - 1] == ']');
}

/* Where the statement has it; its length when it has not. */
static size_t find_spelling(struct stet_view s, const char *python, size_t n)
{
    for (size_t from = 0; from < s.len;) {
        const char *found = memmem(s.ptr + from, s.len - from, python, n);
        size_t at = found ? (size_t)(found - s.ptr) : s.len;

        if (!found || (n == 2 ? is_raised(s, at) : !at || !stet_is_word(s.ptr[at - 1])))
            return at;
        from = at + n;
    }
    return s.len;
}

struct stet_view stet_py_operand_of(struct stet_view statement, struct stet_view operation)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        size_t n = strlen(spellings[i].python), at;
        struct stet_view part;

        if (!stet_view_is(operation, spellings[i].operation))
            continue;
        at = find_spelling(statement, spellings[i].python, n);
        if (at == statement.len)
            continue;
        part = n == 2 ? exponent(statement, at + 2)
                      : argument_part(statement, at, at + n - 1, spellings[i].whole);
        if (has_name(part))
            return part;
    }
    return stet_view_is(operation, "slice") ? bounds(statement) : (struct stet_view){0};
}
