/* Compiles that did not happen are summed by line and by what served them. */
#include "test.h"

#include "session/avoided.h"
#include "session/compiler_cost.h"

#include <stdlib.h>

static struct stet_compile_event served(const char *file, uint64_t line, enum stet_served by,
                                        uint64_t took_ns, uint64_t instead_ns)
{
    return (struct stet_compile_event){.ended = true,
                                       .served = by,
                                       .served_ns = took_ns,
                                       .instead_ns = instead_ns,
                                       .time_ns = 100 - line,
                                       .name = STET_VIEW("jit_step"),
                                       .trigger = {stet_view_str(file), STET_VIEW("main"), line}};
}

static void make(struct stet_avoided *a, struct stet_compile_event *compiles, size_t count)
{
    struct stet_process_digest process = {.compiles = compiles, .compile_count = count};
    struct stet_run_digest d = {.processes = &process, .process_count = 1};

    stet_avoided_make(a, &d);
}

TEST(lines_and_tiers_add_up_and_the_dearest_is_first)
{
    struct stet_compile_event compiles[] = {
        served("a.py", 3, STET_SERVED_LIFTED, 10, 500),
        served("a.py", 3, STET_SERVED_DISK, 20, 300),
        served("b.py", 3, STET_SERVED_MEMORY, 5, 9000),
        served("a.py", 3, STET_SERVED_DISK, 7, 0), /* an old entry has no compile time */
        served("a.py", 3, STET_SERVED_COMPILED, 0, 0),
        served("c.py", 0, STET_SERVED_REMOTE, 1, 4),
        served("d.py", 9, STET_SERVED_DISK, 1, 4),
        served("d.py", 9, STET_SERVED_DISK, 1, 4),
    };
    struct stet_avoided_sum kept;
    struct stet_avoided a;

    compiles[6].error_code = 3;
    compiles[7].load = true;
    make(&a, compiles, sizeof compiles / sizeof *compiles);
    EXPECT_INT(5, a.all.compiles);
    EXPECT_INT(4, a.all.known);
    EXPECT_INT(36, a.all.took_ns);
    EXPECT_INT(9804, a.all.instead_ns);
    EXPECT_INT(9768, stet_avoided_ns(&a.all));
    kept = stet_avoided_kept(&a);
    EXPECT_INT(4, kept.compiles);
    EXPECT_INT(9304, kept.instead_ns);
    stet_avoided_sort(&a);
    EXPECT_INT(3, a.line_count);
    EXPECT(stet_view_is(a.lines[0].at.file, "b.py"));
    EXPECT_INT(3, a.lines[1].all.compiles);
    EXPECT_INT(2, a.lines[1].by[STET_SERVED_DISK].compiles);
    EXPECT_INT(1, a.lines[1].by[STET_SERVED_DISK].known);
    EXPECT_INT(0, a.lines[2].at.line);
    stet_avoided_release(&a);
}

TEST(nothing_is_avoided_where_serving_took_longer_than_compiling)
{
    struct stet_compile_event compiles[] = {
        served("a.py", 3, STET_SERVED_DISK, 5000000, 2000000),
        served("a.py", 4, STET_SERVED_DISK, 1000000, 3000000),
        served("a.py", 5, STET_SERVED_DISK, 5000000, 0), /* of which nothing is known */
        served("a.py", 6, STET_SERVED_LIFTED, 5000000, 2000000),
    };
    struct stet_buf out = STET_BUF_INIT;
    struct stet_avoided a;

    make(&a, compiles, 1);
    EXPECT(!stet_avoided_any(&a));
    stet_avoided_summary(&out, "stet: ", &a, 1);
    EXPECT_STR("stet: 1 of 1 program came from the store: 5 ms, longer than compiling (2 ms)\n",
               out.ptr);
    stet_buf_release(&out);
    stet_avoided_release(&a);
    make(&a, compiles, 0);
    EXPECT(!stet_avoided_any(&a));
    stet_avoided_release(&a);
    make(&a, compiles, 2);
    EXPECT(stet_avoided_any(&a));
    stet_avoided_release(&a);
    for (size_t i = 1; i < 4; i++) {
        make(&a, &compiles[i], 1);
        EXPECT(stet_avoided_any(&a));
        stet_avoided_release(&a);
    }
}

