/* The fix, in one sentence that names the thing. */
#include "ingest/why.h"

const char *stet_torch_knob_name(enum stet_torch_knob knob)
{
    static const char *const names[] = {
        [STET_KNOB_NONE] = NULL,
        [STET_KNOB_DYNAMIC] = "TORCH_COMPILE_DYNAMIC_SOURCES",
        [STET_KNOB_UNBACKED] = "TORCH_COMPILE_UNBACKED_SOURCES",
        [STET_KNOB_PGO] = "TORCH_COMPILE_JOB_ID",
        [STET_KNOB_SCALARS] = "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS",
        [STET_KNOB_SHAPES] = "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS",
    };

    return (size_t)knob < sizeof names / sizeof *names ? names[knob] : NULL;
}

static void bare(const struct stet_torch_why *why, struct stet_buf *out)
{
    struct stet_view w = why->what;

    if (stet_view_starts(w, "G['") && stet_view_ends(w, "']"))
        w = stet_view_of(w.ptr + 3, w.len - 5);
    if (w.len)
        stet_buf_view(out, w);
    else
        stet_buf_str(out, "it");
}

void stet_torch_what(const struct stet_torch_why *why, struct stet_buf *out)
{
    static const char *const of[] = {
        [STET_GUARD_RANK] = "rank of ",
        [STET_GUARD_DTYPE] = "dtype of ",
        [STET_GUARD_DEVICE] = "device of ",
        [STET_GUARD_REQUIRES_GRAD] = "requires_grad of ",
        [STET_GUARD_TYPE] = "type of ",
        [STET_GUARD_IDENTITY] = "identity of ",
        [STET_GUARD_KEY] = "key ",
        [STET_GUARD_LENGTH] = "len of ",
        [STET_GUARD_DISPATCH] = "dispatch keys of ",
        [STET_GUARD_SHAPE] = NULL,
    };
    enum stet_guard_kind k = why->guard.kind;

    if (!why->has_guard)
        return;
    if (k == STET_GUARD_MARKING) {
        stet_buf_str(out, "mark_dynamic of a tensor");
        return;
    }
    if ((k == STET_GUARD_OTHER || k == STET_GUARD_ALIAS) || !why->what.len) {
        stet_buf_view(out, why->guard.expr);
        return;
    }
    if ((size_t)k < sizeof of / sizeof *of && of[k])
        stet_buf_str(out, of[k]);
    bare(why, out);
    if (why->dim >= 0)
        stet_buf_printf(out, ".%s[%d]", k == STET_GUARD_STRIDE ? "stride" : "shape", why->dim);
}

/* The cure at the limit is the cure of what led there. */
static enum stet_cause to_cure(const struct stet_torch_why *why)
{
    return why->cause == STET_CAUSE_RECOMPILE_LIMIT && why->also_count ? why->also[0] : why->cause;
}

static const char *find_fix(enum stet_cause cause)
{
    const char *fix = stet_cause_fix(cause, STET_FIX_TORCH_COMPILE);

    return *fix ? fix : stet_cause_fix(STET_CAUSE_UNKNOWN, STET_FIX_TORCH_COMPILE);
}

void stet_torch_fix(const struct stet_torch *t, const struct stet_torch_why *why,
                    struct stet_buf *out)
{
    const char *fix = find_fix(to_cure(why));

    if (why->cause == STET_CAUSE_GRAPH_BREAK && why->broken != STET_TORCH_NONE &&
        t->breaks[why->broken].hint.len) {
        stet_buf_view(out, t->breaks[why->broken].hint); /* torch's own hint is the best */
        return;
    }
    if (why->guard.kind == STET_GUARD_MARKING)
        fix = "mark the dimension in every call or in none: torch compiles a program for tensors "
              "with mark_dynamic and one for those without";
    for (; *fix; fix++) {
        if (!strncmp(fix, "{name}", 6)) {
            bare(why, out);
            fix += 5;
        } else if (!strncmp(fix, "{dim}", 5)) {
            stet_buf_printf(out, "%d", why->dim < 0 ? 0 : why->dim);
            fix += 4;
        } else {
            stet_buf_char(out, *fix);
        }
    }
}
