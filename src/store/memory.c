/* A list with the most recently used in front: a process has dozens of programs, not thousands. */
#include "store/memory.h"

#include "base/mem.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_remembered *list;
static size_t total, most = STET_MEMORY_MAX;

void stet_memory_limit(size_t bytes)
{
    most = bytes;
}

size_t stet_memory_most(void)
{
    return most;
}

static size_t size_of(const struct stet_remembered *m)
{
    return sizeof *m + m->program.len + m->executable.len;
}

/* With the lock. */
static void drop(struct stet_remembered *m)
{
    if (--m->users)
        return;
    stet_mem_free(m->adopted[0]);
    stet_mem_free(m->adopted[1]);
    stet_mem_free(m);
}

/* Takes it out of the list; with the lock. */
static struct stet_remembered *take(struct stet_hash key)
{
    for (struct stet_remembered **at = &list; *at; at = &(*at)->next) {
        struct stet_remembered *m = *at;

        if (!stet_hash_eq(m->key, key))
            continue;
        *at = m->next;
        return m;
    }
    return NULL;
}

static void forget_beyond(size_t max)
{
    size_t sum = 0;
    struct stet_remembered **at = &list;

    while (*at) {
        struct stet_remembered *m = *at;

        sum += size_of(m);
        if (sum <= max) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        sum -= size_of(m);
        total -= size_of(m);
        drop(m);
    }
}

static bool fits(struct stet_view program, struct stet_view executable)
{
    size_t bytes;

    return !stet_add_overflows(program.len, executable.len, &bytes) && bytes <= most / 2;
}

static struct stet_remembered *copy_of(struct stet_hash key, struct stet_view program,
                                       struct stet_view executable)
{
    struct stet_remembered *m;
    char *at;

    if (!fits(program, executable))
        return NULL;
    m = stet_mem_alloc(sizeof *m + program.len + executable.len);
    if (!m)
        return NULL;
    at = (char *)(m + 1);
    if (program.len)
        memcpy(at, program.ptr, program.len);
    if (executable.len)
        memcpy(at + program.len, executable.ptr, executable.len);
    *m = (struct stet_remembered){
        .key = key,
        .program = stet_view_of(at, program.len),
        .executable = stet_view_of(at + program.len, executable.len),
        .users = 1,
    };
    return m;
}

static void insert(struct stet_remembered *m)
{
    struct stet_remembered *old;

    pthread_mutex_lock(&lock);
    old = take(m->key);
    if (old) {
        total -= size_of(old);
        drop(old);
    }
    m->next = list;
    list = m;
    total += size_of(m);
    if (total > most)
        forget_beyond(most);
    pthread_mutex_unlock(&lock);
}

void stet_memory_add(struct stet_hash key, struct stet_view program, struct stet_view executable)
{
    struct stet_remembered *m = copy_of(key, program, executable);

    if (m)
        insert(m);
}

/* What lies in a buffer, which has up to twice the room for it: that would be kept, and counted
 * nowhere. Giving it back moves nothing. */
static struct stet_view tightened(struct stet_buf *b)
{
    char *less = b->ptr ? stet_mem_resize(b->ptr, b->len + 1, 1) : NULL;

    if (less) {
        b->ptr = less;
        b->room = b->len + 1;
    }
    return stet_buf_as_view(b);
}

void stet_memory_adopt(struct stet_hash key, struct stet_buf *program, struct stet_buf *executable)
{
    struct stet_remembered *m = fits(stet_buf_as_view(program), stet_buf_as_view(executable))
                                    ? stet_mem_alloc(sizeof *m)
                                    : NULL;

    if (!m)
        return;
    *m = (struct stet_remembered){.key = key, .users = 1};
    m->program = tightened(program);
    m->executable = tightened(executable);
    m->adopted[0] = program->ptr;
    m->adopted[1] = executable->ptr;
    *program = (struct stet_buf){.cap = program->cap};
    *executable = (struct stet_buf){.cap = executable->cap};
    insert(m);
}

struct stet_remembered *stet_memory_get(struct stet_hash key)
{
    struct stet_remembered *m;

    pthread_mutex_lock(&lock);
    m = take(key);
    if (m) {
        m->next = list;
        list = m;
        m->users++;
    }
    pthread_mutex_unlock(&lock);
    return m;
}

void stet_memory_put_back(struct stet_remembered *m)
{
    pthread_mutex_lock(&lock);
    drop(m);
    pthread_mutex_unlock(&lock);
}

void stet_memory_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_memory_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}
