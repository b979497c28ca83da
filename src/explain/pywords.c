/* What a piece of Python says, by its words. */
#include "explain/pysource.h"

/* The next place of `word` in `text` from `from` on that is a whole word; text.len when none. */
static size_t find_word(struct stet_view text, struct stet_view word, size_t from)
{
    while (word.len && from + word.len <= text.len) {
        const char *at = memmem(text.ptr + from, text.len - from, word.ptr, word.len);
        size_t i;

        if (!at)
            break;
        i = (size_t)(at - text.ptr);
        if ((i == 0 || !stet_is_word(text.ptr[i - 1]) || !stet_is_word(word.ptr[0])) &&
            (i + word.len == text.len || !stet_is_word(text.ptr[i + word.len]) ||
             !stet_is_word(word.ptr[word.len - 1])))
            return i;
        from = i + 1;
    }
    return text.len;
}

bool stet_py_mentions(struct stet_view text, struct stet_view name)
{
    return find_word(text, name, 0) < text.len;
}

static bool has_any(struct stet_view text, const char *const *words)
{
    for (; *words; words++)
        if (find_word(text, stet_view_str(*words), 0) < text.len)
            return true;
    return false;
}

bool stet_py_reads_back(struct stet_view text)
{
    static const char *const words[] = {"float(",
                                        "int(",
                                        "bool(",
                                        ".item(",
                                        ".tolist(",
                                        ".cpu(",
                                        ".numpy(",
                                        "np.asarray(",
                                        "np.array(",
                                        "numpy.asarray(",
                                        "device_get(",
                                        "print(",
                                        ".block_until_ready(",
                                        "onp.asarray(",
                                        NULL};

    return has_any(text, words);
}

bool stet_py_makes_jit(struct stet_view text)
{
    static const char *const words[] = {"jit(",     "@jax.jit",       "@jit", "pmap(",
                                        "jax.jit,", "torch.compile(", NULL};

    return has_any(text, words);
}

/* ---- values read back ---- */

/* A number or truth value, not a whole array. */
bool stet_py_reads_scalar(struct stet_view text)
{
    static const char *const words[] = {"float(", "int(", "bool(", ".item(", NULL};

    return has_any(text, words);
}

typedef bool reads_fn(struct stet_view text);

/* Is there a statement in the function that gives `name` a value read back? */
static bool name_was_read(const struct stet_pyfile *f, uint32_t from, uint32_t to,
                          struct stet_view name, reads_fn *reads, uint32_t *line)
{
    for (uint32_t at = to; at > from && at > 0; at--) {
        struct stet_view s = {0};
        size_t i, equals;

        if (at <= f->count && f->starts[at - 1] == at)
            s = stet_py_statement(f, at);
        i = find_word(s, name, 0);
        if (i == s.len)
            continue;
        for (equals = i + name.len; equals < s.len && s.ptr[equals] == ' '; equals++)
            ;
        if (equals + 1 < s.len && s.ptr[equals] == '=' && s.ptr[equals + 1] != '=' &&
            reads(stet_view_of(s.ptr + equals, s.len - equals))) {
            *line = at;
            return true;
        }
    }
    return false;
}

/* The lines of a function in which names may get their values: a loop goes round. */
struct span {
    uint32_t from, to;
};

static struct span span_of(const struct stet_pyfile *f, uint32_t at)
{
    uint32_t headers[16], n = stet_py_around(f, at, headers, 16);
    struct span s = {stet_py_def_of(f, at), at};

    for (uint32_t i = 0; i < n; i++) {
        struct stet_view v = stet_py_statement(f, headers[i]);

        if (find_word(v, STET_VIEW("for"), 0) < v.len ||
            find_word(v, STET_VIEW("while"), 0) < v.len)
            while (s.to < f->count && s.to - at < 200 &&
                   (!f->lines[s.to].len || *f->lines[s.to].ptr == ' '))
                s.to++;
    }
    return s;
}

