/* Parses the file into the model. Statements begin at the start of a line; a line that begins with
 * a space continues the one before, and inside brackets line ends have no meaning. */
#include "gate/scan.h"

#include "base/fs.h"

#include <stdio.h>

enum { MOST_BYTES = 8 << 20 };

static bool mesh(struct stet_scan *s, struct stet_terms *t, uint32_t line)
{
    struct stet_view v;

    t->has_mesh = true;
    t->mesh_line = line;
    t->mesh = (struct stet_view){0};
    if (stet_gate_scan_accept(s, "none"))
        return true;
    while ((v = stet_gate_scan_peek(s)).len && memchr(v.ptr, '=', v.len)) {
        t->mesh = stet_arena_printf(&s->c->arena, "%.*s%s%.*s", STET_FMT(t->mesh),
                                    t->mesh.len ? " " : "", STET_FMT(v));
        if (!t->mesh.ptr)
            return stet_gate_scan_no_memory(s);
        s->at += v.len;
    }
    return t->mesh.len || stet_scan_fail(s, s->at, "a mesh reads data=2 model=4, or none");
}

static bool pair(struct stet_scan *s, struct stet_pairs *list, uint32_t line, const char *what)
{
    struct stet_pair *p = stet_gate_pairs_add(list, &s->c->arena);

    if (!p)
        return stet_gate_scan_no_memory(s);
    p->line = line;
    if (!stet_gate_scan_text(s, &p->name, what))
        return false;
    if (stet_gate_scan_accept(s, "unset"))
        p->unset = true;
    else
        return stet_gate_scan_text(s, &p->value, "a value");
    return true;
}

/* waited at most N s, or N ms */
static bool waited(struct stet_scan *s, struct stet_terms *t)
{
    uint64_t unit = 1000000000;
    const char *from;

    if (!stet_gate_scan_expect(s, "at") || !stet_gate_scan_expect(s, "most"))
        return false;
    stet_gate_scan_skip(s);
    from = s->at;
    if (!stet_gate_scan_budget(s, &t->waited_ns))
        return false;
    if (stet_gate_scan_accept(s, "ms"))
        unit = 1000000;
    else if (!stet_gate_scan_accept(s, "s"))
        return stet_scan_fail(s, s->at, "'s' or 'ms' is missing here");
    if (__builtin_mul_overflow(t->waited_ns, unit, &t->waited_ns))
        return stet_scan_fail(s, from, "this number is too large");
    return true;
}

/* Clauses that a family and the whole contract share. 0: none of them; -1: failed. */
static int term(struct stet_scan *s, struct stet_terms *t)
{
    uint32_t line;

    stet_gate_scan_skip(s);
    line = stet_gate_scan_line(s, s->at);
    if (stet_gate_scan_accept(s, "settled")) {
        t->settled_line = line;
        return stet_gate_scan_expect(s, "by") && stet_gate_scan_expect(s, "step") &&
                       stet_gate_scan_budget(s, &t->settled)
                   ? 1
                   : -1;
    }
    if (stet_gate_scan_accept(s, "waited")) {
        t->waited_line = line;
        return waited(s, t) ? 1 : -1;
    }
    if (stet_gate_scan_accept(s, "mesh"))
        return mesh(s, t, line) ? 1 : -1;
    if (stet_gate_scan_accept(s, "flags"))
        return pair(s, &t->flags, line, "the name of a variable") ? 1 : -1;
    if (stet_gate_scan_accept(s, "bundle"))
        return pair(s, &t->bundle, line, "the name of a part") ? 1 : -1;
    return 0;
}

/* at most N programs [of N graphs] [with N sets of options] */
static bool programs(struct stet_scan *s, struct stet_family *f)
{
    f->programs_line = stet_gate_scan_line(s, s->at);
    if (!stet_gate_scan_expect(s, "most") || !stet_gate_scan_budget(s, &f->programs) ||
        !stet_gate_scan_expect_plural(s, "program"))
        return false;
    if (stet_gate_scan_accept(s, "of") &&
        (!stet_gate_scan_budget(s, &f->graphs) || !stet_gate_scan_expect_plural(s, "graph")))
        return false;
    if (stet_gate_scan_accept(s, "with"))
        return stet_gate_scan_budget(s, &f->options) && stet_gate_scan_expect_plural(s, "set") &&
               stet_gate_scan_expect(s, "of") && stet_gate_scan_expect(s, "options");
    return true;
}

