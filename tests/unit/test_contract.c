/* Facts about contracts: the file, the gate, the packed form. */
#include "test.h"

#include "gate/gate.h"

#include <stdio.h>

static struct stet_contract read_all(const char *text)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_contract c;
    enum stet_rc rc = stet_gate_contract_parse(&c, stet_view_str(text), "c", &err);

    if (rc != STET_OK)
        fprintf(stderr, "%s\n", err.text);
    EXPECT_INT(STET_OK, rc);
    return c;
}

static void refuses(const char *text, const char *message)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_contract c;

    EXPECT_INT(STET_BAD_INPUT, stet_gate_contract_parse(&c, stet_view_str(text), "c", &err));
    if (strncmp(err.text, message, strlen(message)) != 0)
        fprintf(stderr, "have: %s\nwant: %s\n", err.text, message);
    EXPECT(!strncmp(err.text, message, strlen(message)));
}

#define HEAD "stet contract 1\n"

TEST(a_family_reads_as_people_write_it)
{
    struct stet_contract c = read_all(
        HEAD "train_step(batch.tokens: int32[{8,16,32}, 512..2048 step 512], …) at most 4 "
             "programs, settled by step 10, mesh data=2 model=4, flags XLA_FLAGS \"--a\", bundle "
             "jax 0.10.2\n");
    const struct stet_family *f = &c.families[0];

    EXPECT_INT(1, c.family_count);
    EXPECT(stet_view_is(f->name, "train_step"));
    EXPECT(stet_view_is(f->args[0].name, "batch.tokens"));
    EXPECT(f->open);
    EXPECT_INT(4, f->programs);
    EXPECT_INT(10, f->terms.settled);
    EXPECT(stet_view_is(f->terms.mesh, "data=2 model=4"));
    EXPECT(stet_view_is(f->terms.flags.items[0].value, "--a"));
    EXPECT(stet_view_is(f->terms.bundle.items[0].value, "0.10.2"));
    EXPECT(stet_gate_dim_allows(&f->args[0].dims[0], 16));
    EXPECT(!stet_gate_dim_allows(&f->args[0].dims[0], 12));
    EXPECT(stet_gate_dim_allows(&f->args[0].dims[1], 1536));
    EXPECT(!stet_gate_dim_allows(&f->args[0].dims[1], 1000));
    EXPECT(!stet_gate_dim_allows(&f->args[0].dims[1], 2560));
    stet_gate_contract_release(&c);
}

