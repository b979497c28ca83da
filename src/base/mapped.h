/* A file mapped into memory. Whoever can shorten the file, and a network mount that goes away, can
 * then end the process by SIGBUS; so this is for one kind of file alone: one of our own making that
 * comes by rename and is never written in place, and of which so many are open at a time that they
 * should not all be in memory. Never in the layer: a test sees to it that it does not link mmap. */
#ifndef STET_BASE_MAPPED_H
#define STET_BASE_MAPPED_H

#include "base/err.h"
#include "base/view.h"

struct stet_mapped {
    struct stet_view bytes;
};

/* STET_NOT_FOUND when there is none. An empty file, or what is not a file, is STET_BAD_INPUT. */
enum stet_rc stet_mapped_open(struct stet_mapped *m, const char *path, struct stet_err *err);
void stet_mapped_close(struct stet_mapped *m);

#endif
