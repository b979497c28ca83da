/* The state of `stet top`: the run, the rank and the order of rows. */
#include "cli/top.h"

#include <time.h>

static uint64_t wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void stet_cli_top_init(struct stet_top *t, struct stet_monitor_attach *a)
{
    *t = (struct stet_top){.attach = a, .rank = STET_ALL_RANKS, .now_ns = wall_ns()};
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

bool stet_cli_top_poll(struct stet_top *t)
{
    bool more = stet_monitor_attach_poll(t->attach);

    t->now_ns = more ? wall_ns() : t->attach->run.ended_ns ? t->attach->run.ended_ns : t->now_ns;
    measure_transfers(t);
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

void stet_cli_top_next_rank(struct stet_top *t, int direction)
{
    t->rank = neighbour(t->attach->pulse, t->rank, direction);
}

const char *stet_cli_top_sort_name(enum stet_top_sort sort)
{
    static const char *const names[] = {"rank", "step rate", "compiles", "time lost",
                                        "last change"};

    return names[sort];
}

void stet_cli_top_help(const struct stet_top *t, struct stet_page *p)
{
    static const char *const lines[] = {
        "",
        " q          quit                       p, space   stop moving; again: go on",
        " s, S       another order (now: %s)",
        " r, R       another rank, or all of them; arrows too",
        " n          the newest run             h, ?       this, and back",
        "",
        " steps      completed steps of the loop; a second: those of the slowest rank",
        " again      compiles of a program that was compiled before in another form",
        " waited     what the program waited for them, from tracing to execution",
        " store      compiles that were served: from this process's memory, disk, …",
        " family     programs of one function",
        " yellow     a family that grew within a minute; time that was waited",
        " -          not known: a rank that is not in the environment, no loop",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (strstr(lines[i], "%s"))
            stet_cli_page_printf(p, STET_STYLE_PLAIN, " s, S       another order (now: %s)",
                                 stet_cli_top_sort_name(t->sort));
        else
            stet_cli_page_put(p, STET_STYLE_PLAIN, stet_view_str(lines[i]));
        stet_cli_page_line(p);
    }
}