TEST(a_dtype_has_one_name_however_it_is_written)
{
    static const char *const names[][2] = {
        {"f32", "float32"}, {"bf16", "bfloat16"},  {"i8", "int8"},
        {"s64", "int64"},   {"ui16", "uint16"},    {"u4", "uint4"},
        {"i1", "bool"},     {"pred", "bool"},      {"c128", "complex128"},
        {"int8", "int8"},   {"number", "number"},  {"f8E4M3FN", "float8_e4m3fn"},
        {"i", "i"},         {"float64", "float64"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[128];
        struct stet_contract c;

        snprintf(text, sizeof text, HEAD "f(x: %s[4]) at most 1 program\n", names[i][0]);
        c = read_all(text);
        EXPECT_STR(names[i][1], c.families[0].args[0].type.ptr);
        stet_gate_contract_release(&c);
    }
}

TEST(a_budget_of_waiting_has_a_unit)
{
    struct stet_contract c = read_all(HEAD "waited at most 90 s\nf() at most 2 programs, waited at "
                                           "most 1500 ms\n");
    struct stet_buf out = STET_BUF_INIT;

    EXPECT_INT(90000000000, c.terms.waited_ns);
    EXPECT_INT(1500000000, c.families[0].terms.waited_ns);
    EXPECT_INT(2, c.terms.waited_line);
    EXPECT_INT(3, c.families[0].terms.waited_line);
    stet_gate_contract_print(&out, &c);
    EXPECT(strstr(out.ptr, "\nwaited at most 90 s\n") != NULL);
    EXPECT(strstr(out.ptr, ", waited at most 1500 ms\n") != NULL);
    stet_buf_release(&out);
    stet_gate_contract_release(&c);
    refuses(HEAD "waited at most 90\n", "c:2:18: 's' or 'ms' is missing here");
    refuses(HEAD "waited at most 99999999999 s\n", "c:2:16: this number is too large");
}

TEST(kernels_have_names_without_blanks)
{
    refuses(HEAD "f() calls \"a b\"\n", "c:2:11: the name of a kernel has no blanks");
    refuses(HEAD "f() calls \"\"\n", "c:2:11: the name of a kernel has no blanks");
}

TEST(a_name_that_begins_like_dots_keeps_its_quotes)
{
    struct stet_contract c = read_all(HEAD "f(\"... n\": any)\n"), again;
    struct stet_buf out = STET_BUF_INIT;

    EXPECT(!c.families[0].open);
    stet_gate_contract_print(&out, &c);
    again = read_all(out.ptr);
    EXPECT(!again.families[0].open && again.families[0].arg_count == 1);
    stet_buf_release(&out);
    stet_gate_contract_release(&c);
    stet_gate_contract_release(&again);
}

TEST(the_last_made_in_line_of_a_contract_counts)
{
    struct stet_contract c = read_all(HEAD "made on cpu backend\nmade on tpu\n");

    EXPECT(!c.on_cpu);
    EXPECT(stet_view_is(c.made_on, "tpu"));
    stet_gate_contract_release(&c);
}

TEST(clauses_for_all_frames_print_in_every_combination)
{
    for (int i = 0; i < 8; i++) {
        struct stet_contract c = read_all(HEAD), again;
        struct stet_buf out = STET_BUF_INIT;

        c.no_late = i & 1, c.no_limit = i & 2, c.no_failure = i & 4;
        stet_gate_contract_print(&out, &c);
        again = read_all(out.ptr);
        EXPECT(again.no_late == c.no_late && again.no_limit == c.no_limit);
        EXPECT(again.no_failure == c.no_failure);
        stet_buf_release(&out);
        stet_gate_contract_release(&c);
        stet_gate_contract_release(&again);
    }
}

TEST(a_printed_contract_reads_back_as_the_same_contract)
{
    struct stet_contract c = read_all(
        HEAD
        "made on cpu backend\nsettled by step 7\n"
        "f(params['a:b'][0]: f32[1, *, ?], \"x y\": any, p*: int8|int16[...]) at most 1 program "
        "of 1 graph, compiled once, calls \"k\"\n\"odd (name)\"() compiled at most 3 times\n"
        "frame forward in m.py at most 2 programs, no graph break\n"
        "torch no recompile after warm-up, no recompile limit\n");
    struct stet_buf a = STET_BUF_INIT, b = STET_BUF_INIT;
    struct stet_contract again;

    stet_gate_contract_print(&a, &c);
    again = read_all(a.ptr);
    stet_gate_contract_print(&b, &again);
    EXPECT(stet_view_eq(stet_buf_as_view(&a), stet_buf_as_view(&b)));
    EXPECT(again.on_cpu && again.no_late && again.no_limit);
    EXPECT_INT(2, again.family_count);
    EXPECT_INT(3, again.families[0].arg_count);
    EXPECT(strstr(a.ptr, "params['a:b'][0]: float32[1, *, ?]") != NULL);
    stet_gate_contract_release(&c);
    stet_gate_contract_release(&again);
    stet_buf_release(&a);
    stet_buf_release(&b);
}

TEST(a_family_for_library_programs_prints_and_reads_back)
{
    static const char text[] = HEAD "\n*(...) library only, at most 3 programs\n";
    struct stet_contract c = read_all(text);
    struct stet_buf out = STET_BUF_INIT;

    EXPECT(c.families[0].library && c.families[0].programs == 3);
    stet_gate_contract_print(&out, &c);
    EXPECT(stet_view_is(stet_buf_as_view(&out), text));
    stet_buf_release(&out);
    stet_gate_contract_release(&c);
    refuses(HEAD "f() library\n", "c:2:12: 'only' is missing here");
}

TEST(errors_name_line_and_column)
{
    refuses("", "c:1:1: a contract begins with");
    refuses("stet contract 2\n", "c:1:1: this is version 2");
    refuses(HEAD "f(x int32[8])\n", "c:2:13: ':' is missing here");
    refuses(HEAD "\n# a comment\nf(x: int32[8,]) at most 1 program\n", "c:4:14: a number is");
    refuses(HEAD "f(x: int32[8..4])\n", "c:2:12: this range is empty");
    refuses(HEAD "f(x: int32[4])\n    at most x programs\n", "c:3:13: a number is missing");
    refuses(HEAD "f(x: int32[4]) at most 2 planets\n", "c:2:26: 'programs' is missing");
    refuses(HEAD "f(x: int32[4]) mostly\n", "c:2:16: a clause is missing here");
    refuses(HEAD "f(x: int32[4]\n", "c:3:1: ')' is missing");
    refuses(HEAD "flags XLA_FLAGS \"--a\n", "c:2:17: this text has no end");
    refuses(HEAD "mesh 2x4\n", "c:2:6: a mesh reads");
    refuses(HEAD "whatever\n", "c:2:1: not a statement");
    refuses(HEAD "f(x: int32[99999999999999999999])\n", "c:2:12: this number is too large");
}

/* ---- the gate ---- */

static struct stet_seen program(struct stet_seen_arg *args, uint32_t count, uint64_t graph,
                                uint64_t key)
{
    return (struct stet_seen){.family = STET_VIEW("step"),
                              .framework = STET_FRAMEWORK_JAX,
                              .args = args,
                              .arg_count = count,
                              .graph = {1, graph},
                              .program = {2, key}};
}

static void breaks(struct stet_gate *g, struct stet_seen s, enum stet_clause clause,
                   const char *what)
{
    struct stet_breach b = {.clause = STET_CLAUSES};

    EXPECT(stet_gate_breaks(g, &s, &b));
    EXPECT_INT(clause, b.clause);
    if (strcmp(b.what, what) != 0)
        fprintf(stderr, "have: %s\n", b.what);
    EXPECT(!strcmp(b.what, what));
}

static void keeps(struct stet_gate *g, struct stet_seen s)
{
    struct stet_breach b;

    EXPECT(!stet_gate_breaks(g, &s, &b));
}

static const char step[] =
    HEAD "step(x: int32[6, 33] donated, w: float32[4]) at most 2 programs of 1 graph with 1 set of "
         "options, compiled once\n";

TEST(a_program_breaks_the_most_specific_clause_and_no_other)
{
    int64_t dims[] = {6, 33}, four[] = {4}, six[] = {6, 48};
    struct stet_seen_arg args[] = {
        {.name = STET_VIEW("x"), .type = STET_VIEW("int32"), .dims = dims, .rank = 2, .donated = 1},
        {.name = STET_VIEW("w"), .type = STET_VIEW("float32"), .dims = four, .rank = 1},
        {.name = STET_VIEW("mask"), .type = STET_VIEW("bool"), .dims = four, .rank = 1},
    };
    struct stet_contract c = read_all(step);
    struct stet_seen other = program(args, 2, 1, 1);
    struct stet_gate g;

    EXPECT_INT(STET_OK, stet_gate_init(&g, &c, false, NULL));
    keeps(&g, program(args, 2, 1, 1));
    breaks(&g, program(args, 2, 1, 1), STET_CLAUSE_COMPILES,
           "the same program is compiled again: the contract allows 1 compile");
    breaks(&g, program(args, 2, 9, 2), STET_CLAUSE_GRAPHS,
           "another graph: the contract allows 1 graph");
    keeps(&g, program(args, 2, 1, 2));
    breaks(&g, program(args, 2, 1, 3), STET_CLAUSE_PROGRAMS,
           "another program of the same graph: the contract allows 2 programs");
    breaks(&g, program(args, 3, 1, 4), STET_CLAUSE_ARGUMENTS,
           "argument mask is not in the contract");
    breaks(&g, program(args, 1, 1, 4), STET_CLAUSE_ARGUMENTS,
           "argument w of the contract is not there");
    args[0].dims = six;
    breaks(&g, program(args, 2, 1, 4), STET_CLAUSE_DIMS, "dimension 1 of x is 48, allowed is 33");
    args[0].type = STET_VIEW("int64");
    breaks(&g, program(args, 2, 1, 4), STET_CLAUSE_DTYPE,
           "x: int64[6, 48] has another dtype; the contract has x: int32[6, 33] donated");
    args[0].type = STET_VIEW("int32");
    args[0].rank = 1;
    breaks(&g, program(args, 2, 1, 4), STET_CLAUSE_RANK,
           "x: int32[6] has another rank; the contract has x: int32[6, 33] donated");
    args[0].rank = 2;
    args[0].dims = dims;
    args[0].donated = false;
    breaks(&g, program(args, 2, 1, 1), STET_CLAUSE_DONATED,
           "x is not donated; in the contract it is");
    args[0].donated = true;
    other.options.lo = 7;
    breaks(&g, other, STET_CLAUSE_OPTIONS,
           "another set of compile options: the contract allows 1 set");
    other.family = STET_VIEW("fragment");
    breaks(&g, other, STET_CLAUSE_FAMILY, "fragment with 2 arguments is in no family");
    stet_gate_release(&g);
    stet_gate_contract_release(&c);
}

TEST(overloads_are_distinguished_and_a_star_takes_the_rest)
{
    int64_t dims[] = {6};
    struct stet_seen_arg args[] = {
        {.name = STET_VIEW("x"), .type = STET_VIEW("int32"), .dims = dims, .rank = 1},
        {.name = STET_VIEW("m"), .type = STET_VIEW("bool"), .dims = dims, .rank = 1},
    };
    struct stet_contract c =
        read_all(HEAD "step(x: int32[6], m: bool[6]) at most 1 program\n"
                      "step(x: int32[6]) at most 1 program\n*(...) at most 1 program\n");
    struct stet_seen other = program(args, 1, 5, 5);
    struct stet_gate g;

    EXPECT_INT(STET_OK, stet_gate_init(&g, &c, false, NULL));
    keeps(&g, program(args, 2, 1, 1));
    keeps(&g, program(args, 1, 2, 2));
    breaks(&g, program(args, 1, 2, 3), STET_CLAUSE_PROGRAMS,
           "another program of the same graph: the contract allows 1 program");
    other.family = STET_VIEW("helper");
    keeps(&g, other);
    stet_gate_release(&g);
    stet_gate_contract_release(&c);
}

TEST(arguments_without_names_may_come_in_any_order)
{
    int64_t four[] = {4}, eight[] = {8};
    struct stet_seen_arg args[] = {
        {.name = STET_VIEW("arg0"), .type = STET_VIEW("float32"), .dims = eight, .rank = 1},
        {.name = STET_VIEW("arg1"), .type = STET_VIEW("float32"), .dims = four, .rank = 1},
    };
    struct stet_contract c = read_all(
        HEAD "step(arg0: float32[{4,8}], arg1: float32[8]) at most 1 program of 1 graph\n");
    struct stet_seen s = program(args, 2, 1, 1);
    struct stet_gate g;

    EXPECT_INT(STET_OK, stet_gate_init(&g, &c, false, NULL));
    breaks(&g, s, STET_CLAUSE_DIMS, "dimension 0 of arg1 is 4, allowed is 8");
    s.framework = STET_FRAMEWORK_TORCH_XLA; /* the first that fits is not the one to take */
    keeps(&g, s);
    s = program(args, 2, 2, 2);
    s.framework = STET_FRAMEWORK_TORCH_XLA;
    breaks(&g, s, STET_CLAUSE_GRAPHS, "another graph: the contract allows 1 graph");
    args[0].dims = four;
    breaks(&g, s, STET_CLAUSE_DIMS, "dimension 0 of arg1 is 4, allowed is 8");
    stet_gate_release(&g);
    stet_gate_contract_release(&c);
}

TEST(meshes_and_what_is_the_backends_own)
{
    int64_t dims[] = {6};
    struct stet_seen_arg args[] = {
        {.name = STET_VIEW("x"), .type = STET_VIEW("int32"), .dims = dims, .rank = 1},
    };
    struct stet_contract c =
        read_all(HEAD "made on cpu backend\nmesh data=2 model=4\nstep(x: int32[6] donated)\n");
    struct stet_seen s = program(args, 1, 1, 1);
    struct stet_gate g;

    EXPECT_INT(STET_OK, stet_gate_init(&g, &c, true, NULL));
    keeps(&g, s); /* no mesh, and donation is not the target's */
    s.mesh = STET_VIEW("data=8");
    breaks(&g, s, STET_CLAUSE_MESH, "its mesh is data=8; the contract has data=2 model=4");
    stet_gate_release(&g);
    stet_gate_contract_release(&c);
}

TEST(the_packed_form_decides_the_same_and_damage_is_seen)
{
    struct stet_contract c = read_all(step), again;
    struct stet_buf a = STET_BUF_INIT, b = STET_BUF_INIT;

    stet_gate_contract_pack(&a, &c, false);
    EXPECT_INT(STET_OK, stet_gate_contract_unpack(&again, stet_buf_as_view(&a), NULL));
    stet_gate_contract_pack(&b, &again, false);
    EXPECT(stet_view_eq(stet_buf_as_view(&a), stet_buf_as_view(&b)));
    EXPECT_INT(2, again.families[0].programs);
    EXPECT_INT(2, again.families[0].line);
    stet_gate_contract_release(&again);
    for (size_t i = 0; i < a.len; i += 7) {
        a.ptr[i] ^= 0x41;
        EXPECT(stet_gate_contract_unpack(&again, stet_buf_as_view(&a), NULL) != STET_OK);
        a.ptr[i] ^= 0x41;
    }
    stet_gate_contract_release(&c);
    stet_buf_release(&a);
    stet_buf_release(&b);
}
