/* A hash table by key, and a list of the same entries by use: a process may have tens of thousands
 * of small programs, and each compile looks one up. base/map.h is not used, since the least
 * recently used are removed. */
#include "intercept/executable_memory.h"

#include "base/mem.h"

#include <pthread.h>

enum { FIRST_ROOM = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* With the lock. */
static struct stet_remembered **table; /* chains; `room` of them, a power of two */
static size_t room, count, total, most = STET_MEMORY_MAX;
static struct stet_remembered *newest, *oldest;

void stet_intercept_memory_limit(size_t bytes)
{
    most = bytes;
}

size_t stet_intercept_memory_most(void)
{
    return most;
}

static size_t size_of(const struct stet_remembered *m)
{
    return sizeof *m + m->program.len + m->executable.len;
}

/* With the lock, as are all up to insert. */
static void drop(struct stet_remembered *m)
{
    if (--m->users)
        return;
    stet_mem_free(m->adopted[0]);
    stet_mem_free(m->adopted[1]);
    stet_mem_free(m);
}

static struct stet_remembered **place_of(struct stet_hash key)
{
    struct stet_remembered **at = &table[key.lo & (room - 1)];

    while (*at && !stet_hash_eq((*at)->key, key))
        at = &(*at)->next;
    return at;
}

static void unlist(struct stet_remembered *m)
{
    *(m->newer ? &m->newer->older : &newest) = m->older;
    *(m->older ? &m->older->newer : &oldest) = m->newer;
}

static void list_as_newest(struct stet_remembered *m)
{
    m->newer = NULL;
    m->older = newest;
    *(newest ? &newest->newer : &oldest) = m;
    newest = m;
}

static void forget(struct stet_remembered **at)
{
    struct stet_remembered *m = *at;

    *at = m->next;
    unlist(m);
    count--;
    total -= size_of(m);
    drop(m);
}

/* Doubles the chains if there are as many entries. If memory runs out, chains become longer;
 * without any there is no table. */
static bool make_room(void)
{
    size_t bigger = room ? 2 * room : FIRST_ROOM;
    struct stet_remembered **more = count < room ? NULL : stet_mem_calloc(bigger, sizeof *more);

    if (!more)
        return table != NULL;
    for (size_t i = 0; i < room; i++) {
        for (struct stet_remembered *m = table[i], *next; m; m = next) {
            struct stet_remembered **at = &more[m->key.lo & (bigger - 1)];

            next = m->next;
            m->next = *at;
            *at = m;
        }
    }
    stet_mem_free(table);
    table = more;
    room = bigger;
    return true;
}

static void insert(struct stet_remembered *m)
{
    struct stet_remembered **at;

    pthread_mutex_lock(&lock);
    if (!make_room()) {
        drop(m);
        pthread_mutex_unlock(&lock);
        return;
    }
    at = place_of(m->key);
    if (*at)
        forget(at);
    at = place_of(m->key);
    m->next = *at;
    *at = m;
    list_as_newest(m);
    count++;
    total += size_of(m);
    while (total > most && oldest)
        forget(place_of(oldest->key));
    pthread_mutex_unlock(&lock);
}

bool stet_intercept_memory_fits(size_t bytes)
{
    return bytes <= most / 2;
}

static bool fits(const struct stet_buf *program, const struct stet_buf *executable)
{
    size_t bytes;

    return !stet_add_overflows(program->len, executable->len, &bytes) &&
           stet_intercept_memory_fits(bytes);
}

/* A buffer may have up to twice the room it needs, which would be kept and not counted. Shrinking
 * it moves nothing. */
static struct stet_view tightened(struct stet_buf *b)
{
    char *less = b->ptr ? stet_mem_resize(b->ptr, b->len + 1, 1) : NULL;

    if (less) {
        b->ptr = less;
        b->room = b->len + 1;
    }
    return stet_buf_as_view(b);
}

static struct stet_remembered *adopt(struct stet_hash key, struct stet_buf *program,
                                     struct stet_buf *executable, uint64_t compile_ns,
                                     unsigned users)
{
    struct stet_remembered *m = fits(program, executable) ? stet_mem_alloc(sizeof *m) : NULL;

    if (!m)
        return NULL;
    *m = (struct stet_remembered){.key = key, .compile_ns = compile_ns, .users = users};
    m->program = tightened(program);
    m->executable = tightened(executable);
    m->adopted[0] = program->ptr;
    m->adopted[1] = executable->ptr;
    *program = (struct stet_buf){.cap = program->cap};
    *executable = (struct stet_buf){.cap = executable->cap};
    insert(m);
    return m;
}

void stet_intercept_memory_adopt(struct stet_hash key, struct stet_buf *program,
                                 struct stet_buf *executable, uint64_t compile_ns)
{
    adopt(key, program, executable, compile_ns, 1);
}

struct stet_remembered *stet_intercept_memory_hold(struct stet_hash key, struct stet_buf *program,
                                                   struct stet_buf *executable, uint64_t compile_ns)
{
    return adopt(key, program, executable, compile_ns, 2);
}

struct stet_remembered *stet_intercept_memory_get(struct stet_hash key)
{
    struct stet_remembered *m;

    pthread_mutex_lock(&lock);
    m = room ? *place_of(key) : NULL;
    if (m) {
        unlist(m);
        list_as_newest(m);
        m->users++;
    }
    pthread_mutex_unlock(&lock);
    return m;
}

void stet_intercept_memory_put_back(struct stet_remembered *m)
{
    pthread_mutex_lock(&lock);
    drop(m);
    pthread_mutex_unlock(&lock);
}

void stet_intercept_memory_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_intercept_memory_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}
