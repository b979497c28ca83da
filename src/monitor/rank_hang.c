/* See rank_hang.h. */
#include "monitor/rank_hang.h"

#include "base/human.h"

/* Kinds that hold others up, the most telling first. */
static const enum stet_rank_kind culprits[] = {STET_RANK_DEAD,      STET_RANK_STOPPED,
                                               STET_RANK_COMPILING, STET_RANK_HOST,
                                               STET_RANK_WAITING,   STET_RANK_MISSING};

/* A rank that started a program a moment ago does not wait for others. */
#define WAITS_NS UINT64_C(3000000000)

static bool is_inside(const struct stet_rank_state *s)
{
    return s->kind == STET_RANK_DEVICE;
}

static void hold(struct stet_rank_hang *h, const struct stet_rank_state *s)
{
    if (!h->count && s->now && s->line) {
        h->file = s->file;
        h->line = s->line;
    }
    if (h->count < STET_HANG_RANKS)
        h->ranks[h->count] = s->rank;
    h->count++;
}

/* All ranks are inside programs: those that have started the last one less often have not come. */
static void compare_counts(struct stet_rank_hang *h, const struct stet_rank_states *s)
{
    for (size_t i = 0; i < s->count; i++) {
        bool is_behind = false;

        for (size_t k = 0; k < s->count; k++)
            is_behind |= s->items[k].behind && is_inside(&s->items[k]) &&
                         s->items[k].behind_rank == s->items[i].rank;
        if (is_behind)
            hold(h, &s->items[i]);
    }
    h->behind = h->count > 0;
    h->kind = STET_RANK_DEVICE;
}

/* Is it one program, which all have started equally often? */
static bool is_common(const struct stet_rank_states *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!is_inside(&s->items[i]) || !s->items[i].program.len ||
            s->items[i].runs != s->items[0].runs ||
            !stet_view_eq(s->items[i].program, s->items[0].program))
            return false;
    }
    return true;
}

void stet_monitor_rank_hang(struct stet_rank_hang *out, const struct stet_rank_states *s)
{
    size_t inside = 0;

    *out = (struct stet_rank_hang){0};
    for (size_t i = 0; i < s->count; i++) {
        if (is_inside(&s->items[i]) && s->items[i].age_ns < WAITS_NS)
            return;
        inside += is_inside(&s->items[i]);
        if (is_inside(&s->items[i]) && !out->program.len)
            out->program = s->items[i].program;
    }
    if (!inside || s->count < 2)
        return;
    for (size_t k = 0; k < sizeof culprits / sizeof *culprits && !out->count; k++) {
        out->kind = culprits[k];
        for (size_t i = 0; i < s->count; i++) {
            if (s->items[i].kind == culprits[k])
                hold(out, &s->items[i]);
        }
    }
    if (!out->count)
        compare_counts(out, s);
    out->all = !out->count && is_common(s);
    out->waiting = inside - (out->behind ? out->count : 0);
    out->found = (out->count && out->waiting) || out->all;
}

/* ---- words ---- */

static const char *doing(const struct stet_rank_hang *h)
{
    switch (h->kind) {
    case STET_RANK_DEAD:
        return "dead";
    case STET_RANK_STOPPED:
        return "stopped";
    case STET_RANK_COMPILING:
        return "compiling";
    case STET_RANK_HOST:
        return "in host code";
    case STET_RANK_WAITING:
        return "blocked in host code";
    default:
        return "missing";
    }
}

static void put_ranks(struct stet_buf *out, const struct stet_rank_hang *h)
{
    size_t listed = h->count < STET_HANG_RANKS ? h->count : STET_HANG_RANKS;

    stet_buf_str(out, h->count == 1 ? "rank " : "ranks ");
    for (size_t i = 0; i < listed; i++)
        stet_buf_printf(out, "%s%lld",
                        !i                                      ? ""
                        : i + 1 == listed && listed == h->count ? " and "
                                                                : ", ",
                        (long long)h->ranks[i]);
    if (h->count > listed)
        stet_buf_printf(out, " and %zu more", h->count - listed);
}

static void put_place(struct stet_buf *out, const struct stet_rank_hang *h)
{
    if (h->file && h->count == 1)
        stet_buf_printf(out, " at %.*s:%llu", STET_FMT(stet_text_path(stet_view_str(h->file))),
                        (unsigned long long)h->line);
}

static void put_culprits(struct stet_buf *out, const struct stet_rank_hang *h)
{
    bool one = h->count == 1;

    put_ranks(out, h);
    if (h->behind) {
        put_place(out, h);
        stet_buf_printf(out, " %s not reached a collective that the others are in",
                        one ? "has" : "have");
        return;
    }
    stet_buf_printf(out, " %s %s", one ? "is" : "are", doing(h));
    put_place(out, h);
    if (h->kind == STET_RANK_HOST || h->kind == STET_RANK_WAITING)
        stet_buf_printf(out, " and %s not come", one ? "has" : "have");
}

void stet_monitor_rank_hang_text(struct stet_buf *out, const struct stet_rank_hang *h)
{
    if (!h->found)
        return;
    if (h->all) {
        stet_buf_printf(
            out,
            "all %zu ranks wait in %.*s, and all have started it equally often: a device, "
            "or the network between them, makes no progress",
            h->waiting, STET_FMT(h->program));
        return;
    }
    put_culprits(out, h);
    stet_buf_str(out, "; ");
    stet_text_count(out, h->waiting, "rank");
    stet_buf_printf(out, " wait%s for %s", h->waiting == 1 ? "s" : "",
                    h->count == 1 ? "it" : "them");
    if (h->program.len)
        stet_buf_printf(out, " in %.*s", STET_FMT(stet_text_function(h->program)));
}
