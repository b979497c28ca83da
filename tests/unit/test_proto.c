/* Facts about the protobuf wire reader. */
#include "test.h"

#include "decode/proto.h"

TEST(fields_come_in_order_with_their_payload)
{
    struct stet_proto_fault fault = {STET_OK, NULL, 0};
    struct stet_proto p, sub;
    struct stet_proto_field f;

    stet_proto_init(&p, STET_VIEW("\x08\x96\x01\x12\x04\x0a\x02hi\x1d\x00\x00\x80\x3f"), &fault);
    EXPECT(stet_proto_next(&p, &f) && f.number == 1 && stet_proto_uint(&fault, &f) == 150);
    EXPECT(stet_proto_next(&p, &f) && f.number == 2 && f.offset == 5);
    EXPECT_INT(6, f.whole.len);
    sub = stet_proto_sub(&p, &f);
    EXPECT(stet_proto_next(&sub, &f) && stet_view_is(stet_proto_text(&fault, &f), "hi"));
    EXPECT(!stet_proto_next(&sub, &f));
    EXPECT(stet_proto_next(&p, &f) && stet_proto_float(&f) == 1.0f);
    EXPECT(!stet_proto_next(&p, &f));
    EXPECT_INT(STET_OK, fault.rc);
}

TEST(the_first_failure_ends_every_reader_of_the_message)
{
    struct stet_proto_fault fault = {STET_OK, NULL, 0};
    struct stet_err err = STET_ERR_INIT;
    struct stet_proto p, sub;
    struct stet_proto_field f;

    stet_proto_init(&p, STET_VIEW("\x12\x03\x0a\x7fx\x08\x01"), &fault);
    EXPECT(stet_proto_next(&p, &f));
    sub = stet_proto_sub(&p, &f);
    EXPECT(!stet_proto_next(&sub, &f));
    EXPECT(!stet_proto_next(&p, &f));
    EXPECT_INT(STET_BAD_INPUT, stet_proto_finish(&fault, "thing", &err));
    EXPECT_STR("thing: a length points past the end", err.text);
    EXPECT_INT(4, err.offset);
}

TEST(packed_and_plain_numbers_gather_in_one_list)
{
    struct stet_proto_fault fault = {STET_OK, NULL, 0};
    struct stet_arena a;
    struct stet_ints v = {0};
    struct stet_proto p;
    struct stet_proto_field f;

    stet_arena_init(&a, 1 << 20);
    stet_proto_init(&p, STET_VIEW("\x0a\x03\x01\xac\x02\x08\x05\x0a\x00"), &fault);
    while (stet_proto_next(&p, &f))
        stet_proto_ints(&fault, &f, &a, &v);
    EXPECT_INT(3, v.count);
    EXPECT(v.at[0] == 1 && v.at[1] == 300 && v.at[2] == 5);
    stet_proto_init(&p, STET_VIEW("\x0a\x02\x01\xac"), &fault);
    EXPECT(stet_proto_next(&p, &f));
    stet_proto_ints(&fault, &f, &a, &v);
    EXPECT_INT(STET_BAD_INPUT, fault.rc);
    stet_arena_release(&a);
}

TEST(messages_nest_to_a_limit)
{
    struct stet_proto_fault fault = {STET_OK, NULL, 0};
    unsigned char bytes[512];
    struct stet_proto p, sub;
    struct stet_proto_field f;
    int depth = 0;

    /* each level is a field 1 around the rest: lengths above 127 take two bytes */
    for (size_t i = 0; i < sizeof bytes; i += 2) {
        bytes[i] = 0x0a;
        bytes[i + 1] = (unsigned char)(sizeof bytes - i - 2 > 127 ? 127 : sizeof bytes - i - 2);
    }
    stet_proto_init(&p, stet_view_of(bytes + sizeof bytes - 254, 2), &fault);
    stet_proto_init(&p, stet_view_of(bytes, sizeof bytes), &fault);
    for (sub = p; stet_proto_next(&sub, &f); sub = stet_proto_sub(&sub, &f))
        depth++;
    EXPECT(depth <= 101);
    EXPECT(fault.rc != STET_OK);
}

TEST(groups_and_field_zero_are_refused)
{
    const struct stet_view bad[] = {STET_VIEW("\x0b"), STET_VIEW("\x00\x01"), STET_VIEW("\x0f")};

    for (size_t i = 0; i < 3; i++) {
        struct stet_proto_fault fault = {STET_OK, NULL, 0};
        struct stet_proto p;
        struct stet_proto_field f;

        stet_proto_init(&p, bad[i], &fault);
        EXPECT(!stet_proto_next(&p, &f));
        EXPECT_INT(STET_BAD_INPUT, fault.rc);
    }
}
