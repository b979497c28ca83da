/* The rules: one row of rules.def and one function each. walk.c calls them at the events below. */
#ifndef STET_LINT_RULES_H
#define STET_LINT_RULES_H

#include "lint/walk.h"

enum lint_severity { LINT_SEV_NOTE, LINT_SEV_WARNING, LINT_SEV_ERROR };

/* The events at which a rule runs. It receives the node of the event. */
enum lint_event {
    ON_CONDITION = 1, /* an expression whose truth value Python needs */
    ON_CALL = 2,
    ON_SUBSCRIPT = 4,
    ON_FOR = 8,
    ON_ASSIGN = 16, /* the assignment */
    ON_AUGASSIGN = 32,
    ON_NAME = 64,      /* a name or self.name that is read */
    ON_READBACK = 128, /* an expression that gives a shape */
    ON_WITH = 256,
    ON_JIT = 512, /* a call that makes a compiled function */
    ON_FUNCTION = 1024,
};

enum lint_rule_id {
#define RULE(name, code, trap, severity, events, title, why, fix) LINT_RULE_##name,
#include "lint/rules.def"
#undef RULE
    LINT_RULES
};

struct lint_rule {
    const char *code, *trap, *title, *why, *fix;
    enum lint_severity severity;
    unsigned events;
    void (*run)(struct lint_walk *w, stet_python_ref n);
};

extern const struct lint_rule lint_rule_table[LINT_RULES];

#define RULE(name, code, trap, severity, events, title, why, fix)                                  \
    void rule_##name(struct lint_walk *w, stet_python_ref n);
#include "lint/rules.def"
#undef RULE

/* Called once before the first walk; from any thread. */
void lint_rules_prepare(void);
/* Runs the rules of this event. */
void lint_rules(struct lint_walk *w, enum lint_event event, stet_python_ref n);

/* Helpers that several rules share. */
bool lint_any_of(struct stet_view v, const char *const *list);
/* Returns a short piece of source for a message. */
struct stet_view lint_quote(const struct lint_walk *w, stet_python_ref n);
/* Is an identifier of this text somewhere inside n? */
bool lint_mentions(const struct lint_walk *w, stet_python_ref n, const char *const *names);
/* The arguments of compiled functions (rules_feed.c), for the rules of other files. */
void lint_fed_keys(struct lint_walk *w, stet_python_ref call);
void lint_fed_short(struct lint_walk *w, stet_python_ref call);
void lint_fed_static(struct lint_walk *w, stet_python_ref call);
void lint_fed_remember(struct lint_walk *w, stet_python_ref call);
/* Numbers that shape a lazy graph (rules_lazy.c). */
void lint_shaped_call(struct lint_walk *w, stet_python_ref call);
void lint_shaped_subscript(struct lint_walk *w, stet_python_ref n);
/* A branch that overwrites a buffer in some steps only (rules_lazy.c). */
void lint_donated_one_way(struct lint_walk *w, stet_python_ref test);
/* Reports a loop that gives a compiled function more values than torch keeps programs. */
bool lint_passes_limit(struct lint_walk *w, const struct lint_jit *j, stet_python_ref at);
/* Does the condition test the rank of the process? */
bool lint_asks_rank(struct lint_walk *w, stet_python_ref n);
/* Returns `step % n` somewhere in a condition, or 0. If step does not count by itself, *deps are
 * the parameters that it is. */
stet_python_ref lint_every_n(const struct lint_walk *w, stet_python_ref n, uint64_t *deps);

#endif
