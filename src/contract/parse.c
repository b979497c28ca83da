/* The file → the model. Statements begin at the start of a line; a line that begins with a blank
 * goes on with the one before, and inside brackets line ends mean nothing. */
#include "contract/contract.h"

#include "base/fs.h"

#include <stdarg.h>
#include <stdio.h>

enum { MOST_BYTES = 8 << 20, MOST_VALUES = 4096, MOST_RANK = 64 };

struct scan {
    struct stet_contract *c;
    const char *file, *start, *at, *end;
    unsigned depth;      /* of brackets */
    const char *counted; /* lines are counted up to here: */
    uint32_t line;
    struct stet_err *err;
    bool failed;
};

/* Asked in the order of the text, so each byte is looked at once. */
static uint32_t line_at(struct scan *s, const char *at)
{
    if (at < s->counted) {
        s->counted = s->start;
        s->line = 1;
    }
    for (; s->counted < at; s->counted++)
        s->line += *s->counted == '\n';
    return s->line;
}

__attribute__((format(printf, 3, 4))) static bool fail(struct scan *s, const char *at,
                                                       const char *fmt, ...)
{
    const char *from = at;
    char what[160];
    va_list ap;

    if (s->failed)
        return false;
    s->failed = true;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    while (from > s->start && from[-1] != '\n')
        from--;
    stet_fail(s->err, STET_BAD_INPUT, "%s:%u:%u: %s", s->file, line_at(s, at),
              (unsigned)(at - from) + 1, what);
    return false;
}

static bool no_memory(struct scan *s)
{
    if (!s->failed)
        stet_fail(s->err, STET_NO_MEMORY, "%s: out of memory", s->file);
    s->failed = true;
    return false;
}

/* ---- words ---- */

/* Blanks, comments, and those line ends that mean nothing here. */
static void skip(struct scan *s)
{
    for (; s->at < s->end; s->at++) {
        if (*s->at == '#') {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
            if (s->at == s->end)
                return;
        }
        if (*s->at == '\n' && !s->depth) {
            const char *next = s->at + 1;

            if (next == s->end || (*next != ' ' && *next != '\t'))
                return;
        } else if (*s->at != ' ' && *s->at != '\t' && *s->at != '\r' && *s->at != '\n') {
            return;
        }
    }
}

static bool at_end(struct scan *s)
{
    skip(s);
    return s->at == s->end || *s->at == '\n';
}

static bool is_word(unsigned char c)
{
    return c > ' ' && c != 0x7f && !strchr(",(){}[]:\"#|", c);
}

/* The next word without taking it; empty at punctuation. */
static struct stet_view peek(struct scan *s)
{
    const char *p;

    skip(s);
    for (p = s->at; p < s->end && is_word((unsigned char)*p); p++)
        continue;
    return stet_view_of(s->at, (size_t)(p - s->at));
}

static bool accept(struct scan *s, const char *word)
{
    struct stet_view v = peek(s);

    if (!stet_view_is(v, word))
        return false;
    s->at += v.len;
    return true;
}

static bool accept_char(struct scan *s, char c)
{
    skip(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool expect(struct scan *s, const char *word)
{
    return accept(s, word) || fail(s, s->at, "'%s' is missing here", word);
}

static bool expect_char(struct scan *s, char c)
{
    return accept_char(s, c) || fail(s, s->at, "'%c' is missing here", c);
}

/* "program" or "programs" */
static bool expect_plural(struct scan *s, const char *word)
{
    char plural[24];

    snprintf(plural, sizeof plural, "%ss", word);
    return accept(s, word) || accept(s, plural) || fail(s, s->at, "'%s' is missing here", plural);
}

static bool number(struct scan *s, int64_t *out)
{
    const char *from;
    int64_t v = 0;

    skip(s);
    from = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s->at - '0', &v))
            return fail(s, from, "this number is too large");
    *out = v;
    return s->at > from || fail(s, from, "a number is missing here");
}

static bool budget(struct scan *s, uint64_t *out)
{
    int64_t v = 0;

    if (!number(s, &v))
        return false;
    *out = (uint64_t)v;
    return true;
}