static bool rests_on_value(const struct stet_pyfile *f, struct stet_view text, uint32_t at,
                           struct span span, reads_fn *reads, uint32_t *line)
{
    if (reads(text)) {
        *line = at;
        return true;
    }
    for (size_t i = 0; i < text.len;) {
        size_t n = 0;

        while (i + n < text.len && stet_is_word(text.ptr[i + n]))
            n++;
        if (n && (i == 0 || text.ptr[i - 1] != '.') &&
            name_was_read(f, span.from, span.to, stet_view_of(text.ptr + i, n), reads, line))
            return true;
        i += n ? n : 1;
    }
    return false;
}

/* The condition part of "if …:", "elif …:", "while …:"; empty for other headers. */
static struct stet_view condition(struct stet_view s)
{
    size_t i = 0;

    while (i < s.len && s.ptr[i] == ' ')
        i++;
    s = stet_view_of(s.ptr + i, s.len - i);
    if (stet_view_starts(s, "if ") || stet_view_starts(s, "elif ") ||
        stet_view_starts(s, "while ") || stet_view_starts(s, "match "))
        return s;
    return (struct stet_view){0};
}

bool stet_py_is_condition(const struct stet_pyfile *f, uint32_t line)
{
    return condition(stet_py_statement(f, line)).len > 0;
}

/* "else:" belongs to the "if" above it at the same depth. */
static uint32_t if_of_else(const struct stet_pyfile *f, uint32_t at)
{
    struct stet_view mine = f->lines[at - 1];
    size_t depth = 0;

    while (depth < mine.len && mine.ptr[depth] == ' ')
        depth++;
    if (!stet_view_starts(stet_view_of(mine.ptr + depth, mine.len - depth), "else") &&
        !stet_view_starts(stet_view_of(mine.ptr + depth, mine.len - depth), "elif"))
        return at;
    for (uint32_t i = at; --i > 0;) {
        struct stet_view v = f->lines[i - 1];

        if (v.len > depth && v.ptr[depth] != ' ' && (depth == 0 || v.ptr[depth - 1] == ' ') &&
            stet_view_starts(stet_view_of(v.ptr + depth, v.len - depth), "if "))
            return i;
    }
    return at;
}

static bool is_loop(struct stet_view s)
{
    while (s.len && *s.ptr == ' ')
        s.ptr++, s.len--;
    return stet_view_starts(s, "for ") || stet_view_starts(s, "while ");
}

bool stet_py_condition_reads(const struct stet_pyfile *f, uint32_t at, bool loops, uint32_t *line)
{
    uint32_t headers[16], n = stet_py_around(f, at, headers, 16);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t header = if_of_else(f, headers[i]);
        struct stet_view c = condition(stet_py_statement(f, header));

        if (c.len && (loops || !is_loop(c)) &&
            rests_on_value(f, c, header, span_of(f, at), stet_py_reads_back, line))
            return true;
    }
    return false;
}

bool stet_py_argument_reads(const struct stet_pyfile *f, uint32_t at, uint32_t *line)
{
    struct stet_view call = stet_py_statement(f, at);
    const char *open = call.len ? memchr(call.ptr, '(', call.len) : NULL;

    return open && rests_on_value(f, stet_view_of(open, (size_t)(call.ptr + call.len - open)),
                                  f->starts[at - 1], span_of(f, at), stet_py_reads_scalar, line);
}

/* ---- branches ---- */

