/* journal/values: what the layer writes, readers read. */
#include "journal/values_record.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

static struct stet_journal_values values;

static void add(struct stet_journal_value v)
{
    stet_journal_values_add(&values, &v);
}

static struct stet_journal_values_reader reader(size_t n)
{
    struct stet_journal_values_reader r;

    stet_journal_values_open(&r, stet_view_of(values.bytes, n));
    return r;
}

TEST(every_kind_survives)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;

    stet_journal_values_init(&values);
    add((struct stet_journal_value){.kind = STET_VALUE_NONE, .path = STET_VIEW("a"), .frame = 300});
    add((struct stet_journal_value){.kind = STET_VALUE_INT,
                                    .scope = STET_SCOPE_ARGUMENT,
                                    .path = STET_VIEW("args[1]"),
                                    .type = STET_VIEW("int64"),
                                    .number = INT64_MIN});
    add((struct stet_journal_value){
        .kind = STET_VALUE_FLOAT, .path = STET_VIEW("lr"), .real = 0.045});
    add((struct stet_journal_value){.kind = STET_VALUE_WORD, .text = STET_VIEW("train")});
    add((struct stet_journal_value){.kind = STET_VALUE_HIDDEN, .hash = UINT64_MAX});
    add((struct stet_journal_value){.kind = STET_VALUE_ARRAY,
                                    .text = STET_VIEW("bfloat16"),
                                    .place = STET_VIEW("NamedSharding"),
                                    .weak = true,
                                    .rank = 2,
                                    .dims = {16, -1}});
    add((struct stet_journal_value){.kind = STET_VALUE_FUNCTION,
                                    .text = STET_VIEW("step"),
                                    .file = STET_VIEW("/a/b.py"),
                                    .line = 77,
                                    .address = 42});
    r = reader(values.used);
    EXPECT(stet_journal_values_next(&r, &v) && v.kind == STET_VALUE_NONE && v.frame == 300);
    EXPECT(stet_journal_values_next(&r, &v) && v.number == INT64_MIN &&
           v.scope == STET_SCOPE_ARGUMENT);
    EXPECT(stet_view_is(v.path, "args[1]") && stet_view_is(v.type, "int64"));
    EXPECT(stet_journal_values_next(&r, &v) && v.real == 0.045);
    EXPECT(stet_journal_values_next(&r, &v) && stet_view_is(v.text, "train"));
    EXPECT(stet_journal_values_next(&r, &v) && v.hash == UINT64_MAX);
    EXPECT(stet_journal_values_next(&r, &v) && v.weak && v.rank == 2 && v.dims[0] == 16 &&
           v.dims[1] == -1);
    EXPECT(stet_view_is(v.text, "bfloat16") && stet_view_is(v.place, "NamedSharding"));
    EXPECT(stet_journal_values_next(&r, &v) && v.line == 77 && v.address == 42);
    EXPECT(stet_view_is(v.file, "/a/b.py") && stet_view_is(v.text, "step"));
    EXPECT(!stet_journal_values_next(&r, &v) && stet_reader_ok(&r.in));
}

TEST(values_that_do_not_fit_are_counted_and_none_is_truncated)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;
    char path[200];
    size_t n = 0;

    stet_journal_values_init(&values);
    for (int i = 0; i < 400; i++) {
        memset(path, 'a' + i % 26, sizeof path); /* nothing in common with the one before */
        add((struct stet_journal_value){
            .kind = STET_VALUE_INT, .path = stet_view_of(path, sizeof path), .number = i});
    }
    r = reader(values.used);
    for (; stet_journal_values_next(&r, &v); n++)
        EXPECT(v.path.len == sizeof path && v.path.ptr[199] == 'a' + v.number % 26);
    EXPECT(stet_reader_ok(&r.in));
    EXPECT(values.dropped > 0 && n + values.dropped == 400);
}

