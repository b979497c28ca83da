/* Any bytes as a journal, and (first byte = kind) as the payload of one record. */
#include "fuzz.h"

#include "base/mem.h"
#include "journal/execs.h"
#include "journal/flow.h"
#include "journal/read.h"
#include "ledger/steps.h"

/* Times never run back, and coding the batch again gives the same order. */
static void check_execs(const struct stet_rec_execs *rec)
{
    static struct stet_exec first[STET_EXECS_MAX], second[STET_EXECS_MAX];
    struct stet_buf order = STET_BUF_INIT, times = STET_BUF_INIT;
    struct stet_rec_execs again;

    if (stet_journal_execs_decode(rec, first, STET_EXECS_MAX, NULL) != STET_OK)
        return;
    CHECK(stet_journal_execs_encode(&again, &order, &times, first, (size_t)rec->count) == STET_OK);
    CHECK(stet_journal_execs_decode(&again, second, STET_EXECS_MAX, NULL) == STET_OK);
    for (size_t i = 0; i < rec->count; i++) {
        CHECK(i == 0 || first[i].time_ns >= first[i - 1].time_ns);
        CHECK(first[i].executable == second[i].executable);
    }
    stet_buf_release(&order);
    stet_buf_release(&times);
}

/* Sources are earlier entries, or external ones not later than the entry itself. */
static void check_flow(const struct stet_rec_flow *rec)
{
    static struct stet_flow_entry e;
    struct stet_flow_cursor c;
    struct stet_steps *s = stet_ledger_steps_new();

    stet_journal_flow_cursor_init(&c, rec);
    while (stet_journal_flow_next(&c, &e, NULL) == STET_OK)
        for (uint32_t i = 0; i < e.source_count; i++)
            CHECK(e.sources[i].entry < e.index ||
                  (e.sources[i].external && e.sources[i].entry == e.index));
    stet_ledger_steps_flow(s, rec);
    stet_ledger_steps_decide(s);
    stet_ledger_steps_free(s);
}

/* What decodes must, coded again, be a fixed point: decode and encode agree about every field. */
static void check_record(const struct stet_journal_record_info *info,
                         const union stet_record *record)
{
    struct stet_buf once = STET_BUF_INIT, twice = STET_BUF_INIT;
    struct stet_arena arena;
    union stet_record back;

    stet_arena_init(&arena, 64 << 20);
    stet_journal_record_encode(&once, info, record);
    CHECK(stet_journal_record_decode(&back, &arena, info, stet_buf_as_view(&once), NULL) ==
          STET_OK);
    stet_journal_record_encode(&twice, info, &back);
    CHECK(stet_view_eq(stet_buf_as_view(&once), stet_buf_as_view(&twice)));
    if (info->kind == STET_REC_execs)
        check_execs(&back.execs);
    if (info->kind == STET_REC_flow)
        check_flow(&back.flow);
    stet_arena_release(&arena);
    stet_buf_release(&once);
    stet_buf_release(&twice);
}

static void as_journal(struct stet_view bytes)
{
    struct stet_journal_reader r;
    struct stet_journal_event e;
    uint64_t end = 0, covered = 0;

    stet_journal_reader_over(&r, bytes);
    while (stet_journal_next(&r, &e, NULL) == STET_OK) {
        CHECK(e.offset >= end);
        end = e.offset + STET_JOURNAL_FRAME_SIZE + e.payload.len;
        CHECK(end <= bytes.len);
        covered += end - e.offset;
        check_record(stet_journal_record_info(e.kind), e.record);
    }
    CHECK(covered + r.damage.bytes + r.damage.tail <= bytes.len);
    stet_journal_reader_close(&r);
}

static void as_payload(struct stet_view bytes)
{
    const struct stet_journal_record_info *info =
        bytes.len ? stet_journal_record_info((unsigned char)bytes.ptr[0]) : NULL;
    struct stet_arena arena;
    union stet_record record;

    if (!info)
        return;
    stet_arena_init(&arena, 64 << 20);
    if (stet_journal_record_decode(&record, &arena, info,
                                   stet_view_of(bytes.ptr + 1, bytes.len - 1), NULL) == STET_OK)
        check_record(info, &record);
    stet_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    as_journal(stet_view_of(data, size));
    as_payload(stet_view_of(data, size));
    return 0;
}
