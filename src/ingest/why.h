/* Explains why a frame was compiled again: class, line, values, fix. Texts are borrowed from the
 * model. */
#ifndef STET_INGEST_WHY_H
#define STET_INGEST_WHY_H

#include "cause/cause.h"
#include "ingest/torch.h"

/* What the environment can change about it without an edit. */
enum stet_torch_knob {
    STET_KNOB_NONE,
    STET_KNOB_DYNAMIC,  /* TORCH_COMPILE_DYNAMIC_SOURCES */
    STET_KNOB_UNBACKED, /* TORCH_COMPILE_UNBACKED_SOURCES */
    STET_KNOB_PGO,     /* TORCH_COMPILE_JOB_ID: dynamic floats are learnt in one run and used in the
                        * next */
    STET_KNOB_SCALARS, /* TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS */
    STET_KNOB_SHAPES,  /* TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS */
};

enum { STET_WHY_ALSO = 4 };

struct stet_torch_why {
    enum stet_cause cause, also[STET_WHY_ALSO];
    size_t also_count;
    bool has_guard;
    struct stet_guard guard; /* the failure that decided; views in the model */
    struct stet_view what;   /* "x", "self.count" */
    int dim;
    struct stet_view from, to; /* empty if unknown */
    struct stet_torch_place origin;
    struct stet_view code;   /* the line at the origin, if known */
    struct stet_view source; /* in the form for the environment: L['x']; may be empty */
    enum stet_torch_knob knob;
    uint32_t broken; /* the graph break that created the frame, or STET_TORCH_NONE */
};

/* For a compile that is not its frame's first; for a first one, class is "first". The model's texts
 * are borrowed. Source files are read if they exist (a parameter, a closure variable and a default
 * look alike in a guard). */
void stet_torch_explain(const struct stet_torch *t, uint32_t compile, struct stet_torch_why *why);
/* Of a graph break. */
void stet_torch_explain_break(const struct stet_torch *t, uint32_t at, struct stet_torch_why *why);

/* The line that made the value differ: the one to edit. No line when it is not known. *sure: every
 * step from the guard to the line was the only one that was possible. */
struct stet_torch_place stet_torch_made(const struct stet_torch *t, uint32_t compile,
                                        const struct stet_torch_why *why, bool *sure);

/* The user's name of a code object: "step" of torch_dynamo_resume_in_step_at_12, which torch makes
 * of what comes after a graph break. */
struct stet_view stet_torch_function(struct stet_view name);

/* One sentence to act on. */
void stet_torch_fix(const struct stet_torch *t, const struct stet_torch_why *why,
                    struct stet_buf *out);
/* The values that the entries of the compile's frame had for the same thing, up to this compile, in
 * order: "0, 1, 2"; at most `most` of them, the last ones. Returns how many there are. */
size_t stet_torch_values(const struct stet_torch *t, uint32_t compile,
                         const struct stet_torch_why *why, size_t most, struct stet_buf *out);
/* The same one by one: *at begins at 0. False when there are no more. */
bool stet_torch_next_value(const struct stet_torch *t, uint32_t compile,
                           const struct stet_torch_why *why, size_t most, uint32_t *at,
                           struct stet_view *out);
/* The value of one entry (a compile's number in its frame); false if it is unknown. */
bool stet_torch_value(const struct stet_torch *t, uint32_t compile, uint32_t entry,
                      const struct stet_torch_why *why, struct stet_view *out);
/* "x.shape[0]", "x's dtype", "self.count". */
void stet_torch_what(const struct stet_torch_why *why, struct stet_buf *out);

/* Have some ranks compiled this frame equally often, and others (that have reached it) less?
 * `lowest`: of the others. */
bool stet_torch_diverges(const struct stet_torch *t, uint32_t compile, uint32_t *with,
                         uint32_t *without, int64_t *lowest);

/* NAME=value for the setting, or nothing. */
const char *stet_torch_knob_name(enum stet_torch_knob knob);

#endif
