/* See copysites.h. */
#include "intercept/copysites.h"

#include "base/mem.h"
#include "intercept/layer.h"

#include <pthread.h>

/* Belongs to one thread. Another one that reads it takes `busy` first; a copy that finds it taken
 * is not noted. */
struct thread_sites {
    struct thread_sites *next;
    unsigned long self;
    atomic_bool busy;
    struct stet_pyline_cache cache;
    struct stet_copysite sites[STET_COPIES_MOST]; /* those to the host first */
};

static pthread_key_t key;
static bool ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static struct thread_sites *threads;
static struct stet_copysite
    ended[STET_COPIES_TO_DEVICE]; /* of threads that ended; under the lock */

/* ---- threads that end ---- */

static bool same_site(const struct stet_copysite *a, const struct stet_copysite *b)
{
    bool same = a->count && a->line_count == b->line_count && a->type == b->type &&
                a->rank == b->rank && a->rank <= STET_COPY_RANK &&
                memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;

    for (uint32_t i = 0; same && i < a->line_count; i++)
        same =
            a->lines[i].line == b->lines[i].line && strcmp(a->lines[i].file, b->lines[i].file) == 0;
    return same;
}

/* In place of the same site of an earlier thread, of one that was taken, or of the oldest. */
static void keep_ended(const struct stet_copysite *s)
{
    struct stet_copysite *to = ended;
    uint64_t count = 0;

    for (size_t i = 0; i < STET_COPIES_TO_DEVICE; i++) {
        struct stet_copysite *e = &ended[i];

        if (same_site(e, s)) {
            count = e->count;
            to = e;
            break;
        }
        if ((e->fresh ? e->ns : 0) < (to->fresh ? to->ns : 0))
            to = e;
    }
    *to = *s;
    to->count += count;
}

/* A thread that loads a batch may end before the compile that its batch causes. What it read back
 * is not kept: that belongs to the thread that waits for the compile. */
static void forget(void *p)
{
    struct thread_sites *t = p, **at;

    pthread_mutex_lock(&lock);
    for (size_t i = STET_COPIES_TO_HOST; i < STET_COPIES_MOST; i++) {
        if (t->sites[i].fresh)
            keep_ended(&t->sites[i]);
    }
    for (at = &threads; *at && *at != t; at = &(*at)->next)
        ;
    if (*at)
        *at = t->next;
    pthread_mutex_unlock(&lock);
    stet_mem_free(t);
}

void stet_intercept_copysites_init(void)
{
    ready = stet_layer.values && pthread_key_create(&key, forget) == 0;
}

static struct thread_sites *new_thread(void)
{
    struct thread_sites *t = stet_mem_calloc(1, sizeof *t);

    if (!t || pthread_setspecific(key, t) != 0) {
        stet_mem_free(t);
        return NULL;
    }
    t->self = (unsigned long)pthread_self();
    pthread_mutex_lock(&lock);
    t->next = threads;
    threads = t;
    pthread_mutex_unlock(&lock);
    return t;
}

const char *stet_intercept_copysites_dtype(uint32_t type)
{
    static const char *const names[] = {
#define INTEGER(name, text, python, bits, sign)  [PJRT_Buffer_Type_##name] = python,
#define FLOAT(name, text, python, bits)          [PJRT_Buffer_Type_##name] = python,
#define COMPLEX(name, text, python, bits, parts) [PJRT_Buffer_Type_##name] = python,
#include "program/elements.def"
    };

    return type < sizeof names / sizeof *names && names[type] ? names[type] : "";
}

/* ---- noting ---- */

bool stet_intercept_copysites_wanted(void)
{
    return ready && stet_intercept_pyline_thread();
}

static bool same_place(const struct stet_copysite *s, const struct stet_pyline *lines, unsigned n)
{
    bool same = s->count && s->line_count == n;

    for (unsigned i = 0; same && i < n; i++)
        same = s->lines[i].code == lines[i].code && s->lines[i].line == lines[i].line;
    return same;
}

static bool same_type(const struct stet_copysite *s, const struct stet_host_copy *c)
{
    return s->type == (uint32_t)c->type && s->rank == c->rank && s->rank <= STET_COPY_RANK &&
           memcmp(s->dims, c->dims, s->rank * sizeof *s->dims) == 0;
}

