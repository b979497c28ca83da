/* Finds the signature by its parentheses; skips strings and comments in it. */
#include "ingest/python_roles.h"

#include "base/fs.h"

#include <limits.h>

enum { FILE_CAP = 8 << 20, DECORATORS = 40 };

static bool open_source(struct stet_file *f, struct stet_view file)
{
    char path[PATH_MAX];

    if (!file.len || file.len >= sizeof path || file.ptr[0] == '<')
        return false;
    memcpy(path, file.ptr, file.len);
    path[file.len] = '\0';
    return stet_file_open_small(f, path, FILE_CAP, NULL) == STET_OK;
}

static struct stet_view rest_from(struct stet_view text, uint64_t line)
{
    for (uint64_t i = 1; i < line && text.len; i++) {
        const char *newline = memchr(text.ptr, '\n', text.len);
        size_t skip = newline ? (size_t)(newline - text.ptr) + 1 : text.len;

        text = stet_view_of(text.ptr + skip, text.len - skip);
    }
    return text;
}

static struct stet_view first_line(struct stet_view v)
{
    const char *newline = v.len ? memchr(v.ptr, '\n', v.len) : NULL;

    return newline ? stet_view_of(v.ptr, (size_t)(newline - v.ptr)) : v;
}

/* Where the parameters begin: after "def name(" or "lambda ". */
static struct stet_view parameters(struct stet_view text, bool *lambda)
{
    for (int i = 0; i < DECORATORS && text.len; i++) {
        struct stet_view line = first_line(text), bare = stet_view_trim(line);
        const char *open = line.len ? memchr(line.ptr, '(', line.len) : NULL;
        const char *l = line.len ? memmem(line.ptr, line.len, "lambda ", 7) : NULL;

        if (open && (stet_view_starts(bare, "def ") || stet_view_starts(bare, "async def "))) {
            *lambda = false;
            return stet_view_of(open + 1, (size_t)(text.ptr + text.len - open) - 1);
        }
        if (i == 0 && l) {
            *lambda = true;
            return stet_view_of(l + 7, (size_t)(text.ptr + text.len - l) - 7);
        }
        text = rest_from(text, 2);
    }
    return stet_view_of("", 0);
}

static size_t skip_string(struct stet_view v, size_t i)
{
    char quote = v.ptr[i];

    for (i++; i < v.len && v.ptr[i] != quote; i++)
        i += v.ptr[i] == '\\';
    return i;
}

/* The next parameter, up to its comma; false after the last. */
static bool next_parameter(struct stet_view *v, bool lambda, struct stet_view *out)
{
    size_t i, depth = 0;
    char end = lambda ? ':' : ')';

    if (!v->len)
        return false;
    for (i = 0; i < v->len; i++) {
        char c = v->ptr[i];

        if (c == '"' || c == '\'')
            i = skip_string(*v, i);
        else if (c == '#')
            i += first_line(stet_view_of(v->ptr + i, v->len - i)).len;
        else if (depth == 0 && (c == ',' || c == end))
            break;
        else if (c == '(' || c == '[' || c == '{')
            depth++;
        else if ((c == ')' || c == ']' || c == '}') && depth)
            depth--;
    }
    if (i >= v->len) { /* no end: not a signature after all */
        v->len = 0;
        return false;
    }
    *out = stet_view_trim(stet_view_of(v->ptr, i));
    *v = v->ptr[i] == ',' ? stet_view_of(v->ptr + i + 1, v->len - i - 1) : stet_view_of("", 0);
    return true;
}

static bool is_name(char c)
{
    return stet_is_word(c) || (unsigned char)c >= 0x80;
}

enum stet_ingest_py_role stet_ingest_py_role(struct stet_view file, uint64_t line,
                                             struct stet_view name, struct stet_buf *value)
{
    enum stet_ingest_py_role role = STET_PY_FREE;
    struct stet_view v, p;
    struct stet_file f;
    bool lambda = false;

    if (!open_source(&f, file))
        return STET_PY_UNKNOWN;
    v = parameters(rest_from(f.bytes, line), &lambda);
    if (!v.len)
        role = STET_PY_UNKNOWN;
    while (role == STET_PY_FREE && next_parameter(&v, lambda, &p)) {
        const char *equals;
        size_t n = 0;

        while (p.len && p.ptr[0] == '*')
            p = stet_view_of(p.ptr + 1, p.len - 1);
        while (n < p.len && is_name(p.ptr[n]))
            n++;
        if (!stet_view_eq(stet_view_of(p.ptr, n), name))
            continue;
        equals = p.len ? memchr(p.ptr, '=', p.len) : NULL;
        role = equals ? STET_PY_DEFAULT : STET_PY_PARAMETER;
        if (equals && value)
            stet_buf_view(value, stet_view_trim(stet_view_of(
                                     equals + 1, (size_t)(p.ptr + p.len - equals) - 1)));
    }
    stet_file_close(&f);
    return role;
}

uint64_t stet_ingest_py_def_line(struct stet_view file, uint64_t line)
{
    struct stet_view text;
    struct stet_file f;
    uint64_t at = line;

    if (!line || !open_source(&f, file))
        return line;
    text = rest_from(f.bytes, line);
    if (stet_view_starts(stet_view_trim(first_line(text)), "@")) {
        for (int i = 0; i < DECORATORS && text.len; i++, at++, text = rest_from(text, 2)) {
            struct stet_view bare = stet_view_trim(first_line(text));

            if (stet_view_starts(bare, "def ") || stet_view_starts(bare, "async def ") ||
                stet_view_starts(bare, "class "))
                break;
        }
    }
    stet_file_close(&f);
    return text.len && at - line < DECORATORS ? at : line;
}

bool stet_ingest_py_line(struct stet_view file, uint64_t line, struct stet_buf *out)
{
    struct stet_file f;
    struct stet_view v;

    if (!line || !open_source(&f, file))
        return false;
    v = stet_view_trim(first_line(rest_from(f.bytes, line)));
    stet_buf_view(out, v);
    stet_file_close(&f);
    return v.len > 0;
}
