/* Facts about the structural diff, on programs small enough to read. */
#include "program_help.h"

#include "base/mem.h"
#include "explain/diff.h"
#include "explain/side.h"
#include "explain/words.h"

struct pair {
    struct stet_program a, b;
    struct stet_fingerprint fa, fb;
    struct stet_diff d;
};

static const char *words_of(const struct stet_change *c)
{
    static char room[STET_WORDS_MOST];

    return stet_words_subject(room, c->kind, &c->of).ptr;
}

/* Tables that were made before, and used before, change nothing. */
static void compare_prepared(struct pair *p)
{
    static struct stet_side ta, tb;
    struct stet_fingerprint fa, fb;
    struct stet_err err = STET_ERR_INIT;
    struct stet_diff_side sa = {&p->a, &fa, &ta}, sb = {&p->b, &fb, &tb};
    struct stet_diff d;

    EXPECT_INT(STET_OK, stet_side_prepare(&ta, &p->a, (struct stet_view){0}, &fa, &err));
    EXPECT_INT(STET_OK, stet_side_prepare(&tb, &p->b, (struct stet_view){0}, &fb, &err));
    EXPECT(stet_hash_eq(fa.key, p->fa.key) && stet_hash_eq(fb.skeleton, p->fb.skeleton));
    for (int round = 0; round < 2; round++) {
        EXPECT_INT(STET_OK, stet_diff_make(&d, &sa, &sb, &err));
        EXPECT_INT(p->d.cause, d.cause);
        EXPECT_INT(p->d.ops_matched, d.ops_matched);
        EXPECT_INT(p->d.change_count, d.change_count);
        for (uint32_t i = 0; i < d.change_count && i < p->d.change_count; i++) {
            char had[STET_WORDS_MOST], has[STET_WORDS_MOST];

            EXPECT(stet_view_eq(stet_words_subject(had, p->d.changes[i].kind, &p->d.changes[i].of),
                                stet_words_subject(has, d.changes[i].kind, &d.changes[i].of)));
            EXPECT(stet_view_eq(p->d.changes[i].to, d.changes[i].to));
            EXPECT_INT(p->d.changes[i].line, d.changes[i].line);
        }
        stet_diff_release(&d);
        EXPECT_INT(STET_OK, stet_diff_make(&d, &sb, &sa, &err));
        stet_diff_release(&d);
    }
    stet_side_release(&ta);
    stet_side_release(&tb);
}

static bool compare(struct pair *p, struct stet_view a, struct stet_view b)
{
    struct stet_diff_side sa = {&p->a, &p->fa}, sb = {&p->b, &p->fb};
    struct stet_err err = STET_ERR_INIT;

    if (!read_program(&p->a, a) || !read_program(&p->b, b))
        return false;
    EXPECT_INT(STET_OK, stet_fingerprint_make(&p->fa, &p->a, (struct stet_view){0}, &err));
    EXPECT_INT(STET_OK, stet_fingerprint_make(&p->fb, &p->b, (struct stet_view){0}, &err));
    EXPECT_INT(STET_OK, stet_diff_make(&p->d, &sa, &sb, &err));
    compare_prepared(p);
    return true;
}

static void release(struct pair *p)
{
    stet_diff_release(&p->d);
    stet_program_release(&p->a);
    stet_program_release(&p->b);
}

static const struct stet_change *find(const struct stet_diff *d, enum stet_change_kind kind)
{
    for (uint32_t i = 0; i < d->change_count; i++)
        if (d->changes[i].kind == kind)
            return &d->changes[i];
    return NULL;
}

static const char *text_of(struct stet_view v)
{
    static char text[4][256];
    static int turn;
    char *out = text[turn++ & 3];

    snprintf(out, sizeof text[0], "%.*s", STET_FMT(v));
    return v.ptr ? out : "(none)";
}

