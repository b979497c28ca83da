/* Facts about reading journals: torn, damaged, newer, growing. */
#include "test.h"

#include "journal_help.h"

#include <time.h>

/* A small journal in memory: segment, process, ten compiles. */
static struct stet_file small_journal(void)
{
    struct stet_file f;
    struct stet_journal *j;

    fresh_scratch();
    j = scratch_journal(0, 0, 0);
    for (uint64_t i = 0; i < 10; i++)
        write_compile(j, i);
    stet_journal_free(j);
    f = the_main_file();
    drop_scratch();
    return f;
}

static struct tally tally_bytes(struct stet_view bytes)
{
    struct stet_journal_reader r;
    struct tally t = {0};

    stet_journal_reader_over(&r, bytes);
    tally_reader(&t, &r);
    stet_journal_reader_close(&r);
    return t;
}

/* Offsets at which records end, in order. */
static size_t record_ends(struct stet_view bytes, size_t *ends, size_t room)
{
    struct stet_journal_reader r;
    struct stet_journal_event e;
    size_t n = 0;

    stet_journal_reader_over(&r, bytes);
    while (n < room && stet_journal_next(&r, &e, NULL) == STET_OK)
        ends[n++] = (size_t)e.offset + STET_JOURNAL_FRAME_SIZE + e.payload.len;
    stet_journal_reader_close(&r);
    return n;
}

TEST(every_field_of_every_record_comes_back)
{
    struct stet_view texts[] = {STET_VIEW("one"), STET_VIEW(""), STET_VIEW("three")};
    uint64_t numbers[] = {0, 1, UINT64_MAX};
    struct stet_frame frames[] = {{STET_VIEW("a.py"), STET_VIEW("step"), 12},
                                  {STET_VIEW(""), STET_VIEW("<module>"), 0}};
    unsigned kinds = 0;

    for (unsigned kind = 0; kind < 64; kind++) {
        const struct stet_journal_record_info *info = stet_journal_record_info(kind);
        union stet_record in, out;
        struct stet_buf payload = STET_BUF_INIT;
        struct stet_arena arena;

        if (!info)
            continue;
        kinds++;
        memset(&in, 0, sizeof in);
        for (size_t i = 0; i < info->field_count; i++) {
            void *value = (char *)&in + info->fields[i].offset;

            switch (info->fields[i].kind) {
            case STET_KIND_U64:
                *(uint64_t *)value = 1000 * kind + i;
                break;
            case STET_KIND_STR:
            case STET_KIND_BYTES:
                *(struct stet_view *)value = STET_VIEW("text\0with nul");
                break;
            case STET_KIND_HASH:
                *(struct stet_hash *)value = (struct stet_hash){kind, i + 1};
                break;
            case STET_KIND_LIST:
                *(struct stet_list *)value = (struct stet_list){texts, 3};
                break;
            case STET_KIND_U64S:
                *(struct stet_u64s *)value = (struct stet_u64s){numbers, 3};
                break;
            case STET_KIND_FRAMES:
                *(struct stet_frames *)value = (struct stet_frames){frames, 2};
                break;
            }
        }
        stet_journal_record_encode(&payload, info, &in);
        stet_arena_init(&arena, 1 << 20);
        EXPECT_INT(STET_OK, stet_journal_record_decode(&out, &arena, info,
                                                       stet_buf_as_view(&payload), NULL));
        for (size_t i = 0; i < info->field_count; i++) {
            const void *a = (char *)&in + info->fields[i].offset;
            const void *b = (char *)&out + info->fields[i].offset;
            const struct stet_list *list = b;
            const struct stet_u64s *u64s = b;
            const struct stet_frames *stack = b;

            switch (info->fields[i].kind) {
            case STET_KIND_U64:
                EXPECT(*(const uint64_t *)a == *(const uint64_t *)b);
                break;
            case STET_KIND_STR:
            case STET_KIND_BYTES:
                EXPECT(stet_view_eq(*(const struct stet_view *)a, *(const struct stet_view *)b));
                break;
            case STET_KIND_HASH:
                EXPECT(stet_hash_eq(*(const struct stet_hash *)a, *(const struct stet_hash *)b));
                break;
            case STET_KIND_LIST:
                EXPECT_INT(3, list->count);
                for (size_t k = 0; k < 3 && list->count == 3; k++)
                    EXPECT(stet_view_eq(texts[k], list->items[k]));
                break;
            case STET_KIND_U64S:
                EXPECT_INT(3, u64s->count);
                EXPECT(u64s->count == 3 && memcmp(numbers, u64s->items, sizeof numbers) == 0);
                break;
            case STET_KIND_FRAMES:
                EXPECT_INT(2, stack->count);
                EXPECT(stack->count == 2 && stack->items[0].line == 12 &&
                       stet_view_is(stack->items[0].file, "a.py") &&
                       stet_view_is(stack->items[1].function, "<module>"));
                break;
            }
        }
        stet_arena_release(&arena);
        stet_buf_release(&payload);
    }
    EXPECT_INT(35, kinds);
}

