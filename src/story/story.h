/* A story is one cause with everything that it made compile: functions, frames of torch.compile,
 * programs and graph breaks. Recompiles are one story when something that was observed ties them:
 * the line that made the value, the argument whose size moved, or the same two values in the same
 * turn of the loop. Add the recompiles of a run in order, then finish; the stories are then sorted.
 * The struct owns copies of all texts. */
#ifndef STET_STORY_STORY_H
#define STET_STORY_STORY_H

#include "base/arena.h"
#include "base/map.h"
#include "cause/cause.h"
#include "journal/vocabulary.h"
#include "ledger/recompile.h"

enum { STET_STORY_SEEN = 24, STET_STORY_VALUES = 8, STET_STORY_FUNCTIONS = 64 };

/* One thing that changed, and the values that it had. */
struct stet_story_value {
    struct stet_view what;
    struct stet_view seen[STET_STORY_SEEN]; /* each once, in order */
    size_t count, more;                     /* more: further distinct values */
};

struct stet_story {
    enum stet_cause cause;
    struct stet_cause_list also;
    bool benign;
    /* The recompile that shows the cause best: its lines, evidence, confidence and fix are those of
     * the story. */
    struct stet_recompile lead;
    struct stet_line source; /* the line to edit: where the value was made, else where it enters the
                                program, else where it was waited for */
    struct stet_view functions[STET_STORY_FUNCTIONS]; /* the most expensive first */
    size_t function_count, functions_more;
    const uint32_t *recompiles; /* numbers of the recompiles, in the order of adding */
    size_t count;
    uint64_t events[STET_ROW_EVENTS]; /* how many of them are of each kind */
    uint64_t served;                  /* of them: came from a store or a cache */
    uint64_t wait_ns, cost_ns;        /* cost: inside the compiler, of those that were compiled */
    bool steps_known;
    uint64_t first_step, last_step;
    struct stet_story_value values[STET_STORY_VALUES];
    size_t value_count;
    uint32_t root; /* private */
};

struct stet_story_strand;

struct stet_stories {
    struct stet_arena arena;
    struct stet_story *items; /* the most expensive first, harmless ones last */
    size_t count;
    uint32_t *story_of; /* by recompile: the number of its story, UINT32_MAX for none */
    uint32_t rows;
    uint64_t beyond, beyond_ns; /* recompiles of causes that did not fit, and their wait */
    /* Private. */
    struct stet_story_strand *strands;
    uint32_t strand_count;
    size_t strand_room, row_room;
    struct stet_map by_key, by_tie;
};

void stet_story_init(struct stet_stories *s);
void stet_story_release(struct stet_stories *s);
/* Adds one recompile. It has the form of a visitor: `stories` is a struct stet_stories. False if
 * memory runs out. */
bool stet_story_add(void *stories, const struct stet_recompile *r);
/* Makes the stories of everything added. False if memory ran out. */
bool stet_story_finish(struct stet_stories *s);

struct stet_json;
/* Writes the array `stories` of stet.explain/1. */
void stet_story_json(struct stet_json *j, const struct stet_stories *s);

#endif