#define LOC(line)  " loc(\"f\"(\"train.py\":" #line ":5 to :9))"
#define HEAD(args) "func.func public @main(" args ") -> tensor<4xf32> {\n"
#define X          "%x: tensor<4xf32> loc(\"x\")"
#define STEP(n, from, line)                                                                        \
    "%a" #n " = stablehlo.multiply " from ", " from                                                \
    " : tensor<4xf32>" LOC(line) "\n"                                                              \
                                 "%b" #n " = stablehlo.tanh %a" #n                                 \
                                 " : tensor<4xf32>" LOC(line) "\n"
#define END(v) "return " v " : tensor<4xf32>\n}\n"

TEST(the_same_program_is_identical)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(HEAD(X) STEP(1, "%x", 3) END("%b1")),
                   STET_VIEW(HEAD("%y: tensor<4xf32>") STEP(1, "%y", 9) END("%b1"))));
    EXPECT_INT(STET_CAUSE_IDENTICAL, p.d.cause);
    EXPECT_INT(0, p.d.change_count);
    release(&p);
}

#define SCALED(c1, c2)                                                                             \
    HEAD(X)                                                                                        \
    "%c = stablehlo.constant dense<" c1 "> : tensor<4xf32>" LOC(                                   \
        99) "\n"                                                                                   \
            "%d = stablehlo.constant dense<" c2 "> : tensor<4xf32>" LOC(                           \
                99) "\n"                                                                           \
                    "%0 = stablehlo.multiply %x, %c : tensor<4xf32>" LOC(                          \
                        7) "\n"                                                                    \
                           "%1 = stablehlo.add %0, %d : tensor<4xf32>" LOC(8) "\n" END("%1")

