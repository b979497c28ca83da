/* A strand is the part of a story that one function has: recompiles with the same cause, lines and
 * subject. Only this module uses it. */
#ifndef STET_STORY_STRAND_H
#define STET_STORY_STRAND_H

#include "story/story.h"

struct stet_story_strand {
    struct stet_recompile first; /* its texts are in the arena */
    uint32_t parent;             /* in the forest of strands that are one story */
    uint64_t times, served, wait_ns, cost_ns, first_step, last_step;
    bool steps_known;
    struct stet_story_value value;
    struct stet_map seen; /* hashes of the values */
};

/* The change that is the cause, or NULL. */
const struct stet_row_change *stet_story_change(const struct stet_recompile *r);
/* Returns the strand that represents all strands of its story. */
uint32_t stet_story_root(const struct stet_stories *s, uint32_t strand);

#endif
