/* Where a trail begins: the path that a guard writes, the function that was called, the call that
 * waits in a frame. */
#include "python/trail_begin.h"

/* ---- paths ---- */

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (unsigned char)c >= 0x80;
}

static size_t word_at(struct stet_view text, size_t at)
{
    size_t n = at;

    while (n < text.len && is_word(text.ptr[n]))
        n++;
    return n - at;
}

/* A number of at most six digits; -1 for another text. */
static int32_t index_in(struct stet_view text)
{
    int32_t index = 0;

    for (size_t i = 0; i < text.len && index >= 0; i++)
        index = text.ptr[i] >= '0' && text.ptr[i] <= '9' && index < 100000
                    ? index * 10 + (text.ptr[i] - '0')
                    : -1;
    return index;
}

/* Reads one step, ".mask", "['x']" or "[3]". Returns its length; 0 for a text that is no path. */
static size_t read_part(struct stet_view text, struct stet_python_part *part)
{
    const char *end = text.ptr[0] == '[' ? memchr(text.ptr, ']', text.len) : NULL;
    size_t n = end ? (size_t)(end - text.ptr) : 0;

    *part = (struct stet_python_part){.how = PY_AT_FIELD, .index = -1};
    if (text.ptr[0] == '.') {
        n = word_at(text, 1);
        part->name = stet_view_of(text.ptr + 1, n);
    } else if (n > 3 && text.ptr[1] == '\'') {
        part->how = PY_AT_KEY;
        part->name = stet_view_of(text.ptr + 2, n - 3);
    } else if (n) {
        part->how = PY_AT_INDEX;
        part->index = index_in(stet_view_of(text.ptr + 1, n - 1));
    }
    return n ? n + 1 : 0;
}

/* Reads the steps of ".mask['x'][3]" into a list, in order, up to what is no path. */
static unsigned read_parts(struct stet_view text, struct stet_python_part *out)
{
    unsigned count = 0;

    while (text.len && count < STET_PYTHON_PARTS - 2) {
        size_t n = read_part(text, &out[count]);

        if (!n)
            break;
        text = stet_view_of(text.ptr + n, text.len - n);
        count++;
    }
    return count;
}

struct stet_view stet_python_trail_path(struct stet_python_trail *t, struct stet_view text)
{
    struct stet_python_part parts[STET_PYTHON_PARTS];
    size_t n = word_at(text, 0);
    unsigned count = read_parts(stet_view_of(text.ptr + n, text.len - n), parts);

    t->parts = 0;
    while (count)
        t->path[t->parts++] = parts[--count];
    return stet_view_of(text.ptr, n);
}

/* ---- frames ---- */

stet_python_ref stet_python_trail_function(struct stet_python_sources *s,
                                           const struct stet_python_followed *what,
                                           const struct stet_python_module **m)
{
    *m = what->file.len ? stet_python_open(s, what->file) : NULL;
    if (!*m)
        return 0;
    if (what->resumed)
        return stet_python_function_around(*m, stet_python_statement_at(*m, what->line));
    return stet_python_function_at(*m, what->line);
}

stet_python_ref stet_python_trail_runner(struct stet_python_trail *t, stet_python_ref statement,
                                         const struct stet_python_module *m,
                                         stet_python_ref function, bool *bound)
{
    const struct stet_python_module *here = t->x->frame->module;
    stet_python_ref n = 0, maybe = 0;

    *bound = function && stet_python_is_method(m, function);
    while (stet_python_own_next(here, statement, &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&here->ast, n) != PY_CALL)
            continue;
        c = stet_python_trail_callee(t, n);
        if (function && c.definition == function && c.module == m) {
            *bound = c.bound;
            return n;
        }
        if (!c.definition && !maybe && !c.meaning &&
            (c.effect <= PY_GIVES_UNKNOWN || c.effect == PY_GIVES_STEPS || c.object) &&
            !c.transform)
            maybe = n;
    }
    return maybe;
}

void stet_python_trail_begin(struct stet_python_trail *t, struct stet_python_frame frame)
{
    t->first = frame;
    t->x->frame = &t->first;
}

bool stet_python_trail_enter(struct stet_python_trail *t, size_t number, stet_python_ref *statement)
{
    const struct stet_python_module *m = NULL;

    *statement = stet_python_trail_waits(t, (uint32_t)number + 1, &m);
    if (!*statement)
        return false;
    stet_python_trail_begin(
        t, (struct stet_python_frame){.module = m,
                                      .function = stet_python_function_around(m, *statement),
                                      .seen = (uint32_t)number + 1});
    return true;
}

/* The only call of a statement. */
static stet_python_ref only_call(const struct stet_python_module *m, stet_python_ref statement)
{
    stet_python_ref n = 0, call = 0;

    while (stet_python_own_next(m, statement, &n)) {
        if (stet_python_kind(&m->ast, n) != PY_CALL)
            continue;
        if (call)
            return 0;
        call = n;
    }
    return call;
}

stet_python_ref stet_python_trail_waiting(struct stet_python_trail *t,
                                          const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = stet_python_trail_function(t->x->sources, what, &m), statement, call;
    bool bound;

    if (!stet_python_trail_enter(t, 0, &statement))
        return 0;
    call = stet_python_trail_runner(t, statement, m, function, &bound);
    return call ? call : only_call(t->first.module, statement);
}
