/* What a trace and a printed log tell beyond recompiles: CUDA graphs, cache keys, nested calls. */
#include "../test.h"

#include "base/fs.h"
#include "base/mem.h"
#include "ingest/cache_key.h"
#include "ingest/torch_internal.h"
#include "ingest/trace_files.h"

#include <stdlib.h>
#include <unistd.h>

#define FRONT "V1115 08:58:44.555000 77 torch/a.py:1] "

static void md5_hex(const char *text, char out[33])
{
    struct stet_md5_digest d;
    struct stet_md5 m;

    stet_md5_init(&m);
    stet_md5_add(&m, text, strlen(text));
    d = stet_md5_digest(&m);
    for (size_t i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", d.bytes[i]);
}

/* A record of process 77, with a payload of one line. */
static void record(struct stet_buf *out, const char *json, const char *payload)
{
    char digest[33];

    md5_hex(payload, digest);
    stet_buf_printf(out, FRONT "{%s, \"has_payload\": \"%s\"}\n\t%s\n", json, digest, payload);
}

static void recording(struct stet_buf *out, const char *id, unsigned from, unsigned to)
{
    char event[256];

    for (int end = 0; end < 2; end++) {
        snprintf(event, sizeof event,
                 "{\"name\": \"CUDAGraphNode.record\", \"ts\": %u.5, \"args\": {\"is_backward\": "
                 "false, \"compile_id\": \"%s\"}, \"ph\": \"%s\"}",
                 end ? to : from, id, end ? "E" : "B");
        record(out, "\"chromium_event\": {}", event);
    }
}

static void feed(struct stet_torch *t, const char *name, const struct stet_buf *text)
{
    struct stet_torch_log *log = stet_torch_log_new(t, name, ".", -1);
    struct stet_trace trace;

    stet_trace_init(&trace, stet_torch_log_sink(log));
    stet_trace_feed(&trace, text->ptr, text->len);
    stet_trace_end(&trace);
    stet_torch_text_flush(log);
    stet_trace_release(&trace);
}

static const char printed[] = FRONT
    "[__cudagraphs] [0/0] Recording function=call, mode=INFERENCE, cuda_graph_id=0, inputs: "
    "[]\n" FRONT
    "[__cudagraphs] [0/0] Re-recording function=call, mode=INFERENCE, reason=static input data "
    "pointer changed.\n" FRONT
    "[__cudagraphs] input name: primals_2. data pointer changed from 1 to 2. input stack trace:   "
    "File \"/home/a.py\", line 7, in f\n" FRONT "[__cudagraphs]     return x * w\n" FRONT
    "[__cudagraphs] [0/0] Recording function=call, mode=INFERENCE, cuda_graph_id=1, inputs: []\n"
    /* An older graph did not fit, a newer one does: nothing is recorded. */
    FRONT "[__cudagraphs] [0/0] Re-recording function=call, mode=INFERENCE, reason=static input "
    "data pointer changed.\n";

static void count(void *context, struct stet_torch *t, uint32_t compile)
{
    (void)t;
    (void)compile;
    ++*(int *)context;
}

TEST(a_trace_and_a_printed_log_of_one_process_are_one)
{
    struct stet_buf trace = STET_BUF_INIT, text = STET_BUF_INIT;

    recording(&trace, "0/0", 1000, 1250);
    recording(&trace, "0/0", 2000, 2500);
    stet_buf_str(&text, printed);
    for (int order = 0; order < 2; order++) {
        const struct stet_torch_rerecord *r;
        struct stet_torch t;
        int told = 0;

        stet_torch_init(&t);
        t.on_recording = count;
        t.context = &told;
        feed(&t, "a.log", order ? &trace : &text);
        feed(&t, "b.log", order ? &text : &trace);
        EXPECT_INT(1, told);
        EXPECT_INT(1, t.process_count);
        EXPECT_INT(1, t.compile_count);
        EXPECT_INT(2, stet_torch_recordings(&t.compiles[0]));
        EXPECT_INT(750, t.compiles[0].recording_us);
        EXPECT_INT(1, t.rerecord_count);
        r = &t.rerecords[0];
        EXPECT_INT(STET_RERECORD_STATIC, r->kind);
        EXPECT_INT(1, r->count);
        EXPECT(stet_view_is(r->input, "primals_2"));
        EXPECT(stet_view_is(r->place.file, "/home/a.py"));
        EXPECT_INT(7, r->place.line);
        stet_torch_release(&t);
    }
    stet_buf_release(&trace);
    stet_buf_release(&text);
}

TEST(a_recording_without_sizes_can_only_be_for_an_address)
{
    struct stet_buf trace = STET_BUF_INIT;
    struct stet_torch t;

    recording(&trace, "3/1_1", 1000, 1250);
    recording(&trace, "!5/3/1", 1000, 1250); /* under compiled autograd */
    recording(&trace, "x/1", 1000, 1250);
    stet_torch_init(&t);
    feed(&t, "a.log", &trace);
    EXPECT_INT(1, t.compile_count);
    EXPECT_INT(3, t.frames[0].id);
    EXPECT_INT(1, t.compiles[0].number);
    EXPECT_INT(2, t.compiles[0].recordings);
    EXPECT_INT(STET_RERECORD_ADDRESS, stet_torch_rerecord_kind(&t, 0, STET_TORCH_NONE));
    t.compiles[0].symbols = 1;
    EXPECT_INT(STET_RERECORD_UNTOLD, stet_torch_rerecord_kind(&t, 0, STET_TORCH_NONE));
    stet_torch_release(&t);
    stet_buf_release(&trace);
}

#define MISS(compile)                                                                              \
    "\"artifact\": {\"name\": \"fx_graph_cache_miss\"}, \"frame_id\": 0, "                         \
    "\"frame_compile_id\": " #compile
#define INPUT(digest, size)                                                                        \
    "\"[" digest                                                                                   \
    "] example_inputs[0]: TensorMetadata(dtype=torch.float32, shape=torch.Size([" size             \
    ", 3]), stride=(3, 1))\""
#define KEY(key, inputs, fusion)                                                                   \
    "{\"key\": \"" key "\", \"components\": [\"[g1] gm: GraphModule()\", " inputs                  \
    ", \"[c1] inductor_config[debug]: False\", \"[" fusion "] inductor_config[fusion]: " fusion    \
    "\", \"[v1] torch_version: 2\"]}"

TEST(a_key_that_missed_names_the_component_that_moved)
{
    struct stet_buf log = STET_BUF_INIT, words = STET_BUF_INIT;
    struct stet_cache_why why;
    struct stet_torch t, later;

    record(&log, MISS(0), KEY("k0", INPUT("i1", "4"), "True"));
    record(&log, MISS(1), KEY("k1", INPUT("i2", "8"), "True"));
    record(&log, MISS(2), KEY("k2", INPUT("i2", "8"), "False"));
    stet_torch_init(&t);
    feed(&t, "a.log", &log);
    EXPECT_INT(3, t.torch_key_count);
    EXPECT_INT(2, t.setting_count);
    stet_torch_cache_why(&t, 0, &why);
    EXPECT(!why.nearest && !why.gone);
    stet_torch_cache_why(&t, 1, &why);
    EXPECT_INT(1, why.count);
    EXPECT(stet_view_is(why.moves[0].name, "example_inputs[0]"));
    EXPECT(stet_view_is(why.moves[0].from, "shape=torch.Size([4, 3])"));
    EXPECT(stet_view_is(why.moves[0].to, "shape=torch.Size([8, 3])"));
    stet_torch_cache_why(&t, 2, &why); /* nearer to the second than to the first */
    EXPECT_INT(1, why.count);
    EXPECT_INT(1, why.nearest - t.torch_keys);
    stet_torch_cache_words(&why, &words);
    EXPECT_STR("inductor_config[fusion] True \xe2\x86\x92 False", words.ptr);
    /* The next launch asks for the third again and does not get it. */
    log.len = 0;
    record(&log, MISS(0), KEY("k2", INPUT("i2", "8"), "False"));
    stet_torch_init(&later);
    feed(&later, "b.log", &log);
    stet_torch_know_keys(&later, &t, "earlier");
    stet_torch_cache_why(&later, 0, &why);
    EXPECT(why.gone && stet_view_is(why.nearest->run, "earlier"));
    stet_torch_release(&later);
    stet_torch_release(&t);
    stet_buf_release(&log);
    stet_buf_release(&words);
}

/* `digest` is that of the first component; `damage` cuts the list off in the middle of another. */
static void long_key(struct stet_buf *log, const char *id, const char *digest, int many,
                     bool damage)
{
    struct stet_buf payload = STET_BUF_INIT;

    stet_buf_printf(&payload, "{\"key\": \"%s\", \"components\": [\"[%s] gm: g\"", id, digest);
    for (int i = 0; i < many; i++)
        stet_buf_printf(&payload, ",\"[a] n%d: \"", i);
    stet_buf_str(&payload, damage ? ", \"[b" : "]}");
    record(log, MISS(0), payload.ptr);
    stet_buf_release(&payload);
}

static void words_of(struct stet_torch *t, uint32_t key, struct stet_cache_why *why,
                     struct stet_buf *words)
{
    words->len = 0;
    stet_torch_cache_why(t, key, why);
    stet_torch_cache_words(why, words);
}

TEST(keys_of_which_only_a_part_is_kept_are_not_compared_as_if_whole)
{
    enum { MANY = 55000 };
    struct stet_buf log = STET_BUF_INIT, words = STET_BUF_INIT;
    struct stet_cache_why why;
    struct stet_torch t, later;

    long_key(&log, "k0", "g1", MANY, false);
    long_key(&log, "k1", "g2", MANY, false);
    long_key(&log, "k2", "g3", MANY, false); /* the bound of memory is in its middle */
    long_key(&log, "k3", "g4", 2, false);
    stet_torch_init(&t);
    feed(&t, "a.log", &log);
    words_of(&t, 1, &why, &words);
    EXPECT(!why.part && why.count == 1);
    EXPECT_STR("the graph (gm)", words.ptr);
    words_of(&t, 2, &why, &words); /* what was not kept has not gone */
    EXPECT(why.part && why.count == 1);
    EXPECT_STR("the graph (gm); only a part of the components was compared", words.ptr);
    words_of(&t, 3, &why, &words);
    EXPECT(why.part && !why.nearest);
    EXPECT_STR("not compared: the trace has more keys than Stet keeps", words.ptr);
    /* A later run knows that they were there, if not what was in them. */
    log.len = 0;
    long_key(&log, "k3", "g4", 2, false);
    long_key(&log, "k4", "g4", 2, true); /* cut off by damage */
    stet_torch_init(&later);
    feed(&later, "b.log", &log);
    stet_torch_know_keys(&later, &t, "earlier");
    words_of(&later, 0, &why, &words);
    EXPECT(why.gone);
    words_of(&later, 1, &why, &words);
    EXPECT(why.part && !why.count && why.nearest == &later.torch_keys[0]);
    EXPECT_STR("no component in torch's trace differs; only a part of the components was compared",
               words.ptr);
    stet_torch_release(&later);
    stet_torch_release(&t);
    stet_buf_release(&log);
    stet_buf_release(&words);
}

/* The setting alone does not help an operation whose output has a fixed size (pytorch 196385). */
TEST(padding_is_the_first_advice_for_graphs_of_many_sizes)
{
    const char *fix = stet_torch_rerecord_fix(STET_RERECORD_SIZE);

    EXPECT(strstr(fix, "pad to a few sizes") != NULL);
    EXPECT(strstr(fix, "pad") < strstr(fix, "cudagraph_skip_dynamic_graphs"));
    EXPECT(strstr(fix, "where the output's size follows") != NULL);
}

TEST(the_functions_that_were_compiled_into_a_frame_are_known)
{
    struct stet_buf log = STET_BUF_INIT;
    struct stet_torch t;

    stet_buf_str(&log, FRONT "{\"str\": [\"/home/a.py\", 0]}\n");
    stet_buf_str(&log, FRONT "{\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"f\", "
                             "\"filename\": 0}]}, \"frame_id\": 0, \"frame_compile_id\": 0, "
                             "\"attempt\": 0}\n");
    record(&log,
           "\"dynamo_output_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0",
           "x # File: /home/a.py:4 in f, code: g(x) # File: /home/b.py:9 in g, code: x + 1");
    /* Each comment has a line of its own; one line holds only one. */
    stet_torch_init(&t);
    feed(&t, "a.log", &log);
    EXPECT_INT(0, t.nested_count);
    stet_torch_take_nested(&t, 0,
                           STET_VIEW("# File: /home/a.py:4 in f, code: g(x)\nadd = 1\n"
                                     "    # File: /home/b.py:9 in g, code: x + 1\n"
                                     "# File: /home/b.py:10 in g, code: x + 1\n"
                                     "# File: /x/site-packages/torch/nn/l.py:10 in h, code: y\n"));
    EXPECT_INT(1, t.nested_count);
    EXPECT(stet_view_is(t.nesteds[0].place.function, "g"));
    EXPECT_INT(9, t.nesteds[0].place.line);
    stet_torch_release(&t);
    stet_buf_release(&log);
}

TEST(a_printed_log_is_followed_from_its_end_or_its_beginning)
{
    char folder[] = "/tmp/stet-printed-XXXXXX";
    struct stet_view old = STET_VIEW(FRONT "[__cudagraphs] [7/0] Recording function=call\n");

    EXPECT(mkdtemp(folder) != NULL);
    for (int there = 0; there < 2; there++) {
        char *path = stet_fs_join(folder, there ? "old.out" : "new.out");
        struct stet_torch t;
        struct stet_torch_files *files;
        FILE *f;

        if (there)
            EXPECT_INT(STET_OK, stet_fs_write(path, old, NULL));
        stet_torch_init(&t);
        files = stet_torch_files_new(&t);
        EXPECT_INT(STET_OK, stet_torch_files_tail(files, path, NULL));
        EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
        EXPECT_INT(0, t.compile_count);
        f = fopen(path, "a");
        EXPECT(f != NULL);
        if (f) {
            fputs(printed, f);
            fclose(f);
        }
        EXPECT_INT(STET_OK, stet_torch_files_poll(files, NULL));
        EXPECT_INT(1, t.compile_count);
        EXPECT_INT(1, t.rerecord_count);
        stet_torch_files_free(files);
        stet_torch_release(&t);
        unlink(path);
        stet_mem_free(path);
    }
    rmdir(folder);
}
