/* The reader of torch.compile traces: records in, damage counted, nothing readable lost. */
#include "test.h"

#include "md5_help.h"

#include "base/buf.h"
#include "ingest/trace_files.h"
#include "ingest/why.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Traces by hand. */

static void record(struct stet_buf *out, const char *json, const char *payload)
{
    char digest[33];

    stet_buf_printf(out, "V1115 08:58:44.555000 16924 torch/_dynamo/utils.py:2350] {%s", json);
    if (payload) {
        hex(md5(payload, strlen(payload)), digest);
        stet_buf_printf(out, ", \"has_payload\": \"%s\"}\n\t", digest);
        for (; *payload; payload++) {
            stet_buf_char(out, *payload);
            if (*payload == '\n')
                stet_buf_char(out, '\t');
        }
        stet_buf_char(out, '\n');
    } else {
        stet_buf_str(out, "}\n");
    }
}

#define AT(frame, compile)                                                                         \
    ", \"frame_id\": " #frame ", \"frame_compile_id\": " #compile ", \"attempt\": 0"
#define REASONS(frame, compile)                                                                    \
    "\"artifact\": {\"name\": \"recompile_reasons\", \"encoding\": \"json\"}" AT(frame, compile)
#define START(frame, compile)                                                                      \
    "\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"f\", \"filename\": 0}]}" AT(frame,   \
                                                                                          compile)
#define METRICS(frame, compile, us)                                                                \
    "\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"/none/a.py\", "              \
    "\"co_firstlineno\": 3, \"duration_us\": " #us "}" AT(frame, compile)

static void small_trace(struct stet_buf *b)
{
    record(b, "\"str\": [\"/none/a.py\", 0]", NULL);
    record(b, START(0, 0), NULL);
    record(b, METRICS(0, 0, 1000), NULL);
    record(b, REASONS(0, 1), "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6");
    record(b, START(0, 1), NULL);
    record(b, METRICS(0, 1, 2000), NULL);
    record(b, REASONS(0, 2),
           "[\n\"0/1: 2 <= x.size()[0]  # y\",\n\"0/0: tensor 'x' size mismatch at index 0. "
           "expected 4, actual 1\"\n]");
    record(b, START(0, 2), NULL);
    record(b, METRICS(0, 2, 3000), NULL);
}

struct fed {
    struct stet_torch t;
    struct stet_trace trace;
};

static void feed_start(struct fed *f)
{
    stet_torch_init(&f->t);
    stet_trace_init(&f->trace, stet_torch_log_sink(stet_torch_log_new(&f->t, "x.log", ".", -1)));
}

static void feed_end(struct fed *f)
{
    stet_trace_release(&f->trace);
    stet_torch_release(&f->t);
}

static uint64_t faults(const struct stet_torch *t)
{
    uint64_t n = 0;

    for (size_t i = 0; i < STET_TRACE_FAULTS; i++)
        n += t->faults[i];
    return n;
}

TEST(a_trace_is_the_same_however_it_is_cut)
{
    struct stet_buf b = STET_BUF_INIT;

    small_trace(&b);
    for (size_t piece = 1; piece < 400; piece += piece < 20 ? 1 : 37) {
        struct fed f;

        feed_start(&f);
        for (size_t at = 0; at < b.len; at += piece) {
            stet_trace_feed(&f.trace, b.ptr + at, b.len - at < piece ? b.len - at : piece);
            stet_trace_idle(&f.trace);
        }
        stet_trace_end(&f.trace);
        EXPECT_INT(9, f.t.records);
        EXPECT_INT(0, faults(&f.t));
        EXPECT_INT(1, f.t.frame_count);
        EXPECT_INT(3, f.t.compile_count);
        EXPECT_INT(3, f.t.failure_count);
        EXPECT_INT(2, stet_torch_recompiles(&f.t));
        EXPECT_INT(3000, f.t.compiles[2].forward.all);
        EXPECT(stet_view_is(f.t.frames[0].code.file, "/none/a.py"));
        feed_end(&f);
    }
    stet_buf_release(&b);
}