TEST(a_constant_is_named_with_the_line_that_uses_it)
{
    struct pair p;
    const struct stet_change *c;

    EXPECT(compare(&p, STET_VIEW(SCALED("1.0e-3", "2.0")), STET_VIEW(SCALED("9.99e-4", "2.0"))));
    EXPECT_INT(STET_CAUSE_BAKED_CONSTANT, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    EXPECT_INT(1, p.d.change_count);
    EXPECT_INT(1u << STET_FACET_CONSTANTS, p.d.moved);
    c = find(&p.d, STET_CHANGE_CONSTANT);
    EXPECT(c);
    if (c) {
        EXPECT_STR("0.001", text_of(c->from));
        EXPECT_STR("0.000999", text_of(c->to));
        EXPECT_STR("constant in multiply", words_of(c));
        EXPECT(c->data.has_values && c->data.values[0] == 0.001 && c->data.values[1] == 0.000999);
        EXPECT_STR("train.py", text_of(c->file));
        EXPECT_INT(7, c->line);
    }
    release(&p);
}

TEST(a_repeated_block_is_one_change)
{
    struct pair p;
    const struct stet_change *c;

    EXPECT(compare(
        &p, STET_VIEW(HEAD(X) STEP(1, "%x", 3) STEP(2, "%b1", 3) END("%b2")),
        STET_VIEW(HEAD(X) STEP(1, "%x", 3) STEP(2, "%b1", 3) STEP(3, "%b2", 3) END("%b3"))));
    EXPECT_INT(STET_CAUSE_PYTHON_LOOP, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    c = find(&p.d, STET_CHANGE_REPEAT);
    EXPECT(c);
    if (c) {
        EXPECT_STR("block of 2 operations", words_of(c));
        EXPECT_STR("2 times", text_of(c->from));
        EXPECT_STR("3 times", text_of(c->to));
        EXPECT_INT(3, c->line);
    }
    EXPECT_INT(2, p.d.ops_came);
    release(&p);
}

#define NEGATED(value, second)                                                                     \
    HEAD(X)                                                                                        \
    "%c = stablehlo.constant dense<" value "> : tensor<4xf32>\n"                                   \
    "%s = stablehlo.multiply %x, %c : tensor<4xf32>\n"                                             \
    "%t = stablehlo.negate %s : tensor<4xf32>\n" second

TEST(what_is_only_computed_twice_is_not_a_change)
{
    struct pair p;

    EXPECT(compare(
        &p,
        STET_VIEW(NEGATED("2.0", "%u = stablehlo.negate %t : tensor<4xf32>\n"
                                 "%v = stablehlo.add %u, %t : tensor<4xf32>\n") END("%v")),
        STET_VIEW(NEGATED("3.0", "%d = stablehlo.negate %s : tensor<4xf32>\n"
                                 "%u = stablehlo.negate %d : tensor<4xf32>\n"
                                 "%v = stablehlo.add %u, %t : tensor<4xf32>\n") END("%v"))));
    EXPECT_INT(STET_CAUSE_BAKED_CONSTANT, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    release(&p);
}

TEST(an_inserted_operation_is_named_alone)
{
    struct pair p;

    EXPECT(
        compare(&p, STET_VIEW(HEAD(X) STEP(1, "%x", 3) STEP(2, "%b1", 4) END("%b2")),
                STET_VIEW(HEAD(X) STEP(1, "%x", 3) "%n = stablehlo.cosine %b1 : tensor<4xf32>" LOC(
                    6) "\n" STEP(2, "%n", 4) END("%b2"))));
    EXPECT_INT(STET_CAUSE_GRAPH_CHANGE, p.d.cause);
    EXPECT_INT(1, p.d.change_count);
    EXPECT_STR("operation cosine", words_of(&p.d.changes[0]));
    EXPECT_INT(6, p.d.changes[0].line);
    EXPECT(!p.d.changes[0].line_of_a);
    release(&p);
}

#define MASKED                                                                                     \
    HEAD(X ", %m: tensor<4xf32> loc(\"mask\")")                                                    \
    STEP(1, "%x", 3) "%n = stablehlo.multiply %b1, %m : tensor<4xf32>" LOC(5) "\n" END("%n")

TEST(added_and_removed_arguments_are_named)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(HEAD(X) STEP(1, "%x", 3) END("%b1")), STET_VIEW(MASKED)));
    EXPECT_INT(STET_CAUSE_OPTIONAL_KEY, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    EXPECT_STR("argument mask", words_of(find(&p.d, STET_CHANGE_ARGUMENT_CAME)));
    EXPECT_INT(5, find(&p.d, STET_CHANGE_ARGUMENT_CAME)->line);
    release(&p);
    EXPECT(compare(&p, STET_VIEW(MASKED), STET_VIEW(HEAD(X) STEP(1, "%x", 3) END("%b1"))));
    EXPECT_INT(STET_CAUSE_OPTIONAL_KEY, p.d.cause);
    EXPECT_STR("argument mask", words_of(find(&p.d, STET_CHANGE_ARGUMENT_WENT)));
    release(&p);
}

#define TWO(first, second)                                                                         \
    HEAD(first ": tensor<4xf32>, " second ": tensor<4xf32>")                                       \
    "%0 = stablehlo.tanh %p : tensor<4xf32>\n%1 = stablehlo.subtract %0, %q : "                    \
    "tensor<4xf32>\n" END("%1")

/* No names, and another order: only what is done with them tells. */
TEST(arguments_are_aligned_by_use)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(TWO("%p", "%q")), STET_VIEW(TWO("%q", "%p"))));
    EXPECT_INT(0, p.d.ops_came + p.d.ops_went);
    EXPECT(find(&p.d, STET_CHANGE_ARGUMENT_MOVED));
    EXPECT(!find(&p.d, STET_CHANGE_OPERAND));
    release(&p);
}

