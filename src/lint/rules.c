/* The table of rules, and the helpers that several rules share. */
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

/* The rules of each event, ending with LINT_RULES. Names are read too often to call every rule. */
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

void lint_rules(struct stet_flow_walk *w, enum stet_flow_event event, stet_python_ref n)
{
    for (const uint8_t *r = rules_on[__builtin_ctz((unsigned)event)]; *r != LINT_RULES; r++)
        lint_rule_table[*r].run(w, n);
}

struct stet_view lint_quote(const struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_view v = stet_python_text(w->ast, n);
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