/* "…" with \" and \\ in it. */
static bool quoted(struct scan *s, struct stet_view *out)
{
    const char *from = s->at++;
    char *copy;
    size_t n = 0;

    for (const char *p = s->at; p < s->end && *p != '"' && *p != '\n'; p += 1 + (*p == '\\'))
        n++;
    copy = stet_arena_alloc(&s->c->arena, n + 1, 1);
    if (!copy)
        return no_memory(s);
    for (n = 0; s->at < s->end && *s->at != '"' && *s->at != '\n'; s->at++) {
        if (*s->at == '\\' && s->at + 1 < s->end && s->at[1] != '\n')
            s->at++;
        copy[n++] = *s->at;
    }
    *out = stet_view_of(copy, n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
            return fail(s, from, "a control character in this text");
    return (s->at < s->end && *s->at++ == '"') || fail(s, from, "this text has no end");
}

/* A word or a text in quotes. */
static bool text(struct scan *s, struct stet_view *out, const char *what)
{
    struct stet_view v = peek(s);

    if (s->at < s->end && *s->at == '"')
        return quoted(s, out);
    if (!v.len)
        return fail(s, s->at, "%s is missing here", what);
    *out = stet_arena_copy(&s->c->arena, v);
    s->at += v.len;
    return out->ptr || no_memory(s);
}

static bool accept_dots(struct scan *s)
{
    return accept(s, "...") || accept(s, "\xe2\x80\xa6");
}

/* ---- arguments ---- */

/* batch.tokens, params['w'][0], params*: up to the colon that is in no bracket and no quote. */
static bool arg_name(struct scan *s, struct stet_clause_arg *a)
{
    const char *from, *last;
    unsigned depth = 0;
    char quote = 0;

    skip(s);
    if (s->at < s->end && *s->at == '"') {
        if (!quoted(s, &a->name))
            return false;
    } else {
        for (from = s->at; s->at < s->end && (unsigned char)*s->at >= ' ' && *s->at != 0x7f;
             s->at++) {
            char ch = *s->at;

            if (quote)
                quote = ch == quote ? 0 : quote;
            else if (ch == '\'' || ch == '"')
                quote = ch;
            else if (ch == '[')
                depth++;
            else if (ch == ']' && depth)
                depth--;
            else if (!depth && strchr(":,(){}#]", ch))
                break;
        }
        for (last = s->at; last > from && (last[-1] == ' ' || last[-1] == '\t');)
            last--;
        if (last == from)
            return fail(s, from, "the name of an argument is missing here");
        a->name = stet_arena_copy(&s->c->arena, stet_view_of(from, (size_t)(last - from)));
        if (!a->name.ptr)
            return no_memory(s);
    }
    if (!a->name.len)
        return fail(s, s->at, "an argument needs a name");
    a->many = a->name.ptr[a->name.len - 1] == '*';
    a->name.len -= a->many;
    return expect_char(s, ':');
}

static const char *long_name(struct stet_view v)
{
    static const char *const pairs[][2] = {
        {"f32", "float32"}, {"f16", "float16"}, {"bf16", "bfloat16"}, {"f64", "float64"},
        {"i8", "int8"},     {"i16", "int16"},   {"i32", "int32"},     {"i64", "int64"},
        {"s8", "int8"},     {"s16", "int16"},   {"s32", "int32"},     {"s64", "int64"},
        {"ui8", "uint8"},   {"ui16", "uint16"}, {"ui32", "uint32"},   {"ui64", "uint64"},
        {"u8", "uint8"},    {"u16", "uint16"},  {"u32", "uint32"},    {"u64", "uint64"},
        {"pred", "bool"},   {"i1", "bool"},     {"c64", "complex64"}, {"c128", "complex128"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (stet_view_is(v, pairs[i][0]))
            return pairs[i][1];
    return NULL;
}

static bool arg_type(struct scan *s, struct stet_clause_arg *a)
{
    do {
        struct stet_view v = peek(s);
        const char *known = long_name(v);

        if (!v.len)
            return fail(s, s->at, "a dtype is missing here");
        s->at += v.len;
        if (known)
            v = stet_view_str(known);
        a->type = stet_arena_printf(&s->c->arena, "%.*s%s%.*s", STET_FMT(a->type),
                                    a->type.len ? "|" : "", STET_FMT(v));
        if (!a->type.ptr)
            return no_memory(s);
    } while (accept_char(s, '|'));
    return true;
}

static bool dim_set(struct scan *s, struct stet_dim *d)
{
    do {
        int64_t v;
        const char *from = s->at;

        if (accept(s, "?"))
            v = INT64_MIN;
        else if (!number(s, &v))
            return false;
        if (d->count >= MOST_VALUES)
            return fail(s, from, "more than %d sizes: use a range", MOST_VALUES);
        if (!stet_dim_add(d, v, &s->c->arena))
            return no_memory(s);
    } while (accept_char(s, ','));
    return expect_char(s, '}');
}

static bool dim(struct scan *s, struct stet_dim *d)
{
    const char *from;
    int64_t v;

    *d = (struct stet_dim){.kind = STET_DIM_SET};
    if (accept(s, "*")) {
        d->kind = STET_DIM_ANY;
        return true;
    }
    if (accept_char(s, '{'))
        return dim_set(s, d);
    skip(s);
    from = s->at;
    if (accept(s, "?"))
        v = INT64_MIN;
    else if (!number(s, &v))
        return false;
    if (s->end - s->at < 2 || memcmp(s->at, "..", 2) != 0)
        return stet_dim_add(d, v, &s->c->arena) || no_memory(s);
    s->at += 2;
    *d = (struct stet_dim){.kind = STET_DIM_RANGE, .low = v, .step = 1};
    if (v < 0 || !number(s, &d->high) || (accept(s, "step") && !number(s, &d->step)))
        return fail(s, from, "a range reads LOW..HIGH step STEP");
    if (d->high < d->low || d->step < 1)
        return fail(s, from, "this range is empty");
    return true;
}

static bool arg_dims(struct scan *s, struct stet_clause_arg *a)
{
    struct stet_dim dims[MOST_RANK];

    if (!expect_char(s, '['))
        return false;
    if (accept_dots(s)) {
        a->any_shape = true;
        return expect_char(s, ']');
    }
    if (accept_char(s, ']'))
        return true;
    do {
        if (a->rank == MOST_RANK)
            return fail(s, s->at, "more than %d dimensions", MOST_RANK);
        if (!dim(s, &dims[a->rank++]))
            return false;
    } while (accept_char(s, ','));
    a->dims = STET_NEW_ARRAY(&s->c->arena, struct stet_dim, a->rank);
    if (!a->dims)
        return no_memory(s);
    memcpy(a->dims, dims, a->rank * sizeof *dims);
    return expect_char(s, ']');
}

static bool argument(struct scan *s, struct stet_family *f)
{
    struct stet_clause_arg *a = stet_family_add_arg(f, &s->c->arena);
    const char *from;

    if (!a)
        return no_memory(s);
    skip(s);
    from = s->at;
    a->line = line_at(s, from);
    if (!arg_name(s, a) || !arg_type(s, a))
        return false;
    skip(s);
    if (s->at < s->end && *s->at == '[') {
        if (!arg_dims(s, a))
            return false;
    } else {
        a->any_shape = true;
    }
    for (;;) {
        if (accept(s, "donated"))
            a->donated = true;
        else if (accept(s, "sharded"))
            s->failed |= !text(s, &a->sharding, "a sharding");
        else if (accept(s, "layout"))
            s->failed |= !text(s, &a->layout, "a layout");
        else
            return !s->failed;
        if (s->failed)
            return false;
    }
}

/* Separated by commas or line ends. */
static bool arguments(struct scan *s, struct stet_family *f)
{
    bool fine = expect_char(s, '(');

    s->depth++;
    while (fine && !accept_char(s, ')')) {
        if (accept_dots(s))
            f->open = true;
        else
            fine = argument(s, f);
        accept_char(s, ',');
        skip(s);
        if (fine && s->at == s->end)
            fine = fail(s, s->at, "')' is missing here");
    }
    s->depth--;
    return fine;
}

/* ---- clauses ---- */

static bool mesh(struct scan *s, struct stet_terms *t, uint32_t line)
{
    struct stet_view v;

    t->has_mesh = true;
    t->mesh_line = line;
    t->mesh = (struct stet_view){0};
    if (accept(s, "none"))
        return true;
    while ((v = peek(s)).len && memchr(v.ptr, '=', v.len)) {
        t->mesh = stet_arena_printf(&s->c->arena, "%.*s%s%.*s", STET_FMT(t->mesh),
                                    t->mesh.len ? " " : "", STET_FMT(v));
        if (!t->mesh.ptr)
            return no_memory(s);
        s->at += v.len;
    }
    return t->mesh.len || fail(s, s->at, "a mesh reads data=2 model=4, or none");
}

static bool pair(struct scan *s, struct stet_pairs *list, uint32_t line, const char *what)
{
    struct stet_pair *p = stet_pairs_add(list, &s->c->arena);

    if (!p)
        return no_memory(s);
    p->line = line;
    if (!text(s, &p->name, what))
        return false;
    if (accept(s, "unset"))
        p->unset = true;
    else
        return text(s, &p->value, "a value");
    return true;
}

/* Clauses that a family and the whole contract share. 0: none of them; -1: failed. */
static int term(struct scan *s, struct stet_terms *t)
{
    uint32_t line;

    skip(s);
    line = line_at(s, s->at);
    if (accept(s, "settled")) {
        t->settled_line = line;
        return expect(s, "by") && expect(s, "step") && budget(s, &t->settled) ? 1 : -1;
    }
    if (accept(s, "mesh"))
        return mesh(s, t, line) ? 1 : -1;
    if (accept(s, "flags"))
        return pair(s, &t->flags, line, "the name of a variable") ? 1 : -1;
    if (accept(s, "bundle"))
        return pair(s, &t->bundle, line, "the name of a part") ? 1 : -1;
    return 0;
}

/* at most N programs [of N graphs] [with N sets of options] */
static bool programs(struct scan *s, struct stet_family *f)
{
    f->programs_line = line_at(s, s->at);
    if (!expect(s, "most") || !budget(s, &f->programs) || !expect_plural(s, "program"))
        return false;
    if (accept(s, "of") && (!budget(s, &f->graphs) || !expect_plural(s, "graph")))
        return false;
    if (accept(s, "with"))
        return budget(s, &f->options) && expect_plural(s, "set") && expect(s, "of") &&
               expect(s, "options");
    return true;
}

static bool compiled(struct scan *s, struct stet_family *f)
{
    f->compiles = 1;
    if (accept(s, "once"))
        return true;
    return expect(s, "at") && expect(s, "most") && budget(s, &f->compiles) &&
           expect_plural(s, "time");
}

/* calls NAME …, or none */
static bool calls(struct scan *s, struct stet_family *f)
{
    f->has_calls = true;
    if (accept(s, "none"))
        return true;
    do {
        struct stet_view v;

        if (!text(s, &v, "the name of a kernel"))
            return false;
        f->calls = stet_arena_printf(&s->c->arena, "%.*s%s%.*s", STET_FMT(f->calls),
                                     f->calls.len ? " " : "", STET_FMT(v));
        if (!f->calls.ptr)
            return no_memory(s);
        skip(s);
    } while (s->at < s->end && *s->at == '"');
    return true;
}

static bool family(struct scan *s, const char *begin, struct stet_view name)
{
    struct stet_family *f = stet_contract_add_family(s->c);
    bool fine;

    if (!f)
        return no_memory(s);
    f->name = name;
    f->line = f->programs_line = line_at(s, begin);
    f->begin = (size_t)(begin - s->start);
    fine = arguments(s, f);
    while (fine && !at_end(s)) {
        int shared;

        if (accept_char(s, ','))
            continue;
        if (accept(s, "at"))
            fine = programs(s, f);
        else if (accept(s, "compiled"))
            fine = compiled(s, f);
        else if (accept(s, "calls"))
            fine = calls(s, f);
        else if ((shared = term(s, &f->terms)) != 0)
            fine = shared > 0;
        else
            fine = fail(s, s->at,
                        "a clause is missing here: at most N programs, compiled once, settled by "
                        "step N, mesh, flags, bundle or calls");
    }
    f->end = (size_t)(s->at - s->start);
    return fine;
}

/* frame FUNCTION [in FILE] at most N programs, no graph break */
static bool frame(struct scan *s, const char *begin)
{
    struct stet_clause_frame *f = stet_contract_add_frame(s->c);
    bool fine;

    if (!f)
        return no_memory(s);
    f->line = line_at(s, begin);
    f->begin = (size_t)(begin - s->start);
    fine = text(s, &f->function, "the name of a function");
    if (fine && accept(s, "in"))
        fine = text(s, &f->file, "the name of a file");
    while (fine && !at_end(s)) {
        uint64_t n = 0;

        if (accept_char(s, ','))
            continue;
        if (accept(s, "no")) {
            fine = expect(s, "graph") && expect_plural(s, "break");
            f->breaks = 0;
        } else if (accept(s, "at")) {
            fine = expect(s, "most") && budget(s, &n);
            if (fine && accept(s, "graph")) {
                f->breaks = n;
                fine = expect_plural(s, "break");
            } else if (fine) {
                f->programs = n;
                fine = expect_plural(s, "program");
            }
        } else {
            fine = fail(s, s->at, "a clause is missing here: at most N programs, no graph break");
        }
    }
    f->end = (size_t)(s->at - s->start);
    return fine;
}

/* torch no recompile after warm-up, no recompile limit */
static bool torch(struct scan *s, const char *begin)
{
    s->c->torch_line = line_at(s, begin);
    while (!at_end(s)) {
        if (accept_char(s, ','))
            continue;
        if (!expect(s, "no") || !expect(s, "recompile"))
            return false;
        if (accept(s, "limit"))
            s->c->no_limit = true;
        else if (expect(s, "after") && expect(s, "warm-up"))
            s->c->no_late = true;
        else
            return false;
    }
    return true;
}

static bool made(struct scan *s)
{
    if (!expect(s, "on") || !text(s, &s->c->made_on, "a platform"))
        return false;
    if (stet_view_is(s->c->made_on, "cpu") && accept(s, "backend"))
        s->c->on_cpu = true;
    return true;
}

static bool statement(struct scan *s)
{
    const char *begin = s->at;
    struct stet_view name = peek(s);
    int shared;

    if (name.len && s->at + name.len < s->end && s->at[name.len] != '(') {
        if (accept(s, "frame"))
            return frame(s, begin);
        if (accept(s, "torch"))
            return torch(s, begin);
        if (accept(s, "made"))
            return made(s);
        shared = term(s, &s->c->terms);
        if (shared)
            return shared > 0;
    }
    if (!text(s, &name, "a family"))
        return false;
    skip(s);
    if (s->at == s->end || *s->at != '(')
        return fail(s, begin,
                    "no statement: a family reads NAME(arguments), others begin with made, "
                    "settled, mesh, flags, bundle, frame or torch");
    return family(s, begin, name);
}

static bool head(struct scan *s)
{
    const char *from;
    int64_t version;

    while (at_end(s) && s->at < s->end)
        s->at++;
    from = s->at;
    if (!accept(s, "stet") || !accept(s, "contract") || !number(s, &version)) {
        s->failed = false;
        if (s->err)
            *s->err = (struct stet_err)STET_ERR_INIT;
        return fail(s, from, "a contract begins with \"stet contract %d\"", STET_CONTRACT_VERSION);
    }
    if (version != STET_CONTRACT_VERSION)
        return fail(s, from, "this is version %lld of the format; this Stet reads %d",
                    (long long)version, STET_CONTRACT_VERSION);
    return true;
}

enum stet_rc stet_contract_parse(struct stet_contract *c, struct stet_view bytes, const char *file,
                                 struct stet_err *err)
{
    struct stet_err own = STET_ERR_INIT;
    struct scan s = {
        .c = c, .file = file, .start = bytes.ptr ? bytes.ptr : "", .err = err ? err : &own};
    bool fine;

    stet_contract_init(c);
    s.at = s.counted = s.start;
    s.line = 1;
    s.end = s.start + bytes.len;
    c->file = stet_arena_copy(&c->arena, stet_view_str(file));
    fine = bytes.len <= MOST_BYTES || fail(&s, s.start, "larger than a contract may be");
    fine = fine && head(&s);
    while (fine && s.at < s.end) {
        if (at_end(&s))
            s.at += s.at < s.end;
        else
            fine = statement(&s) && (at_end(&s) || fail(&s, s.at, "nothing more is known here"));
    }
    if (fine && !c->arena.failed)
        return STET_OK;
    no_memory(&s);
    stet_contract_release(c);
    return s.err->rc;
}

enum stet_rc stet_contract_read(struct stet_contract *c, const char *path, struct stet_err *err)
{
    struct stet_file f;
    enum stet_rc rc = stet_file_open(&f, path, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_contract_parse(c, f.bytes, path, err); /* copies what it keeps */
    stet_file_close(&f);
    return rc;
}
