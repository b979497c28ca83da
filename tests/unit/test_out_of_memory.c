/* What plugins say when memory runs out: each form is read, and nothing else is taken for one. */
#include "test.h"

#include "base/fs.h"
#include "footprint/out_of_memory.h"

#include <stdio.h>

static struct stet_file file;

static struct stet_oom sample(const char *name)
{
    char path[512];
    struct stet_oom o;

    snprintf(path, sizeof path, "%s/tests/data/out_of_memory/%s.txt", STET_SOURCE_DIR, name);
    EXPECT_INT(STET_OK, stet_file_open(&file, path, NULL));
    stet_oom_read(&o, file.bytes);
    return o;
}

static const uint64_t G = (uint64_t)1 << 30, M = 1 << 20;

TEST(libtpu_refuses_a_program)
{
    struct stet_oom o = sample("tpu_compile");

    EXPECT_INT(STET_OOM_PROGRAM, o.kind);
    EXPECT_INT((uint64_t)(134.14 * (double)G), o.needed);
    EXPECT_INT((uint64_t)(31.24 * (double)G), o.available);
    EXPECT_INT(o.needed - o.available, o.missing);
    EXPECT(stet_view_is(o.program, "jit_step"));
    EXPECT_INT(0, o.temporaries); /* the number is of everything */
    EXPECT_INT(0, o.buffer_count);
    stet_file_close(&file);
    o = sample("tpu_early");
    EXPECT_INT(STET_OOM_PROGRAM, o.kind);
    EXPECT_INT(412 * G, o.needed);
    EXPECT_INT((uint64_t)(31.24 * (double)G), o.available);
    stet_file_close(&file);
}

TEST(libtpus_report_lists_its_buffers)
{
    struct stet_oom o = sample("tpu_report");

    EXPECT_INT(STET_OOM_PROGRAM, o.kind);
    EXPECT_INT(7 * G + G / 4, o.missing);
    EXPECT_INT(o.needed - o.missing, o.available);
    EXPECT_INT(8 * G, o.arguments);
    EXPECT(o.temporaries > 30 * G);
    EXPECT(stet_view_is(o.program, "jit_train_step"));
    EXPECT_INT(3, o.buffer_count);
    EXPECT_INT(16 * G, o.buffers[0].size);
    EXPECT(stet_view_is(o.buffers[0].shape, "f32[64,1024,65536]"));
    EXPECT(stet_view_is(o.buffers[0].file, "/home/user/train.py"));
    EXPECT_INT(88, o.buffers[0].line);
    EXPECT(stet_view_is(o.buffers[1].op_name, "jit(train_step)/transpose(jvp(Model))/block/mul"));
    EXPECT_INT(512 * M, o.buffers[2].size); /* what it takes, not its size without padding */
    EXPECT_INT(0, o.buffers[2].line);
    EXPECT(!o.buffers[2].file.len);
    stet_file_close(&file);
}

TEST(a_running_tpu_has_no_room)
{
    struct stet_oom o = sample("tpu_load");

    EXPECT_INT(STET_OOM_ALLOCATE, o.kind);
    EXPECT(stet_view_is(o.program, "jit_train_step"));
    EXPECT(o.needed > 6 * G && o.available > 3 * G && o.missing == o.needed - o.available);
    stet_file_close(&file);
    o = sample("tpu_allocate");
    EXPECT_INT(STET_OOM_ALLOCATE, o.kind);
    EXPECT_INT(2 * G, o.needed);
    EXPECT_INT(512 * M, o.available);
    stet_file_close(&file);
    o = sample("tpu_vmem");
    EXPECT_INT(STET_OOM_SCRATCH, o.kind);
    EXPECT_INT(4 * M, o.missing);
    stet_file_close(&file);
}

TEST(a_gpu_lists_its_peak_buffers)
{
    struct stet_oom o = sample("cuda_execute");

    EXPECT_INT(STET_OOM_ALLOCATE, o.kind);
    EXPECT_INT(111289565184, o.needed);
    EXPECT_INT(0, o.available); /* it does not say what was free */
    EXPECT_INT(0, o.missing);
    EXPECT_INT(6 * G, o.arguments);
    EXPECT(o.temporaries > 97 * G);
    EXPECT_INT(3, o.buffer_count);
    EXPECT(stet_view_is(o.buffers[0].file, "/home/user/net.py"));
    EXPECT_INT(52, o.buffers[0].line);
    EXPECT(o.buffers[1].argument && !o.buffers[0].argument);
    EXPECT(stet_view_is(o.buffers[1].shape, "f32[16384,32768]"));
    stet_file_close(&file);
    o = sample("cuda_short");
    EXPECT_INT(STET_OOM_ALLOCATE, o.kind);
    EXPECT_INT(8 * G, o.needed);
    stet_file_close(&file);
}

static enum stet_oom_kind kind_of(const char *text)
{
    struct stet_oom o;

    stet_oom_read(&o, stet_view_str(text));
    return o.kind;
}

TEST(other_errors_are_not_about_memory)
{
    EXPECT_INT(STET_OOM_NONE, kind_of(""));
    EXPECT_INT(STET_OOM_NONE, kind_of("INVALID_ARGUMENT: argument 3 has the wrong shape"));
    EXPECT_INT(STET_OOM_OTHER, kind_of("RESOURCE_EXHAUSTED: too many open files"));
    EXPECT_INT(STET_OOM_OTHER, kind_of("stet cpu: out of memory"));
}

TEST(a_message_that_ends_anywhere_does_no_harm)
{
    struct stet_file whole;
    char path[512];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/tests/data/out_of_memory/%s.txt", STET_SOURCE_DIR,
                 i ? "cuda_execute" : "tpu_report");
        EXPECT_INT(STET_OK, stet_file_open(&whole, path, NULL));
        for (size_t n = 0; n <= whole.bytes.len; n++) {
            struct stet_oom o;

            stet_oom_read(&o, stet_view_of(whole.bytes.ptr, n));
            EXPECT(o.buffer_count <= STET_OOM_BUFFERS);
        }
        stet_file_close(&whole);
    }
}

TEST(sizes_are_read_in_each_notation)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {
        {"76.00G", 76ull << 30}, {"6.00MiB", 6 << 20},  {"48.5KiB", 49664},          {"0B", 0},
        {"17 bytes", 17},        {"1.5T)", 3ull << 39}, {"12884901888", 12ull << 30}};
    uint64_t n;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        EXPECT(stet_oom_size(stet_view_str(sizes[i].text), &n));
        EXPECT_INT(sizes[i].bytes, n);
    }
    EXPECT(!stet_oom_size(STET_VIEW("unknown size"), &n));
    EXPECT(!stet_oom_size(STET_VIEW(""), &n));
    EXPECT(!stet_oom_size(STET_VIEW("99999999999999999999G"), &n));
}
