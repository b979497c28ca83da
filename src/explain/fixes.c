/* Looks up the fix. */
#include "explain/history_internal.h"

#include "base/buf.h"
#include "explain/buckets.h"

static const struct {
    enum stet_reason reason;
    unsigned framework;
    const char *text;
} fixes[] = {
#define FIX(reason, framework, text) {STET_REASON_##reason, framework, text},
#include "explain/fixes.def"
#undef FIX
};

const char *stet_fix_of(enum stet_reason reason, enum stet_framework framework)
{
    const char *any = "";

    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        if (fixes[i].reason != reason)
            continue;
        if (fixes[i].framework == (unsigned)framework)
            return fixes[i].text;
        if (fixes[i].framework == STET_FRAMEWORKS)
            any = fixes[i].text;
    }
    return any;
}

/* The name in "argument batch['x'] dimension 0"; otherwise the whole. */
static struct stet_view name_in(struct stet_view what)
{
    const char *blank;

    if (!stet_view_starts(what, "argument "))
        return what;
    what = stet_view_of(what.ptr + 9, what.len - 9);
    blank = memchr(what.ptr, ' ', what.len);
    return blank ? stet_view_of(what.ptr, (size_t)(blank - what.ptr)) : what;
}

/* The change that is the evidence for the class. */
static const struct stet_told *cause_of(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_told *c = &f->changes[i];

        if (c->follows == STET_NO_FACET &&
            stet_diff_change_reason(c->kind, c->facet, c->op) == f->reason)
            return c;
    }
    return f->change_count ? &f->changes[0] : NULL;
}

/* In the frameworks' spelling: float32 for f32. */
static void dtype_name(struct stet_buf *out, struct stet_view v)
{
    static const char *const names[][2] = {
        {"f32", "float32"}, {"f64", "float64"}, {"f16", "float16"}, {"bf16", "bfloat16"},
        {"i32", "int32"},   {"i64", "int64"},   {"i16", "int16"},   {"i8", "int8"},
        {"ui8", "uint8"},   {"ui32", "uint32"}, {"i1", "bool_"},    {"u8", "uint8"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (stet_view_is(v, names[i][0]) ||
            (v.len > strlen(names[i][0]) && stet_view_starts(v, names[i][0]) &&
             (v.ptr[strlen(names[i][0])] == '[' || v.ptr[strlen(names[i][0])] == ' '))) {
            stet_buf_str(out, names[i][1]);
            return;
        }
    stet_buf_view(out, v);
}

static void expand(struct stet_buf *out, const char *text, const struct stet_finding *f)
{
    static const struct stet_told nothing = {0};
    const struct stet_told *c = cause_of(f);

    c = c ? c : &nothing;
    for (; *text; text++) {
        if (!strncmp(text, "{name}", 6)) {
            struct stet_view name = name_in(c->what);

            stet_buf_view(out, name.len ? name : STET_VIEW("the argument"));
            text += 5;
        } else if (!strncmp(text, "{from}", 6)) {
            dtype_name(out, c->from.len ? c->from : STET_VIEW("one dtype"));
            text += 5;
        } else if (!strncmp(text, "{detail}", 8)) {
            stet_buf_view(out, f->detail.len ? f->detail : STET_VIEW("it"));
            text += 7;
        } else {
            stet_buf_char(out, *text);
        }
    }
}

const struct stet_series *stet_fix_sizes(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_told *c = f->reason == STET_REASON_SHAPE_DRIFT ? cause_of(f) : NULL;
    const struct stet_series *s =
        c && c->kind == STET_CHANGE_ARGUMENT ? stet_series_of(h, f, c) : NULL;

    return s && s->distinct >= 2 ? s : NULL;
}

/* Which sizes to pad to, where sizes of an argument were seen. */
static void add_buckets(struct stet_history *h, const struct stet_finding *f, struct stet_buf *out)
{
    const struct stet_series *s = stet_fix_sizes(h, f);

    if (!s)
        return;
    stet_buf_printf(out, " Of the %u sizes seen%s, ", s->distinct,
                    s->distinct == STET_SERIES_VALUES ? " first" : "");
    stet_buckets_text(out, s->values, s->runs, s->distinct);
    stet_buf_char(out, '.');
}

void stet_fix_write(struct stet_history *h, struct stet_finding *f)
{
    struct stet_buf out = STET_BUF_INIT;

    f->fix = (struct stet_view){0};
    if (f->reason >= STET_REASONS)
        return;
    expand(&out,
           f->fix_text ? f->fix_text
                       : stet_fix_of(f->reason, stet_sighting_of(h, f)->traits->framework),
           f);
    add_buckets(h, f, &out);
    f->fix = stet_arena_copy(&h->arena, stet_buf_as_view(&out));
    stet_buf_release(&out);
}
