/* The executables of this process, serialised in memory: a program that is compiled twice here is
 * loaded the second time, without a disk. Each load gives the framework its own executable, which
 * it may destroy. Process-global and thread-safe. */
#ifndef STET_STORE_MEMORY_H
#define STET_STORE_MEMORY_H

#include "base/buf.h"
#include "base/hash.h"

/* The default limit in bytes; the least recently used go first. */
#define STET_MEMORY_MAX ((size_t)256 << 20)

struct stet_remembered {
    struct stet_remembered *next;          /* in its chain */
    struct stet_remembered *newer, *older; /* by use */
    struct stet_hash key;
    struct stet_view program, executable;
    char *adopted[2]; /* the memory of the views */
    unsigned users;   /* with the lock: readers, and the table itself */
};

/* Call before the first is added: the limit in bytes, 0 for none. */
void stet_memory_limit(size_t bytes);
size_t stet_memory_most(void);
/* Takes ownership of both and leaves them empty, or leaves them alone if they are too large. From
 * any thread. */
void stet_memory_adopt(struct stet_hash key, struct stet_buf *program, struct stet_buf *executable);
/* The same, and looks it up at once, so that the bytes stay valid until they are returned. NULL if
 * it was left alone. */
struct stet_remembered *stet_memory_hold(struct stet_hash key, struct stet_buf *program,
                                         struct stet_buf *executable);
/* Is this size small enough to be kept? */
bool stet_memory_fits(size_t bytes);
/* NULL if it is not there; must be returned. */
struct stet_remembered *stet_memory_get(struct stet_hash key);
void stet_memory_put_back(struct stet_remembered *m);

/* Called around fork. */
void stet_memory_fork_prepare(void);
void stet_memory_fork_done(void);

#endif