TEST(rounding_and_background_compiles_are_reported)
{
    struct stet_compile_event compiles[] = {
        served("a.py", 3, STET_SERVED_COMPILED, 0, 0),
        served("a.py", 3, STET_SERVED_LIFTED, 2000000, 40000000),
        served("b.py", 5, STET_SERVED_LIFTED, 2000000, 40000000),
    };
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json json;
    struct stet_avoided a;

    compiles[0].lift_ahead_ns = 5000000;
    compiles[0].compared = compiles[1].compared = compiles[2].compared = 1;
    compiles[0].elements = 2;
    compiles[0].ulp = 3;
    compiles[1].elements = 40; /* a further value of the same function */
    compiles[1].ulp = 1;
    compiles[2].elements = 1;
    compiles[1].lift_plain = compiles[2].lift_plain = 1;
    compiles[1].lift_plain_ns = compiles[1].lift_plain_waited_ns = 6000000;
    compiles[2].lift_plain_ns = 2000000;
    make(&a, compiles, 3);
    EXPECT_INT(3, a.compared);
    stet_avoided_summary(&out, "stet: ", &a, 3);
    EXPECT_STR("stet: 2 of 3 programs were lifted: 4 ms instead of about 80 ms\n"
               "stet: 1 lifted program was compiled in the background: 5 ms\n"
               "stet: 2 lifted programs were compiled as they are too, to compare results: 8 ms, "
               "of which 6 ms were waited for\n"
               "stet: step (a.py:3) is lifted, and its results differ from the plain program's by "
               "at most 3 units in the last place\n"
               "stet: step (b.py:5) is lifted, and its results differ from the plain program's in "
               "signs of zeros or bits of NaNs\n",
               out.ptr);
    stet_buf_release(&out);
    out = (struct stet_buf)STET_BUF_INIT;
    stet_json_init(&json, &out);
    stet_json_object(&json, NULL);
    stet_avoided_json(&json, &a);
    stet_json_end_object(&json);
    EXPECT(out.ptr &&
           strstr(out.ptr,
                  "\"lifting\":{\"compared\":3,\"in_background\":1,\"in_background_s\":0.005,"
                  "\"plain\":2,\"plain_s\":0.008,\"plain_waited_s\":0.006,"
                  "\"different\":[{\"function\":\"step\",\"file\":\"a.py\",\"line\":3,"
                  "\"elements\":42,\"ulp\":3},"));
    stet_buf_release(&out);
    stet_avoided_release(&a);
}

TEST(text_gives_each_line_and_each_refused_family)
{
    struct stet_compile_event compiles[] = {
        served("a.py", 3, STET_SERVED_LIFTED, 2000000, 40000000),
        served("a.py", 3, STET_SERVED_DISK, 1000000, 0),
        served("a.py", 7, STET_SERVED_COMPILED, 0, 0),
        served("a.py", 8, STET_SERVED_COMPILED, 0, 0),
        served("a.py", 8, STET_SERVED_COMPILED, 0, 0),
        served("a.py", 9, STET_SERVED_COMPILED, 0, 0), /* once: nothing is lost */
    };
    struct stet_buf out = STET_BUF_INIT;
    struct stet_avoided a;

    compiles[2].unlifted = STET_VIEW("results differ");
    compiles[3].unlifted = compiles[4].unlifted = compiles[5].unlifted = STET_VIEW("a callback");
    compiles[3].unlifted_alone = compiles[4].unlifted_alone = compiles[5].unlifted_alone = true;
    make(&a, compiles, 6);
    stet_avoided_summary(&out, "stet: ", &a, 3);
    stet_avoided_lines(&out, "  ", &a);
    EXPECT_STR(
        "stet: 1 of 3 programs was lifted: 2 ms instead of about 40 ms\n"
        "stet: 1 of 3 programs came from the store\n"
        "stet: step (a.py:7) is not lifted, so each of its programs is compiled: results "
        "differ\n"
        "stet: step (a.py:8) is not lifted, so each of its programs is compiled: a callback\n"
        "  a.py:3: 1 lifted, 1 from disk: 2 ms instead of 40 ms for the 1 whose compile time "
        "is known\n",
        out.ptr);
    stet_buf_release(&out);
    stet_avoided_release(&a);
}

/* 20 ms a KiB, up to 256 KiB. */
TEST(only_planned_programs_avoid_the_compiler)
{
    struct stet_compile_event compiles[] = {
        {.ended = true, .program_size = 2048},
        {.ended = true, .program_size = 512},
        {.ended = true, .program_size = 1 << 30},
        {.ended = false, .program_size = 4096},
        {.ended = true, .program_size = 4096, .load = true},
        {.ended = true, .program_size = 4096, .error_code = 3},
        {.ended = true, .program_size = 4096, .served = STET_SERVED_DISK},
        {.ended = true, .program_size = 4096, .elsewhere = STET_VIEW("custom call")},
    };
    struct stet_process_digest process = {.compiles = compiles, .compile_count = 8};
    struct stet_run_digest d = {.processes = &process, .process_count = 1}, none = {0};

    EXPECT_INT(INT64_C(20000000) * 5 / 2 + INT64_C(20000000) * 256, stet_session_compiler_ns(&d));
    EXPECT_INT(0, stet_session_compiler_ns(&none));
}
