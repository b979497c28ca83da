/* Values of a compile: reading ends in values or an error, what is read is written back as it was,
 * and two lists of values compare without a fault. */
#include "fuzz.h"

#include "explain/moved.h"
#include "journal/values_record.h"

static struct stet_journal_values copy;

static size_t read_all(struct stet_view bytes)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;
    size_t n = 0;

    stet_journal_values_open(&r, bytes);
    for (; stet_journal_values_next(&r, &v); n++) {
        CHECK(stet_journal_value_kind_name(v.kind) && v.rank <= STET_VALUES_RANK_MAX);
        stet_journal_values_add(&copy, &v);
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_view input = stet_view_of(data, size);
    struct stet_buf out = {.cap = 16 << 20};
    const struct stet_moved *moved;
    struct stet_arena arena;
    struct stet_json j;
    size_t n;

    stet_journal_values_init(&copy);
    n = read_all(input);
    CHECK(n >= copy.dropped);
    stet_json_init(&j, &out);
    stet_journal_values_json(&j, NULL, input);
    stet_buf_release(&out);
    stet_journal_values_function(input);
    stet_arena_init(&arena, (size_t)64 << 20);
    stet_explain_moved_make(&arena, input, input, true, &moved);
    stet_explain_moved_make(&arena, input, stet_view_of(data, size / 2), false, &moved);
    stet_arena_release(&arena);
    return 0;
}
