/* A table from buffer address to the execution that produced it, valid for one window. */
#include "journal/flow.h"

#include "base/mem.h"

#include <sched.h>

enum {
    WAYS = 8,
    BUCKETS = 8192,
    BATCH_CAP = 200 << 10, /* an entry more still fits a payload */
    ENTRY_MAX = 40 + 10 * STET_FLOW_SOURCES,
    SPINS = 200,
};

/* A bucket is a cache line. A slot is tag << 20 | epoch << 17 | entry: the tag is from the address,
 * the entry is index << 1 | external, and a slot of another epoch is free. Epochs are 1 to 7; when
 * they are used up the table is cleared. */
enum { EPOCH_SHIFT = 17, TAG_SHIFT = 20, EPOCHS = 7, ENTRY_MASK = (1 << EPOCH_SHIFT) - 1 };
_Static_assert(STET_FLOW_TOTAL * 2 <= ENTRY_MASK + 1, "every entry of a window fits a slot");

struct stet_flow_bucket {
    _Alignas(64) uint64_t slots[WAYS];
};

void stet_journal_flow_init(struct stet_flow *f)
{
    *f = (struct stet_flow){.total = STET_FLOW_TOTAL};
    atomic_flag_clear(&f->lock);
    f->batch.cap = f->spare.cap = BATCH_CAP + ENTRY_MAX + 1;
}

void stet_journal_flow_release(struct stet_flow *f)
{
    atomic_store(&f->left, 0);
    stet_mem_free(f->memory);
    stet_mem_free((void *)f->results);
    stet_buf_release(&f->batch);
    stet_buf_release(&f->spare);
    f->buckets = NULL;
    f->memory = NULL;
    f->results = NULL;
}

/* Held for microseconds. A thread that cannot get it soon gives up, and the window is abandoned. */
static bool lock(struct stet_flow *f)
{
    for (int i = 0; i < SPINS; i++) {
        if (!atomic_flag_test_and_set_explicit(&f->lock, memory_order_acquire))
            return true;
        if (i % 20 == 19)
            sched_yield();
    }
    atomic_store_explicit(&f->broken, true, memory_order_relaxed);
    return false;
}

static void unlock(struct stet_flow *f)
{
    atomic_flag_clear_explicit(&f->lock, memory_order_release);
}

/* A new window has no data of the one before. */
static void new_window(struct stet_flow *f)
{
    if (f->epoch++ == EPOCHS) {
        memset(f->buckets, 0, BUCKETS * sizeof *f->buckets);
        f->epoch = 1;
    }
    f->window++;
    f->next = 0;
    atomic_store_explicit(&f->broken, false, memory_order_relaxed);
}

struct tables {
    void *memory;
    _Atomic uint32_t *results;
};

static struct tables new_tables(void)
{
    return (struct tables){stet_mem_calloc(BUCKETS + 1, sizeof(struct stet_flow_bucket)),
                           stet_mem_calloc(STET_FLOW_IDS, sizeof(_Atomic uint32_t))};
}

static void free_tables(struct tables t)
{
    stet_mem_free(t.memory);
    stet_mem_free((void *)t.results);
}

/* With the lock. */
static void set_tables(struct stet_flow *f, struct tables t)
{
    f->memory = t.memory;
    f->buckets = (void *)(((uintptr_t)t.memory + 63) & ~(uintptr_t)63);
    f->results = t.results;
}

/* With the lock. */
static bool has_tables(struct stet_flow *f)
{
    struct tables t;

    if (f->results)
        return true;
    t = new_tables();
    if (t.memory && t.results)
        set_tables(f, t);
    else
        free_tables(t);
    return f->results;
}

void stet_journal_flow_prepare(struct stet_flow *f)
{
    struct tables t = new_tables();

    if (t.memory && t.results)
        atomic_store_explicit(&t.results[0], 0, memory_order_relaxed); /* here, not there */
    if (t.memory && t.results && lock(f)) {
        if (!f->results) {
            set_tables(f, t);
            t = (struct tables){0};
        }
        unlock(f);
    }
    free_tables(t);
}

void stet_journal_flow_executable(struct stet_flow *f, uint64_t executable, size_t results)
{
    if (!lock(f))
        return;
    if (f->total && has_tables(f)) {
        if (executable < STET_FLOW_IDS && results < UINT32_MAX)
            atomic_store_explicit(&f->results[executable], (uint32_t)results + 1,
                                  memory_order_relaxed);
        if (atomic_load_explicit(&f->left, memory_order_relaxed) == 0)
            new_window(f);
        atomic_store_explicit(&f->left, f->total < STET_FLOW_WINDOW ? f->total : STET_FLOW_WINDOW,
                              memory_order_relaxed);
    }
    unlock(f);
}