TEST(a_record_is_given_as_soon_as_its_payload_is_whole)
{
    struct stet_buf b = STET_BUF_INIT;
    struct fed f;

    record(&b, REASONS(0, 1), "0/0: n == 1\nUser stack trace:\n  File \"/a.py\", line 7, in f");
    feed_start(&f);
    stet_trace_feed(&f.trace, b.ptr, b.len - 12); /* in the middle of its last line */
    stet_trace_idle(&f.trace);
    EXPECT_INT(0, f.t.failure_count);
    stet_trace_feed(&f.trace, b.ptr + b.len - 12, 12);
    stet_trace_idle(&f.trace);
    EXPECT_INT(1, f.t.failure_count);
    stet_trace_end(&f.trace);
    EXPECT_INT(1, f.t.failure_count);
    EXPECT_INT(0, faults(&f.t));
    feed_end(&f);
    stet_buf_release(&b);
}

TEST(damage_is_counted_and_located_and_costs_no_other_record)
{
    struct stet_buf b = STET_BUF_INIT;
    struct fed f;
    size_t good;

    stet_buf_str(&b, "warning: something else\n");                       /* stray */
    stet_buf_str(&b, "\tpayload of nobody\n\tmore of it\n");             /* stray, once */
    record(&b, "\"artifact\": {\"name\": \"x\"", NULL);                  /* bad JSON */
    stet_buf_str(&b, "V1115 08:58:44.555000 16924 torch/a.py:1] {\"ha"); /* cut off by another */
    record(&b, METRICS(0, 0, 1000), NULL);
    record(&b, REASONS(0, 1), "0/0: n == 1");
    b.ptr[b.len - 2] = '2'; /* wrong MD5, still readable */
    good = b.len;
    record(&b, REASONS(0, 2), "0/1: n == 2\nsecond line");
    feed_start(&f);
    stet_trace_feed(&f.trace, b.ptr, b.len - 6); /* torn */
    stet_trace_end(&f.trace);
    EXPECT_INT(2, f.t.faults[STET_TRACE_STRAY]);
    EXPECT_INT(2, f.t.faults[STET_TRACE_BAD_JSON]);
    EXPECT_INT(1, f.t.faults[STET_TRACE_BAD_MD5]);
    EXPECT_INT(1, f.t.faults[STET_TRACE_TORN]);
    EXPECT_INT(3, f.t.compile_count);
    EXPECT_INT(2, f.t.failure_count);
    EXPECT_INT(1, f.t.kept[0].line);
    EXPECT_INT(0, f.t.kept[0].offset);
    EXPECT_INT((long long)good, (long long)f.t.kept[5].offset);
    feed_end(&f);
    stet_buf_release(&b);
}

TEST(payloads_of_any_length_are_checked_and_located)
{
    static const size_t lengths[] = {10, 300000, 100, 64, 262144, 55, 900000, 56, 0, 63};
    enum { MANY = sizeof lengths / sizeof *lengths };
    static char text[900001];
    size_t begins[MANY];
    struct stet_buf b = STET_BUF_INIT;

    for (size_t i = 0; i < MANY; i++) {
        begins[i] = b.len;
        for (size_t k = 0; k < lengths[i]; k++)
            text[k] = k % 61 == 60 ? '\n' : (char)('a' + (k + i) % 26);
        text[lengths[i]] = '\0';
        record(&b, "\"artifact\": {\"name\": \"x\"}", text);
        if (i % 2) /* one byte of every other one */
            b.ptr[b.len - 2] ^= 1;
    }
    for (size_t piece = 4093; piece < 3 * b.len; piece *= 9) {
        struct fed f;

        feed_start(&f);
        for (size_t at = 0; at < b.len; at += piece) {
            stet_trace_feed(&f.trace, b.ptr + at, b.len - at < piece ? b.len - at : piece);
            if (at / piece % 3 == 0)
                stet_trace_idle(&f.trace);
        }
        stet_trace_end(&f.trace);
        EXPECT_INT(MANY, f.t.records);
        EXPECT_INT(MANY / 2, faults(&f.t));
        EXPECT_INT(1, f.t.faults[STET_TRACE_TORN]); /* the last one: it might have gone on */
        for (size_t i = 0; i < MANY / 2 && i < f.t.kept_count; i++)
            EXPECT_INT((long long)begins[2 * i + 1], (long long)f.t.kept[i].offset);
        feed_end(&f);
    }
    stet_buf_release(&b);
}

