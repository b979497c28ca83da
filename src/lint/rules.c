/* The table of rules, and what several of them share. */
#include "lint/rules.h"

#include <pthread.h>
#include <stdlib.h>

const struct lint_rule lint_rule_table[LINT_RULES] = {
#define RULE(name, code, trap, severity, events, title, why, fix)                                  \
    [LINT_RULE_##name] = {code, trap, title, why, fix, LINT_SEV_##severity, events, rule_##name},
#include "lint/rules.def"
#undef RULE
};

enum { EVENTS = 11 };

/* By event: its rules, ending with LINT_RULES. Names are read too often to ask every rule. */
static uint8_t rules_on[EVENTS][LINT_RULES + 1];
static pthread_once_t rules_once = PTHREAD_ONCE_INIT;

static void sort_rules(void)
{
    for (unsigned e = 0; e < EVENTS; e++) {
        unsigned count = 0;

        for (unsigned r = 0; r < LINT_RULES; r++) {
            if (lint_rule_table[r].events >> e & 1)
                rules_on[e][count++] = (uint8_t)r;
        }
        rules_on[e][count] = LINT_RULES;
    }
}

void lint_rules_prepare(void)
{
    pthread_once(&rules_once, sort_rules);
}

void lint_rules(struct lint_walk *w, enum lint_event event, lint_ref n)
{
    for (const uint8_t *r = rules_on[__builtin_ctz((unsigned)event)]; *r != LINT_RULES; r++)
        lint_rule_table[*r].run(w, n);
}

struct stet_view lint_callee_name(const struct lint_walk *w, lint_ref call)
{
    lint_ref f = lint_field(w->ast, call, LINT_FIELD_FUNCTION);

    if (lint_kind(w->ast, f) == LINT_ATTRIBUTE)
        f = lint_field(w->ast, f, LINT_FIELD_ATTRIBUTE);
    return lint_kind(w->ast, f) == LINT_IDENTIFIER ? lint_text(w->ast, f) : STET_VIEW("");
}

lint_ref lint_callee_object(const struct lint_walk *w, lint_ref call)
{
    lint_ref f = lint_field(w->ast, call, LINT_FIELD_FUNCTION);

    return lint_kind(w->ast, f) == LINT_ATTRIBUTE ? lint_field(w->ast, f, LINT_FIELD_OBJECT) : 0;
}

bool lint_any_of(struct stet_view v, const char *const *list)
{
    char first = v.len ? v.ptr[0] : '\0';

    for (; *list; list++) {
        if ((*list)[0] == first && stet_view_is(v, *list))
            return true;
    }
    return false;
}

struct stet_view lint_quote(const struct lint_walk *w, lint_ref n)
{
    struct stet_view v = lint_text(w->ast, n);
    const char *newline = memchr(v.ptr, '\n', v.len);

    if (newline)
        v.len = (size_t)(newline - v.ptr);
    if (v.len > 60) {
        v.len = 60;
        while (v.len && ((unsigned char)v.ptr[v.len] & 0xc0) == 0x80)
            v.len--; /* not in the middle of a character */
    }
    return v;
}

bool lint_mentions(const struct lint_walk *w, lint_ref n, const char *const *names)
{
    const struct lint_ast *a = w->ast;

    for (lint_ref c = n; n && lint_within(w, c, n); c++) {
        if (a->nodes[c].kind == LINT_IDENTIFIER &&
            lint_any_of(a->names.items[a->nodes[c].child], names))
            return true;
    }
    return false;
}

long lint_integer(const struct lint_walk *w, lint_ref n)
{
    struct stet_view v;
    long value = 0;

    if (lint_kind(w->ast, n) != LINT_INTEGER)
        return -1;
    v = lint_text(w->ast, n);
    for (size_t i = 0; i < v.len && value < 1000000000; i++) {
        if (v.ptr[i] < '0' || v.ptr[i] > '9')
            return -1;
        value = value * 10 + (v.ptr[i] - '0');
    }
    return value;
}
