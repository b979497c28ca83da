/* See rank_hang.h. */
#include "monitor/rank_hang.h"

#include "base/human.h"

/* Kinds that hold others up, the most telling first. */
static const enum stet_rank_kind culprits[] = {STET_RANK_DEAD,      STET_RANK_STOPPED,
                                               STET_RANK_COMPILING, STET_RANK_HOST,
                                               STET_RANK_WAITING,   STET_RANK_MISSING};

static bool is_inside(const struct stet_rank_state *s)
{
    return s->kind == STET_RANK_DEVICE;
}

static void hold(struct stet_rank_hang *h, const struct stet_rank_state *s)
{
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

void stet_monitor_rank_hang(struct stet_rank_hang *out, const struct stet_rank_states *s)
{
    size_t inside = 0;

    *out = (struct stet_rank_hang){0};
    for (size_t i = 0; i < s->count; i++) {
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
    out->waiting = inside - (out->behind ? out->count : 0);
    out->found = out->count && out->waiting;
}

static const char *doing(const struct stet_rank_hang *h)
{
    bool one = h->count == 1;

    switch (h->kind) {
    case STET_RANK_DEAD:
        return one ? " is dead" : " are dead";
    case STET_RANK_STOPPED:
        return one ? " is stopped" : " are stopped";
    case STET_RANK_COMPILING:
        return one ? " is compiling" : " are compiling";
    case STET_RANK_HOST:
        return one ? " is in host code and has not come" : " are in host code and have not come";
    case STET_RANK_WAITING:
        return one ? " is blocked in host code and has not come"
                   : " are blocked in host code and have not come";
    case STET_RANK_MISSING:
        return one ? " is missing" : " are missing";
    default:
        return one ? " has not reached a collective that the others are in"
                   : " have not reached a collective that the others are in";
    }
}

void stet_monitor_rank_hang_text(struct stet_buf *out, const struct stet_rank_hang *h)
{
    size_t listed = h->count < STET_HANG_RANKS ? h->count : STET_HANG_RANKS;

    if (!h->found)
        return;
    stet_buf_str(out, h->count == 1 ? "rank " : "ranks ");
    for (size_t i = 0; i < listed; i++)
        stet_buf_printf(out, "%s%lld",
                        !i                                      ? ""
                        : i + 1 == listed && listed == h->count ? " and "
                                                                : ", ",
                        (long long)h->ranks[i]);
    if (h->count > listed)
        stet_buf_printf(out, " and %zu more", h->count - listed);
    stet_buf_printf(out, "%s; ", doing(h));
    stet_text_count(out, h->waiting, "rank");
    stet_buf_printf(out, " wait%s for %s", h->waiting == 1 ? "s" : "",
                    h->count == 1 ? "it" : "them");
    if (h->program.len)
        stet_buf_printf(out, " in %.*s", STET_FMT(stet_text_function(h->program)));
}
