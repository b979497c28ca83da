/* Guard failures taken apart, and the trap each belongs to. */
#include "test.h"

#include "ingest/torch_plan.h"
#include "ingest/trace_files.h"

#include <stdlib.h>
#include <unistd.h>

static bool is(struct stet_view v, const char *text)
{
    if (stet_view_is(v, text))
        return true;
    fprintf(stderr, "  got \"%.*s\", wanted \"%s\"\n", STET_FMT(v), text);
    return false;
}

TEST(guards_are_parsed)
{
    static const struct {
        const char *text;
        enum stet_guard_kind kind;
        const char *source, *expected, *actual;
        int dim;
    } cases[] = {
        {"0/0: tensor 'x' size mismatch at index 1. expected 4, actual 6", STET_GUARD_SIZE, "x",
         "4", "6", 1},
        {"0/0: tensor 'L['x']' stride mismatch at index 0. expected 3, actual 1", STET_GUARD_STRIDE,
         "x", "3", "1", 0},
        {"2/1: tensor 'x' dtype mismatch. expected Float, actual Double", STET_GUARD_DTYPE, "x",
         "Float", "Double", -1},
        {"0/0: tensor 'x' rank mismatch. expected 1, actual 2", STET_GUARD_RANK, "x", "1", "2", -1},
        {"0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0",
         STET_GUARD_REQUIRES_GRAD, "x", "requires_grad=0", "", -1},
        {"0/0: tensor 'w' requires_grad mismatch. expected requires_grad=1. Guard failed on a "
         "parameter, consider using torch._dynamo.config.force_parameter_static_shapes = False",
         STET_GUARD_REQUIRES_GRAD, "w", "requires_grad=1", "", -1},
        {"0/0: _has_dynamo_dim_marking is present on runtime tensor but was absent at compile time",
         STET_GUARD_MARKING, "", "absent", "present", -1},
        {"0/0: GLOBAL_STATE changed: grad_mode ", STET_GUARD_STATE, "grad_mode", "", "", -1},
        {"0/0: not ___dict_contains('m', b)        # if \"m\" in b", STET_GUARD_KEY, "'m'",
         "absent", "present", -1},
        {"0/0: len(xs) == 2                        # code", STET_GUARD_LENGTH, "xs", "2", "", -1},
        {"0/0: not s.buf                           # code", STET_GUARD_LENGTH, "s.buf", "0", "",
         -1},
        {"L['n'] == 3", STET_GUARD_EQUALS, "n", "3", "", -1},
        {"0/0: G['G'] == 2", STET_GUARD_EQUALS, "G['G']", "2", "", -1},
        {"0/0: m is None", STET_GUARD_NONE, "m", "None", "not None", -1},
        {"0/0: ___check_obj_id(e, 140), type=<class 'E'>", STET_GUARD_IDENTITY, "e", "", "", -1},
        {"0/1: 2 <= x.size()[0]  # code", STET_GUARD_SHAPE, "x", "2 <= x.size()[0]", "", 0},
        {"0/0: Duplicate tensors found: [\"x\", \"y\"]", STET_GUARD_ALIAS, "", "", "", -1},
        {"0/0: something new of next year", STET_GUARD_OTHER, "", "", "", -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stet_guard g;

        stet_ingest_guard_parse(&g, stet_view_str(cases[i].text));
        if (g.kind != cases[i].kind || !is(g.source, cases[i].source) ||
            !is(g.expected, cases[i].expected) || !is(g.actual, cases[i].actual) ||
            g.dim != cases[i].dim) {
            fprintf(stderr, "%s: kind %d\n", cases[i].text, (int)g.kind);
            EXPECT(false);
        }
    }
}

TEST(the_users_own_line_is_the_innermost_outside_packages)
{
    struct stet_guard g;

    stet_ingest_guard_parse(
        &g,
        STET_VIEW("0/0: s.d.training == True    # return F.dropout(x)  # nn/dropout.py:73 in f\n"
                  "User stack trace:\n  File \"/home/a.py\", line 48, in forward\n    s.d(x)\n"
                  "  File \"/v/lib/python3.11/site-packages/torch/nn/dropout.py\", line 73, in f"));
    EXPECT(is(g.file, "/home/a.py"));
    EXPECT_INT(48, g.line);
    EXPECT(is(g.function, "forward"));
    EXPECT(is(g.code, "return F.dropout(x)"));
}

TEST(a_comment_in_the_code_does_not_hide_the_place)
{
    struct stet_guard g;
    struct stet_view file, function;
    uint64_t line;

    stet_ingest_guard_parse(
        &g, STET_VIEW("0/1: 2 <= x.size()[0]  # return x * 2  # twice  # up/a.py:18 in f "
                      "(user code shown is first use)"));
    EXPECT(is(g.code, "return x * 2  # twice"));
    EXPECT(stet_ingest_guard_place(g.place, &file, &line, &function));
    EXPECT_INT(18, line);
}

/* A real trace: torch 2.13, CPU, eager backend. */
static void load(struct stet_torch *t, const char *name)
{
    char path[512];
    struct stet_torch_files *files;

    stet_torch_init(t);
    files = stet_torch_files_new(t);
    snprintf(path, sizeof path, "%s/tests/data/torch/%s", STET_SOURCE_DIR, name);
    EXPECT_INT(STET_OK, stet_torch_files_add(files, path, NULL));
    EXPECT_INT(STET_OK, stet_torch_files_finish(files, NULL));
    stet_torch_files_free(files);
    for (size_t i = 0; i < STET_TRACE_FAULTS; i++)
        EXPECT_INT(0, t->faults[i]);
}

TEST(a_real_trace_is_explained)
{
    static const struct {
        int frame, number;
        const char *class;
        int line, call;
        const char *from, *to;
    } want[] = {
        {0, 1, "shape-drift", 3, 6, "4", "6"},
        {0, 2, "zero-one-specialisation", 4, 0, "", "1"},
        {0, 3, "dtype-change", 3, 8, "Float", "Double"},
        {1, 1, "python-counter", 13, 16, "0", "1"},
        {1, 7, "python-counter", 13, 16, "6", "7"},
        {1, 8, "recompile-limit", 13, 0, "7", ""},
        {4, 1, "baked-constant", 23, 25, "0.1", "0.2"},
    };
    struct stet_torch t;
    size_t met = 0;

    load(&t, "train.log.zst");
    EXPECT_INT(20, t.compile_count);
    EXPECT_INT(2, t.break_count);
    for (uint32_t i = 0; i < t.compile_count; i++) {
        for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
            struct stet_torch_why why;

            if (t.frames[t.compiles[i].frame].id != want[k].frame ||
                t.compiles[i].number != (uint32_t)want[k].number)
                continue;
            stet_torch_explain(&t, i, &why);
            EXPECT_STR(want[k].class, stet_cause_id(why.cause));
            EXPECT_INT(want[k].line, why.origin.line);
            EXPECT_INT(want[k].call, t.compiles[i].call.line);
            EXPECT(is(why.from, want[k].from));
            EXPECT(is(why.to, want[k].to));
            met++;
        }
    }
    EXPECT_INT(sizeof want / sizeof *want, met);
    stet_torch_release(&t);
}

