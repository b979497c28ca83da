/* A copy between host and device, as the journal's `compile_copy` record has it. The readers of
 * runs use it. Texts are borrowed from the record. */
#ifndef STET_JOURNAL_COPIED_H
#define STET_JOURNAL_COPIED_H

#include "journal/format.h"

enum { STET_COPIED_RANK = 8 };

struct stet_journal_copied {
    bool to_host;
    uint64_t time_ns; /* of the last one of its place, CLOCK_REALTIME */
    uint64_t count;   /* at its place, so far */
    struct stet_view dtype, value;
    bool shape_known;
    uint32_t rank;
    int64_t dims[STET_COPIED_RANK];
    struct stet_frames lines; /* the user's own, innermost first; equal places share them */
};

/* Sets what the record has about the copy itself; texts are borrowed, lines and time stay
 * unchanged. */
void stet_journal_copied_read(const struct stet_rec_compile_copy *r,
                              struct stet_journal_copied *out);

/* The value of a single element, when it was kept. A truth value is 0 or 1. */
bool stet_journal_copied_number(const struct stet_journal_copied *c, double *out);

#endif