#define BATCH(n, count)                                                                            \
    "func.func public @main(%x: tensor<" n "x8xf32> loc(\"batch\")) -> tensor<f32> {\n"            \
    "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"                                           \
    "%n = stablehlo.constant dense<" count "> : tensor<f32>\n"                                     \
    "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : "       \
    "(tensor<" n "x8xf32>, tensor<f32>) -> tensor<f32>" LOC(                                       \
        4) "\n"                                                                                    \
           "%1 = stablehlo.divide %0, %n : tensor<f32>" LOC(4) "\n"                                \
                                                               "return %1 : tensor<f32>\n}\n"

TEST(constants_that_follow_from_a_shape_are_marked_as_such)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(BATCH("4", "32.0")), STET_VIEW(BATCH("6", "48.0"))));
    EXPECT_INT(STET_CAUSE_SHAPE_DRIFT, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    EXPECT_STR("argument batch dimension 0", words_of(&p.d.changes[0]));
    EXPECT_INT(STET_ASPECT_DIMENSION, p.d.changes[0].of.aspect);
    EXPECT_STR("batch", text_of(p.d.changes[0].of.name));
    EXPECT_INT(0, p.d.changes[0].of.argument);
    EXPECT(p.d.changes[0].data.has_sizes);
    EXPECT_INT(4, p.d.changes[0].data.sizes[0]);
    EXPECT_INT(6, p.d.changes[0].data.sizes[1]);
    EXPECT_INT(STET_FACET_SHAPES, find(&p.d, STET_CHANGE_CONSTANT)->follows);
    EXPECT_INT(STET_FACET_SHAPES, p.d.follows[STET_FACET_CONSTANTS]);
    EXPECT_INT(STET_NO_FACET, p.d.follows[STET_FACET_SHAPES]);
    release(&p);
    EXPECT(compare(&p, STET_VIEW(BATCH("4", "32.0")), STET_VIEW(BATCH("6", "5.0"))));
    EXPECT_INT(STET_CAUSE_SHAPE_DRIFT, p.d.cause);
    EXPECT_INT(1, p.d.also_count);
    EXPECT_INT(STET_CAUSE_BAKED_CONSTANT, p.d.also[0]);
    release(&p);
}

#define SCALED_AS(type, number)                                                                    \
    "func.func public @main(%x: tensor<4x" type "> loc(\"x\")) -> tensor<4x" type "> {\n"          \
    "%c = stablehlo.constant dense<" number "> : tensor<4x" type ">\n"                             \
    "%0 = stablehlo.multiply %x, %c : tensor<4x" type ">" LOC(7) "\n"                              \
                                                                 "return %0 : tensor<4x" type      \
                                                                 ">\n}\n"

/* 0.70710677 has no exact value in bf16: the nearest one is another decimal. */
TEST(constants_of_either_sign_follow_from_a_dtype)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(SCALED_AS("f32", "0.70710677")),
                   STET_VIEW(SCALED_AS("bf16", "0.70710677"))));
    EXPECT_INT(STET_CAUSE_DTYPE_CHANGE, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    release(&p);
    EXPECT(compare(&p, STET_VIEW(SCALED_AS("f32", "-0.70710677")),
                   STET_VIEW(SCALED_AS("bf16", "-0.70710677"))));
    EXPECT_INT(STET_CAUSE_DTYPE_CHANGE, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    EXPECT_INT(STET_FACET_DTYPES, find(&p.d, STET_CHANGE_CONSTANT)->follows);
    EXPECT_INT(STET_F32, find(&p.d, STET_CHANGE_ARGUMENT)->data.elements[0].flavour);
    EXPECT_INT(STET_BF16, find(&p.d, STET_CHANGE_ARGUMENT)->data.elements[1].flavour);
    release(&p);
    EXPECT(compare(&p, STET_VIEW(SCALED_AS("f32", "0.70710677")),
                   STET_VIEW(SCALED_AS("bf16", "-0.70710677"))));
    EXPECT_INT(STET_CAUSE_DTYPE_CHANGE, p.d.cause);
    EXPECT_INT(1, p.d.also_count);
    EXPECT_INT(STET_CAUSE_BAKED_CONSTANT, p.d.also[0]);
    release(&p);
}

/* A loop's body is edited: the loop stays matched and the edit is inside. */
#define LOOP(op)                                                                                   \
    HEAD(X)                                                                                        \
    "%r = \"stablehlo.while\"(%x) ({\n^bb0(%i: tensor<4xf32>):\n"                                  \
    "%t = stablehlo.constant dense<true> : tensor<i1>\nstablehlo.return %t : tensor<i1>\n}, {\n"   \
    "^bb0(%i: tensor<4xf32>):\n%k = stablehlo.tanh %i : tensor<4xf32>" LOC(                        \
        6) "\n" op                                                                                 \
           "stablehlo.return %v : tensor<4xf32>\n}) : (tensor<4xf32>) -> tensor<4xf32>" LOC(       \
               5) "\n" END("%r")

TEST(an_edit_inside_a_loop_is_found_inside)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(LOOP("%v = stablehlo.add %k, %k : tensor<4xf32>" LOC(7) "\n")),
                   STET_VIEW(LOOP("%j = stablehlo.cosine %k : tensor<4xf32>" LOC(
                       8) "\n"
                          "%v = stablehlo.add %j, %j : tensor<4xf32>" LOC(7) "\n"))));
    EXPECT_INT(1, p.d.change_count);
    EXPECT_STR("operation cosine", words_of(&p.d.changes[0]));
    EXPECT_INT(8, p.d.changes[0].line);
    release(&p);
}

