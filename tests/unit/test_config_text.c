/* Settings of torch.compile that ranks have changed: how they are read, and when they differ. */
#include "ingest/config_text.h"
#include "ingest/torch_internal.h"
#include "ingest/trace_files.h"
#include "session/torch_divergence.h"

#include "test.h"

#define HEAD                                                                                       \
    "\nimport os\nos.environ['TORCH_TRACE'] = '/tmp/x'\n\nimport torch._dynamo.config\n"           \
    "import torch._inductor.config\n\n"
#define TAIL "\nisolate_fails_code_str = None\n\nclass Repro(torch.nn.Module):\n"

static struct stet_view plain(struct stet_buf *out, const char *script)
{
    out->len = 0;
    stet_config_text_plain(out, stet_view_str(script));
    return stet_buf_as_view(out);
}

TEST(settings_are_read_from_a_script)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_view text = plain(&out, HEAD "torch._dynamo.config.verbose = True\n"
                                             "torch._inductor.config.epilogue_fusion = False\n"
                                             "torch._inductor.config.triton.cudagraphs = True\n"
                                             "torch._functorch.config.selective_decompose = False\n"
                                             "torch._inductor.config.cut" TAIL);

    EXPECT(stet_view_is(text, "inductor_config[epilogue_fusion]=False\n"
                              "inductor_config[triton.cudagraphs]=True\n"
                              "functorch_config[selective_decompose]=False\n"));
    EXPECT_INT(0, plain(&out, "").len);
    stet_buf_release(&out);
}

TEST(settings_that_differ_are_listed_once)
{
    struct stet_config_move moves[2];
    struct stet_view a = STET_VIEW("i[a]=1\ni[b]=[2]=3\ni[c]=3\n");
    struct stet_view b = STET_VIEW("i[c]=4\ni[b]=[2]=3\ni[d]=5\ni[e]=6\n");

    EXPECT_INT(0, stet_config_text_compare(a, a, moves, 2));
    EXPECT_INT(4, stet_config_text_compare(a, b, moves, 2)); /* two of them are stored */
    EXPECT(stet_view_is(moves[0].name, "i[a]") && stet_view_is(moves[0].from, "1"));
    EXPECT(moves[0].to.ptr == NULL);
    EXPECT(stet_view_is(moves[1].name, "i[c]") && stet_view_is(moves[1].from, "3"));
    EXPECT(stet_view_is(moves[1].to, "4"));
    EXPECT_INT(
        2, stet_config_text_compare((struct stet_view){0}, STET_VIEW("i[a]=1\ni[b]=2"), moves, 2));
    EXPECT(stet_view_is(moves[1].to, "2") && !moves[1].from.ptr);
}

/* ---- ranks ---- */

#define FRONT "V1115 08:58:44.555000 77 torch/a.py:1] "
#define FRAME "\"rank\": %d, \"frame_id\": %d, \"frame_compile_id\": 0, \"attempt\": 0"

/* A record with a payload of several lines. */
static void record(struct stet_buf *out, int rank, int frame, const char *json, const char *payload)
{
    struct stet_md5 m;
    struct stet_md5_digest d;

    stet_md5_init(&m);
    stet_md5_add(&m, payload, strlen(payload));
    d = stet_md5_digest(&m);
    stet_buf_printf(out, FRONT "{%s, " FRAME ", \"has_payload\": \"", json, rank, frame);
    for (size_t i = 0; i < 16; i++)
        stet_buf_printf(out, "%02x", d.bytes[i]);
    stet_buf_str(out, "\"}\n\t");
    for (; *payload; payload++) {
        stet_buf_char(out, *payload);
        if (*payload == '\n')
            stet_buf_char(out, '\t');
    }
    stet_buf_char(out, '\n');
}