static bool compiled(struct stet_scan *s, struct stet_family *f)
{
    f->compiles = 1;
    if (stet_gate_scan_accept(s, "once"))
        return true;
    return stet_gate_scan_expect(s, "at") && stet_gate_scan_expect(s, "most") &&
           stet_gate_scan_budget(s, &f->compiles) && stet_gate_scan_expect_plural(s, "time");
}

/* calls NAME …, or none */
static bool calls(struct stet_scan *s, struct stet_family *f)
{
    f->has_calls = true;
    if (stet_gate_scan_accept(s, "none"))
        return true;
    do {
        struct stet_view v;
        const char *from = s->at;

        if (!stet_gate_scan_text(s, &v, "the name of a kernel"))
            return false;
        if (!v.len || memchr(v.ptr, ' ', v.len)) /* separated by spaces */
            return stet_scan_fail(s, from, "the name of a kernel has no blanks");
        f->calls = stet_arena_printf(&s->c->arena, "%.*s%s%.*s", STET_FMT(f->calls),
                                     f->calls.len ? " " : "", STET_FMT(v));
        if (!f->calls.ptr)
            return stet_gate_scan_no_memory(s);
        stet_gate_scan_skip(s);
    } while (s->at < s->end && *s->at == '"');
    return true;
}

static bool family(struct stet_scan *s, const char *begin, struct stet_view name)
{
    struct stet_family *f = stet_gate_contract_add_family(s->c);
    bool fine;

    if (!f)
        return stet_gate_scan_no_memory(s);
    f->name = name;
    f->line = f->programs_line = stet_gate_scan_line(s, begin);
    f->begin = (size_t)(begin - s->start);
    fine = stet_gate_scan_arguments(s, f);
    while (fine && !stet_gate_scan_at_end(s)) {
        int shared;

        if (stet_gate_scan_accept_char(s, ','))
            continue;
        if (stet_gate_scan_accept(s, "at"))
            fine = programs(s, f);
        else if (stet_gate_scan_accept(s, "compiled"))
            fine = compiled(s, f);
        else if (stet_gate_scan_accept(s, "calls"))
            fine = calls(s, f);
        else if (stet_gate_scan_accept(s, "library"))
            fine = f->library = stet_gate_scan_expect(s, "only");
        else if ((shared = term(s, &f->terms)) != 0)
            fine = shared > 0;
        else
            fine = stet_scan_fail(
                s, s->at,
                "a clause is missing here: at most N programs, compiled once, settled by "
                "step N, waited at most N s, mesh, flags, bundle, calls or library only");
    }
    f->end = (size_t)(s->at - s->start);
    return fine;
}

/* frame FUNCTION [in FILE] at most N programs, no graph break */
static bool frame(struct stet_scan *s, const char *begin)
{
    struct stet_clause_frame *f = stet_gate_contract_add_frame(s->c);
    bool fine;

    if (!f)
        return stet_gate_scan_no_memory(s);
    f->line = stet_gate_scan_line(s, begin);
    f->begin = (size_t)(begin - s->start);
    fine = stet_gate_scan_text(s, &f->function, "the name of a function");
    if (fine && stet_gate_scan_accept(s, "in"))
        fine = stet_gate_scan_text(s, &f->file, "the name of a file");
    while (fine && !stet_gate_scan_at_end(s)) {
        uint64_t n = 0;

        if (stet_gate_scan_accept_char(s, ','))
            continue;
        if (stet_gate_scan_accept(s, "no")) {
            fine = stet_gate_scan_expect(s, "graph") && stet_gate_scan_expect_plural(s, "break");
            f->breaks = 0;
        } else if (stet_gate_scan_accept(s, "at")) {
            fine = stet_gate_scan_expect(s, "most") && stet_gate_scan_budget(s, &n);
            if (fine && stet_gate_scan_accept(s, "graph")) {
                f->breaks = n;
                fine = stet_gate_scan_expect_plural(s, "break");
            } else if (fine) {
                f->programs = n;
                fine = stet_gate_scan_expect_plural(s, "program");
            }
        } else {
            fine = stet_scan_fail(s, s->at,
                                  "a clause is missing here: at most N programs, no graph break");
        }
    }
    f->end = (size_t)(s->at - s->start);
    return fine;
}