/* Another buffer's address gives another product, and the 57 bits of it that are used differ. */
static uint64_t mixed(const void *buffer)
{
    return (uint64_t)(uintptr_t)buffer * 0x9e3779b97f4a7c15u;
}

static uint64_t *bucket_of(struct stet_flow *f, const void *buffer)
{
    return f->buckets[mixed(buffer) >> 51].slots; /* 13 bits: BUCKETS */
}

/* What a slot of this buffer in this epoch has above its entry. */
static uint64_t label_of(const struct stet_flow *f, const void *buffer)
{
    return (mixed(buffer) << 13 >> TAG_SHIFT << TAG_SHIFT) | (uint64_t)f->epoch << EPOCH_SHIFT;
}

static uint64_t *find(struct stet_flow *f, const void *buffer)
{
    uint64_t *b = bucket_of(f, buffer), label = label_of(f, buffer);

    for (int i = 0; i < WAYS; i++)
        if ((b[i] & ~(uint64_t)ENTRY_MASK) == label)
            return &b[i];
    return NULL;
}

static bool is_free(const struct stet_flow *f, uint64_t slot)
{
    return (slot >> EPOCH_SHIFT & EPOCHS) != f->epoch;
}

static void put(struct stet_flow *f, const void *buffer, uint32_t entry)
{
    uint64_t *b = bucket_of(f, buffer), *slot = find(f, buffer);

    for (int i = 0; !slot && i < WAYS; i++)
        if (is_free(f, b[i]))
            slot = &b[i];
    if (slot)
        *slot = label_of(f, buffer) | entry;
    else
        atomic_store_explicit(&f->broken, true, memory_order_relaxed); /* too many alive */
}

/* Long lists miss the cache at every buffer; prefetching all at once takes a tenth of the time. */
static void prefetch(struct stet_flow *f, const void *const *buffers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(bucket_of(f, buffers[i]));
}

struct sources {
    uint32_t from[STET_FLOW_SOURCES], args[STET_FLOW_SOURCES];
    size_t count;
};

static bool add_source(struct sources *s, uint32_t from)
{
    for (size_t i = s->count; i-- > 0;) {
        if (s->from[i] == from) {
            s->args[i]++;
            return true;
        }
    }
    if (s->count == STET_FLOW_SOURCES)
        return false;
    s->from[s->count] = from;
    s->args[s->count++] = 1;
    return true;
}

static bool find_sources(struct stet_flow *f, struct sources *s, const void *const *args, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t *slot = args[i] ? find(f, args[i]) : NULL;
        uint32_t from = slot ? (uint32_t)(*slot & ENTRY_MASK) : f->next << 1 | 1;

        if (!add_source(s, from))
            return false;
        if (!slot && args[i])
            put(f, args[i], from);
    }
    return true;
}

/* executable, arguments, results, sources, then for each source distance << 1 | external,
 * arguments */
static void add_entry(struct stet_flow *f, uint64_t number, uint64_t executable, size_t args,
                      size_t results, const struct sources *s)
{
    struct stet_buf *b = &f->batch;

    if (f->batch_count == 0) {
        f->batch_window = f->window;
        f->batch_first = f->next;
        f->batch_before = number;
    }
    stet_buf_varint(b, executable);
    stet_buf_varint(b, number - f->batch_before);
    stet_buf_varint(b, args);
    stet_buf_varint(b, results);
    stet_buf_varint(b, s->count);
    for (size_t i = 0; i < s->count; i++) {
        stet_buf_varint(b, (uint64_t)(f->next - (s->from[i] >> 1)) << 1 | (s->from[i] & 1));
        stet_buf_varint(b, s->args[i]);
    }
    f->batch_count++;
    f->next++;
}

/* What the current batch can still take: it covers one window and must be written out now and
 * then. */
static bool batch_open(const struct stet_flow *f, uint64_t number)
{
    return f->batch_count == 0 ||
           (f->batch.len < BATCH_CAP && f->batch_window == f->window && number >= f->batch_before);
}

static bool follow(struct stet_flow *f, uint64_t number, uint64_t executable,
                   const void *const *args, size_t arg_count, const void *const *results)
{
    uint32_t result_count =
        executable < STET_FLOW_IDS
            ? atomic_load_explicit(&f->results[executable], memory_order_relaxed)
            : 0;
    struct sources s;

    prefetch(f, args, arg_count);
    if (result_count)
        prefetch(f, results, result_count - 1);
    s.count = 0;
    if (!result_count || !batch_open(f, number) || !find_sources(f, &s, args, arg_count))
        return false;
    add_entry(f, number, executable, arg_count, --result_count, &s);
    for (size_t i = 0; i < result_count; i++)
        if (results[i])
            put(f, results[i], (f->next - 1) << 1);
    return !f->batch.failed;
}