/* The site of this place, or the one that was not used for longest. */
static struct stet_copysite *site_of(struct thread_sites *t, const struct stet_host_copy *c,
                                     const struct stet_pyline *lines, unsigned n, bool *known)
{
    struct stet_copysite *sites = c->to_host ? t->sites : t->sites + STET_COPIES_TO_HOST;
    size_t count = c->to_host ? STET_COPIES_TO_HOST : STET_COPIES_TO_DEVICE, oldest = 0;

    for (size_t i = 0; i < count; i++) {
        *known = same_place(&sites[i], lines, n) && (c->to_host || same_type(&sites[i], c));
        if (*known)
            return &sites[i];
        if (sites[i].ns < sites[oldest].ns)
            oldest = i;
    }
    return &sites[oldest];
}

static void set_lines(struct stet_copysite *s, const struct stet_pyline *lines, unsigned n)
{
    s->count = 0;
    s->line_count = n;
    for (unsigned i = 0; i < n; i++) {
        s->lines[i].code = lines[i].code;
        s->lines[i].line = lines[i].line;
        stet_intercept_pyline_text(lines[i].file, s->lines[i].file, sizeof s->lines[i].file);
        stet_intercept_pyline_text(lines[i].function, s->lines[i].function,
                                   sizeof s->lines[i].function);
    }
}

static void set_copy(struct stet_copysite *s, const struct stet_host_copy *c)
{
    s->to_host = c->to_host;
    s->type = (uint32_t)c->type;
    s->rank = (uint32_t)c->rank;
    if (c->rank && c->rank <= STET_COPY_RANK)
        memcpy(s->dims, c->dims, c->rank * sizeof *s->dims);
    s->bytes = c->bytes;
    s->value_size = 0;
    if (c->value && c->bytes && c->bytes <= STET_COPY_VALUE &&
        stet_layer.capture != STET_CAPTURE_HASH) {
        s->value_size = (uint32_t)c->bytes;
        memcpy(s->value, c->value, c->bytes);
    }
    s->ns = stet_journal_now();
    s->count++;
    s->fresh = true;
}

void stet_intercept_copysites_note(const struct stet_host_copy *copy)
{
    void *python = ready ? stet_intercept_pyline_thread() : NULL;
    struct thread_sites *t = python ? pthread_getspecific(key) : NULL;
    struct stet_pyline lines[STET_PYLINES_MOST];
    struct stet_copysite *s;
    bool known;
    unsigned n;

    if (!python || (!t && !(t = new_thread())) || atomic_exchange(&t->busy, true))
        return;
    n = stet_intercept_pyline_read(&t->cache, python, lines);
    if (n) {
        s = site_of(t, copy, lines, n, &known);
        if (!known)
            set_lines(s, lines, n);
        set_copy(s, copy);
    }
    atomic_store_explicit(&t->busy, false, memory_order_release);
}

/* ---- taking ---- */

/* Moves what is fresh of one thread's sites to `out`, which has `n` already. */
static void take_fresh(struct stet_copysite *sites, size_t count, struct stet_copysite *out,
                       size_t *n, size_t room)
{
    for (size_t i = 0; i < count && *n < room; i++) {
        if (!sites[i].fresh)
            continue;
        sites[i].fresh = false;
        out[(*n)++] = sites[i];
    }
}

size_t stet_intercept_copysites_take(unsigned long thread,
                                     struct stet_copysite out[STET_COPIES_MOST])
{
    size_t n = 0;

    if (!ready || pthread_mutex_trylock(&lock) != 0)
        return 0;
    for (struct thread_sites *t = threads; t; t = t->next) {
        if (atomic_exchange(&t->busy, true))
            continue;
        if (t->self == thread)
            take_fresh(t->sites, STET_COPIES_TO_HOST, out, &n, STET_COPIES_MOST);
        take_fresh(t->sites + STET_COPIES_TO_HOST, STET_COPIES_TO_DEVICE, out, &n,
                   STET_COPIES_MOST);
        atomic_store_explicit(&t->busy, false, memory_order_release);
    }
    take_fresh(ended, STET_COPIES_TO_DEVICE, out, &n, STET_COPIES_MOST);
    pthread_mutex_unlock(&lock);
    return n;
}

void stet_intercept_copysites_after_fork(void)
{
    struct thread_sites *mine = ready ? pthread_getspecific(key) : NULL;

    pthread_mutex_init(&lock, NULL);
    memset(ended, 0, sizeof ended); /* a thread may have been writing */
    threads = mine;
    if (mine) {
        mine->next = NULL;
        atomic_store(&mine->busy, false);
    }
}