/* torch no recompile after warm-up, no recompile limit, no failure */
static bool torch(struct stet_scan *s, const char *begin)
{
    s->c->torch_line = stet_gate_scan_line(s, begin);
    while (!stet_gate_scan_at_end(s)) {
        if (stet_gate_scan_accept_char(s, ','))
            continue;
        if (!stet_gate_scan_expect(s, "no"))
            return false;
        if (stet_gate_scan_accept(s, "failure"))
            s->c->no_failure = true;
        else if (!stet_gate_scan_expect(s, "recompile"))
            return false;
        else if (stet_gate_scan_accept(s, "limit"))
            s->c->no_limit = true;
        else if (stet_gate_scan_expect(s, "after") && stet_gate_scan_expect(s, "warm-up"))
            s->c->no_late = true;
        else
            return false;
    }
    return true;
}

static bool made(struct stet_scan *s)
{
    if (!stet_gate_scan_expect(s, "on") || !stet_gate_scan_text(s, &s->c->made_on, "a platform"))
        return false;
    s->c->on_cpu = stet_view_is(s->c->made_on, "cpu") && stet_gate_scan_accept(s, "backend");
    return true;
}

static bool statement(struct stet_scan *s)
{
    const char *begin = s->at;
    struct stet_view name = stet_gate_scan_peek(s);
    int shared;

    if (name.len && s->at + name.len < s->end && s->at[name.len] != '(') {
        if (stet_gate_scan_accept(s, "frame"))
            return frame(s, begin);
        if (stet_gate_scan_accept(s, "torch"))
            return torch(s, begin);
        if (stet_gate_scan_accept(s, "made"))
            return made(s);
        shared = term(s, &s->c->terms);
        if (shared)
            return shared > 0;
    }
    if (!stet_gate_scan_text(s, &name, "a family"))
        return false;
    stet_gate_scan_skip(s);
    if (s->at == s->end || *s->at != '(')
        return stet_scan_fail(
            s, begin,
            "not a statement: a family reads NAME(arguments), others begin with made, "
            "settled, waited, mesh, flags, bundle, frame or torch");
    return family(s, begin, name);
}

static bool head(struct stet_scan *s)
{
    const char *from;
    int64_t version;

    while (stet_gate_scan_at_end(s) && s->at < s->end)
        s->at++;
    from = s->at;
    if (!stet_gate_scan_accept(s, "stet") || !stet_gate_scan_accept(s, "contract") ||
        !stet_gate_scan_number(s, &version)) {
        s->failed = false;
        if (s->err)
            *s->err = (struct stet_err)STET_ERR_INIT;
        return stet_scan_fail(s, from, "a contract begins with \"stet contract %d\"",
                              STET_CONTRACT_VERSION);
    }
    if (version != STET_CONTRACT_VERSION)
        return stet_scan_fail(s, from, "this is version %lld of the format; this Stet reads %d",
                              (long long)version, STET_CONTRACT_VERSION);
    return true;
}

enum stet_rc stet_gate_contract_parse(struct stet_contract *c, struct stet_view bytes,
                                      const char *file, struct stet_err *err)
{
    struct stet_err own = STET_ERR_INIT;
    struct stet_scan s = {
        .c = c, .file = file, .start = bytes.ptr ? bytes.ptr : "", .err = err ? err : &own};
    bool fine;

    stet_gate_contract_init(c);
    s.at = s.counted = s.start;
    s.line = 1;
    s.end = s.start + bytes.len;
    c->file = stet_arena_copy(&c->arena, stet_view_str(file));
    fine = bytes.len <= MOST_BYTES || stet_scan_fail(&s, s.start, "larger than a contract may be");
    fine = fine && head(&s);
    while (fine && s.at < s.end) {
        if (stet_gate_scan_at_end(&s))
            s.at += s.at < s.end;
        else
            fine = statement(&s) && (stet_gate_scan_at_end(&s) ||
                                     stet_scan_fail(&s, s.at, "nothing more is known here"));
    }
    if (fine && !c->arena.failed)
        return STET_OK;
    stet_gate_scan_no_memory(&s);
    stet_gate_contract_release(c);
    return s.err->rc;
}

enum stet_rc stet_gate_contract_read(struct stet_contract *c, const char *path,
                                     struct stet_err *err)
{
    struct stet_file f;
    enum stet_rc rc = stet_file_open(&f, path, err);

    if (rc != STET_OK && err && !stet_fs_exists(path)) {
        size_t used = strlen(err->text);

        snprintf(err->text + used, sizeof err->text - used, "; `stet contract init` makes one");
    }
    if (rc != STET_OK)
        return rc;
    rc = stet_gate_contract_parse(c, f.bytes, path, err); /* copies what it keeps */
    stet_file_close(&f);
    return rc;
}