/* The length before a value takes one byte or two, and the last value may end with the buffer. */
TEST(values_of_every_length_are_read_back)
{
    static char path[STET_VALUES_PATH_MAX + 1];
    struct stet_journal_value v;
    struct stet_journal_values_reader r;

    memset(path, 'p', sizeof path);
    for (size_t n = 1; n <= sizeof path; n++) {
        stet_journal_values_init(&values);
        add((struct stet_journal_value){.kind = STET_VALUE_NONE, .path = stet_view_of(path, n)});
        add((struct stet_journal_value){.kind = STET_VALUE_INT, .number = 5});
        EXPECT(values.dropped == (n > STET_VALUES_PATH_MAX));
        r = reader(values.used);
        if (!values.dropped) {
            EXPECT(stet_journal_values_next(&r, &v) && v.path.len == n);
            EXPECT(memcmp(v.path.ptr, path, n) == 0);
        }
        EXPECT(stet_journal_values_next(&r, &v) && v.number == 5 && !v.path.len);
        EXPECT(!stet_journal_values_next(&r, &v) && stet_reader_ok(&r.in));
    }
    for (uint32_t left = 0; left < 300; left++) { /* bytes at the end of the buffer */
        enum { PATH = 200, NEEDED = 2 + 1 + 1 + 2 + PATH + 1 + 1 };
        uint32_t used = (uint32_t)STET_VALUES_SIZE - left;

        stet_journal_values_init(&values);
        values.used = used;
        add((struct stet_journal_value){.kind = STET_VALUE_NONE, .path = stet_view_of(path, PATH)});
        EXPECT(values.dropped == (left < NEEDED));
        EXPECT(values.used == used + (left < NEEDED ? 0 : NEEDED));
    }
}

/* A thousand fields of one form take a few bytes each. */
TEST(texts_and_the_beginnings_of_paths_are_written_once)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;
    char path[64];
    int n = 0;

    stet_journal_values_init(&values);
    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof path, "self.trainer.model.layers[%d].kernel", i);
        add((struct stet_journal_value){.kind = STET_VALUE_ARRAY,
                                        .path = stet_view_str(path),
                                        .type = STET_VIEW("ArrayImpl"),
                                        .text = STET_VIEW("float32"),
                                        .place = STET_VIEW("SingleDeviceSharding"),
                                        .rank = 1,
                                        .dims = {i}});
    }
    EXPECT(!values.dropped);
    r = reader(values.used);
    for (; stet_journal_values_next(&r, &v); n++) {
        snprintf(path, sizeof path, "self.trainer.model.layers[%d].kernel", n);
        EXPECT(stet_view_is(v.path, path) && v.dims[0] == n);
        EXPECT(stet_view_is(v.place, "SingleDeviceSharding") && stet_view_is(v.text, "float32"));
    }
    EXPECT_INT(1000, n);
}

/* More different texts than have a number: the others are written in full. */
TEST(any_number_of_texts_is_read_back)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;
    char type[32];
    int n = 0;

    stet_journal_values_init(&values);
    for (int i = 0; i < 600; i++) {
        snprintf(type, sizeof type, "Layer%d", i);
        add((struct stet_journal_value){
            .kind = STET_VALUE_OBJECT, .type = stet_view_str(type), .address = (uint64_t)i});
    }
    EXPECT(!values.dropped);
    r = reader(values.used);
    for (; stet_journal_values_next(&r, &v); n++) {
        snprintf(type, sizeof type, "Layer%d", n);
        EXPECT(stet_view_is(v.type, type) && v.address == (uint64_t)n);
    }
    EXPECT(n == 600 && stet_reader_ok(&r.in));
}

/* length, kind, scope, frame, path, type, and the fields of the kind */
TEST(values_of_older_journals_are_read)
{
    static const unsigned char bytes[] = {13,
                                          STET_VALUE_INT,
                                          STET_SCOPE_ARGUMENT,
                                          2,
                                          4,
                                          'a',
                                          'r',
                                          'g',
                                          's',
                                          3,
                                          'i',
                                          'n',
                                          't',
                                          10,
                                          14,
                                          STET_VALUE_OBJECT,
                                          0,
                                          5,
                                          1,
                                          'm',
                                          0,
                                          7,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0};
    struct stet_journal_values_reader r;
    struct stet_journal_value v;

    stet_journal_values_open(&r, stet_view_of(bytes, sizeof bytes));
    EXPECT(stet_journal_values_next(&r, &v) && v.kind == STET_VALUE_INT && v.number == 5);
    EXPECT(v.scope == STET_SCOPE_ARGUMENT && v.frame == 2 && stet_view_is(v.path, "args"));
    EXPECT(stet_view_is(v.type, "int"));
    EXPECT(stet_journal_values_next(&r, &v) && v.kind == STET_VALUE_OBJECT && v.address == 7);
    EXPECT(v.scope == STET_SCOPE_LOCAL && v.frame == 5 && stet_view_is(v.path, "m"));
    EXPECT(!stet_journal_values_next(&r, &v) && stet_reader_ok(&r.in));
}

