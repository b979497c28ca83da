/* Assigns times to executions, counts them, and passes them on in batches. */
#include "intercept/drain.h"

#include "base/mem.h"
#include "base/vec.h"
#include "intercept/layer.h"
#include "intercept/plugin.h"
#include "intercept/pod.h"

#include <stdio.h>

enum { BATCH = 8192 };
#define TICKS_MASK ((UINT64_C(1) << 44) - 1)

static uint64_t first_ticks, first_ns; /* the anchor */
static uint64_t last_ns, last_run;     /* the last execution written: its time, its executable */
static struct stet_exec batch[BATCH];
static uint64_t *counts; /* by executable id */
static size_t counts_room;
static uint64_t executions, missed_reported;
static uint64_t transfers_ns;
static uint64_t transfers_reported[STET_PLUGINS][5];

void stet_drain_init(void)
{
    first_ticks = stet_ticks();
    first_ns = transfers_ns = stet_journal_now();
}

/* If the counters cannot grow, counting by executable stops; the total stays right. */
static void count(uint64_t id, uint64_t n)
{
    if (id >= counts_room) {
        size_t before = counts_room;

        if (!stet_vec_grow(&counts, &counts_room, before, id + 1 - before, sizeof *counts, 0))
            return;
        memset(counts + before, 0, (counts_room - before) * sizeof *counts);
    }
    counts[id] += n;
}

void stet_drain_missed(uint64_t executable, uint64_t missed)
{
    if (missed)
        count(executable, missed);
}

/* The time of a stamp, from its age. */
static uint64_t stamp_ns(uint64_t stamp, uint64_t now_ticks, uint64_t now_ns)
{
    uint64_t age = ((now_ticks >> 4) - stamp) & TICKS_MASK;
    uint64_t ticks = now_ticks - first_ticks, ns = now_ns - first_ns;

    if (age > TICKS_MASK / 2 || !ticks) /* the counters of processors differ slightly */
        return now_ns;
    age = (uint64_t)((double)(age << 4) * ((double)ns / (double)ticks));
    return age > ns ? first_ns : now_ns - age;
}

/* Times never go back, though the processors' counters differ by a little. All were over at
 * `until_ns`. */
static void order_times(struct stet_exec *execs, size_t n, uint64_t until_ns)
{
    for (size_t i = 0; i < n; i++) {
        if (execs[i].time_ns > until_ns)
            execs[i].time_ns = until_ns;
        if (execs[i].time_ns < last_ns)
            execs[i].time_ns = last_ns;
        last_ns = execs[i].time_ns;
    }
}

uint64_t stet_drain_last_run(uint64_t *executable)
{
    if (executable)
        *executable = executions ? last_run : 0;
    return executions ? last_ns : 0;
}

static size_t take(uint64_t end, uint64_t now_ticks, uint64_t now_ns)
{
    size_t n = 0;

    while (n < BATCH) {
        uint64_t word = stet_ring_take(&stet_layer.ring, end);

        if (!word)
            break;
        batch[n].executable = word % STET_RING_IDS;
        batch[n].time_ns = stamp_ns(word >> 20, now_ticks, now_ns);
        count(batch[n].executable, 1);
        stet_intercept_pod_ran(batch[n].executable);
        n++;
    }
    return n;
}

static void write_missed(struct stet_journal *j)
{
    uint64_t missed = atomic_load_explicit(&stet_layer.missed, memory_order_relaxed);
    struct stet_rec_loss loss = {.why = stet_view_str(stet_journal_loss_word(STET_LOSS_BUSY)),
                                 .executions = missed - missed_reported,
                                 .stream = STET_STREAM_DETAIL};

    if (loss.executions && stet_journal_write(j, STET_REC_loss, &loss))
        missed_reported = missed;
}

bool stet_drain_ring(struct stet_journal *j, uint64_t end, uint64_t until_ns)
{
    uint64_t now_ticks = stet_ticks(), now_ns = stet_journal_now();
    bool any = false;
    size_t n;

    while ((n = take(end, now_ticks, now_ns)) > 0) {
        if (!last_ns)
            last_ns = first_ns;
        order_times(batch, n, until_ns);
        executions += n;
        last_run = batch[n - 1].executable;
        stet_journal_write_execs(j, batch, n);
        any = true;
    }
    write_missed(j);
    return any;
}

