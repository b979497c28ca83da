/* A table with a row for each number of programs, and sentences about what is used today. */
#include "cli/buckets_text.h"

#include "base/human.h"

#include <inttypes.h>

enum { ROWS_MOST = 12, SIZES_SHOWN = 10, PLACES_SHOWN = 3 };

void stet_cli_sizes_name(struct stet_buf *out, const struct stet_size_curve *s)
{
    const struct stet_size_function *f = s->function;

    if (!f) {
        stet_buf_printf(out, "%s", s->lengths);
        return;
    }
    for (unsigned d = 0; d < f->rank; d++)
        stet_buf_printf(out, "%sdimension %u of %.*s", d ? " and " : "", f->places[d].dim,
                        STET_FMT(f->places[d].argument));
    stet_buf_printf(out, " of %.*s", STET_FMT(f->name));
}

static void seconds(struct stet_buf *out, double s)
{
    if (s < 0.001)
        stet_buf_printf(out, "%.3g us", s * 1e6);
    else if (s < 1)
        stet_buf_printf(out, "%.3g ms", s * 1e3);
    else
        stet_text_duration(out, (uint64_t)(s * 1e9));
}

static void shape(struct stet_buf *out, const int64_t *dims, unsigned rank)
{
    for (unsigned d = 0; d < rank; d++)
        stet_buf_printf(out, "%s%" PRId64, d ? "x" : "", dims[d]);
}

static void sizes(struct stet_buf *out, const struct stet_buckets_set *s, unsigned rank)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->count > SIZES_SHOWN && i == SIZES_SHOWN - 1) {
            stet_buf_str(out, "… ");
            i = s->count - 1;
        }
        shape(out, s->dims + (size_t)i * rank, rank);
        stet_buf_str(out, i + 1 < s->count ? " " : "");
    }
}

static void followers(struct stet_buf *out, const struct stet_size_function *f)
{
    uint32_t shown = 0;

    for (uint32_t i = f->rank; i < f->place_count && shown < PLACES_SHOWN; i++, shown++)
        stet_buf_printf(out, "%sdimension %u of %.*s",
                        shown ? ", " : "  with it: ", f->places[i].dim,
                        STET_FMT(f->places[i].argument));
    if (f->place_count > f->rank + shown)
        stet_buf_printf(out, " and %u more", f->place_count - f->rank - shown);
    stet_buf_str(out, shown ? "\n" : "");
}

/* What a trace of torch.compile does not have. */
static void unknown(struct stet_buf *out, const struct stet_size_curve *s)
{
    const struct stet_size_function *f = s->function;

    if (f->dynamic)
        stet_buf_str(out, "  torch made it dynamic: sizes that came later needed no program, and "
                          "are not in its trace\n");
    if (!s->lengths)
        stet_buf_str(out, "  each size counts once: torch's trace records compiles, not calls "
                          "(--lengths reads real lengths)\n");
    if (f->compiles) {
        stet_buf_str(out, "  a program was compiled in ");
        seconds(out, f->wait_s / f->compiles);
        stet_buf_printf(out, " on average (%u compile%s)\n", f->compiles,
                        f->compiles == 1 ? "" : "s");
    }
}

static void cost(struct stet_buf *out, const struct stet_size_curve *s)
{
    const struct stet_buckets_cost *c = &s->curve.cost;

    if (!c->seconds) {
        stet_buf_printf(
            out,
            "  a step is assumed to cost in proportion to its elements%s: no times are known\n",
            c->square > 0 ? " squared" : "");
        return;
    }
    stet_buf_str(out, "  a program costs ");
    seconds(out, c->program);
    stet_buf_str(out, " of waiting");
    if (s->function && s->function->stored && s->function->measured)
        stet_buf_printf(out, " (%u of %u from a store)", s->function->stored,
                        s->function->compiles);
    stet_buf_str(out, ", a step ");
    if (c->fixed > 0)
        seconds(out, c->fixed);
    if (c->linear > 0)
        stet_buf_printf(out, "%s%.3g us × elements", c->fixed > 0 ? " + " : "", c->linear * 1e6);
    if (c->square > 0)
        stet_buf_printf(out, "%s%.3g us × elements²", c->fixed > 0 || c->linear > 0 ? " + " : "",
                        c->square * 1e6);
    if (s->function && s->function->measured)
        stet_buf_printf(out, " (fit of %u sizes, off by %.0f %%)", s->function->measured,
                        100 * c->error);
    stet_buf_char(out, '\n');
}

/* Which rows are printed when there are many: all up to 8, the best one and its neighbours, powers
 * of two. */
static bool is_shown(const struct stet_buckets_curve *c, uint32_t i)
{
    uint32_t k = i + 1;

    return c->count <= ROWS_MOST || k <= 4 || i + 1 == c->best || i == c->best ||
           i == c->best + 1 || (k & (k - 1)) == 0 || k == c->count;
}

