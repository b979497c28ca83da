/* Keeps the serialised executables of this process in memory. A program that is compiled twice here
 * is loaded the second time, without a disk. Each load gives the framework an executable of its
 * own, which it may destroy at any time. */
#ifndef STET_INTERCEPT_EXECUTABLE_MEMORY_H
#define STET_INTERCEPT_EXECUTABLE_MEMORY_H

#include "base/buf.h"
#include "base/hash.h"

/* The default limit in bytes; the least recently used entries are removed first. */
#define STET_MEMORY_MAX ((size_t)256 << 20)

struct stet_remembered {
    struct stet_remembered *next;          /* in its chain */
    struct stet_remembered *newer, *older; /* by use */
    struct stet_hash key;
    struct stet_view program, executable;
    uint64_t compile_ns; /* how long compiling it took */
    char *adopted[2];    /* the memory of the views */
    unsigned users;      /* with the lock: readers, and the table itself */
};

/* Call it before the first entry is added: the limit in bytes, 0 for none. */
void stet_intercept_memory_limit(size_t bytes);
size_t stet_intercept_memory_most(void);
/* Takes both buffers over and leaves them empty, or does not change them when they are too large.
 * Any thread. */
void stet_intercept_memory_adopt(struct stet_hash key, struct stet_buf *program,
                                 struct stet_buf *executable, uint64_t compile_ns);
/* Does the same and returns the entry, so that its bytes stay even if the entry is removed
 * meanwhile. The caller gives it back. NULL when the buffers were not taken. */
struct stet_remembered *stet_intercept_memory_hold(struct stet_hash key, struct stet_buf *program,
                                                   struct stet_buf *executable,
                                                   uint64_t compile_ns);
/* Are this many bytes within the limit for an entry? */
bool stet_intercept_memory_fits(size_t bytes);
/* NULL when there is no entry; the caller gives it back. */
struct stet_remembered *stet_intercept_memory_get(struct stet_hash key);
void stet_intercept_memory_put_back(struct stet_remembered *m);

/* Called around fork. */
void stet_intercept_memory_fork_prepare(void);
void stet_intercept_memory_fork_done(void);

#endif
