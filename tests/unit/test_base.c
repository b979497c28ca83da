/* Facts about src/base. */
#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/duration.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/reader.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(the_first_error_is_kept)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_BAD_INPUT, stet_fail_at(&err, STET_BAD_INPUT, 7, "first %d", 1));
    EXPECT_INT(STET_LIMIT, stet_fail(&err, STET_LIMIT, "second"));
    EXPECT_STR("first 1", err.text);
    EXPECT_INT(7, err.offset);
    EXPECT_INT(STET_IO, stet_fail(NULL, STET_IO, "nobody listens"));
}

TEST(a_reader_past_its_end_gives_zeroes_and_the_offset_of_the_first_failure)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_reader r, sub;

    stet_reader_init(&r, STET_VIEW("\x01\x02\x03\xff\xff"), 100);
    EXPECT_INT(0x0201, stet_reader_u16(&r));
    sub = stet_reader_sub(&r, 1);
    EXPECT_INT(3, stet_reader_u8(&sub));
    EXPECT_INT(0, stet_reader_u8(&sub));
    EXPECT(!stet_reader_ok(&sub) && stet_reader_ok(&r));
    EXPECT_INT(0, stet_reader_varint(&r));
    EXPECT_INT(0, stet_reader_u64(&r));
    EXPECT_INT(STET_BAD_INPUT, stet_reader_finish(&r, "thing", &err));
    EXPECT_INT(105, err.offset);
    EXPECT_STR("thing: ends in the middle of a varint", err.text);
}

