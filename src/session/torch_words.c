/* Costs, places and changes of the torch lane, as they appear in rows and in text. */
#include "base/human.h"
#include "ingest/cache_key.h"
#include "session/torch_lane.h"

#include <inttypes.h>

uint64_t stet_session_torch_cost(const struct stet_torch_compile *c)
{
    return c->forward.all + c->backward.all;
}

void stet_session_torch_text_place(const struct stet_torch_place *p, struct stet_buf *out)
{
    if (p->line)
        stet_buf_printf(out, "%.*s:%" PRIu64, STET_FMT(stet_text_path(p->file)), p->line);
    else
        stet_buf_str(out, "?");
}

void stet_session_torch_text_change(const struct stet_torch_why *why, struct stet_buf *out)
{
    stet_torch_what(why, out);
    if (!why->from.len && !why->to.len)
        return;
    stet_buf_char(out, ' ');
    if (why->from.len && why->to.len)
        stet_buf_printf(out, "%.*s \xe2\x86\x92 %.*s", STET_FMT(why->from), STET_FMT(why->to));
    else if (why->from.len)
        stet_buf_printf(out, "was %.*s", STET_FMT(why->from));
    else
        stet_buf_printf(out, "is %.*s", STET_FMT(why->to));
}

void stet_session_torch_text_nested(const struct stet_torch *t, const struct stet_torch_frame *f,
                                    struct stet_buf *out)
{
    const char *before = ": ";

    for (uint32_t i = f->nested; i != STET_TORCH_NONE; i = t->nesteds[i].next) {
        stet_buf_printf(out, "%s%.*s (", before, STET_FMT(t->nesteds[i].place.function));
        stet_session_torch_text_place(&t->nesteds[i].place, out);
        stet_buf_char(out, ')');
        before = ", ";
    }
}

bool stet_session_torch_cache_missed(const struct stet_torch *t, uint32_t compile,
                                     struct stet_buf *out)
{
    for (uint32_t i = 0; i < t->torch_key_count; i++) {
        const struct stet_torch_key *k = &t->torch_keys[i];
        struct stet_cache_why why;

        if (k->compile != compile || k->run.len || k->aot || k->got != STET_CACHE_MISS)
            continue;
        stet_torch_cache_why(t, i, &why);
        if (!why.nearest && !why.part)
            return false;
        stet_torch_cache_words(&why, out);
        return true;
    }
    return false;
}

void stet_session_torch_text_damage(const struct stet_torch *t, struct stet_buf *out)
{
    uint64_t all = 0;

    for (size_t i = 0; i < STET_TRACE_FAULTS; i++)
        all += t->faults[i];
    for (size_t i = 0; i < STET_TRACE_FAULTS; i++) {
        if (t->faults[i])
            stet_buf_printf(out, "damage: %" PRIu64 " x %s\n", t->faults[i],
                            stet_trace_fault_words((enum stet_trace_fault)i));
    }
    for (size_t i = 0; i < t->kept_count && i < 8; i++)
        stet_buf_printf(out, "        %.*s line %" PRIu64 ", offset %" PRIu64 ": %s\n",
                        STET_FMT(t->kept[i].file), t->kept[i].line, t->kept[i].offset,
                        stet_trace_fault_words(t->kept[i].fault));
    if (all > 8)
        stet_buf_printf(out, "        … %" PRIu64 " in all\n", all);
    if (t->failed)
        stet_buf_str(out, "out of memory: not everything was read\n");
}