/* A rank begins to compile function f, and its backend has these settings. */
static void compile(struct stet_buf *log, int rank, int frame, const char *settings)
{
    struct stet_buf script = STET_BUF_INIT;

    stet_buf_printf(log,
                    FRONT "{\"dynamo_start\": {\"stack\": [{\"line\": %d, \"name\": \"f\", "
                          "\"filename\": 0}]}, " FRAME "}\n",
                    3 + frame, rank, frame);
    record(log, rank, frame, "\"dynamo_output_graph\": {}",
           "class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: \"f32[4][1]cpu\"):\n"
           "        return (L_x_ * 2,)");
    stet_buf_printf(&script, HEAD "%s" TAIL, settings);
    record(log, rank, frame,
           "\"artifact\": {\"name\": \"fx_graph_runnable\", \"encoding\": \"string\"}", script.ptr);
    stet_buf_release(&script);
}

static void feed(struct stet_torch *t, int rank, const struct stet_buf *text)
{
    struct stet_torch_log *log = stet_torch_log_new(t, "x", ".", rank);
    struct stet_trace trace;

    stet_trace_init(&trace, stet_torch_log_sink(log));
    stet_trace_feed(&trace, text->ptr, text->len);
    stet_trace_end(&trace);
    stet_trace_release(&trace);
}

static struct stet_divergence last;

static bool is_new(void *context, uint64_t key)
{
    (void)context, (void)key;
    return true;
}

static void visit(void *context, const struct stet_divergence *d)
{
    last = *d;
    ++*(int *)context;
}

/* How many differences two ranks have that each compile two functions with these settings. */
static int differences(const char *const a[2], const char *const b[2])
{
    const char *const *const sides[2] = {a, b};
    static struct stet_torch t;
    static struct stet_arena arena; /* of the texts of `last` */
    int found = 0;
    struct stet_torch_divergence_sink sink = {
        .context = &found, .is_new = is_new, .visit = visit, .arena = &arena};

    stet_torch_release(&t);
    stet_torch_init(&t);
    stet_arena_release(&arena);
    stet_arena_init(&arena, 1 << 20);
    for (int rank = 0; rank < 2; rank++) {
        struct stet_buf log = STET_BUF_INIT;

        stet_buf_str(&log, FRONT "{\"str\": [\"/home/a.py\", 0]}\n");
        for (int i = 0; i < 2; i++)
            compile(&log, rank, i, sides[rank][i]);
        feed(&t, rank, &log);
        stet_buf_release(&log);
    }
    stet_session_torch_differences(&t, &sink);
    return found;
}

static const char *const none[2] = {"", ""};
static const char *const off[2] = {"torch._inductor.config.x = False\n", ""};
static const char *const on[2] = {"torch._inductor.config.x = True\n", ""};
static const char *const on_later[2] = {"", "torch._inductor.config.x = True\n"};
static const char *const off_later[2] = {"", "torch._inductor.config.x = False\n"};

static void expect_change(const char *from, const char *to)
{
    EXPECT_INT(STET_CAUSE_OPTIONS_DRIFT, last.pair.cause);
    EXPECT_INT(1, last.pair.change_count);
    EXPECT_INT(1, last.rank);
    EXPECT(stet_view_is(last.changes[0].what, "inductor_config[x]"));
    EXPECT(stet_view_is(last.changes[0].from, from));
    EXPECT(stet_view_is(last.changes[0].to, to));
}

TEST(another_setting_is_found_before_the_compile_ends)
{
    EXPECT_INT(0, differences(none, none));
    EXPECT_INT(0, differences(off, off));
    EXPECT_INT(1, differences(none, off));
    expect_change("default", "False");
    EXPECT_INT(1, differences(off, on));
    expect_change("False", "True");
    EXPECT_INT(1, differences(on_later, off_later));
    expect_change("True", "False");
}

/* torch sets some settings to their defaults after the first graph: they then count as changed. */
TEST(a_setting_that_one_rank_lists_counts_only_in_the_first_graph)
{
    EXPECT_INT(0, differences(none, on_later));
    EXPECT_INT(0, differences(on_later, none));
}