static void cell(struct stet_buf *out, double value)
{
    struct stet_buf text = STET_BUF_INIT;

    seconds(&text, value);
    stet_buf_printf(out, " %10.*s", STET_FMT(stet_buf_as_view(&text)));
    stet_buf_release(&text);
}

static void row(struct stet_buf *out, const struct stet_buckets_curve *c,
                const struct stet_buckets_set *s, char mark)
{
    stet_buf_printf(out, "%c %8u", mark, s->count + s->beyond);
    if (c->cost.seconds) {
        cell(out, s->steps);
        cell(out, s->total - s->steps);
        cell(out, s->total);
    } else {
        stet_buf_printf(out, " %9.3fx", s->steps / c->unpadded);
    }
    stet_buf_printf(out, " %7.1f %%", 100 * s->padding);
    if (c->rank > 1)
        stet_buf_printf(out, " %7.1f %%", 100 * (1 - s->bound / s->steps));
    stet_buf_str(out, "  ");
    sizes(out, s, c->rank);
    stet_buf_char(out, '\n');
}

static void table(struct stet_buf *out, const struct stet_buckets_curve *c)
{
    stet_buf_printf(out, "  programs %s   padding %s sizes\n",
                    c->cost.seconds ? "     steps    waiting   together" : "     steps",
                    c->rank > 1 ? "  off by " : "");
    for (uint32_t i = 0; i < c->count; i++)
        if (is_shown(c, i))
            row(out, c, &c->sets[i], i == c->best ? '*' : ' ');
}

static void compare(struct stet_buf *out, const struct stet_size_curve *s, const char *what,
                    const struct stet_buckets_set *with)
{
    const struct stet_buckets_set *best = &s->curve.sets[s->curve.best];

    stet_buf_printf(out, "  %s: %u program%s, %.1f %% padding", what, with->count + with->beyond,
                    with->count + with->beyond == 1 ? "" : "s", 100 * with->padding);
    if (with->beyond)
        stet_buf_printf(out, ", %u of them beyond the largest", with->beyond);
    if (s->curve.cost.seconds) {
        stet_buf_str(out, ", ");
        seconds(out, with->total);
    }
    if (best->total < with->total * (1 - 1e-9))
        stet_buf_printf(out, "; the %u marked cost%s %.1f %% less", best->count,
                        best->count == 1 ? "s" : "", 100 * (1 - best->total / with->total));
    else if (best->total > with->total * (1 + 1e-9))
        stet_buf_printf(out, "; the %u marked cost%s %.1f %% more", best->count,
                        best->count == 1 ? "s" : "", 100 * (best->total / with->total - 1));
    stet_buf_char(out, '\n');
}

static void notes(struct stet_buf *out, struct stet_size_curve *s)
{
    int64_t step;
    enum stet_buckets_form form = stet_buckets_form(&s->curve, &step);

    if (s->has_today)
        compare(out, s, "today", &s->today);
    if (form == STET_BUCKETS_POWERS && s->as_came)
        stet_buf_printf(out, "  the sizes are powers of two, so they are padded already%s\n",
                        s->lengths ? "" : ": --lengths takes the lengths before padding");
    else if (form == STET_BUCKETS_MULTIPLES && s->as_came && !s->lengths)
        stet_buf_printf(out,
                        "  the sizes are multiples of %" PRId64
                        ", so they may be padded already: --lengths takes the lengths before\n",
                        step);
    else if (s->curve.rank == 1 && s->curve.shape_count > 2) {
        struct stet_buckets_set powers = stet_buckets_powers(&s->curve);

        if (powers.dims)
            compare(out, s, "powers of two", &powers);
    }
    if (s->function && s->function->short_last && !s->lengths)
        stet_buf_printf(out,
                        "  %" PRId64 " is the last batch of each round, shorter than the others: "
                        "pad it to %" PRId64 ", or drop it\n",
                        s->curve.shapes[0].dims[0], s->curve.shapes[1].dims[0]);
}

void stet_cli_sizes_text(struct stet_buf *out, struct stet_size_curve *s)
{
    const struct stet_buckets_curve *c = &s->curve;

    stet_cli_sizes_name(out, s);
    stet_buf_printf(out, ": %u size%s from ", c->shape_count, c->shape_count == 1 ? "" : "s");
    shape(out, c->shapes[0].dims, c->rank);
    stet_buf_str(out, " to ");
    shape(out, c->shapes[c->shape_count - 1].dims, c->rank);
    if (s->lengths || !s->function->uncounted)
        stet_buf_printf(out, ", %.0f step%s", c->runs, c->runs == 1 ? "" : "s");
    stet_buf_printf(out, "%s%s\n", s->lengths && s->function ? ", lengths from " : "",
                    s->lengths && s->function ? s->lengths : "");
    if (s->function)
        followers(out, s->function);
    if (s->function && s->function->uncounted)
        unknown(out, s);
    cost(out, s);
    table(out, c);
    notes(out, s);
}
