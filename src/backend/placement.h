/* Decides where every value in memory is stored, and for how long. The plan's steps refer to the
 * buffers that it creates. */
#ifndef STET_BACKEND_PLACEMENT_H
#define STET_BACKEND_PLACEMENT_H

#include "backend/graph.h"

enum stet_space { STET_SPACE_SCRATCH, STET_SPACE_CONST, STET_SPACE_INPUT, STET_SPACE_OUTPUT };

/* Memory of one size, shared by values that are never needed at the same time. */
struct stet_buffer {
    struct stet_buffer *same; /* merged into; NULL: this is the one */
    struct stet_buffer *next; /* all of them */
    enum stet_space space;
    uint32_t index; /* INPUT, OUTPUT */
    int32_t alias;  /* OUTPUT: the input that may be the same memory, or -1; INPUT: that output */
    const void *bytes; /* CONST */
    uint64_t size, offset;
    uint32_t start, end; /* time, both inclusive */
    uint32_t last;       /* last read of the value it was made for, in its own block's time */
    bool carry;          /* a loop's; never merged into something else's lifetime */
};

/* A copy at the border of a loop or branch, between buffers of equal size. */
struct stet_carry {
    struct stet_buffer *from, *to;
};

struct stet_border {
    struct stet_carry *entry, *exit; /* before a loop; at the end of its body */
    uint32_t entry_count, exit_count;
    struct stet_carry **branch; /* CASE: at the end of each */
    uint32_t *branch_counts;
};

struct stet_placement {
    struct stet_lower *l;
    struct stet_buffer *buffers;
    struct stet_carry *finals; /* results that could not be made in place, in order */
    uint32_t final_count;
    const int32_t *output_alias;
    uint32_t time;
    uint64_t scratch_bytes;
};

struct stet_buffer *stet_backend_buffer_of(struct stet_gval *v); /* its root's, merges followed */
struct stet_buffer *stet_backend_buffer_find(struct stet_buffer *b);
/* Can they be the same memory? */
bool stet_backend_buffer_overlap(struct stet_buffer *a, struct stet_buffer *b);
/* Temporary memory of a step. */
struct stet_buffer *stet_backend_placement_temporary(struct stet_placement *p, uint64_t size,
                                                     uint32_t start, uint32_t end);

enum stet_rc stet_backend_placement_make(struct stet_placement *p, struct stet_gblock *entry);

#endif
