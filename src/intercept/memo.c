/* Caches the last few by content. They are compared in full, not by hash, because a wrong answer
 * would be a wrong key. */
#include "intercept/memo.h"

#include "base/mem.h"
#include "decode/options.h"

#include <pthread.h>

enum { KNOWN = 8, LARGEST = 64 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char *bytes;
    size_t len;
    size_t files; /* this many bytes after those list the files they name */
    struct stet_hash hash;
} known[KNOWN];
static unsigned next;

static bool recall(struct stet_view bytes, struct stet_hash *out, struct stet_buf *files)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < KNOWN && !found; i++) {
        found = known[i].bytes && stet_view_eq(bytes, stet_view_of(known[i].bytes, known[i].len));
        if (found) {
            *out = known[i].hash;
            stet_buf_add(files, known[i].bytes + known[i].len, known[i].files);
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void remember(struct stet_view bytes, struct stet_hash hash, struct stet_view files)
{
    bool fits = bytes.len && bytes.len <= LARGEST && files.len <= LARGEST;
    char *copy = fits ? stet_mem_alloc(bytes.len + files.len) : NULL, *old;

    if (!copy)
        return;
    memcpy(copy, bytes.ptr, bytes.len);
    if (files.len)
        memcpy(copy + bytes.len, files.ptr, files.len);
    pthread_mutex_lock(&lock);
    old = known[next].bytes;
    known[next].bytes = copy;
    known[next].len = bytes.len;
    known[next].files = files.len;
    known[next].hash = hash;
    next = (next + 1) % KNOWN;
    pthread_mutex_unlock(&lock);
    stet_mem_free(old);
}

enum stet_rc stet_memo_options(struct stet_view bytes, struct stet_hash *out,
                               struct stet_buf *files)
{
    enum stet_rc rc;

    if (recall(bytes, out, files))
        return STET_OK;
    rc = stet_options_hash(bytes, out, files, NULL);
    if (rc == STET_OK)
        remember(bytes, *out, stet_buf_as_view(files));
    return rc;
}

void stet_memo_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_memo_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}
