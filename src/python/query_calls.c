/* Where a function is called. */
#include "python/trail.h"

/* Counts the calls of a function in a file, or inside another function of it. The first `most` are
 * written to `out`. */
static uint32_t call_sites(struct stet_python_trail *t, const struct stet_python_module *where,
                           stet_python_ref inside, const struct stet_python_module *m,
                           stet_python_ref function, struct stet_python_watched *out, uint32_t most)
{
    uint32_t count = 0;

    stet_python_trail_begin(t, (struct stet_python_frame){.module = where});
    for (size_t i = 0; i < where->calls.count; i++)
        if ((!inside || stet_python_is_inside(where, where->calls.items[i], inside)) &&
            stet_python_trail_runs(t, where->calls.items[i], m, function)) {
            stet_python_ref n = stet_python_statement_of(where, where->calls.items[i]);

            if (count < most)
                out[count] = (struct stet_python_watched){.file = stet_view_str(where->path),
                                                          .line = stet_python_line(where, n)};
            count++;
        }
    return count;
}

/* A function that a line calls makes the call: the only one in it. */
static bool within(struct stet_python_trail *t, const struct stet_python_module *near,
                   uint32_t line, const struct stet_python_module *m, stet_python_ref function,
                   struct stet_python_watched *out)
{
    stet_python_ref statement = stet_python_statement_at(near, line), n = 0;
    stet_python_ref around = statement ? stet_python_function_around(near, statement) : 0;

    while (statement && stet_python_own_next(near, statement, &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&near->ast, n) != PY_CALL)
            continue;
        stet_python_trail_begin(t, (struct stet_python_frame){.module = near, .function = around});
        c = stet_python_trail_callee(t, n);
        if (c.definition && c.definition != function &&
            stet_python_kind(&c.module->ast, c.definition) == PY_FUNCTION &&
            call_sites(t, c.module, c.definition, m, function, out, 1) == 1)
            return true;
    }
    return false;
}

/* A function whose calls are searched: in its own module and in another one, which may be NULL. */
struct called {
    struct stet_python_question q;
    struct stet_python_trail t;
    const struct stet_python_module *m, *other;
    stet_python_ref function; /* 0: there is none at this line */
};

static void find_called(struct called *c, struct stet_python_sources *s, struct stet_view file,
                        uint32_t line, struct stet_view near)
{
    static const struct stet_python_stack nothing;

    c->t = (struct stet_python_trail){.x = stet_python_ask(&c->q, s, NULL), .stack = &nothing};
    c->m = stet_python_open(s, file);
    c->other = near.len ? stet_python_open(s, near) : NULL;
    c->function = c->m ? stet_python_function_at(c->m, line) : 0;
}

static uint32_t all_calls(struct called *c, struct stet_python_watched *out, uint32_t most)
{
    uint32_t count = c->function ? call_sites(&c->t, c->m, 0, c->m, c->function, out, most) : 0;

    count = count < most ? count : most;
    if (c->function && c->other && c->other != c->m)
        count += call_sites(&c->t, c->other, 0, c->m, c->function, out + count, most - count);
    return count < most ? count : most;
}

uint32_t stet_python_call_lines(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                                struct stet_view near, struct stet_python_watched *out,
                                uint32_t most)
{
    struct called c;

    find_called(&c, s, file, line, near);
    return all_calls(&c, out, most);
}

bool stet_python_only_call(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                           struct stet_view near, uint32_t line_near,
                           struct stet_python_watched *out)
{
    struct stet_python_watched calls[2];
    struct called c;

    find_called(&c, s, file, line, near);
    if (!c.function)
        return false;
    if (c.other && line_near && within(&c.t, c.other, line_near, c.m, c.function, out))
        return true;
    if (all_calls(&c, calls, 2) != 1)
        return false;
    *out = calls[0];
    return true;
}