static bool plugin_transfers(struct stet_journal *j, struct stet_plugin *p, uint64_t reported[5])
{
    uint64_t now[5] = {
        atomic_load_explicit(&p->to_device_count, memory_order_relaxed),
        atomic_load_explicit(&p->to_device_bytes, memory_order_relaxed),
        atomic_load_explicit(&p->to_host_count, memory_order_relaxed),
        atomic_load_explicit(&p->to_host_bytes, memory_order_relaxed),
        atomic_load_explicit(&p->between_count, memory_order_relaxed),
    };
    struct stet_rec_transfers record = {
        .begin_ns = transfers_ns,
        .to_device_count = now[0] - reported[0],
        .to_device_bytes = now[1] - reported[1],
        .to_host_count = now[2] - reported[2],
        .to_host_bytes = now[3] - reported[3],
        .between_count = now[4] - reported[4],
        .plugin = p->id,
    };

    if (!record.to_device_count && !record.to_host_count && !record.between_count)
        return false;
    if (stet_journal_write(j, STET_REC_transfers, &record))
        memcpy(reported, now, sizeof now);
    return true;
}

bool stet_drain_transfers(struct stet_journal *j, bool last)
{
    uint64_t now = stet_journal_now();
    bool any = false;

    if (!last && now - transfers_ns < UINT64_C(1000000000))
        return false;
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        struct stet_plugin *p = stet_plugin_at(i);

        if (p)
            any |= plugin_transfers(j, p, transfers_reported[i]);
    }
    transfers_ns = now;
    return any;
}

static void count_missed_of_the_living(void)
{
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        struct stet_plugin *p = stet_plugin_at(i);

        for (size_t k = 0; p && p->handles.entries && k < STET_HANDLES_SIZE; k++) {
            struct stet_handle *h = &p->handles.entries[k];

            if (atomic_load(&h->key) > 1)
                stet_drain_missed(atomic_load(&h->id), atomic_exchange(&h->missed, 0));
        }
    }
}

/* How often the framework itself requested memory statistics. */
static void note_memory_asked(struct stet_journal *j)
{
    uint64_t asked = 0;
    char text[24];
    struct stet_rec_note note = {.name = STET_VIEW("memory-stats-asked")};

    for (size_t i = 0; i < STET_PLUGINS; i++) {
        struct stet_plugin *p = stet_plugin_at(i);

        asked += p ? atomic_load(&p->memory_asked) : 0;
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)asked);
    note.text = stet_view_str(text);
    if (asked)
        stet_journal_write(j, STET_REC_note, &note);
}

static void list_counts(struct stet_rec_process_end *record, uint64_t *lists)
{
    size_t n = 0;

    for (size_t id = 0; id < counts_room; id++) {
        if (!counts[id])
            continue;
        lists[n] = id;
        lists[counts_room + n++] = counts[id];
    }
    record->executables = (struct stet_u64s){lists, n};
    record->counts = (struct stet_u64s){lists + counts_room, n};
}

void stet_drain_end(struct stet_journal *j)
{
    struct stet_rec_process_end record = {.how = STET_VIEW("exit")};
    uint64_t *lists;

    stet_drain_transfers(j, true);
    count_missed_of_the_living();
    note_memory_asked(j);
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        record.to_device_count += transfers_reported[i][0];
        record.to_device_bytes += transfers_reported[i][1];
        record.to_host_count += transfers_reported[i][2];
        record.to_host_bytes += transfers_reported[i][3];
    }
    record.compiles = atomic_load(&stet_layer.compiles);
    record.loads = atomic_load(&stet_layer.loads);
    record.executions = executions + atomic_load(&stet_layer.missed);
    record.errors = atomic_load(&stet_layer.errors);
    for (size_t i = 0; i < STET_FAULTS; i++)
        record.faults += atomic_load(&stet_layer.faults[i]);
    lists = stet_mem_calloc(counts_room, 2 * sizeof *lists);
    if (lists)
        list_counts(&record, lists);
    stet_journal_write(j, STET_REC_process_end, &record);
    stet_mem_free(lists);
}

void stet_drain_reset(void)
{
    if (counts)
        memset(counts, 0, counts_room * sizeof *counts);
    executions = missed_reported = 0;
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        struct stet_plugin *p = stet_plugin_at(i);

        memset(transfers_reported[i], 0, sizeof transfers_reported[i]);
        if (!p)
            continue;
        atomic_store(&p->to_device_count, 0);
        atomic_store(&p->to_device_bytes, 0);
        atomic_store(&p->to_host_count, 0);
        atomic_store(&p->to_host_bytes, 0);
        atomic_store(&p->between_count, 0);
    }
    atomic_store(&stet_layer.missed, 0);
    atomic_store(&stet_layer.compiles, 0);
    atomic_store(&stet_layer.loads, 0);
    atomic_store(&stet_layer.errors, 0);
}
