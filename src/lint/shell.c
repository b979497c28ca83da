/* Reads shell scripts, env files and Dockerfiles for the variables that they set before the run. */
#include "lint/launch.h"
#include "lint/rules.h"

/* Where a value ends: at its closing quote, or at a blank. */
static struct stet_view value_at(const char *p, const char *end)
{
    const char *start = p;

    if (p < end && (*p == '"' || *p == '\'')) {
        char quote = *p++;

        start = p;
        while (p < end && *p != quote)
            p++;
        return stet_view_of(start, (size_t)(p - start));
    }
    while (p < end && *p != ' ' && *p != '\t' && *p != ';' && *p != '&' && *p != '\\')
        p++;
    return stet_view_of(start, (size_t)(p - start));
}

struct place {
    struct lint_summary *out;
    uint32_t line;
    const char *start, *end; /* of the line */
    uint32_t room;
};

static void report(struct place *at, const char *where, unsigned rule, struct stet_view what)
{
    struct lint_summary *s = at->out;
    struct stet_view source = stet_view_of(at->start, (size_t)(at->end - at->start));

    if (s->candidate_count == at->room || memmem(source.ptr, source.len, "stet: ignore", 12))
        return;
    s->candidates[s->candidate_count++] =
        (struct lint_candidate){.rule = (uint16_t)rule,
                                .line = at->line,
                                .end_line = at->line,
                                .column = (uint32_t)(where - at->start) + 1,
                                .end_column = (uint32_t)(where - at->start) + 1,
                                .what = what,
                                .source = stet_arena_copy(&s->code.arena, source)};
}

/* NAME=value anywhere in the line: export, env, docker -e, a prefix of a command. */
static void scan_line(struct place *at)
{
    const char *p = at->start;

    while (p < at->end && (*p == ' ' || *p == '\t'))
        p++;
    if (p < at->end && *p == '#')
        return;
    for (; p < at->end; p++) {
        const char *start = p;
        struct stet_view name, value;
        const char *effect;

        if (!stet_is_word(*p) || (p > at->start && stet_is_word(p[-1])))
            continue;
        while (p < at->end && stet_is_word(*p))
            p++;
        if (p == at->end ||
            (*p != '=' &&
             !(*p == ' ' &&
               stet_view_starts(stet_view_of(at->start, (size_t)(p - at->start)), "ENV "))))
            continue;
        name = stet_view_of(start, (size_t)(p - start));
        value = value_at(p + 1, at->end);
        effect = lint_flag_effect(name, value);
        if (effect)
            report(
                at, start, LINT_RULE_debug_flags,
                stet_arena_printf(&at->out->code.arena, "%.*s is on: %s", STET_FMT(name), effect));
        if (lint_launch_barrier(name, value))
            report(at, start, LINT_RULE_barrier,
                   stet_arena_printf(&at->out->code.arena,
                                     "%.*s makes every rank or launch wait for the others",
                                     STET_FMT(name)));
        if (lint_remote_cache(name, value))
            report(at, start, LINT_RULE_remote_cache,
                   stet_arena_printf(&at->out->code.arena, "the compilation cache is at `%.*s`",
                                     STET_FMT(value)));
    }
}

enum stet_rc lint_shell_file(struct lint_summary *out, struct stet_view text, struct stet_err *err)
{
    struct place at = {.out = out, .room = 1024};
    const char *p = text.ptr, *end = text.ptr + text.len;

    if (lint_summary_empty(out))
        out->candidates = STET_NEW_ARRAY(&out->code.arena, struct lint_candidate, at.room);
    if (!out->candidates) {
        lint_summary_release(out);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    while (p && p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));

        at.line++;
        at.start = p;
        at.end = stop ? stop : end;
        if (at.end - at.start < 65536)
            scan_line(&at);
        p = stop ? stop + 1 : end;
    }
    return STET_OK;
}