/* What Python calls an operation, where that is another name. */
static struct stet_view python_name(struct stet_view operation)
{
    static const struct {
        const char *operation, *python;
    } names[] = {{"exponential", "exp"},   {"logistic", "sigmoid"}, {"cosine", "cos"},
                 {"sine", "sin"},          {"power", "pow"},        {"dot", "matmul"},
                 {"dot_general", "matmul"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (stet_view_is(operation, names[i].operation))
            return stet_view_str(names[i].python);
    return operation;
}

/* Does a condition stand between the line and the loop? `loop` is the header that must be met. */
static bool under_condition(const struct stet_pyfile *f, uint32_t line, uint32_t loop, bool *inside)
{
    uint32_t headers[16], n = stet_py_around(f, line, headers, 16);
    bool condition_met = false;

    *inside = false;
    for (uint32_t i = 0; i < n && !*inside; i++) {
        *inside = headers[i] == loop;
        condition_met |= !*inside && condition(f->lines[if_of_else(f, headers[i]) - 1]).len > 0;
    }
    return *inside && condition_met;
}

uint32_t stet_py_conditional_line(const struct stet_pyfile *f, uint32_t at,
                                  struct stet_view operation)
{
    uint32_t headers[16], n = stet_py_around(f, at, headers, 16), loop = 0, found = 0;
    struct stet_view name = python_name(operation);

    for (uint32_t i = 0; i < n && !loop; i++)
        loop = is_loop(f->lines[headers[i] - 1]) ? headers[i] : 0;
    for (uint32_t line = loop + 1; loop && line <= f->count && line - loop < 400; line++) {
        bool inside, branch;

        if (f->starts[line - 1] != line || !stet_py_mentions(stet_py_statement(f, line), name))
            continue;
        branch = under_condition(f, line, loop, &inside);
        if (inside && (!branch || found))
            return 0;
        if (inside)
            found = line;
    }
    return found;
}

/* ---- static arguments ---- */

struct parameters {
    struct stet_view names[64];
    uint32_t count;
};

static void read_parameters(struct stet_view def, struct parameters *p)
{
    const char *open = memchr(def.ptr, '(', def.len);
    const char *end = def.ptr + def.len;
    bool fresh = true;
    int depth = 0;

    for (const char *c = open ? open : end; c < end; c++) {
        if (*c == '(' || *c == '[' || *c == '{') {
            depth++;
        } else if (*c == ')' || *c == ']' || *c == '}') {
            if (--depth == 0)
                return;
        } else if (*c == ',' && depth == 1) {
            fresh = true;
        } else if (fresh && depth == 1 && stet_is_word(*c) && p->count < 64) {
            const char *start = c;

            while (c + 1 < end && stet_is_word(c[1]))
                c++;
            p->names[p->count++] = stet_view_of(start, (size_t)(c - start) + 1);
            fresh = false;
        }
    }
}

/* Among the parameters, those that a static_arg… of `jit` names or numbers. */
static struct stet_view static_used(struct stet_view jit, const struct parameters *p,
                                    struct stet_view text, stet_py_uses_fn *uses)
{
    const char *word = memmem(jit.ptr, jit.len, "static_arg", 10);
    struct stet_view list;

    if (!word)
        return (struct stet_view){0};
    list = stet_view_of(word, (size_t)(jit.ptr + jit.len - word));
    for (uint32_t i = 0; i < p->count; i++) {
        char digits[8];
        int n = 0;
        uint32_t v = i;
        bool named, numbered;

        do
            digits[7 - n++] = (char)('0' + v % 10);
        while ((v /= 10) && n < 7);
        named = find_word(list, p->names[i], 10) < list.len;
        numbered = find_word(list, stet_view_of(digits + 8 - n, (size_t)n), 10) < list.len;
        if ((named || numbered) && uses(text, p->names[i]))
            return p->names[i];
    }
    return (struct stet_view){0};
}

static bool defines(struct stet_view s, struct stet_view function)
{
    size_t i = find_word(s, STET_VIEW("def"), 0);

    return i < s.len && i + 4 + function.len <= s.len &&
           !memcmp(s.ptr + i + 4, function.ptr, function.len) &&
           (i + 4 + function.len == s.len || !stet_is_word(s.ptr[i + 4 + function.len]));
}

uint32_t stet_py_find_def(const struct stet_pyfile *f, struct stet_view function)
{
    for (uint32_t at = 1; function.len && at <= f->count; at++)
        if (f->starts[at - 1] == at && defines(f->lines[at - 1], function))
            return at;
    return 0;
}

bool stet_py_called_elsewhere(const struct stet_pyfile *f, struct stet_view function, uint32_t at)
{
    uint32_t mine = at && at <= f->count ? f->starts[at - 1] : 0;

    for (uint32_t i = 1; i <= f->count; i++) {
        struct stet_view s = f->lines[i - 1];
        size_t call = find_word(s, function, 0) + function.len;

        if (f->starts[i - 1] != mine && call < s.len && s.ptr[call] == '(' && !defines(s, function))
            return true;
    }
    return false;
}

bool stet_py_has_default(const struct stet_pyfile *f, struct stet_view function,
                         struct stet_view name)
{
    uint32_t def = stet_py_find_def(f, function);
    struct stet_view s = def ? stet_py_statement(f, def) : (struct stet_view){0};
    size_t i = find_word(s, name, 0) + name.len;

    while (i < s.len && s.ptr[i] != ',' && s.ptr[i] != '=' && s.ptr[i] != ')')
        i++;
    return i < s.len && s.ptr[i] == '=';
}

bool stet_py_may_be_none(const struct stet_pyfile *f, struct stet_view function,
                         struct stet_view name)
{
    uint32_t def = stet_py_find_def(f, function);

    for (uint32_t at = def + 1; def && at <= f->count; at++) {
        struct stet_view s = f->lines[at - 1];
        size_t i = find_word(s, name, 0);

        if (s.len && *s.ptr != ' ' && *s.ptr != '#' && *s.ptr != '\t' && *s.ptr != ')')
            break; /* the next thing at module level */
        if (i < s.len &&
            stet_view_starts(stet_view_of(s.ptr + i + name.len, s.len - i - name.len), " is "))
            return true;
    }
    return false;
}

struct stet_view stet_py_parameter_in(const struct stet_pyfile *f, struct stet_view function,
                                      struct stet_view text)
{
    struct parameters p = {.count = 0};
    uint32_t def = stet_py_find_def(f, function);

    if (def)
        read_parameters(stet_py_statement(f, def), &p);
    for (uint32_t i = 0; i < p.count; i++)
        if (stet_py_mentions(text, p.names[i]))
            return p.names[i];
    return (struct stet_view){0};
}

/* The decorator above line *at, which becomes its line; false when there is none. */
static bool decorator_above(const struct stet_pyfile *f, uint32_t *at, struct stet_view *out)
{
    if (*at < 2)
        return false;
    *at = f->starts[*at - 2];
    *out = stet_py_statement(f, *at);
    while (out->len && *out->ptr == ' ')
        out->ptr++, out->len--;
    return out->len && *out->ptr == '@';
}

bool stet_py_compiled_lazily(const struct stet_pyfile *f, struct stet_view function)
{
    static const char *const words[] = {"torch_xla.compile", "xla.compile", NULL};
    uint32_t def = stet_py_find_def(f, function), line = def;
    struct stet_view decorator;

    while (decorator_above(f, &line, &decorator))
        if (has_any(decorator, words))
            return true;
    for (uint32_t at = 1; def && at <= f->count; at++) { /* torch_xla.compile(function) */
        struct stet_view s =
            f->starts[at - 1] == at ? stet_py_statement(f, at) : (struct stet_view){0};

        if (at != def && has_any(s, words) && stet_py_mentions(s, function))
            return true;
    }
    return false;
}

struct stet_view stet_py_static_in(const struct stet_pyfile *f, struct stet_view function,
                                   struct stet_view text, stet_py_uses_fn *uses)
{
    struct parameters p = {.count = 0};
    struct stet_view found = {0}, decorator;
    uint32_t def = f->has_static ? stet_py_find_def(f, function) : 0, line;

    if (!def)
        return found;
    read_parameters(stet_py_statement(f, def), &p);
    for (line = def; !found.len && decorator_above(f, &line, &decorator);)
        found = static_used(decorator, &p, text, uses);
    for (uint32_t at = 1; at <= f->count && !found.len; at++) { /* jax.jit(function, static…) */
        struct stet_view s =
            f->starts[at - 1] == at ? stet_py_statement(f, at) : (struct stet_view){0};

        if (stet_py_makes_jit(s) && stet_py_mentions(s, function))
            found = static_used(s, &p, text, uses);
    }
    return found;
}