void stet_journal_flow_executed(struct stet_flow *f, uint64_t number, uint64_t executable,
                                const void *const *args, size_t arg_count,
                                const void *const *results)
{
    uint32_t left;

    if (!lock(f))
        return;
    left = atomic_load_explicit(&f->left, memory_order_relaxed);
    if (atomic_load_explicit(&f->broken, memory_order_relaxed))
        new_window(f);
    if (left) {
        if (!follow(f, number, executable, args, arg_count, results))
            atomic_store_explicit(&f->broken, true, memory_order_relaxed);
        atomic_store_explicit(&f->left, left - 1, memory_order_relaxed);
        f->total--;
    }
    unlock(f);
}

void stet_journal_flow_gone(struct stet_flow *f, const void *buffer)
{
    uint64_t *slot;

    if (!lock(f))
        return;
    slot = f->memory ? find(f, buffer) : NULL;
    if (slot)
        *slot = 0;
    unlock(f);
}

bool stet_journal_flow_take(struct stet_flow *f, struct stet_rec_flow *rec)
{
    struct stet_buf full;

    if (!lock(f))
        return false;
    *rec = (struct stet_rec_flow){
        .window = f->batch_window,
        .first = f->batch_first,
        .count = f->batch_count,
        .before = f->batch_before,
    };
    full = f->batch;
    f->batch = f->spare;
    f->batch.len = 0;
    f->batch.failed = false;
    f->batch_count = 0;
    unlock(f);
    f->spare = full; /* only this thread touches it */
    rec->entries = stet_buf_as_view(&full);
    return rec->count && !full.failed;
}

bool stet_journal_flow_write(struct stet_flow *f, struct stet_journal *j)
{
    struct stet_rec_flow rec;

    return stet_journal_flow_take(f, &rec) && stet_journal_write(j, STET_REC_flow, &rec);
}

void stet_journal_flow_forked(struct stet_flow *f)
{
    f->total = STET_FLOW_TOTAL;
    atomic_store(&f->left, 0);
    atomic_flag_clear(&f->lock);
    if (f->spare.ptr == f->batch.ptr) /* caught in stet_journal_flow_take */
        f->spare = (struct stet_buf){.cap = f->batch.cap};
    f->batch.len = f->spare.len = 0;
    f->batch_count = 0;
}

void stet_journal_flow_cursor_init(struct stet_flow_cursor *c, const struct stet_rec_flow *rec)
{
    stet_reader_init(&c->reader, rec->entries, 0);
    c->index = (uint32_t)rec->first;
    c->left = rec->count < UINT32_MAX ? (uint32_t)rec->count : 0;
    c->number = rec->before;
}

static void read_source(struct stet_reader *r, struct stet_flow_entry *e)
{
    uint64_t from = stet_reader_varint(r), args = stet_reader_varint(r);

    if (from >> 1 > e->index || (from >> 1 == 0 && !(from & 1)) || args > e->arg_count)
        stet_reader_fail(r, "an argument whose source is not known");
    else
        e->sources[e->source_count++] =
            (struct stet_flow_source){e->index - (uint32_t)(from >> 1), (uint32_t)args, from & 1};
}

enum stet_rc stet_journal_flow_next(struct stet_flow_cursor *c, struct stet_flow_entry *e,
                                    struct stet_err *err)
{
    struct stet_reader *r = &c->reader;
    uint64_t args, results, sources;

    if (!c->left)
        return STET_NOT_FOUND;
    c->left--;
    e->executable = stet_reader_varint(r);
    e->number = c->number + stet_reader_varint(r);
    args = stet_reader_varint(r);
    results = stet_reader_varint(r);
    sources = stet_reader_varint(r);
    if (args > UINT32_MAX || results > UINT32_MAX || sources > STET_FLOW_SOURCES)
        stet_reader_fail(r, "too many arguments");
    e->index = c->index++;
    e->arg_count = (uint32_t)args;
    e->result_count = (uint32_t)results;
    e->source_count = 0;
    for (uint64_t i = 0; i < sources && stet_reader_ok(r); i++)
        read_source(r, e);
    if (!stet_reader_ok(r))
        c->left = 0;
    return stet_reader_finish(r, "flow", err);
}