TEST(a_value_larger_than_any_may_be_is_dropped)
{
    static char text[5000];

    stet_journal_values_init(&values);
    add((struct stet_journal_value){.kind = STET_VALUE_WORD,
                                    .text = stet_view_of(text, sizeof text)});
    EXPECT(values.used == 2 && values.dropped == 1);
}

TEST(damaged_bytes_are_an_error_and_never_a_crash)
{
    struct stet_journal_value v;
    struct stet_journal_values_reader r;
    unsigned char keep;

    stet_journal_values_init(&values);
    add((struct stet_journal_value){.kind = STET_VALUE_ARRAY, .text = STET_VIEW("f32"), .rank = 3});
    for (size_t n = 3; n < values.used; n++) { /* the text of its dtype is complete before it is */
        r = reader(n);
        EXPECT(!stet_journal_values_next(&r, &v) && stet_reader_ok(&r.in) == (n == 2 + 1 + 1 + 3));
    }
    for (size_t i = 0; i < values.used; i++) {
        keep = values.bytes[i];
        for (int b = 0; b < 256; b++) {
            values.bytes[i] = (unsigned char)b;
            r = reader(values.used);
            while (stet_journal_values_next(&r, &v))
                EXPECT(v.rank <= STET_VALUES_RANK_MAX);
        }
        values.bytes[i] = keep;
    }
}

TEST(kinds_of_a_newer_stet_are_skipped)
{
    /* mark, version; length, kind × 2, scope, frame, shared, path, type; kind 62 is not known here,
     * and the next path begins with its path */
    static const unsigned char bytes[] = {
        0, 1, 9, 124, 0, 3, 0, 1, 'x', 0, 0, 77, 6, STET_VALUE_NONE * 2 + 1, 1, 1, 'y', 0, 0};
    /* an older journal: length, kind, scope, frame, path, type */
    static const unsigned char old[] = {5, 99, 0, 0, 0, 0, 5, STET_VALUE_NONE, 0, 7, 0, 0};
    struct stet_journal_values_reader r;
    struct stet_journal_value v;

    stet_journal_values_open(&r, stet_view_of(bytes, sizeof bytes));
    EXPECT(stet_journal_values_next(&r, &v) && v.kind == STET_VALUE_NONE && v.frame == 3);
    EXPECT(stet_view_is(v.path, "xy"));
    stet_journal_values_open(&r, stet_view_of(old, sizeof old));
    EXPECT(stet_journal_values_next(&r, &v) && v.kind == STET_VALUE_NONE && v.frame == 7);
}

static uint64_t identity_with(const char *type)
{
    struct stet_journal_values v = {0};
    struct stet_journal_value argument = {.kind = STET_VALUE_OBJECT,
                                          .scope = STET_SCOPE_ARGUMENT,
                                          .path = STET_VIEW("args[0]"),
                                          .type = stet_view_str(type)};
    struct stet_journal_value fun = {.kind = STET_VALUE_FUNCTION,
                                     .scope = STET_SCOPE_CALLED,
                                     .path = STET_VIEW("fun"),
                                     .text = STET_VIEW("f"),
                                     .file = STET_VIEW("/nowhere/train.py"),
                                     .address = 7,
                                     .line = 4};

    stet_journal_values_add(&v, &argument);
    stet_journal_values_add(&v, &fun);
    EXPECT_INT(7, stet_journal_values_function(stet_view_of(v.bytes, v.used)).object);
    return stet_journal_values_function(stet_view_of(v.bytes, v.used)).identity;
}

TEST(a_function_under_vmap_or_grad_is_another_function)
{
    EXPECT(identity_with("Config") == identity_with("Other"));
    EXPECT(identity_with("BatchTracer") != identity_with("Config"));
    EXPECT(identity_with("BatchTracer") != identity_with("LinearizeTracer"));
}