TEST(a_line_of_a_gigabyte_costs_no_memory)
{
    static char block[1 << 20];
    struct stet_buf b = STET_BUF_INIT;
    struct fed f;

    memset(block, 'x', sizeof block);
    feed_start(&f);
    record(&b, START(0, 0), NULL);
    stet_trace_feed(&f.trace, b.ptr, b.len);
    stet_trace_feed(&f.trace, "V1115 08:58:44.555000 16924 torch/a.py:1] {\"a\": \"", 50);
    for (int i = 0; i < 1024; i++)
        stet_trace_feed(&f.trace, block, sizeof block);
    stet_trace_feed(&f.trace, "\n", 1);
    stet_trace_feed(&f.trace, b.ptr, b.len);
    EXPECT_INT(1, f.t.faults[STET_TRACE_TOO_LONG]);
    EXPECT_INT(2, f.t.records);
    EXPECT(f.trace.held.room <= 2 * STET_TRACE_LINE);
    feed_end(&f);
    stet_buf_release(&b);
}

TEST(a_break_whose_payload_is_lost_is_a_break)
{
    static const char text[] =
        "V1115 08:58:44.555000 1 a] {\"artifact\": {\"name\": \"dynamo_graph_break_reason\"},"
        " \"frame_id\": 0, \"frame_compile_id\": 0, \"has_payload\": \"no MD5\"}\n";
    struct fed f;

    feed_start(&f);
    stet_trace_feed(&f.trace, text, sizeof text - 1);
    stet_trace_end(&f.trace);
    EXPECT_INT(1, f.t.break_count);
    EXPECT_INT(0, f.t.breaks[0].reason.len);
    feed_end(&f);
}

/* Each would take minutes if what a line names were searched for one by one. */
TEST(a_log_takes_time_by_its_length_alone)
{
    static const char front[] = "V1115 08:58:44.555000 ";
    enum { MANY = 200000 };
    struct stet_buf b = STET_BUF_INIT;
    struct fed f;

    feed_start(&f);
    for (int i = 0; i < MANY; i++) { /* one broken line, full of beginnings */
        stet_trace_feed(&f.trace, front, sizeof front - 1);
        stet_trace_feed(&f.trace, "1 ", 2);
    }
    stet_trace_feed(&f.trace, "\n", 1);
    for (int i = 0; i < MANY; i++) { /* processes, then compiles of one frame, then breaks */
        b.len = 0;
        stet_buf_printf(&b,
                        "%s%d a] {\"dynamo_start\": {}, \"frame_id\": 0,"
                        " \"frame_compile_id\": 0}\n",
                        front, i);
        stet_buf_printf(&b,
                        "%s1 a] {\"dynamo_start\": {}, \"frame_id\": 0,"
                        " \"frame_compile_id\": %d}\n",
                        front, i);
        stet_buf_printf(&b,
                        "%s1 a] {\"artifact\": {\"name\": \"dynamo_graph_break_reason\"},"
                        " \"frame_id\": 0, \"frame_compile_id\": 0, \"has_payload\":"
                        " \"d41d8cd98f00b204e9800998ecf8427e\"}\n\tGraph break: %d\n",
                        front, i);
        stet_trace_feed(&f.trace, b.ptr, b.len);
    }
    stet_trace_end(&f.trace);
    EXPECT_INT(1, f.t.faults[STET_TRACE_STRAY]);
    EXPECT_INT(MANY, f.t.process_count);
    EXPECT_INT(2 * MANY - 1, f.t.compile_count);
    EXPECT_INT(MANY, f.t.break_count);
    EXPECT_INT(MANY - 1, f.t.compiles[stet_torch_compile_at(&f.t, 1, MANY - 1)].number);
    feed_end(&f);
    stet_buf_release(&b);
}

TEST(bytes_that_are_not_utf8_are_counted)
{
    struct stet_buf b = STET_BUF_INIT;
    struct fed f;

    record(&b, "\"str\": [\"/none/\xff\xfe.py\", 0]", NULL);
    feed_start(&f);
    stet_trace_feed(&f.trace, b.ptr, b.len);
    EXPECT_INT(1, f.t.faults[STET_TRACE_BAD_UTF8]);
    EXPECT_INT(1, f.t.records);
    feed_end(&f);
    stet_buf_release(&b);
}

