/* The last copies between host and device of each Python thread, with the user's lines that caused
 * them. They show what a program read back before a compile, and where it made its arguments.
 * A thread notes its own copies. The walk over Python's stacks during a compile takes them from
 * there into the journal. Copies to the device of threads that ended are kept until then, in a
 * fixed number of places. A copy costs some 100 ns more; an execution costs nothing. */
#ifndef STET_INTERCEPT_COPYSITES_H
#define STET_INTERCEPT_COPYSITES_H

#include "abi/api.h"
#include "intercept/pyline.h"
#include "journal/write.h"

enum {
    STET_COPIES_TO_HOST = 8,    /* places of a thread that are remembered */
    STET_COPIES_TO_DEVICE = 16, /* places and types */
    STET_COPIES_MOST = STET_COPIES_TO_HOST + STET_COPIES_TO_DEVICE,
    STET_COPY_RANK = 8,
    STET_COPY_VALUE = 16,
};

/* Copies of one place in the code; those to the device also of one type. */
struct stet_copysite {
    bool to_host;
    bool fresh;          /* not taken since its last copy */
    uint32_t type, rank; /* PJRT_Buffer_Type; rank above STET_COPY_RANK: not known */
    int64_t dims[STET_COPY_RANK];
    uint64_t ns, count, bytes; /* of the last one; how many; bytes of the last one */
    unsigned char value[STET_COPY_VALUE];
    uint32_t value_size; /* 0 when the value is not known */
    uint32_t line_count;
    struct {
        const void *code; /* only compared */
        uint32_t line;
        char file[STET_PYLINE_FILE], function[STET_PYLINE_FUNCTION];
    } lines[STET_PYLINES_MOST];
};

/* One copy, as the hooks see it. */
struct stet_host_copy {
    bool to_host;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t rank;
    uint64_t bytes;
    const void *value; /* the elements on the host, or NULL until they are there */
};

void stet_intercept_copysites_init(void);
/* Can lines be read in this thread? This is a cheap check, before the rest of a copy is
 * gathered. */
bool stet_intercept_copysites_wanted(void);
/* Called on the thread that copies. Fails silently: a copy that is not noted is not an error. */
void stet_intercept_copysites_note(const struct stet_host_copy *copy);
/* Takes the copies to the host of one thread, and those to the device of all threads, that were not
 * taken before; not sorted. `thread` is the thread's pthread_self. */
size_t stet_intercept_copysites_take(unsigned long thread,
                                     struct stet_copysite out[STET_COPIES_MOST]);
/* Returns the element type in the naming of Python's arrays; "" when not known. */
const char *stet_intercept_copysites_dtype(uint32_t type);
/* Writes it to the journal, under the number of a compile or load; on the writer thread. */
void stet_intercept_copysite_write(struct stet_journal *j, uint64_t index, bool load,
                                   const struct stet_copysite *c);
/* Called at exit. Writes the copies of a thread after its last compile, under the number that the
 * next compile would have had. */
void stet_intercept_copysites_end(unsigned long thread);
/* Called in the child of a fork, where other threads do not exist. */
void stet_intercept_copysites_after_fork(void);

#endif
