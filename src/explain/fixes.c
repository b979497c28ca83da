/* Looks up the fix. */
#include "explain/history_internal.h"

#include "base/buf.h"
#include "explain/words.h"

static enum stet_cause_fix_for fix_for(enum stet_framework framework)
{
    switch (framework) {
    case STET_FRAMEWORK_JAX:
        return STET_FIX_JAX;
    case STET_FRAMEWORK_TORCH_XLA:
        return STET_FIX_TORCH_XLA;
    case STET_FRAMEWORK_TORCH_TPU:
        return STET_FIX_TORCH_TPU;
    default:
        return STET_FIX_ANY;
    }
}

const char *stet_fixes_of(enum stet_cause cause, enum stet_framework framework)
{
    return stet_cause_fix(cause, fix_for(framework));
}

/* The change that is the evidence for the class. */
static const struct stet_reported_change *cause_of(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if (c->follows == STET_NO_FACET &&
            stet_diff_change_cause(c->kind, c->facet, c->op) == f->cause)
            return c;
    }
    return f->change_count ? &f->changes[0] : NULL;
}

static bool is_of_argument(const struct stet_reported_change *c)
{
    return c->kind == STET_CHANGE_ARGUMENT || c->kind == STET_CHANGE_ARGUMENT_CAME ||
           c->kind == STET_CHANGE_ARGUMENT_WENT || c->kind == STET_CHANGE_ARGUMENT_MOVED;
}

/* Was the dtype chosen by an operation inside the program? Then no argument can be converted before
 * the call. */
static bool is_chosen_inside(const struct stet_finding *f)
{
    const struct stet_reported_change *c = cause_of(f);

    return f->cause == STET_CAUSE_DTYPE_CHANGE && c && !is_of_argument(c) && c->place.line;
}

/* Do an argument and a variable have the same two values, or is the same one missing? */
static bool is_alike(const struct stet_moved *a, const struct stet_moved *b)
{
    bool from = stet_view_eq(a->from, b->from), to = stet_view_eq(a->to, b->to);

    return (from && to) || (a->one_sided && b->one_sided && (from || to));
}

/* A library's wrapper around the function has arguments of its own. Returns the only variable of
 * the user's that changed as this one did, by which the user knows it; else the argument's name. */
static struct stet_view name_of_user(const struct stet_finding *f, struct stet_view argument)
{
    const struct stet_moved *m = NULL, *found = NULL;

    for (uint32_t i = 0; i < f->moved_count && !m; i++)
        if (f->moved[i].wrapped && f->moved[i].array && stet_view_eq(f->moved[i].path, argument))
            m = &f->moved[i];
    for (uint32_t i = 0; m && i < f->moved_count; i++) {
        if (f->moved[i].scope != STET_SCOPE_LOCAL || !is_alike(m, &f->moved[i]))
            continue;
        if (found)
            return argument;
        found = &f->moved[i];
    }
    return found ? found->path : argument;
}

static void write_name(struct stet_buf *out, const struct stet_finding *f,
                       const struct stet_reported_change *c)
{
    char room[STET_WORDS_MOST];

    if (c && is_of_argument(c))
        stet_buf_view(out, name_of_user(f, c->of.name));
    else if (c && is_chosen_inside(f))
        stet_buf_printf(out, "what line %u computes", c->place.line);
    else if (c)
        stet_buf_view(out, stet_words_subject(room, c->kind, &c->of));
    else
        stet_buf_str(out, "the argument");
}

/* Writes the previous dtype in the frameworks' spelling: float32 for f32. */
static void write_dtype(struct stet_buf *out, const struct stet_reported_change *c)
{
    if (c && stet_words_element(out, &c->data.elements[0]))
        return;
    stet_buf_view(out, c && c->from.len ? c->from : STET_VIEW("one dtype"));
}

static void expand(struct stet_buf *out, const char *text, const struct stet_finding *f)
{
    const struct stet_reported_change *c = cause_of(f);

    for (; *text; text++) {
        if (!strncmp(text, "{name}", 6)) {
            write_name(out, f, c);
            text += 5;
        } else if (!strncmp(text, "{from}", 6)) {
            write_dtype(out, c);
            text += 5;
        } else if (!strncmp(text, "{detail}", 8)) {
            stet_buf_view(out, f->detail.len ? f->detail : STET_VIEW("it"));
            text += 7;
        } else {
            stet_buf_char(out, *text);
        }
    }
}

struct stet_series *stet_fixes_series(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_reported_change *c = f->cause == STET_CAUSE_SHAPE_DRIFT ? cause_of(f) : NULL;
    struct stet_series *s = c && c->kind == STET_CHANGE_ARGUMENT ? stet_series_of(h, f, c) : NULL;

    return s && s->distinct >= 2 ? s : NULL;
}

/* All findings of a series share the count, which is made once each time the run is judged. */
const struct stet_size_runs *stet_fixes_sizes(struct stet_history *h, const struct stet_finding *f)
{
    struct stet_series *s = stet_fixes_series(h, f);

    if (!s || s->round == h->judge->round)
        return s ? s->sizes : NULL;
    if (!s->sizes)
        s->sizes = STET_NEW_ARRAY(&h->arena, struct stet_size_runs, 1);
    if (!s->sizes || !stet_size_runs_make(s->sizes, h, f, cause_of(f)))
        return NULL;
    s->round = h->judge->round;
    return s->sizes;
}

/* Adds the sizes to pad to, if sizes of an argument are known. */
static void add_buckets(struct stet_history *h, const struct stet_finding *f, struct stet_buf *out)
{
    const struct stet_size_runs *s = f->fix_text ? NULL : stet_fixes_sizes(h, f);

    if (!s || !s->set_count)
        return;
    stet_buf_printf(out, " Of the %u sizes seen, ", s->count);
    stet_explain_buckets_text(out, s->sets, s->set_count);
    stet_buf_char(out, '.');
}

void stet_fixes_write(struct stet_history *h, struct stet_finding *f)
{
    struct stet_buf out = STET_BUF_INIT;
    const char *text = f->fix_text;

    f->fix = (struct stet_view){0};
    if (f->cause == STET_CAUSE_NONE)
        return;
    if (!text && is_chosen_inside(f))
        text = "Let {name} have one dtype ({from}) in every call.";
    if (!text)
        text = stet_fixes_of(f->cause, stet_sighting_of(h, f)->traits->framework);
    expand(&out, text, f);
    add_buckets(h, f, &out);
    f->fix = stet_arena_copy(&h->arena, stet_buf_as_view(&out));
    stet_buf_release(&out);
}
