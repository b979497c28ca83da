/* Writes records into files: one lock, one write(2) per record. Every failure is counted and
 * reported in a later loss record. */
#include "journal/write.h"

#include "base/clock.h"
#include "base/mem.h"
#include "journal/segment.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH_MAX = 16384,  /* executions of one record: fits a payload whatever the ids */
    STACKS = 1024,      /* hashes of stacks already written; a collision writes one again */
    LOCK_SECONDS = 1,   /* how long a thread waits for one stuck in the kernel before it drops its
                         * record */
    RESERVE = 64 << 10, /* of the main stream, for the final records */
};

/* Losses that are not reported yet. */
struct unsaid {
    enum stet_loss why;
    uint64_t records, bytes, executions, segments;
    int error;
};

struct stet_journal {
    pthread_mutex_t lock;
    bool fork_locked;
    struct stet_segments files;
    uint64_t sequence;
    struct unsaid unsaid[STET_STREAMS];
    struct stet_buf scratch, order, times;
    struct stet_buf process; /* payload of the process record */
    struct stet_hash stacks[STACKS];
    atomic_uint_least64_t written, lost, bytes, dropped, executions;
    atomic_uint_least64_t busy; /* lost because the lock was not available; not yet in `unsaid` */
    uint64_t executions_before;
    atomic_long pid;
};

uint64_t stet_journal_now(void)
{
    return stet_clock_ns();
}

