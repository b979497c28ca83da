/* Polls the run, measures rates, and selects ranks. */
#include "monitor/top.h"

#include "base/clock.h"

void stet_monitor_top_init(struct stet_top *t, struct stet_monitor_attach *a)
{
    *t = (struct stet_top){.attach = a, .rank = STET_ALL_RANKS, .now_ns = stet_clock_wall_ns()};
}

static void measure_transfers(struct stet_top *t)
{
    struct stet_pulse_sum s = stet_pulse_add_up(t->attach->pulse, STET_ALL_RANKS, t->now_ns);
    double seconds = (double)(t->now_ns - t->last_ns) / 1e9;

    for (int i = 0; i < STET_MEASURED; i++) {
        uint64_t more = s.transfer_bytes[i] - t->last_bytes[i];

        if (t->last_ns && seconds > 0)
            t->bytes_rate[i] = s.transfer_bytes[i] < t->last_bytes[i] ? 0 : (double)more / seconds;
        t->last_bytes[i] = s.transfer_bytes[i];
    }
    t->rates = t->last_ns != 0;
    t->last_ns = t->now_ns;
}

void stet_monitor_top_release(struct stet_top *t)
{
    stet_monitor_ranks_release(&t->still);
}

/* A process writes its journal while it executes. If none of a running job has written for
 * STILL_NS, its ranks are looked at, every LOOK_NS at most. */
static void look_at_still(struct stet_top *t)
{
    enum { STILL_S = 5, LOOK_S = 2 };
    const struct stet_pulse *p = t->attach->pulse;
    uint64_t last = 0, second = UINT64_C(1000000000);

    for (size_t i = 0; i < p->process_count; i++)
        last =
            p->processes[i].used && p->processes[i].last_ns > last ? p->processes[i].last_ns : last;
    t->still_ns = t->attach->running && last && t->now_ns > last ? t->now_ns - last : 0;
    if (t->still_ns < STILL_S * second) {
        stet_monitor_ranks_release(&t->still);
        t->still = (struct stet_rank_states){0};
        return;
    }
    if (t->still.count && t->now_ns < t->looked_ns + LOOK_S * second)
        return;
    t->looked_ns = t->now_ns;
    stet_monitor_ranks_release(&t->still);
    if (stet_monitor_ranks_look(&t->still, t->attach, NULL) != STET_OK)
        t->still = (struct stet_rank_states){0};
}

bool stet_monitor_top_poll(struct stet_top *t)
{
    bool more = stet_monitor_attach_poll(t->attach);

    t->now_ns = more                      ? stet_clock_wall_ns()
                : t->attach->run.ended_ns ? t->attach->run.ended_ns
                                          : t->now_ns;
    measure_transfers(t);
    look_at_still(t);
    return more;
}

/* Returns the smallest rank above `rank` (or the largest below); STET_ALL_RANKS when there is
 * none. */
static int64_t neighbour(const struct stet_pulse *p, int64_t rank, int direction)
{
    int64_t found = STET_ALL_RANKS;

    for (size_t i = 0; i < p->process_count + p->torch_count; i++) {
        int64_t r =
            i < p->process_count ? p->processes[i].rank : p->torch[i - p->process_count].rank;

        if (i < p->process_count && !p->processes[i].used)
            continue;
        if (rank != STET_ALL_RANKS && (direction > 0 ? r <= rank : r >= rank))
            continue;
        if (found == STET_ALL_RANKS || (direction > 0 ? r < found : r > found))
            found = r;
    }
    return found;
}

void stet_monitor_top_next_rank(struct stet_top *t, int direction)
{
    t->rank = neighbour(t->attach->pulse, t->rank, direction);
}

const char *stet_monitor_top_sort_name(enum stet_top_sort sort)
{
    static const char *const names[] = {"rank", "step rate", "compiles", "time lost",
                                        "last change"};

    return names[sort];
}