#define KERNEL                                                                                     \
    HEAD(X)                                                                                        \
    "%0 = stablehlo.custom_call @tpu_custom_call(%x) {backend_config = \"k\"} : "                  \
    "(tensor<4xf32>) -> tensor<4xf32>" LOC(5) "\n" END("%0")

TEST(a_kernel_that_disappeared_is_a_fallback)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(KERNEL), STET_VIEW(HEAD(X) STEP(1, "%x", 3) END("%b1"))));
    EXPECT_INT(STET_CAUSE_KERNEL_FALLBACK, p.d.cause);
    EXPECT_STR("operation custom_call @tpu_custom_call", words_of(find(&p.d, STET_CHANGE_OP_WENT)));
    release(&p);
}

/* A kernel for one size, whose encoded body is `body` thirty times over. */
static void kernel_of(char *out, size_t room, int size, const char *body)
{
    int n = snprintf(out, room,
                     "module @jit_f {\nfunc.func public @main(%%x: tensor<%dxf32>) -> "
                     "tensor<%dxf32> {\n%%0 = stablehlo.custom_call @tpu_custom_call(%%x) "
                     "{backend_config = \"",
                     size, size);

    for (int i = 0; i < 30; i++)
        n += snprintf(out + n, room - (size_t)n, "%s", body);
    snprintf(out + n, room - (size_t)n,
             "\"} : (tensor<%dxf32>) -> tensor<%dxf32>\nreturn %%0 : tensor<%dxf32>\n}\n}\n", size,
             size, size);
}

TEST(the_body_of_a_kernel_follows_from_its_sizes_and_is_not_printed)
{
    char small[1024], large[1024], other[1024];
    const struct stet_change *c;
    struct pair p;

    kernel_of(small, sizeof small, 8, "TUzvUgFN");
    kernel_of(large, sizeof large, 16, "TUzvUgFO");
    kernel_of(other, sizeof other, 8, "TUzvUgFO");
    EXPECT(compare(&p, stet_view_str(small), stet_view_str(large)));
    EXPECT_INT(STET_CAUSE_SHAPE_DRIFT, p.d.cause);
    EXPECT_INT(0, p.d.also_count);
    release(&p);
    EXPECT(compare(&p, stet_view_str(small), stet_view_str(other)));
    EXPECT_INT(STET_CAUSE_GRAPH_CHANGE, p.d.cause);
    c = find(&p.d, STET_CHANGE_ATTRIBUTE);
    EXPECT(c && stet_view_starts(c->from, "a kernel of 240 bytes ("));
    EXPECT(c && !stet_view_eq(c->from, c->to));
    release(&p);
}

