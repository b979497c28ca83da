/* Statements and blocks of a Python file, by brackets, strings and indentation. */
#include "explain/pysource.h"

#include "base/mem.h"

enum { LARGEST = 4 << 20 };

static void close_file(struct stet_pyfile *f)
{
    stet_mem_free(f->path);
    stet_mem_free(f->lines);
    stet_mem_free(f->starts);
    stet_file_close(&f->file);
    *f = (struct stet_pyfile){0};
}

void stet_pysources_release(struct stet_pysources *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        close_file(&s->files[i]);
    *s = (struct stet_pysources){0};
}

static bool split(struct stet_pyfile *f)
{
    const char *at = f->file.bytes.ptr, *end = at + f->file.bytes.len;
    uint32_t n = 0;

    for (const char *p = at; p < end; p++)
        n += *p == '\n';
    f->lines = stet_mem_calloc((size_t)n + 1, sizeof *f->lines);
    f->starts = stet_mem_calloc((size_t)n + 1, sizeof *f->starts);
    if (!f->lines || !f->starts)
        return false;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop ? stop : end;
        f->lines[f->count++] = stet_view_of(at, (size_t)(stop - at));
        at = stop + 1;
    }
    return true;
}

/* Where the reader stands between two characters. */
struct lexer {
    int depth;      /* of brackets */
    char quote;     /* inside a string: its quote, else 0 */
    bool triple;    /* of three quotes */
    bool continued; /* the line ended in a backslash */
};

/* One line; afterwards the lexer says whether the statement goes on. */
static void lex_line(struct lexer *x, struct stet_view v)
{
    x->continued = false;
    for (size_t i = 0; i < v.len; i++) {
        char c = v.ptr[i];

        if (x->quote) {
            if (c == '\\')
                i++;
            else if (c == x->quote && !x->triple)
                x->quote = 0;
            else if (c == x->quote && i + 2 < v.len && v.ptr[i + 1] == c && v.ptr[i + 2] == c) {
                x->quote = 0;
                i += 2;
            } else if (c == x->quote && i + 2 >= v.len && i + 1 < v.len) {
                continue;
            }
        } else if (c == '#') {
            return;
        } else if (c == '\'' || c == '"') {
            x->quote = c;
            x->triple = i + 2 < v.len && v.ptr[i + 1] == c && v.ptr[i + 2] == c;
            i += x->triple ? 2 : 0;
        } else if (c == '(' || c == '[' || c == '{') {
            x->depth++;
        } else if (c == ')' || c == ']' || c == '}') {
            x->depth -= x->depth > 0;
        } else if (c == '\\' && i + 1 == v.len) {
            x->continued = true;
        }
    }
    if (x->quote && !x->triple)
        x->quote = 0;
}

static void find_starts(struct stet_pyfile *f)
{
    struct lexer x = {0};
    uint32_t start = 1;

    for (uint32_t i = 0; i < f->count; i++) {
        if (!x.depth && !x.quote && !x.continued)
            start = i + 1;
        f->starts[i] = start;
        lex_line(&x, f->lines[i]);
    }
}

static bool read_file(struct stet_pyfile *f, struct stet_view path)
{
    f->path = stet_mem_alloc(path.len + 1);
    if (!f->path)
        return false;
    memcpy(f->path, path.ptr, path.len);
    f->path[path.len] = '\0';
    if (stet_file_open_small(&f->file, f->path, LARGEST, NULL) != STET_OK)
        return true; /* remembered as absent */
    if (!split(f))
        return false;
    find_starts(f);
    f->has_static = memmem(f->file.bytes.ptr, f->file.bytes.len, "static_arg", 10);
    return true;
}

const struct stet_pyfile *stet_pysource_open(struct stet_pysources *s, struct stet_view path)
{
    struct stet_pyfile *f;

    if (!path.len)
        return NULL;
    for (uint32_t i = 0; i < s->count; i++)
        if (stet_view_is(path, s->files[i].path))
            return s->files[i].count ? &s->files[i] : NULL;
    f = &s->files[s->count < STET_PYFILES ? s->count++ : s->next++ % STET_PYFILES];
    close_file(f);
    if (!read_file(f, path)) {
        close_file(f);
        f->path = stet_mem_strdup("");
    }
    return f->count ? f : NULL;
}

/* ---- statements and blocks ---- */

static uint32_t indent_of(struct stet_view v)
{
    uint32_t n = 0;

    for (size_t i = 0; i < v.len && (v.ptr[i] == ' ' || v.ptr[i] == '\t'); i++)
        n += v.ptr[i] == '\t' ? 8 - n % 8 : 1;
    return n;
}

static bool is_blank(struct stet_view v)
{
    v = stet_view_unindent(v);
    return !v.len || *v.ptr == '#' || *v.ptr == '\r';
}

/* A line without the remark at its end. */
static struct stet_view without_remark(struct stet_view v)
{
    char quote = 0;

    for (size_t i = 0; i < v.len; i++) {
        char c = v.ptr[i];

        if (quote && c == '\\')
            i++;
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '#')
            return stet_view_of(v.ptr, i);
    }
    return v;
}

struct stet_view stet_py_statement(const struct stet_pyfile *f, uint32_t line)
{
    uint32_t first, last;

    if (!line || line > f->count)
        return (struct stet_view){0};
    first = last = f->starts[line - 1];
    while (last < f->count && f->starts[last] == first)
        last++;
    if (first == last)
        return without_remark(f->lines[first - 1]);
    return stet_view_of(f->lines[first - 1].ptr,
                        (size_t)(f->lines[last - 1].ptr - f->lines[first - 1].ptr) +
                            f->lines[last - 1].len);
}

static bool is_def(struct stet_view v)
{
    v = stet_view_unindent(v);
    return stet_view_starts(v, "def ") || stet_view_starts(v, "async def ") ||
           stet_view_starts(v, "class ");
}

/* The statement that begins the block a line stands in; 0 for none. */
static uint32_t header_of(const struct stet_pyfile *f, uint32_t line)
{
    uint32_t at, mine;

    if (!line || line > f->count)
        return 0;
    at = f->starts[line - 1];
    mine = indent_of(f->lines[at - 1]);
    while (--at > 0) {
        if (f->starts[at - 1] == at && !is_blank(f->lines[at - 1]) &&
            indent_of(f->lines[at - 1]) < mine)
            return at;
    }
    return 0;
}

uint32_t stet_py_around(const struct stet_pyfile *f, uint32_t line, uint32_t *headers,
                        uint32_t room)
{
    uint32_t n = 0;

    for (uint32_t at = header_of(f, line); at && n < room; at = header_of(f, at)) {
        if (is_def(f->lines[at - 1]))
            break;
        headers[n++] = at;
    }
    return n;
}

uint32_t stet_py_block_end(const struct stet_pyfile *f, uint32_t header)
{
    uint32_t mine, last = header;

    if (!header || header > f->count)
        return 0;
    mine = indent_of(f->lines[header - 1]);
    for (uint32_t at = header + 1; at <= f->count; at++) {
        if (f->starts[at - 1] == header || is_blank(f->lines[at - 1]))
            continue;
        if (f->starts[at - 1] == at && indent_of(f->lines[at - 1]) <= mine)
            break;
        last = at;
    }
    return last;
}

uint32_t stet_py_def_of(const struct stet_pyfile *f, uint32_t line)
{
    uint32_t at = header_of(f, line);

    while (at && !is_def(f->lines[at - 1]))
        at = header_of(f, at);
    return at;
}