TEST(texts_and_lists_are_cut_so_that_any_record_fits)
{
    size_t n = 1 << 20;
    char *long_text = stet_mem_calloc(n, 1);
    struct stet_view items[64];
    struct stet_rec_process rec = {.argv = {items, 64}, .cwd = {long_text, n}};
    struct stet_rec_process_end end = {0};
    struct stet_buf payload = STET_BUF_INIT;

    for (size_t i = 0; i < 64; i++)
        items[i] = stet_view_of(long_text, n);
    stet_journal_record_encode(&payload, stet_journal_record_info(STET_REC_process), &rec);
    EXPECT(payload.len > STET_JOURNAL_TEXT_MAX && payload.len < STET_JOURNAL_PAYLOAD_MAX);
    stet_buf_release(&payload);
    memset(long_text, 0xff, n);
    end.executables = end.counts =
        (struct stet_u64s){(const uint64_t *)(const void *)long_text, n / sizeof(uint64_t)};
    stet_journal_record_encode(&payload, stet_journal_record_info(STET_REC_process_end), &end);
    EXPECT(payload.len > 2 * STET_JOURNAL_NUMBERS_MAX && payload.len < STET_JOURNAL_PAYLOAD_MAX);
    stet_buf_release(&payload);
    stet_mem_free(long_text);
}

TEST(a_file_torn_at_any_byte_gives_every_record_before_the_tear)
{
    struct stet_file f = small_journal();
    size_t ends[64], n = record_ends(f.bytes, ends, 64);

    EXPECT_INT(12, n);
    for (size_t cut = 0; cut <= f.bytes.len; cut++) {
        struct tally t = tally_bytes(stet_view_of(f.bytes.ptr, cut));
        size_t whole = 0, last = cut < STET_JOURNAL_HEAD_SIZE ? 0 : STET_JOURNAL_HEAD_SIZE;

        for (size_t i = 0; i < n && ends[i] <= cut; i++, whole++)
            last = ends[i];
        if (t.events != whole || t.tail != cut - last || t.damaged_regions) {
            EXPECT_INT(whole, t.events);
            EXPECT_INT(cut - last, t.tail);
            EXPECT_INT(0, t.damaged_regions);
            EXPECT_INT(cut, -1);
            break;
        }
    }
    stet_file_close(&f);
}

/* Any single flipped bit costs at most the record it stands in, and is seen. */
TEST(a_flipped_bit_costs_one_record_and_is_reported)
{
    struct stet_file f = small_journal();
    char *copy = stet_mem_alloc(f.bytes.len);
    size_t ends[64], n = record_ends(f.bytes, ends, 64);

    memcpy(copy, f.bytes.ptr, f.bytes.len);
    for (size_t i = 0; i < f.bytes.len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            struct tally t;
            bool in_head = i < STET_JOURNAL_HEAD_SIZE, in_last = i >= ends[n - 2];

            copy[i] = (char)(copy[i] ^ (1 << bit));
            t = tally_bytes(stet_view_of(copy, f.bytes.len));
            copy[i] = (char)(copy[i] ^ (1 << bit));
            if (t.events != (in_head ? n : n - 1) ||
                (in_last ? t.tail == 0 : t.damaged_regions != 1 || t.tail)) {
                EXPECT_INT(i, -1);
                EXPECT_INT(n - 1, t.events);
                EXPECT_INT(1, t.damaged_regions);
                goto done;
            }
        }
    }