TEST(dead_operations_of_one_family_are_paired)
{
#define DEAD(number)                                                                               \
    HEAD(X)                                                                                        \
    "%c = stablehlo.constant dense<" number "> : tensor<4xf32>\n"                                  \
    "%s = stablehlo.sine %x : tensor<4xf32>" LOC(                                                  \
        1) "\n"                                                                                    \
           "%t = stablehlo.cosine %s : tensor<4xf32>" LOC(                                         \
               2) "\n"                                                                             \
                  "%r = stablehlo.add %x, %c : tensor<4xf32>" LOC(3) "\n" END("%r")
    struct pair p;

    if (!compare(&p, STET_VIEW(DEAD("1.0")), STET_VIEW(DEAD("2.0"))))
        return;
    EXPECT(stet_hash_eq(p.fa.skeleton, p.fb.skeleton));
    EXPECT_INT(0, p.d.ops_came);
    EXPECT_INT(0, p.d.ops_went);
    EXPECT_INT(1, p.d.change_count);
    release(&p);
}

TEST(options_join_the_class)
{
    struct pair p;

    EXPECT(compare(&p, STET_VIEW(HEAD(X) STEP(1, "%x", 3) END("%b1")),
                   STET_VIEW(HEAD(X) STEP(1, "%x", 3) END("%b1"))));
    stet_diff_add_option(&p.d, STET_VIEW("xla_flag"), STET_VIEW("1"), STET_VIEW("2"));
    EXPECT_INT(STET_CAUSE_OPTIONS_DRIFT, p.d.cause);
    EXPECT_INT(STET_CHANGE_OPTION, p.d.changes[0].kind);
    release(&p);
}

#ifdef STET_FAULT_INJECTION
TEST(every_failing_allocation_is_an_error)
{
    struct pair p;
    struct stet_diff_side a = {&p.a, &p.fa}, b = {&p.b, &p.fb};
    enum stet_rc rc = STET_NO_MEMORY;

    EXPECT(compare(&p, STET_VIEW(HEAD(X) STEP(1, "%x", 3) END("%b1")), STET_VIEW(MASKED)));
    stet_diff_release(&p.d);
    for (long n = 0; rc != STET_OK && n < 1000; n++) {
        stet_mem_fail_after(n, true);
        rc = stet_diff_make(&p.d, &a, &b, NULL);
        stet_mem_fail_after(-1, false);
        if (rc != STET_OK)
            EXPECT_INT(STET_NO_MEMORY, rc);
    }
    EXPECT_INT(STET_OK, rc);
    release(&p);
}
#endif

TEST(names_that_are_too_long_for_words_are_cut_between_characters)
{
    char name[1000], room[STET_WORDS_MOST];
    struct stet_change_subject of = {.aspect = STET_ASPECT_DIMENSION, .index = UINT32_MAX};
    struct stet_view words;

    for (size_t i = 0; i + 1 < sizeof name; i += 2)
        memcpy(name + i, "é", 2);
    for (size_t skip = 0; skip < 2; skip++) {
        of.name = stet_view_of(name + 2 * skip, sizeof name - 2 * skip - skip);
        words = stet_words_subject(room, STET_CHANGE_ARGUMENT, &of);
        EXPECT(words.len < STET_WORDS_MOST && stet_view_ends(words, "é dimension 4294967295"));
    }
    of = (struct stet_change_subject){
        .name = of.name, .in = of.name, .target = of.name, .index = UINT32_MAX};
    for (int kind = STET_CHANGE_NONE; kind < STET_CHANGES; kind++)
        EXPECT(stet_words_subject(room, (enum stet_change_kind)kind, &of).ptr == room &&
               strlen(room) < STET_WORDS_MOST);
}
