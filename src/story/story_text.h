/* Prints stories as text, in a few lines or in one. The functions append to the caller's buffer,
 * which begins as STET_TEXT_INIT. */
#ifndef STET_STORY_STORY_TEXT_H
#define STET_STORY_STORY_TEXT_H

#include "base/buf.h"
#include "story/story.h"

struct stet_story_view {
    bool colour;
    bool all;             /* every change, and the code of every line */
    size_t width;         /* of the terminal, for wrapping; 0 does not wrap */
    struct stet_view why; /* the framework's own words about the cause, or empty */
};

/* Appends a story as a block: what happened, what changed, the line to edit, evidence and fix. */
void stet_story_text(struct stet_buf *out, const struct stet_story *t,
                     const struct stet_story_view *view);
/* Appends "6× static-argument in train_step, train.py:29, waited 2.0 s (compiler 3 ms)". */
void stet_story_text_line(struct stet_buf *out, const struct stet_story *t);
/* Appends the functions that it compiled: "train_step and eval_step", "a, b, c and 4 more". */
void stet_story_text_names(struct stet_buf *out, const struct stet_story *t);
/* Appends its changes, a line each: at most `most`, and none that follows from another, unless
 * `all`. */
void stet_story_text_changes(struct stet_buf *out, const struct stet_recompile *r, bool colour,
                             bool all, size_t most);
/* Appends the last line of a finding: "more     stet help static-argument". */
void stet_story_text_more(struct stet_buf *out, enum stet_cause cause, bool colour);
/* Appends one recompile as a block while the command runs, without a story around it. */
void stet_story_text_row(struct stet_buf *out, const struct stet_recompile *r, bool colour);

#endif
