/* From the line that read a value back to the line that waits for a compile, within one function:
 * names that are given a value there, and names that are made of those. */
#include "explain/history_internal.h"
#include "explain/readback.h"

enum { NAMES_MOST = 32, LINES_MOST = 2000, BRANCH_MOST = 200, AROUND_MOST = 16, PASSES = 2 };

struct names {
    struct stet_view at[NAMES_MOST];
    uint32_t count;
};

static bool has_name(const struct names *n, struct stet_view text)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (stet_py_mentions(text, n->at[i]))
            return true;
    return false;
}

static void add_name(struct names *n, struct stet_view name)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (stet_view_eq(n->at[i], name))
            return;
    if (name.len && n->count < NAMES_MOST)
        n->at[n->count++] = name;
}

/* Where the `=` of an assignment is; the length of the text when there is none. */
static size_t equals_of(struct stet_view s)
{
    int depth = 0;

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i], before = i ? s.ptr[i - 1] : ' ';

        if (c == '\'' || c == '"')
            break;
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (c != '=' || depth)
            continue;
        if (i + 1 < s.len && s.ptr[i + 1] == '=')
            break;
        if (before != '!' && before != '<' && before != '>' && before != '=')
            return i;
    }
    return s.len;
}

/* Names and fields, as "count", "self.count". */
static void add_words(struct names *n, struct stet_view text)
{
    for (size_t i = 0; i < text.len;) {
        size_t k = 0;

        while (i + k < text.len && (stet_is_word(text.ptr[i + k]) || text.ptr[i + k] == '.'))
            k++;
        if (k && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            add_name(n, stet_view_of(text.ptr + i, k));
        i += k ? k : 1;
    }
}

/* "name :=" anywhere in the statement. */
static void add_walrus(struct names *n, struct stet_view s)
{
    for (size_t i = 1; i + 1 < s.len; i++) {
        size_t end = i, begin;

        if (s.ptr[i] != ':' || s.ptr[i + 1] != '=')
            continue;
        while (end && s.ptr[end - 1] == ' ')
            end--;
        for (begin = end; begin && stet_is_word(s.ptr[begin - 1]); begin--)
            ;
        add_name(n, stet_view_of(s.ptr + begin, end - begin));
    }
}

static bool starts_with_word(struct stet_view s, const char *word)
{
    size_t n = strlen(word);

    s = stet_view_unindent(s);
    return stet_view_starts(s, word) && (s.len == n || !stet_is_word(s.ptr[n]));
}

/* What a statement gives a value: the targets of an assignment, of a loop, of `:=`. */
static void add_targets(struct names *n, struct stet_view s, size_t *value)
{
    size_t at = equals_of(s), in;

    *value = 0;
    add_walrus(n, s);
    if (starts_with_word(s, "for")) {
        in = stet_view_find(s, " in ");
        s = stet_view_unindent(s);
        if (in < s.len)
            add_words(n, stet_view_of(s.ptr + 3, in > 3 ? in - 3 : 0));
    } else if (at < s.len) {
        *value = at + 1;
        add_words(n, stet_view_of(s.ptr, at));
    }
}

/* ---- within a function ---- */

struct body {
    uint32_t first, last;
};

static struct body body_of(const struct stet_pyfile *f, uint32_t line)
{
    uint32_t def = stet_py_def_of(f, line);
    struct body b = {def + 1, def ? stet_py_block_end(f, def) : f->count};

    return b;
}

static bool is_in(const struct stet_pyfile *f, uint32_t line)
{
    return line && line <= f->count;
}

static const struct stet_pyfile *open_both(struct stet_history *h, struct stet_view file,
                                           uint32_t use, uint32_t read)
{
    const struct stet_pyfile *f = stet_pysource_open(&h->sources, file);

    return f && is_in(f, use) && is_in(f, read) ? f : NULL;
}

static bool is_target(struct stet_view s, struct stet_view name)
{
    struct names n = {.count = 0};
    size_t value;

    add_targets(&n, s, &value);
    for (uint32_t i = 0; i < n.count; i++)
        if (stet_view_eq(n.at[i], name))
            return true;
    return false;
}

uint32_t stet_explain_flow_binding(struct stet_history *h, struct stet_view file, uint32_t use,
                                   struct stet_view name)
{
    const struct stet_pyfile *f = open_both(h, file, use, use);
    uint32_t first;

    if (!f || !name.len || !stet_py_mentions(stet_py_statement(f, use), name))
        return 0;
    first = body_of(f, use).first;
    use = f->starts[use - 1];
    for (uint32_t at = use; at-- > first && use - at < LINES_MOST;)
        if (f->starts[at - 1] == at && is_target(stet_py_statement(f, at), name))
            return at;
    return 0;
}

uint32_t stet_explain_flow_callee(struct stet_history *h, struct stet_view file, uint32_t use)
{
    const struct stet_pyfile *f = open_both(h, file, use, use);
    struct stet_view s = f ? stet_py_statement(f, use) : (struct stet_view){0};
    size_t equals = equals_of(s), from = equals < s.len ? equals + 1 : 0, n = 0;
    uint32_t line;

    while (from < s.len && !stet_is_word(s.ptr[from]))
        from++;
    while (from + n < s.len && stet_is_word(s.ptr[from + n]))
        n++;
    if (!n)
        return 0;
    line = stet_explain_flow_binding(h, file, use, stet_view_of(s.ptr + from, n));
    for (uint32_t at = 1; !line && at <= f->count; at++)
        if (f->starts[at - 1] == at &&
            stet_is_word(f->lines[at - 1].len ? *f->lines[at - 1].ptr : 0) &&
            is_target(stet_py_statement(f, at), stet_view_of(s.ptr + from, n)))
            line = at;
    return line;
}

/* ---- conditions ---- */

struct question {
    const struct stet_pyfile *f;
    struct names names;
    uint32_t read; /* first line of the statement that reads */
    bool loops;
    bool direct;
};

/* Is this the condition asked for? `at` is the first line of a statement with one. */
static bool rests(struct question *q, uint32_t at)
{
    struct stet_view s = stet_py_statement(q->f, at);

    if (starts_with_word(s, "for") || starts_with_word(s, "with") || starts_with_word(s, "try"))
        return false;
    if (starts_with_word(s, "while") && !q->loops)
        return false;
    q->direct = at == q->read;
    return q->direct || has_name(&q->names, s);
}

static uint32_t depth_of(const struct stet_pyfile *f, uint32_t line)
{
    return (uint32_t)(stet_view_unindent(f->lines[line - 1]).ptr - f->lines[line - 1].ptr);
}

/* `else` and `elif` run only when the conditions above them at their depth are not met. */
static bool rests_above(struct question *q, uint32_t at)
{
    uint32_t depth = depth_of(q->f, at);

    if (!starts_with_word(q->f->lines[at - 1], "else") &&
        !starts_with_word(q->f->lines[at - 1], "elif"))
        return false;
    for (uint32_t i = at - 1; i > 0; i--) {
        struct stet_view s = stet_view_unindent(q->f->lines[i - 1]);

        if (q->f->starts[i - 1] != i || depth_of(q->f, i) != depth || !s.len || *s.ptr == '#')
            continue;
        if (rests(q, i))
            return true;
        if (!starts_with_word(q->f->lines[i - 1], "elif"))
            return false;
    }
    return false;
}

/* Does an `if` around the statement rest on the value? Then so does what it assigns. */
static bool depends(struct question *q, uint32_t at)
{
    uint32_t headers[AROUND_MOST], n = stet_py_around(q->f, at, headers, AROUND_MOST);

    for (uint32_t i = 0; i < n; i++) {
        struct stet_view s = q->f->lines[headers[i] - 1];

        if ((starts_with_word(s, "if") || starts_with_word(s, "elif")) && rests(q, headers[i]))
            return true;
        if (rests_above(q, headers[i]))
            return true;
    }
    return false;
}

/* Adds what a statement gives a value, when that rests on the value read. */
static void follow(struct question *q, uint32_t at)
{
    struct stet_view s = stet_py_statement(q->f, at);
    struct names more = {.count = 0};
    size_t value;
    bool rest;

    add_targets(&more, s, &value);
    if (!more.count)
        return;
    rest = has_name(&q->names, stet_view_of(s.ptr + value, s.len - value)) ||
           (at > q->read && at - q->read < BRANCH_MOST && depends(q, at));
    for (uint32_t i = 0; rest && i < more.count; i++)
        add_name(&q->names, more.at[i]);
}

/* The names that rest on what a line computes. A line goes round in its loop, so twice. */
static void find_names(struct question *q, uint32_t use)
{
    struct body b = body_of(q->f, q->read);
    size_t value;

    add_targets(&q->names, stet_py_statement(q->f, q->read), &value);
    for (unsigned pass = 0; pass < PASSES; pass++)
        for (uint32_t at = b.first; at <= b.last && at - b.first < LINES_MOST; at++)
            if (q->f->starts[at - 1] == at && at != use)
                follow(q, at);
    q->direct = false;
}

static struct question question_of(struct stet_history *h, struct stet_view file, uint32_t use,
                                   uint32_t read, bool loops)
{
    struct question q = {.f = open_both(h, file, use, read), .loops = loops};

    if (q.f) {
        q.read = q.f->starts[read - 1];
        find_names(&q, q.f->starts[use - 1]);
    }
    return q;
}

bool stet_explain_flow_argument(struct stet_history *h, struct stet_view file, uint32_t use,
                                uint32_t read)
{
    struct question q = question_of(h, file, use, read, false);
    struct stet_view call;
    const char *open;

    if (!q.f || q.read == q.f->starts[use - 1]) /* it may read what the call returned */
        return false;
    call = stet_py_statement(q.f, use);
    open = call.len ? memchr(call.ptr, '(', call.len) : NULL;
    return open && has_name(&q.names, stet_view_of(open, (size_t)(call.ptr + call.len - open)));
}

static bool leaves(const struct stet_pyfile *f, uint32_t line)
{
    static const char *const words[] = {"continue", "return", "break", "raise"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (starts_with_word(f->lines[line - 1], words[i]))
            return true;
    return false;
}

/* A condition before the line that leaves the block when it is met: "if …: continue". */
static bool rests_before(struct question *q, uint32_t use, uint32_t from)
{
    uint32_t depth = depth_of(q->f, use);

    for (uint32_t at = from + 1; at < use; at++) {
        uint32_t end;

        if (q->f->starts[at - 1] != at || !starts_with_word(q->f->lines[at - 1], "if") ||
            depth_of(q->f, at) > depth)
            continue;
        end = stet_py_block_end(q->f, at);
        if (end > at && end < use && leaves(q->f, q->f->starts[end - 1]) && rests(q, at))
            return true;
    }
    return false;
}

/* "a if condition else b", "condition and a": a condition within the statement. What a call in it
 * returned may be what is read there, unless the program called was never there before. */
static bool rests_inside(struct question *q, uint32_t use)
{
    struct stet_view s = stet_py_statement(q->f, use);
    bool conditional = stet_py_mentions(s, STET_VIEW("else")) ||
                       stet_py_mentions(s, STET_VIEW("and")) ||
                       stet_py_mentions(s, STET_VIEW("or"));

    return conditional && (use != q->read || !q->loops) && rests(q, use);
}

bool stet_explain_flow_condition(struct stet_history *h, struct stet_view file, uint32_t use,
                                 uint32_t read, bool loops, bool *direct)
{
    struct question q = question_of(h, file, use, read, loops);
    uint32_t headers[AROUND_MOST], n, first;
    bool found;

    if (!q.f)
        return false;
    use = q.f->starts[use - 1];
    n = stet_py_around(q.f, use, headers, AROUND_MOST);
    first = n ? headers[n - 1] : body_of(q.f, use).first - 1;
    found = rests_inside(&q, use);
    for (uint32_t i = 0; i < n && !found; i++)
        found = rests(&q, headers[i]) || rests_above(&q, headers[i]);
    found = found || (use - first < LINES_MOST && rests_before(&q, use, first));
    *direct = q.direct;
    return found;
}
