/* A guard, or a graph break, and the program that it made are told as one. */
#include "test.h"

#include "session/account_join.h"

#define USER    "/home/me/train.py"
#define LIBRARY "/usr/lib/python3.11/site-packages/torch/optim/adam.py"

static struct stet_recompile rows[4], told[4];
static size_t row_count, told_count;
static char words[4][3][256];

static enum stet_rc each(void *source, stet_visit_recompile *visit, void *context,
                         struct stet_err *err)
{
    (void)source;
    (void)err;
    for (size_t i = 0; i < row_count; i++)
        visit(context, &rows[i]);
    return STET_OK;
}

static bool take(void *context, const struct stet_recompile *r)
{
    char also[STET_CAUSE_LIST_TEXT];

    (void)context;
    told[told_count] = *r;
    snprintf(words[told_count][0], 256, "%s", stet_cause_id(r->cause));
    snprintf(words[told_count][1], 256, "%.*s", STET_FMT(stet_cause_list_text(&r->also, also)));
    snprintf(words[told_count][2], 256, "%.*s", STET_FMT(r->fix));
    told_count++;
    return true;
}

static void tell(void)
{
    struct stet_account below = {.each = each}, out;
    struct stet_joined j;

    told_count = 0;
    EXPECT_INT(STET_OK, stet_account_join(&j, &below, &out, NULL));
    EXPECT_INT(STET_OK, out.each(out.source, take, NULL, NULL));
    stet_account_joined_release(&j);
}

static struct stet_row_change moved;

static struct stet_recompile row(const char *lane, const char *class, const char *function,
                                 const char *file, uint64_t line)
{
    struct stet_view name = stet_view_str(function);
    struct stet_recompile r = {.lane = stet_journal_lane_of(stet_view_str(lane)),
                               .cause = stet_cause_find(stet_view_str(class)),
                               .function = name,
                               .origin = {stet_view_str(file), name, line},
                               .fix = stet_view_str(lane)};

    return r;
}

static struct stet_recompile guard(const char *class, const char *function, const char *file,
                                   uint64_t line, const char *kind)
{
    struct stet_recompile r = row("torch", class, function, file, line);

    moved = (struct stet_row_change){.what = STET_VIEW("x"),
                                     .file = r.origin.file,
                                     .line = line,
                                     .kind = stet_cause_change_find(stet_view_str(kind))};
    r.changes = &moved;
    r.change_count = 1;
    r.cost_ns = 1000;
    return r;
}

TEST(a_program_adds_what_a_guard_on_a_size_lacks)
{
    static const char *const known[] = {"varlen", "mask-gather", "dim-readback"};

    for (int i = 0; i < 3; i++) {
        row_count = 2;
        rows[0] = row("xla", known[i], "f", USER, 9);
        rows[1] = guard(i ? "shape-drift" : "last-batch", "f", USER, 7, "guard");
        tell();
        EXPECT_INT(1, told_count);
        EXPECT_STR(known[i], words[0][0]);
        EXPECT_STR("", words[0][1]);
        EXPECT_STR("xla", words[0][2]);
        EXPECT_INT(1000, told[0].cost_ns);
    }
}

TEST(another_cause_in_the_program_stays_beside_the_guards)
{
    row_count = 2;
    rows[0] = row("xla", "baked-constant", "f", USER, 9);
    rows[1] = guard("shape-drift", "f", USER, 7, "guard");
    tell();
    EXPECT_INT(1, told_count);
    EXPECT_STR("shape-drift", words[0][0]);
    EXPECT_STR("baked-constant", words[0][1]);
}

TEST(a_break_at_a_condition_and_its_resume_function_are_one_event)
{
    row_count = 3;
    rows[0] = row("xla", "hidden-branch", "torch_dynamo_resume_in_f_at_15", USER, 16);
    rows[1] = row("xla", "value-branch", "torch_dynamo_resume_in_f_at_15", USER, 18);
    rows[2] = guard("value-branch", "f", USER, 15, "graph-break");
    stet_cause_list_add(&rows[2].also, STET_CAUSE_GRAPH_BREAK);
    tell();
    EXPECT_INT(2, told_count);
    for (int i = 0; i < 2; i++) {
        EXPECT_STR("value-branch", words[i][0]);
        EXPECT_STR("graph-break", words[i][1]);
    }
    EXPECT_INT(1000, told[0].cost_ns); /* counted once */
    EXPECT_INT(0, told[1].cost_ns);
    rows[0].function = rows[1].function = STET_VIEW("torch_dynamo_resume_in_f_at_23");
    tell();
    EXPECT_INT(3, told_count); /* of another line */
}

TEST(a_guard_of_a_library_belongs_to_the_line_that_called_it)
{
    row_count = 3;
    rows[0] = row("xla", "graph-change", "tt_jit_adam_zeros_like", USER, 21);
    rows[1] = row("xla", "baked-constant", "update", USER, 21);
    rows[2] = guard("optimizer-scalar", "step", LIBRARY, 229, "guard");
    rows[2].trigger = (struct stet_line){STET_VIEW(USER), STET_VIEW("update"), 21};
    tell();
    EXPECT_INT(2, told_count);
    EXPECT_STR("graph-change", words[0][0]);
    EXPECT_STR("optimizer-scalar", words[1][0]);
    EXPECT_STR("", words[1][1]);
    EXPECT_INT(21, told[1].origin.line);
}

TEST(programs_compiled_meanwhile_belong_to_the_guard)
{
    row_count = 4;
    rows[0] = row("xla", "graph-change", "forward", USER, 12);
    rows[0].time_ns = 150, rows[0].wait_ns = 30;
    rows[1] = row("xla", "baked-constant", "loss", USER, 12);
    rows[1].time_ns = 170, rows[1].wait_ns = 20;
    rows[1].trigger = (struct stet_line){STET_VIEW(LIBRARY), STET_VIEW("export"), 589};
    rows[2] = row("xla", "graph-change", "tt_jit_mean", USER, 12);
    rows[2].time_ns = 160;
    rows[3] = guard("baked-constant", "loss", USER, 7, "guard");
    rows[3].time_ns = 100, rows[3].wait_ns = 100;
    rows[3].sure = STET_SURE_CERTAIN;
    rows[3].source = (struct stet_line){STET_VIEW(USER), STET_VIEW("main"), 40};
    rows[3].trigger = (struct stet_line){STET_VIEW(USER), STET_VIEW("main"), 41};
    tell();
    EXPECT_INT(3, told_count);
    for (int i = 0; i < 2; i++) {
        EXPECT_STR("baked-constant", words[i][0]);
        EXPECT_INT(40, told[i].source.line);
        EXPECT_INT(41, told[i].trigger.line);
        EXPECT_INT(STET_SURE_CERTAIN, told[i].sure);
    }
    EXPECT_INT(100, told[0].wait_ns + told[1].wait_ns); /* the guard's, once */
    EXPECT_STR("graph-change", words[2][0]);            /* an operation outside the function */
    EXPECT_INT(0, told[2].source.line);
    rows[0].time_ns = 201; /* after it */
    tell();
    EXPECT_STR("graph-change", words[0][0]);
}

TEST(a_guard_on_a_later_dimension_shows_that_no_batch_was_short)
{
    row_count = 2;
    rows[0] = row("xla", "last-batch", "f", USER, 9);
    rows[1] = guard("shape-drift", "f", USER, 7, "guard");
    moved.dim = 2;
    tell();
    EXPECT_STR("shape-drift", words[0][0]);
    EXPECT_STR("", words[0][1]);
    moved.dim = 1;
    tell();
    EXPECT_STR("last-batch", words[0][0]);
}
