/* The rules: one row of rules.def and one function each. A walk calls them at its events
 * (flow/walk.h). */
#ifndef STET_LINT_RULES_H
#define STET_LINT_RULES_H

#include "lint/candidates.h"

enum lint_severity { LINT_SEV_NOTE, LINT_SEV_WARNING, LINT_SEV_ERROR };

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
    void (*run)(struct stet_flow_walk *w, stet_python_ref n);
};

extern const struct lint_rule lint_rule_table[LINT_RULES];

#define RULE(name, code, trap, severity, events, title, why, fix)                                  \
    void rule_##name(struct stet_flow_walk *w, stet_python_ref n);
#include "lint/rules.def"
#undef RULE

/* Called once before the first walk; from any thread. */
void lint_rules_prepare(void);
/* Runs the rules of this event; the listener of a walk. */
void lint_rules(struct stet_flow_walk *w, enum stet_flow_event event, stet_python_ref n);

/* Helpers that several rules share. */
/* Returns a short piece of source for a message: in one line, and cut in the middle if it is long.
 */
struct stet_view lint_quote(const struct stet_flow_walk *w, stet_python_ref n);
/* Returns the compiled function that this call runs, or NULL. `shift` becomes 1 where `self` is the
 * first of its positions and no argument of the call (rules_jit.c). */
const struct stet_flow_jit *lint_called_jit(struct stet_flow_walk *w, stet_python_ref call,
                                            unsigned *shift);
/* A truth value rather than a number: late-branch reports what it switches (rules_static.c). */
bool lint_is_switch(const struct stet_flow_walk *w, stet_python_ref value);
/* The arguments of compiled functions (rules_feed.c), for the rules of other files. */
void lint_fed_keys(struct stet_flow_walk *w, stet_python_ref call);
void lint_fed_short(struct stet_flow_walk *w, stet_python_ref call);
void lint_fed_static(struct stet_flow_walk *w, stet_python_ref call);
/* The line where the function joins its parameter with more and gives it back as this part of its
 * result; 0 for none (rules_growth.c). */
uint32_t lint_grows(const struct stet_flow_walk *w, uint32_t fn, unsigned position, int part);
/* The full name of the function of JAX or torch that is called; empty for all others
 * (rules_size.c). */
struct stet_view lint_array_library(struct stet_flow_walk *w, stet_python_ref call, char room[160]);
/* Is the name somewhere inside n? (rules_size.c) */
bool lint_holds_name(const struct stet_flow_walk *w, stet_python_ref n, uint32_t name);
/* Of x[n:n + 4], the 4: the slice is as long wherever it starts. 0 for all others: another start of
 * x[n:] is another size, and needs a program of its own (rules_slice.c). */
stet_python_ref lint_slice_length(const struct stet_flow_walk *w, stet_python_ref start);
/* Does it touch an array, or call the array libraries? `numbers` are parameters that are none
 * (rules_loop.c). */
bool lint_makes_operations(struct stet_flow_walk *w, stet_python_ref body, uint64_t numbers);
/* Of a method that a decorator compiles: is self a static argument? Else it is a tree of arrays
 * (rules_static.c). */
bool lint_takes_self_static(const struct stet_flow_walk *w, uint32_t fn);
/* Is this place in a function that a decorator of JAX compiles? What it calls becomes part of that
 * program, compiled or not (rules_static.c). */
bool lint_in_compiled(const struct stet_flow_walk *w);
/* Is a variable of a loop around this place in it? (rules_slice.c) */
bool lint_follows_loop(const struct stet_flow_walk *w, stet_python_ref n);
/* Is the attribute changed by a method in terms of itself (self.n += 1, self.rate *= 0.9) or in a
 * loop? Others are set again when something else is loaded (rules_baked.c). */
bool lint_steps_on(const struct stet_flow_walk *w, uint32_t owner, uint32_t name);
/* depth += 1, and depth -= 1 in the same function: it returns to what it was (rules_torch.c). */
bool lint_is_undone(const struct stet_flow_walk *w, stet_python_ref n);
/* if error < tolerance: break — does the loop need the value in order to end? (rules_sync.c) */
bool lint_decides_end(const struct stet_flow_walk *w, stet_python_ref n);
/* rows.append(x), rows.extend(…), rows.insert(0, x) (rules_loop.c) */
bool lint_fills_list(const struct stet_flow_walk *w, stet_python_ref call);
/* Is it a function of the logging module, or a method of what it made? (rules_sync.c) */
bool lint_logs(const struct stet_flow_walk *w, stet_python_ref call);
/* The target that the value goes to: error = float(x) + 1. 0 for none (rules_sync.c). */
stet_python_ref lint_assigned_to(const struct stet_flow_walk *w, stet_python_ref n);
/* Reports a read between compiled steps, of a result of operations that are their own small
 * programs. False for all other values (rules_eager.c). */
bool lint_sync_eager(struct stet_flow_walk *w, stet_python_ref n, struct stet_flow_value v);
/* Does the function bound the number, as code for torch.export does (rules_sync.c)? */
bool lint_is_asserted(const struct stet_flow_walk *w, uint32_t name);

/* The lanes that a read of this value matters to. What torch made on the host, from no argument
 * (torch.randint(9, (1,)).item()), waits for no device: it only breaks the graph of a function that
 * is compiled in this source. */
uint8_t lint_lanes_reading(struct stet_flow_value v);

/* Does the expression hold such a name? */
bool lint_holds_asserted(const struct stet_flow_walk *w, stet_python_ref n);

/* The lanes in which a size that depends on values matters: not that of a module for a check. */
uint8_t lint_lanes_of_size(const struct stet_flow_walk *w, stet_python_ref n);
/* Numbers that shape a lazy graph (rules_lazy.c). */
void lint_shaped_call(struct stet_flow_walk *w, stet_python_ref call);
void lint_shaped_subscript(struct stet_flow_walk *w, stet_python_ref n);
/* A branch that overwrites a buffer in some steps only (rules_lazy.c). */
void lint_donated_one_way(struct stet_flow_walk *w, stet_python_ref test);
/* Reports a loop that gives a compiled function more values than torch keeps programs. */
bool lint_passes_limit(struct stet_flow_walk *w, const struct stet_flow_jit *j, stet_python_ref at);

#endif