TEST(varints_round_trip)
{
    uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
    struct stet_buf b = STET_BUF_INIT;
    struct stet_reader r;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        stet_buf_varint(&b, values[i]);
    stet_reader_init(&r, stet_buf_as_view(&b), 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        EXPECT(stet_reader_varint(&r) == values[i]);
    EXPECT(stet_reader_ok(&r) && stet_reader_left(&r) == 0);
    stet_buf_release(&b);
}

TEST(an_empty_allocation_is_not_null)
{
    struct stet_arena a;

    stet_arena_init(&a, 1 << 20);
    EXPECT(stet_arena_alloc(&a, 0, 8) != NULL && !a.failed);
    stet_arena_release(&a);
}

TEST(an_arena_takes_lent_memory_first_and_never_frees_it)
{
    _Alignas(8) char lent[64];
    struct stet_arena a;
    char *p, *q;

    stet_arena_init(&a, 1 << 20);
    stet_arena_lend(&a, lent, sizeof lent);
    p = stet_arena_raw(&a, 5, 8);
    EXPECT(p == lent && a.used == 0);
    q = stet_arena_raw(&a, 4, 8); /* more than is left */
    EXPECT(q != NULL && (q < lent || q >= lent + sizeof lent) && a.used > 0);
    stet_arena_release(&a);
    p = stet_arena_raw(&a, 1, 8);
    EXPECT(p != NULL && (p < lent || p >= lent + sizeof lent));
    stet_arena_release(&a);
}

TEST(an_array_outgrows_lent_memory_with_what_is_in_it)
{
    int lent[2] = {7, 8}, *p = stet_mem_outgrow(lent, 2, 2, 4, sizeof *p), *q;

    EXPECT(p && p != lent && p[0] == 7 && p[1] == 8);
    p[3] = 9;
    q = stet_mem_outgrow(p, 4, 2, 400, sizeof *p); /* the heap's by now: p is gone */
    EXPECT(q && q[0] == 7 && q[3] == 9);
    stet_mem_free(q);
    q = stet_mem_outgrow(NULL, 0, 2, 3, sizeof *q); /* a first one */
    EXPECT(q != NULL);
    stet_mem_free(q);
    EXPECT(stet_mem_outgrow(lent, 2, 2, SIZE_MAX, sizeof *q) == NULL && lent[1] == 8);
}

TEST(a_buffer_outgrows_lent_memory_with_what_is_in_it)
{
    char lent[8];
    struct stet_buf b = STET_BUF_INIT;

    stet_buf_lend(&b, lent, sizeof lent);
    stet_buf_str(&b, "1234567");
    EXPECT(b.ptr == lent && lent[7] == '\0');
    stet_buf_str(&b, "8");
    EXPECT(b.ptr != lent);
    EXPECT_STR("12345678", b.ptr);
    stet_buf_release(&b);
    stet_buf_lend(&b, lent, sizeof lent); /* again, and never more than fits */
    stet_buf_str(&b, "a");
    EXPECT_STR("a", lent);
    stet_buf_release(&b);
}

TEST(an_arena_stops_at_its_cap)
{
    struct stet_arena a;

    stet_arena_init(&a, 10000);
    EXPECT(stet_arena_alloc(&a, 100, 10) != NULL);
    EXPECT(stet_arena_alloc(&a, 1, 100000) == NULL);
    EXPECT(a.failed);
    EXPECT(stet_arena_alloc(&a, SIZE_MAX, 16) == NULL);
    stet_arena_release(&a);
}

TEST(a_buffer_stops_at_its_cap_and_stays_failed)
{
    struct stet_buf b = {.cap = 300};

    for (int i = 0; i < 100; i++)
        stet_buf_printf(&b, "%03d,", i);
    EXPECT(b.failed && b.len <= 300);
    stet_buf_release(&b);
}

TEST(durations_have_a_unit_or_the_callers)
{
    static const struct {
        const char *text;
        uint32_t ms; /* 0: not a duration */
    } cases[] = {{"500ms", 500},  {"2s", 2000}, {"10m", 600000},
                 {"1h", 3600000}, {"7", 7000},  {"604800", 604800000},
                 {"604801", 0},   {"", 0},      {"s", 0},
                 {"-1s", 0},      {" 1s", 0},   {"1 s", 0},
                 {"1sec", 0},     {"1.5s", 0},  {"99999999999999999999h", 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t ms = 1;
        bool read = stet_duration_read(cases[i].text, STET_DURATION_S, 604800000, &ms);

        EXPECT(read == (cases[i].ms != 0));
        EXPECT(ms == (read ? cases[i].ms : 1));
    }
}

TEST(hashing_in_pieces_equals_hashing_at_once)
{
    char bytes[3000];
    struct stet_hasher h;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    for (size_t piece = 1; piece < sizeof bytes; piece = piece * 3 + 1) {
        stet_hasher_init(&h);
        for (size_t at = 0; at < sizeof bytes; at += piece)
            stet_hasher_add(&h, bytes + at, piece < sizeof bytes - at ? piece : sizeof bytes - at);
        EXPECT(stet_hash_eq(stet_hasher_digest(&h),
                            stet_hash_bytes(stet_view_of(bytes, sizeof bytes))));
    }
}

TEST(hashes_print_and_parse)
{
    struct stet_hash h = stet_hash_bytes(STET_VIEW("stet")), back;
    char text[STET_HASH_TEXT];

    stet_hash_format(h, text);
    EXPECT(stet_hash_parse(stet_view_str(text), &back) && stet_hash_eq(h, back));
    EXPECT(!stet_hash_parse(STET_VIEW("00"), &back));
    EXPECT(!stet_hash_eq(stet_hash_mix(h, back), stet_hash_mix_u64(h, 1)));
}

TEST(json_escapes_and_replaces_bad_utf8)
{
    struct stet_buf b = STET_BUF_INIT;
    struct stet_json j;

    stet_json_init(&j, &b);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "a", "x\"\\\n\x01\xc3\xa9\xff");
    stet_json_array(&j, "b");
    stet_json_int(&j, NULL, -1);
    stet_json_number(&j, NULL, 0.5);
    stet_json_cstr(&j, NULL, NULL);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    EXPECT_STR("{\"a\":\"x\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\",\"b\":[-1,0.5,null]}", b.ptr);
    stet_buf_release(&b);
}

/* What an editor that writes in place, `git checkout` or `: > file` do to a file that is being
 * looked at. Under a mapping the look would end the process. */
TEST(a_file_that_is_cut_short_stays_as_it_was_read)
{
    enum { SIZE = 3 * 4096 };
    char folder[] = "/tmp/stet-test-XXXXXX", bytes[SIZE];
    struct stet_file whole, small, rest;
    char *path;

    memset(bytes, 'x', sizeof bytes);
    EXPECT(mkdtemp(folder) != NULL);
    path = stet_fs_join(folder, "a");
    EXPECT_INT(STET_OK, stet_fs_write(path, stet_view_of(bytes, SIZE), NULL));
    EXPECT_INT(STET_OK, stet_file_open(&whole, path, NULL));
    EXPECT_INT(STET_OK, stet_file_open_small(&small, path, SIZE, NULL));
    EXPECT_INT(STET_OK, stet_file_open_from(&rest, path, SIZE - 5, NULL));
    EXPECT_INT(0, truncate(path, 0));
    EXPECT(stet_view_eq(whole.bytes, stet_view_of(bytes, SIZE)));
    EXPECT(stet_view_eq(small.bytes, stet_view_of(bytes, SIZE)));
    EXPECT(stet_view_is(rest.bytes, "xxxxx"));
    stet_file_close(&whole);
    stet_file_close(&small);
    stet_file_close(&rest);
    EXPECT_INT(STET_OK, stet_file_open_from(&rest, path, SIZE, NULL)); /* its end is before that */
    EXPECT_INT(0, rest.bytes.len);
    stet_file_close(&rest);
    unlink(path);
    rmdir(folder);
    stet_mem_free(path);
}

TEST(small_files_are_read_to_a_limit_without_blocking)
{
    char folder[] = "/tmp/stet-test-XXXXXX";
    struct stet_hash hash;
    struct stet_file f;
    char *path, *pipe;

    EXPECT(mkdtemp(folder) != NULL);
    path = stet_fs_join(folder, "a");
    pipe = stet_fs_join(folder, "b");
    EXPECT_INT(STET_NOT_FOUND, stet_file_open_small(&f, path, 5, NULL));
    EXPECT_INT(STET_NOT_FOUND, stet_file_hash(path, &hash, NULL));
    EXPECT_INT(STET_OK, stet_fs_write(path, STET_VIEW("hello"), NULL));
    EXPECT_INT(STET_LIMIT, stet_file_open_small(&f, path, 4, NULL));
    EXPECT_INT(STET_LIMIT, stet_file_open_small(&f, folder, 1 << 20, NULL));
    EXPECT_INT(0, mkfifo(pipe, 0600));
    EXPECT_INT(STET_LIMIT, stet_file_open_small(&f, pipe, 1 << 20, NULL));
    EXPECT_INT(STET_IO, stet_file_hash(pipe, &hash, NULL));
    EXPECT_INT(STET_OK, stet_file_open_small(&f, path, 5, NULL));
    EXPECT(stet_view_is(f.bytes, "hello"));
    stet_file_close(&f);
    EXPECT_INT(STET_OK, stet_file_hash(path, &hash, NULL));
    EXPECT(stet_hash_eq(hash, stet_hash_bytes(STET_VIEW("hello"))));
    unlink(path);
    unlink(pipe);
    rmdir(folder);
    stet_mem_free(path);
    stet_mem_free(pipe);
}

TEST(a_file_written_is_the_file_read)
{
    char folder[] = "/tmp/stet-test-XXXXXX";
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f;
    char *path;

    EXPECT(mkdtemp(folder) != NULL);
    path = stet_fs_join(folder, "a");
    EXPECT_INT(STET_NOT_FOUND, stet_file_open(&f, path, NULL));
    EXPECT_INT(STET_OK, stet_fs_write(path, STET_VIEW("hello"), &err));
    EXPECT_INT(STET_OK, stet_file_open(&f, path, &err));
    EXPECT(stet_view_is(f.bytes, "hello"));
    stet_file_close(&f);
    unlink(path);
    rmdir(folder);
    stet_mem_free(path);
}