done:
    stet_mem_free(copy);
    stet_file_close(&f);
}

/* Random damage of every size: never a crash, never an event that was not written. */
TEST(random_damage_never_invents_a_record)
{
    struct stet_file f = small_journal();
    char *copy = stet_mem_alloc(f.bytes.len);
    uint64_t x = 88172645463325252u;

    for (int round = 0; round < 2000; round++) {
        struct tally t;

        memcpy(copy, f.bytes.ptr, f.bytes.len);
        for (int k = 0; k < 1 + round % 7; k++) {
            size_t at, length;

            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            at = (size_t)(x % f.bytes.len);
            length = (size_t)(x >> 32) % 40;
            for (size_t i = at; i < at + length && i < f.bytes.len; i++)
                copy[i] = (char)(x >> (i % 57));
        }
        t = tally_bytes(stet_view_of(copy, f.bytes.len));
        if (t.events > 12 || t.out_of_order || t.compile_indices > 45) {
            EXPECT_INT(round, -1);
            break;
        }
    }
    stet_mem_free(copy);
    stet_file_close(&f);
}

TEST(a_newer_minor_version_is_read_and_a_newer_major_version_is_not)
{
    struct stet_file f = small_journal();
    char *copy = stet_mem_alloc(f.bytes.len);
    struct stet_journal_reader r;
    struct stet_journal_event e;
    struct stet_err err = STET_ERR_INIT;

    memcpy(copy, f.bytes.ptr, f.bytes.len);
    copy[10] = 7;
    for (unsigned i = 0, sum = stet_journal_checksum(copy, 12); i < 4; i++)
        copy[12 + i] = (char)(sum >> (8 * i));
    stet_journal_reader_over(&r, stet_view_of(copy, f.bytes.len));
    EXPECT_INT(STET_OK, stet_journal_next(&r, &e, NULL));
    EXPECT(r.newer && r.minor == 7);
    stet_journal_reader_close(&r);

    copy[8] = 2;
    for (unsigned i = 0, sum = stet_journal_checksum(copy, 12); i < 4; i++)
        copy[12 + i] = (char)(sum >> (8 * i));
    stet_journal_reader_over(&r, stet_view_of(copy, f.bytes.len));
    EXPECT_INT(STET_UNSUPPORTED, stet_journal_next(&r, &e, &err));
    EXPECT_STR("journal version 2.7; this build reads 1", err.text);
    stet_journal_reader_close(&r);
    stet_mem_free(copy);
    stet_file_close(&f);
}

/* A record kind and a field from the future, spliced in with right checksums. */
TEST(unknown_records_and_fields_are_skipped_and_counted)
{
    struct stet_file f = small_journal();
    struct stet_buf b = STET_BUF_INIT;
    size_t ends[64], start, sum;
    struct tally t;

    record_ends(f.bytes, ends, 64);
    stet_buf_add(&b, f.bytes.ptr, ends[1]);
    start = b.len;
    stet_buf_add(&b, f.bytes.ptr + ends[1], ends[2] - ends[1]); /* a compile... */
    b.ptr[start + 12] = (char)200;                              /* ...of kind 200 */
    sum = stet_journal_checksum(b.ptr + start + 8, b.len - start - 8);
    for (unsigned i = 0; i < 4; i++)
        b.ptr[start + 4 + i] = (char)(sum >> (8 * i));
    start = b.len;
    stet_buf_add(&b, f.bytes.ptr + ends[1], ends[2] - ends[1]); /* a compile with two new fields */
    stet_buf_varint(&b, 900 << 1);
    stet_buf_varint(&b, 12345);
    stet_buf_varint(&b, 901 << 1 | 1);
    stet_buf_varint(&b, 3);
    stet_buf_str(&b, "new");
    b.ptr[start + 8] = (char)(b.len - start - STET_JOURNAL_FRAME_SIZE);
    sum = stet_journal_checksum(b.ptr + start + 8, b.len - start - 8);
    for (unsigned i = 0; i < 4; i++)
        b.ptr[start + 4 + i] = (char)(sum >> (8 * i));
    t = tally_bytes(stet_buf_as_view(&b));
    EXPECT_INT(3, t.events);
    EXPECT_INT(1, t.compiles);
    EXPECT_INT(1, t.unknown);
    EXPECT_INT(0, t.damaged_regions);
    stet_buf_release(&b);
    stet_file_close(&f);
}

