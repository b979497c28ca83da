/* Executables of this process, serialised: what is compiled twice here is loaded the second time,
 * without a disk. Each load gives the framework an executable of its own, to destroy as it likes.
 */
#ifndef STET_INTERCEPT_EXECUTABLE_MEMORY_H
#define STET_INTERCEPT_EXECUTABLE_MEMORY_H

#include "base/buf.h"
#include "base/hash.h"

/* The default limit in bytes; the least recently used go first. */
#define STET_MEMORY_MAX ((size_t)256 << 20)

struct stet_remembered {
    struct stet_remembered *next;          /* in its chain */
    struct stet_remembered *newer, *older; /* by use */
    struct stet_hash key;
    struct stet_view program, executable;
    char *adopted[2]; /* what the views lie in */
    unsigned users;   /* with the lock: readers, and the table itself */
};

/* Before the first is added: how many bytes, 0 for none. */
void stet_intercept_memory_limit(size_t bytes);
size_t stet_intercept_memory_most(void);
/* Takes both over and leaves them empty, or leaves them alone when they are too large. Any thread.
 */
void stet_intercept_memory_adopt(struct stet_hash key, struct stet_buf *program,
                                 struct stet_buf *executable);
/* The same, and looks it up at once, so that the bytes stay whatever is forgotten meanwhile: to be
 * given back. NULL when it was left alone. */
struct stet_remembered *stet_intercept_memory_hold(struct stet_hash key, struct stet_buf *program,
                                                   struct stet_buf *executable);
/* Whether so many bytes are worth remembering. */
bool stet_intercept_memory_fits(size_t bytes);
/* NULL when it is not there; to be given back. */
struct stet_remembered *stet_intercept_memory_get(struct stet_hash key);
void stet_intercept_memory_put_back(struct stet_remembered *m);

/* Around fork. */
void stet_intercept_memory_fork_prepare(void);
void stet_intercept_memory_fork_done(void);

#endif