TEST(a_reset_of_dynamo_begins_new_frames)
{
    struct stet_buf b = STET_BUF_INIT;
    struct fed f;

    small_trace(&b);
    small_trace(&b); /* the same ids again, after torch._dynamo.reset() */
    feed_start(&f);
    stet_trace_feed(&f.trace, b.ptr, b.len);
    EXPECT_INT(2, f.t.frame_count);
    EXPECT_INT(6, f.t.compile_count);
    EXPECT_INT(3, f.t.frames[1].compiles);
    feed_end(&f);
    stet_buf_release(&b);
}

/* Files. */

static char folder[64];

static void path_of(char out[256], const char *name)
{
    snprintf(out, 256, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t n, const char *mode)
{
    char path[256];
    FILE *f;

    path_of(path, name);
    f = fopen(path, mode);
    EXPECT(f && fwrite(bytes, 1, n, f) == n);
    if (f)
        fclose(f);
}

static void new_folder(void)
{
    strcpy(folder, "/tmp/stet-torch-XXXXXX");
    EXPECT(mkdtemp(folder) != NULL);
}

static void drop(const char *const *names)
{
    char path[256];

    for (; *names; names++) {
        path_of(path, *names);
        unlink(path);
    }
    rmdir(folder);
}

TEST(a_growing_folder_is_followed)
{
    static const char name[] = "dedicated_log_torch_trace_rank_3_ab.log";
    struct stet_buf b = STET_BUF_INIT;
    struct stet_torch t;
    struct stet_torch_files *files;

    new_folder();
    small_trace(&b);
    stet_torch_init(&t);
    files = stet_torch_files_new(&t);
    rmdir(folder); /* it need not be there yet */
    EXPECT_INT(STET_OK, stet_torch_files_add(files, folder, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
    EXPECT_INT(0, t.records);
    mkdir(folder, 0700);
    write_file(name, b.ptr, 700, "w");
    EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
    EXPECT(t.records > 0 && t.records < 9);
    write_file(name, b.ptr + 700, b.len - 700, "a");
    EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
    EXPECT_INT(9, t.records);
    EXPECT_INT(3, t.processes[0].rank);
    EXPECT_INT(STET_OK, stet_torch_files_finish(files, NULL));
    EXPECT_INT(0, faults(&t));
    stet_torch_files_free(files);
    stet_torch_release(&t);
    drop((const char *const[]){name, NULL});
    stet_buf_release(&b);
}

TEST(existing_files_can_be_skipped)
{
    struct stet_buf b = STET_BUF_INIT;
    struct stet_torch t;
    struct stet_torch_files *files;

    new_folder();
    small_trace(&b);
    write_file("old.log", b.ptr, b.len, "w");
    stet_torch_init(&t);
    files = stet_torch_files_new(&t);
    EXPECT_INT(STET_OK, stet_torch_files_add(files, folder, NULL));
    stet_torch_files_skip(files);
    write_file("new.log", b.ptr, b.len, "w");
    EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_finish(files, NULL));
    EXPECT_INT(9, t.records);
    EXPECT_INT(1, t.part_count);
    EXPECT(stet_view_ends(t.parts[0], "/new.log"));
    stet_torch_files_free(files);
    stet_torch_release(&t);
    drop((const char *const[]){"old.log", "new.log", NULL});
    stet_buf_release(&b);
}

TEST(a_log_that_is_rotated_while_followed_is_one_log)
{
    char now[256], old[256];
    struct stet_buf b = STET_BUF_INIT;
    struct stet_torch t;
    struct stet_torch_files *files;

    new_folder();
    small_trace(&b);
    stet_torch_init(&t);
    files = stet_torch_files_new(&t);
    write_file("x.log", b.ptr, 900, "w");
    EXPECT_INT(STET_OK, stet_torch_files_add(files, folder, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
    path_of(now, "x.log");
    path_of(old, "x.log.1");
    EXPECT_INT(0, rename(now, old));
    write_file("x.log", b.ptr + 900, b.len - 900, "w"); /* in the middle of a record */
    EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_finish(files, NULL));
    EXPECT_INT(9, t.records);
    EXPECT_INT(1, t.log_count);
    EXPECT_INT(0, faults(&t));
    stet_torch_files_free(files);
    stet_torch_release(&t);
    drop((const char *const[]){"x.log", "x.log.1", NULL});
    stet_buf_release(&b);
}

TEST(rotated_and_compressed_parts_are_read_in_order)
{
    struct stet_buf b = STET_BUF_INIT;
    char packed[8192];
    struct stet_torch t;
    struct stet_torch_files *files;
    size_t n;
    z_stream z = {0};

    new_folder();
    small_trace(&b);
    n = ZSTD_compress(packed, sizeof packed, b.ptr, 500, 3);
    write_file("x.log.2.zst", packed, n, "w");
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (unsigned char *)b.ptr + 500;
    z.avail_in = 600;
    z.next_out = (unsigned char *)packed;
    z.avail_out = sizeof packed;
    deflate(&z, Z_FINISH);
    write_file("x.log.1.gz", packed, z.total_out, "w");
    deflateEnd(&z);
    write_file("x.log", b.ptr + 1100, b.len - 1100, "w");
    stet_torch_init(&t);
    files = stet_torch_files_new(&t);
    EXPECT_INT(STET_OK, stet_torch_files_add(files, folder, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_finish(files, NULL));
    EXPECT_INT(1, t.log_count);
    EXPECT_INT(9, t.records);
    EXPECT_INT(0, faults(&t));
    stet_torch_files_free(files);
    stet_torch_release(&t);
    drop((const char *const[]){"x.log", "x.log.1.gz", "x.log.2.zst", NULL});
    stet_buf_release(&b);
}

TEST(damaged_compressed_bytes_are_skipped)
{
    struct stet_buf b = STET_BUF_INIT;
    char packed[16384];
    struct stet_torch t;
    struct stet_torch_files *files;
    size_t first, second;

    new_folder();
    small_trace(&b);
    first = ZSTD_compress(packed, sizeof packed, b.ptr, b.len, 3);
    memset(packed + 40, 0x55, 40);
    second = ZSTD_compress(packed + first, sizeof packed - first, b.ptr, b.len, 3);
    write_file("x.log.zst", packed, first + second, "w");
    stet_torch_init(&t);
    files = stet_torch_files_new(&t);
    EXPECT_INT(STET_OK, stet_torch_files_add(files, folder, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_finish(files, NULL));
    EXPECT(t.faults[STET_TRACE_CODEC] > 0);
    EXPECT(t.records >= 9); /* the second frame is whole */
    stet_torch_files_free(files);
    stet_torch_release(&t);
    drop((const char *const[]){"x.log.zst", NULL});
    stet_buf_release(&b);
}

TEST(a_forked_child_uses_its_parents_strings)
{
    struct stet_buf b = STET_BUF_INIT;
    struct stet_torch t;
    struct stet_torch_files *files;

    new_folder();
    record(&b, "\"str\": [\"/none/a.py\", 0]", NULL);
    write_file("a.log", b.ptr, b.len, "w");
    b.len = 0;
    record(&b, START(0, 0), NULL);
    write_file("b.log", b.ptr, b.len, "w");
    stet_torch_init(&t);
    files = stet_torch_files_new(&t);
    EXPECT_INT(STET_OK, stet_torch_files_add(files, folder, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_finish(files, NULL));
    EXPECT_INT(1, t.frame_count);
    EXPECT(stet_view_is(t.frames[0].code.file, "/none/a.py"));
    stet_torch_files_free(files);
    stet_torch_release(&t);
    drop((const char *const[]){"a.log", "b.log", NULL});
    stet_buf_release(&b);
}

TEST(what_torch_logs_prints_is_read_too)
{
    static const char text[] =
        "[rank1]:V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/1] [__recompiles] "
        "Recompiling function forward in /none/a.py:12\n"
        "[rank1]:V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/1] [__recompiles]     "
        "triggered by the following guard failure(s):\n"
        "[rank1]:V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/1] [__recompiles]     "
        "- 1/0: s.c == 0   # s.c+=1  # ne/a.py:13 in forward (HINT: try this.)\n"
        "[rank1]:V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/1] [__recompiles]     "
        "- User stack trace:\n"
        "[rank1]:V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/1] [__recompiles]     "
        "-   File \"/none/a.py\", line 13, in forward\n"
        "[rank1]:W1115 08:58:51.072000 9 torch/_dynamo/convert_frame.py:1994] [1/8] torch._dynamo "
        "hit config.recompile_limit (8)\n";
    struct stet_torch_why why;
    struct fed f;

    feed_start(&f);
    stet_trace_feed(&f.trace, text, sizeof text - 1);
    stet_trace_end(&f.trace);
    EXPECT_INT(3, f.t.compile_count); /* the first, the second, the one refused */
    EXPECT_INT(1, f.t.failure_count);
    EXPECT_INT(1, f.t.processes[0].rank);
    EXPECT_INT(8, f.t.frames[0].limit_value);
    stet_torch_explain(&f.t, 1, &why);
    EXPECT_INT(13, why.origin.line);
    EXPECT(stet_view_is(why.what, "s.c"));
    EXPECT(stet_view_is(f.t.frames[0].code.function, "forward"));
    feed_end(&f);
}

TEST(an_entry_of_another_mode_is_not_the_one_that_should_have_served)
{
    static const char text[] =
        "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/3] [__recompiles] "
        "Recompiling function forward in /none/a.py:12\n"
        "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/3] [__recompiles]     "
        "triggered by the following guard failure(s):\n"
        "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/3] [__recompiles]     "
        "- 1/2: GLOBAL_STATE changed: grad_mode \n"
        "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/3] [__recompiles]     "
        "- 1/1: tensor 'x' size mismatch at index 1. expected 32, actual 48\n"
        "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/3] [__recompiles]     "
        "- 1/0: GLOBAL_STATE changed: grad_mode \n";
    struct stet_torch_why why;
    struct fed f;

    feed_start(&f);
    stet_trace_feed(&f.trace, text, sizeof text - 1);
    stet_trace_end(&f.trace);
    stet_torch_explain(&f.t, (uint32_t)f.t.compile_count - 1, &why);
    EXPECT(stet_view_is(why.what, "x"));
    EXPECT_INT(1, why.dim);
    EXPECT_INT(0, why.also_count);
    feed_end(&f);
}

/* One recompile in the words of TORCH_LOGS. */
#define LOGGED(number, first, more)                                                                \
    "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/" number                             \
    "] [__recompiles] Recompiling function f in /none/a.py:12\n"                                   \
    "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/" number                             \
    "] [__recompiles]     triggered by the following guard failure(s):\n"                          \
    "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/" number                             \
    "] [__recompiles]     - " first "\n" more
#define ALSO(number, guard)                                                                        \
    "V1115 08:58:47.526000 9 torch/_dynamo/guards.py:5396] [1/" number                             \
    "] [__recompiles]     - " guard "\n"

#define NEXT LOGGED("3", "1/2: n == 1", "")

/* A loop that alternates has an entry for each of its calls. What no entry has is new. */
TEST(an_entry_of_another_call_is_not_the_one_that_should_have_served)
{
    static const char *const texts[] = {
        LOGGED("1", "1/0: tensor 'w' requires_grad mismatch. expected requires_grad=0", "")
            LOGGED("2", "1/1: tensor 'w' requires_grad mismatch. expected requires_grad=1",
                   ALSO("2", "1/0: G['K'].blur == 1  # for _ in range(K.blur)")) NEXT,
        LOGGED("1", "1/0: tensor 'w' size mismatch at index 0. expected 4, actual 6", "")
            LOGGED("2", "1/1: tensor 'w' size mismatch at index 0. expected 6, actual 4",
                   ALSO("2", "1/0: G['K'].blur == 1  # for _ in range(K.blur)")) NEXT};

    for (int i = 0; i < 2; i++) {
        struct stet_torch_why why;
        struct fed f;

        feed_start(&f);
        stet_trace_feed(&f.trace, texts[i], strlen(texts[i]));
        stet_trace_end(&f.trace);
        stet_torch_explain(&f.t, (uint32_t)f.t.compile_count - 2, &why);
        EXPECT(stet_view_is(why.what, "G['K'].blur"));
        EXPECT_INT(1, why.also_count);
        stet_torch_explain(&f.t, (uint32_t)f.t.compile_count - 3, &why);
        EXPECT(stet_view_is(why.what, "w"));
        feed_end(&f);
    }
}