TEST(a_file_that_is_not_a_journal_is_refused)
{
    struct stet_journal_reader r;
    struct stet_journal_event e;
    char noise[4096];

    memset(noise, 'x', sizeof noise);
    stet_journal_reader_over(&r, stet_view_of(noise, sizeof noise));
    EXPECT_INT(STET_BAD_INPUT, stet_journal_next(&r, &e, NULL));
    stet_journal_reader_close(&r);
    EXPECT_INT(STET_NOT_FOUND, stet_journal_reader_open(&r, "/nowhere/at/all.stj", NULL));
    stet_journal_reader_close(&r);
}

/* The follower sees each record as soon as its last byte is there, fed a byte at a time; a tear
 * that is taken back and overwritten is no damage. */
TEST(a_reader_follows_a_growing_file)
{
    struct stet_file f = small_journal();
    struct stet_journal_reader r;
    struct stet_journal_event e;
    char path[128];
    size_t ends[64], n = record_ends(f.bytes, ends, 64), seen = 0;
    FILE *out;

    fresh_scratch();
    snprintf(path, sizeof path, "%s/growing.stj", scratch_dir);
    out = fopen(path, "wb");
    EXPECT_INT(STET_OK, stet_journal_reader_open(&r, path, NULL));
    for (size_t i = 0; i < f.bytes.len; i++) {
        fputc(f.bytes.ptr[i], out);
        fflush(out);
        if (i == ends[3] + 20) { /* out of space in mid-record: the writer takes it back */
            EXPECT_INT(STET_NOT_FOUND, stet_journal_next(&r, &e, NULL));
            EXPECT_INT(0, ftruncate(fileno(out), (off_t)ends[3]));
            fseek(out, (long)ends[3], SEEK_SET);
            i = ends[3] - 1;
            ends[3] -= 100; /* once */
            continue;
        }
        while (stet_journal_next(&r, &e, NULL) == STET_OK)
            seen++;
        if (i + 1 == ends[seen ? seen - 1 : 0])
            EXPECT(seen > 0);
    }
    EXPECT_INT(n, seen);
    EXPECT_INT(0, r.damage.regions);
    EXPECT_INT(0, r.damage.tail);
    stet_journal_reader_close(&r);
    fclose(out);
    drop_scratch();
    stet_file_close(&f);
}

/* Marks everywhere, each promising a long record: the reader gives up instead of hashing forever.
 */
TEST(hostile_marks_do_not_cost_quadratic_time)
{
    size_t n = 8 << 20;
    unsigned char *bytes = stet_mem_calloc(n, 1);
    struct stet_journal_reader r;
    struct stet_journal_event e;
    clock_t begin = clock();

    for (size_t i = 0; i + 16 <= n; i += 16) {
        bytes[i] = 0x5d, bytes[i + 1] = 0xc3, bytes[i + 2] = 0xe7, bytes[i + 3] = 0x9a;
        bytes[i + 10] = 3; /* length 0x30000 */
    }
    stet_journal_reader_over(&r, stet_view_of(bytes, n));
    EXPECT_INT(STET_BAD_INPUT, stet_journal_next(&r, &e, NULL));
    EXPECT((clock() - begin) / CLOCKS_PER_SEC < 20);
    stet_journal_reader_close(&r);
    stet_mem_free(bytes);
}