static void count(atomic_uint_least64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

struct stet_journal *stet_journal_new(const struct stet_journal_options *options)
{
    struct stet_journal *j = stet_mem_calloc(1, sizeof *j);
    size_t cap = 2 * (STET_JOURNAL_PAYLOAD_MAX + STET_JOURNAL_FRAME_SIZE) + RESERVE;

    if (!j)
        return NULL;
    j->scratch.cap = j->order.cap = j->times.cap = j->process.cap = cap;
    if (!stet_segments_init(&j->files, options) || !stet_buf_reserve(&j->scratch, RESERVE) ||
        pthread_mutex_init(&j->lock, NULL) != 0) {
        stet_segments_release(&j->files);
        stet_buf_release(&j->scratch);
        stet_mem_free(j);
        return NULL;
    }
    atomic_store(&j->pid, (long)getpid());
    return j;
}

static bool lock(struct stet_journal *j)
{
    struct timespec until;

    if (pthread_mutex_trylock(&j->lock) == 0)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOCK_SECONDS;
    return pthread_mutex_timedlock(&j->lock, &until) == 0;
}

static void lose(struct stet_journal *j, enum stet_stream stream, enum stet_loss why, int error,
                 uint64_t bytes, uint64_t executions)
{
    struct unsaid *u = &j->unsaid[stream];

    u->why = why;
    u->error = error;
    u->records++;
    u->bytes += bytes;
    u->executions += executions;
    j->sequence++; /* readers see this gap even if the loss is never reported */
    count(&j->lost, 1);
}

static void put_le(char *p, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(unsigned char)(v >> (8 * i));
}

/* Appends one framed record to the scratch buffer. */
static void add_frame(struct stet_journal *j, unsigned kind, uint64_t time_ns, const void *record,
                      struct stet_view payload)
{
    static const char zeroes[STET_JOURNAL_FRAME_SIZE];
    struct stet_buf *b = &j->scratch;
    size_t start = b->len, length;
    char *p;

    stet_buf_add(b, zeroes, sizeof zeroes);
    if (record)
        stet_record_encode(b, stet_record_info(kind), record);
    else
        stet_buf_view(b, payload);
    if (b->failed || b->len - start - STET_JOURNAL_FRAME_SIZE > STET_JOURNAL_PAYLOAD_MAX) {
        b->failed = true;
        return;
    }
    length = b->len - start;
    p = b->ptr + start;
    put_le(p, STET_JOURNAL_MARK, 4);
    put_le(p + 8, length - STET_JOURNAL_FRAME_SIZE, 4);
    put_le(p + 12, kind, 2);
    put_le(p + 16, j->sequence++, 8);
    put_le(p + 24, time_ns, 8);
    put_le(p + 4, stet_journal_checksum(p + 8, length - 8), 4);
}

static void add_head(struct stet_buf *b)
{
    char head[STET_JOURNAL_HEAD_SIZE];

    memcpy(head, STET_JOURNAL_MAGIC, 8);
    put_le(head + 8, STET_JOURNAL_MAJOR, 2);
    put_le(head + 10, STET_JOURNAL_MINOR, 2);
    put_le(head + 12, stet_journal_checksum(head, 12), 4);
    stet_buf_add(b, head, sizeof head);
}

/* What every file begins with, in the same write(2) as its first record. */
static void add_opening(struct stet_journal *j, enum stet_stream stream, uint64_t now)
{
    struct stet_rec_segment segment;

    if (stream == STET_STREAM_MAIN)
        memset(j->stacks, 0, sizeof j->stacks); /* a new file has none of them */
    stet_segments_describe(&j->files, stream, &segment);
    add_head(&j->scratch);
    add_frame(j, STET_REC_segment, now, &segment, (struct stet_view){0});
    if (stream == STET_STREAM_MAIN && j->process.len)
        add_frame(j, STET_REC_process, now, NULL, stet_buf_as_view(&j->process));
}

static void add_losses(struct stet_journal *j, uint64_t now)
{
    for (unsigned s = 0; s < STET_STREAMS; s++) {
        const struct unsaid *u = &j->unsaid[s];
        struct stet_rec_loss loss = {
            .why = stet_view_str(stet_journal_loss_word(u->why)),
            .records = u->records,
            .bytes = u->bytes,
            .executions = u->executions,
            .error = (uint64_t)u->error,
            .stream = s,
            .segments = u->segments,
        };

        if (u->records)
            add_frame(j, STET_REC_loss, now, &loss, (struct stet_view){0});
    }
}

/* Compiles may fill the cap. Records that only add to them stop earlier, and final records may
 * exceed it. */
static uint64_t cap_for(const struct stet_journal *j, unsigned kind)
{
    uint64_t cap = j->files.main_cap;

    switch (kind) {
    case STET_REC_loss:
    case STET_REC_process_end:
        return cap + RESERVE;
    case STET_REC_stack:
    case STET_REC_compile_stack:
    case STET_REC_compile_values:
    case STET_REC_compile_copy:
    case STET_REC_executable_destroy:
    case STET_REC_plugin_error:
    case STET_REC_fault:
    case STET_REC_note:
        return cap - cap / 8;
    default:
        return cap;
    }
}

static void add_dropped(struct stet_journal *j, enum stet_stream stream, enum stet_loss why,
                        const struct stet_dropped *dropped)
{
    struct unsaid *u = &j->unsaid[stream];

    if (!dropped->segments)
        return;
    u->why = why;
    u->segments += dropped->segments;
    u->records += dropped->records;
    u->bytes += dropped->bytes;
    u->executions += dropped->executions;
    count(&j->dropped, dropped->records);
}

/* What goes to disk in one write(2): the opening of a new file, unreported losses, the record. */
static bool compose(struct stet_journal *j, enum stet_stream stream, unsigned kind,
                    uint64_t time_ns, const void *record)
{
    j->scratch.len = 0;
    j->scratch.failed = false;
    if (stet_segments_empty(&j->files, stream))
        add_opening(j, stream, time_ns);
    if (stream == STET_STREAM_MAIN)
        add_losses(j, time_ns);
    if (record)
        add_frame(j, kind, time_ns, record, (struct stet_view){0});
    return !j->scratch.failed;
}

/* Writes one record. `executions` is how many its loss would lose. Without a `record` only losses
 * are reported, and a failure of that loses nothing more. */
static bool put(struct stet_journal *j, unsigned kind, uint64_t time_ns, const void *record,
                uint64_t executions)
{
    enum stet_stream stream = stet_record_info(kind)->stream;
    uint64_t sequence = j->sequence;
    struct stet_dropped deleted = {0}, rotated = {0};
    enum stet_loss why = STET_LOSS_NONE;
    int error = stet_segments_ready(&j->files, stream, &deleted);

    add_dropped(j, stream, STET_LOSS_DELETED, &deleted);
    if (error)
        why = error == ENOENT ? STET_LOSS_DELETED : STET_LOSS_IO;
    else if (!compose(j, stream, kind, time_ns, record))
        why = STET_LOSS_NO_MEMORY;
    else if (stream == STET_STREAM_MAIN && j->files.main_bytes + j->scratch.len > cap_for(j, kind))
        why = STET_LOSS_CAP;
    else if ((error = stet_segments_append(&j->files, stream, stet_buf_as_view(&j->scratch),
                                           executions, &rotated)))
        why = stet_segments_why(error);
    if (why) {
        j->sequence = sequence;
        if (record)
            lose(j, stream, why, error, j->scratch.len, executions);
        return false;
    }
    if (stream == STET_STREAM_MAIN)
        memset(j->unsaid, 0, sizeof j->unsaid);
    add_dropped(j, stream, STET_LOSS_ROTATED, &rotated);
    count(&j->written, 1);
    count(&j->bytes, j->scratch.len);
    return true;
}

static bool unsaid(const struct stet_journal *j)
{
    return j->unsaid[STET_STREAM_MAIN].records || j->unsaid[STET_STREAM_DETAIL].records;
}

static void say_losses(struct stet_journal *j)
{
    if (unsaid(j))
        put(j, STET_REC_loss, stet_journal_now(), NULL, 0);
}

/* Releases the lock. After a success losses are reported; after a failure that would fail too. */
static void leave(struct stet_journal *j, bool ok)
{
    uint64_t busy = atomic_exchange(&j->busy, 0);

    if (busy) {
        j->unsaid[STET_STREAM_MAIN].why = STET_LOSS_BUSY;
        j->unsaid[STET_STREAM_MAIN].records += busy;
    }
    if (ok)
        say_losses(j);
    pthread_mutex_unlock(&j->lock);
}

/* Takes the lock, or counts a loss. A process that was forked without our atfork handlers writes
 * nothing: its lock may be held by a thread that does not exist. */
static bool enter(struct stet_journal *j)
{
    if (!j)
        return false;
    if (atomic_load_explicit(&j->pid, memory_order_relaxed) == (long)getpid()) {
        if (lock(j))
            return true;
        count(&j->busy, 1);
    }
    count(&j->lost, 1);
    return false;
}

bool stet_journal_write_at(struct stet_journal *j, enum stet_rec kind, uint64_t time_ns,
                           const void *record)
{
    int saved = errno;
    bool ok = false;

    if (stet_record_info(kind) && enter(j)) {
        ok = put(j, kind, time_ns, record, 0);
        leave(j, ok);
    }
    errno = saved;
    return ok;
}

bool stet_journal_write(struct stet_journal *j, enum stet_rec kind, const void *record)
{
    return stet_journal_write_at(j, kind, stet_journal_now(), record);
}

static bool put_batch(struct stet_journal *j, const struct stet_exec *execs, size_t n)
{
    struct stet_rec_execs rec;
    bool ok = false;

    j->order.failed = j->times.failed = false;
    if (stet_execs_encode(&rec, &j->order, &j->times, execs, n) == STET_OK) {
        rec.before = j->executions_before;
        ok = put(j, STET_REC_execs, stet_journal_now(), &rec, n);
    } else {
        lose(j, STET_STREAM_DETAIL, STET_LOSS_NO_MEMORY, 0, 0, n);
    }
    j->executions_before += n;
    return ok;
}

bool stet_journal_write_execs(struct stet_journal *j, const struct stet_exec *execs, size_t n)
{
    int saved = errno;
    bool ok = true;

    if (!n)
        return true;
    if (!enter(j))
        return false;
    count(&j->executions, n);
    for (size_t i = 0; i < n; i += BATCH_MAX)
        ok &= put_batch(j, execs + i, n - i < BATCH_MAX ? n - i : BATCH_MAX);
    leave(j, ok);
    errno = saved;
    return ok;
}

/* The hash covers the encoded frames, so it is the same in every process. */
struct stet_hash stet_journal_write_stack(struct stet_journal *j, struct stet_frames frames)
{
    const struct stet_record_info *info = stet_record_info(STET_REC_stack);
    struct stet_rec_stack rec = {.frames = frames};
    int saved = errno;
    bool ok = true;

    if (!frames.count || !enter(j))
        return (struct stet_hash){0};
    j->order.len = 0;
    j->order.failed = false;
    stet_record_encode(&j->order, info, &rec);
    if (j->order.failed) {
        lose(j, STET_STREAM_MAIN, STET_LOSS_NO_MEMORY, 0, 0, 0);
        ok = false;
    } else {
        struct stet_hash *slot;

        rec.stack = stet_hash_bytes(stet_buf_as_view(&j->order));
        slot = &j->stacks[rec.stack.lo % STACKS];
        if (!stet_hash_eq(*slot, rec.stack)) {
            ok = put(j, STET_REC_stack, stet_journal_now(), &rec, 0);
            if (ok)
                *slot = rec.stack;
        }
    }
    leave(j, ok);
    errno = saved;
    return rec.stack;
}

void stet_journal_set_process(struct stet_journal *j, const struct stet_rec_process *process)
{
    if (!enter(j))
        return;
    j->process.len = 0;
    stet_record_encode(&j->process, stet_record_info(STET_REC_process), process);
    if (j->process.failed)
        stet_buf_release(&j->process);
    pthread_mutex_unlock(&j->lock);
}

void stet_journal_fork_prepare(struct stet_journal *j)
{
    if (j)
        j->fork_locked = lock(j);
}

void stet_journal_fork_parent(struct stet_journal *j)
{
    if (j && j->fork_locked)
        pthread_mutex_unlock(&j->lock);
}

void stet_journal_fork_child(struct stet_journal *j)
{
    if (!j)
        return;
    if (j->fork_locked)
        pthread_mutex_unlock(&j->lock);
    else
        pthread_mutex_init(&j->lock, NULL); /* the thread that held it does not exist here */
    stet_segments_forked(&j->files);
    j->sequence = j->executions_before = 0;
    memset(j->unsaid, 0, sizeof j->unsaid);
    memset(j->stacks, 0, sizeof j->stacks);
    atomic_store(&j->written, 0);
    atomic_store(&j->lost, 0);
    atomic_store(&j->bytes, 0);
    atomic_store(&j->dropped, 0);
    atomic_store(&j->executions, 0);
    atomic_store(&j->busy, 0);
    atomic_store(&j->pid, (long)getpid());
}

struct stet_journal_stats stet_journal_stats(struct stet_journal *j)
{
    struct stet_journal_stats s = {0};

    if (!j)
        return s;
    s.written = atomic_load(&j->written);
    s.lost = atomic_load(&j->lost);
    s.bytes = atomic_load(&j->bytes);
    s.dropped = atomic_load(&j->dropped);
    s.executions = atomic_load(&j->executions);
    return s;
}

void stet_journal_free(struct stet_journal *j)
{
    if (!j)
        return;
    if (enter(j)) {
        leave(j, true);
    }
    pthread_mutex_destroy(&j->lock);
    stet_segments_release(&j->files);
    stet_buf_release(&j->scratch);
    stet_buf_release(&j->order);
    stet_buf_release(&j->times);
    stet_buf_release(&j->process);
    stet_mem_free(j);
}
