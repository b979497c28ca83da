/* Maps a file into memory. If another process truncates the file, or its network mount disappears,
 * a read kills this process by SIGBUS. Use it only for files that Stet itself writes by rename and
 * never changes in place, where too many are open at a time to read them all into memory. The layer
 * must not use it; a test checks that the layer does not link mmap. */
#ifndef STET_BASE_MAPPED_H
#define STET_BASE_MAPPED_H

#include "base/err.h"
#include "base/view.h"

struct stet_mapped {
    struct stet_view bytes;
};

/* STET_NOT_FOUND if the file does not exist. An empty file, or anything but a regular file, is
 * STET_BAD_INPUT. */
enum stet_rc stet_mapped_open(struct stet_mapped *m, const char *path, struct stet_err *err);
void stet_mapped_close(struct stet_mapped *m);

#endif