TEST(costs_are_split_and_caches_judged)
{
    struct stet_torch t;

    load(&t, "inductor.log.zst");
    EXPECT_INT(2, t.compile_count);
    EXPECT_INT(19354563, t.compiles[0].forward.all);
    EXPECT_INT(19144550, t.compiles[0].forward.aot);
    EXPECT_INT(17916631, t.compiles[0].forward.inductor);
    EXPECT_INT(3350890, t.compiles[0].backward.all);
    EXPECT_INT(STET_CACHE_MISS, t.compiles[0].aot_cache);
    EXPECT_INT(STET_CACHE_MISS, t.compiles[1].fx_cache);
    EXPECT(is(t.processes[0].torch_version, "2.13.0+cpu"));
    stet_torch_release(&t);
}

TEST(the_plan_names_what_the_environment_can_do)
{
    struct stet_torch_plan plan;
    struct stet_buf line = STET_BUF_INIT;
    struct stet_torch t;

    load(&t, "train.log.zst");
    stet_torch_plan(&t, &plan);
    EXPECT(stet_torch_plan_line(&plan, STET_KNOB_DYNAMIC, "job", &line));
    EXPECT_STR("TORCH_COMPILE_DYNAMIC_SOURCES=L['s'].c", line.ptr);
    line.len = 0;
    EXPECT(stet_torch_plan_line(&plan, STET_KNOB_UNBACKED, "job", &line));
    /* They were 1 once, and move together. */
    EXPECT_STR("TORCH_COMPILE_UNBACKED_SOURCES=L['x'],L['y']", line.ptr);
    line.len = 0;
    EXPECT(stet_torch_plan_line(&plan, STET_KNOB_PGO, "job", &line));
    EXPECT_STR("TORCH_COMPILE_JOB_ID=job", line.ptr);
    EXPECT(!stet_torch_plan_line(&plan, STET_KNOB_SCALARS, "job", &line));
    stet_buf_release(&line);
    stet_torch_release(&t);
}
