/* torch.compile traces: however the bytes are cut, the model is the same, and every question about
 * it has an answer. */
#include "fuzz.h"

#include "ingest/cache_key.h"
#include "ingest/torch_plan.h"

struct totals {
    uint64_t records, compiles, failures, breaks, faults, keys, components, rerecords;
};

static struct totals read_all(struct stet_torch *t, const uint8_t *data, size_t size, size_t piece)
{
    struct stet_torch_log *log;
    struct stet_trace trace;
    struct totals sum = {0};

    stet_torch_init(t);
    log = stet_torch_log_new(t, "x.log", ".", -1);
    CHECK(log != NULL);
    stet_trace_init(&trace, stet_torch_log_sink(log));
    for (size_t at = 0; at < size; at += piece)
        stet_trace_feed(&trace, (const char *)data + at, size - at < piece ? size - at : piece);
    stet_trace_end(&trace);
    stet_trace_release(&trace);
    for (size_t i = 0; i < STET_TRACE_FAULTS; i++)
        sum.faults += t->faults[i];
    sum.records = t->records;
    sum.compiles = t->compile_count;
    sum.failures = t->failure_count;
    sum.breaks = t->break_count;
    sum.keys = t->torch_key_count;
    sum.components = t->component_count;
    sum.rerecords = t->rerecord_count;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_torch whole, cut;
    struct stet_buf out = {.cap = 16 << 20};
    struct stet_torch_plan plan;
    struct totals a, b;

    if (size > 1 << 17)
        return 0;
    a = read_all(&whole, data, size, size ? size : 1);
    /* Some 64 cuts: pieces of 7 bytes of a long input took ten times as long as the reading. */
    b = read_all(&cut, data, size, size < 448 ? 7 : size / 64);
    CHECK(a.records == b.records && a.compiles == b.compiles && a.faults == b.faults);
    CHECK(a.failures == b.failures && a.breaks == b.breaks);
    CHECK(a.keys == b.keys && a.components == b.components && a.rerecords == b.rerecords);
    stet_torch_know_keys(&whole, &cut, "earlier");
    for (uint32_t i = 0; i < a.keys && i < 16; i++) {
        struct stet_cache_why missed;

        stet_torch_cache_why(&whole, i, &missed);
        stet_torch_cache_words(&missed, &out);
        /* The other model has the same key. */
        CHECK(missed.gone || whole.failed || cut.failed);
    }
    for (uint32_t i = 0; i < whole.compile_count && i < 64; i++)
        CHECK(stet_torch_rerecord_fix(
                  stet_torch_rerecord_kind(&whole, i, whole.compiles[i].rerecords)) != NULL);
    for (uint32_t i = 0; i < whole.compile_count && i < 64; i++) {
        struct stet_torch_why why;

        stet_torch_explain(&whole, i, &why);
        CHECK(why.cause > STET_CAUSE_NONE && why.cause < STET_CAUSES);
        stet_torch_what(&why, &out);
        stet_torch_values(&whole, i, &why, 8, &out);
        stet_torch_fix(&whole, &why, &out);
    }
    for (uint32_t i = 0; i < whole.break_count && i < 64; i++) {
        struct stet_torch_why why;

        stet_torch_explain_break(&whole, i, &why);
        stet_torch_fix(&whole, &why, &out);
    }
    stet_torch_plan(&whole, &plan);
    stet_buf_release(&out);
    stet_torch_release(&whole);
    stet_torch_release(&cut);
    return 0;
}
