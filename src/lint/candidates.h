/* The candidates of one file: what the rules found while the file was walked. A candidate holds
 * once its function turns out to be traced as it requires (findings.h). The cache stores them with
 * the summary of the code, whose arena holds their texts. */
#ifndef STET_LINT_CANDIDATES_H
#define STET_LINT_CANDIDATES_H

#include "base/err.h"
#include "flow/walk.h"

/* What a candidate needs in addition to a traced function. */
enum lint_mode {
    LINT_ANY,      /* nothing */
    LINT_TENSOR,   /* one of `deps` is a tensor */
    LINT_STATIC,   /* one of `deps` is a static argument: a Python value that may vary by call */
    LINT_VARYING,  /* one of `deps` gets another Python value at each turn of a loop elsewhere */
    LINT_REPEATED, /* its function is called in a loop outside of traced code */
    LINT_ROOTED,   /* one of `deps` is a tensor or an argument of the compiled function itself */
};

/* When a candidate is only a note, whatever severity its rule has. */
enum lint_minor {
    LINT_FULL,
    LINT_MINOR,
    LINT_MINOR_ONCE, /* unless its function is called in a loop */
    LINT_MINOR_STEP, /* where only a lazy step calls its function, in some turns perhaps */
    LINT_PART,       /* the same; in a module only as one line of a host-function */
};

struct lint_edit {
    uint32_t start, end; /* bytes of the file; nothing to edit when text.ptr is NULL */
    struct stet_view text;
};

struct lint_candidate {
    uint16_t rule;
    uint8_t lanes; /* lanes, one of which must trace its function; 0: holds unconditionally */
    uint8_t mode;
    uint8_t minor;
    uint32_t fn;
    uint32_t guard; /* of its file's summary, from 1: dropped if that asks for compiling */
    uint64_t deps;
    uint64_t asked; /* parameters that a traced call must give, or it does not come here */
    uint32_t line, column, end_line, end_column; /* from 1; columns in bytes */
    struct stet_view what;                       /* one sentence about this place */
    struct stet_view source;                     /* the line, trimmed */
    struct lint_edit edit;
    struct stet_view fix; /* instead of the rule's, when not empty */
};

struct lint_summary {
    struct stet_flow_summary code;
    struct lint_candidate *candidates;
    uint32_t candidate_count;
    uint64_t ignored; /* findings that comments in the file suppress */
};

/* Walks an indexed module and runs the rules on it. */
enum stet_rc lint_summary_make(struct lint_summary *out, const struct stet_python_module *module,
                               struct stet_err *err);
/* One without candidates; for a file that cannot be read. False when out of memory. */
static inline bool lint_summary_empty(struct lint_summary *s)
{
    *s = (struct lint_summary){0};
    return stet_flow_summary_empty(&s->code);
}
void lint_summary_release(struct lint_summary *s);

/* Drops the candidates that a comment of the file suppresses, and counts them. False when out of
 * memory. */
bool lint_ignores_apply(struct lint_summary *s, const struct stet_python_ast *a);

/* The stored form. The reader validates everything: STET_BAD_INPUT for bytes that the writer did
 * not make. */
void lint_summary_write(const struct lint_summary *s, struct stet_buf *out);
enum stet_rc lint_summary_read(struct lint_summary *s, struct stet_view bytes, unsigned rules,
                               struct stet_err *err);

/* Reports a candidate: with `lanes` 0 it holds unconditionally. The text is one sentence without a
 * full stop. */
struct lint_candidate *lint_report(struct stet_flow_walk *w, unsigned rule, stet_python_ref at,
                                   uint8_t lanes, enum lint_mode mode, uint64_t deps,
                                   const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* The last candidate of this rule, among the last few, if it is at or after this place; or NULL. */
struct lint_candidate *lint_reported_since(const struct stet_flow_walk *w, unsigned rule,
                                           stet_python_ref place);
/* Is one of the last few candidates of this rule, mode and deps? */
bool lint_reported(const struct stet_flow_walk *w, unsigned rule, enum lint_mode mode,
                   uint64_t deps);

/* The lines of a function that need values, from which on all its findings are one: it works on the
 * host (host_functions.c). */
enum { LINT_HOST_LINES = 3 };
/* Does it cut the graph of a module, because the values of a tensor are needed? */
bool lint_cuts_graph(const struct lint_candidate *c);
/* The number of lines in which candidates of this function do. */
unsigned lint_lines_cutting(const struct stet_flow_walk *w, uint32_t fn);

/* Gives what lint_report returned a fix of its own: a literal. */
static inline void lint_advise(struct lint_candidate *c, const char *fix)
{
    if (c)
        c->fix = stet_view_str(fix);
}

/* The lanes in which Python may need this value. In JAX, tracing fails where it is an array, so
 * that a field of a structure, or a part of what a function returned, is a Python value there. */
static inline uint8_t lint_needing_lanes(struct stet_flow_value v)
{
    bool part = (v.flags & FLOW_WEAK) && ((v.flags & FLOW_FIELD) || (v.deps & FLOW_ALWAYS));

    return part ? FLOW_TRACED & ~(FLOW_JAX | FLOW_FLAX) : FLOW_TRACED;
}

/* Marks what lint_report returned as worth a note only. */
static inline void lint_minor(struct lint_candidate *c, enum lint_minor minor)
{
    if (c)
        c->minor = (uint8_t)minor;
}

#endif
