/* Facts about the in-memory form: names, facts of operations, equality, index. */
#include "program/build.h"
#include "program/ops.h"
#include "program/records.h"
#include "program_help.h"

TEST(every_known_operation_is_found_by_its_name)
{
    for (unsigned i = 1; i < STET_KNOWN_OPS; i++) {
        const char *name = stet_known_op_name((enum stet_known_op)i);

        EXPECT_INT(i, stet_known_op(stet_view_str(name)));
    }
    EXPECT_INT(STET_OP_UNKNOWN, stet_known_op(STET_VIEW("stablehlo.nothing")));
    EXPECT_INT(STET_OP_UNKNOWN, stet_known_op(STET_VIEW("")));
    EXPECT(stet_known_op_facts(STET_STABLEHLO_ADD) & STET_OP_COMMUTATIVE);
    EXPECT(stet_known_op_facts(STET_STABLEHLO_ALL_REDUCE) & STET_OP_COLLECTIVE);
    EXPECT(stet_known_op_facts(STET_OP_UNKNOWN) & STET_OP_EFFECT);
}

TEST(a_custom_call_is_pure_unless_declared_otherwise)
{
    struct stet_attr yes = {.kind = STET_ATTR_BOOL, .integer = 1};
    struct stet_named_attr attr = {STET_VIEW("has_side_effect"), &yes};
    struct stet_op op = {.known = STET_STABLEHLO_CUSTOM_CALL};

    EXPECT(stet_op_is_pure(&op));
    op.attrs = &attr;
    op.attr_count = 1;
    EXPECT(!stet_op_is_pure(&op));
}

TEST(records_and_enums_are_found_both_ways)
{
    const struct stet_attr_record *dot =
        stet_attr_record_find(STET_VIEW("stablehlo"), STET_VIEW("dot"));
    const struct stet_enum *e = stet_enum_by_code(STET_VIEW("stablehlo"), 10);

    EXPECT(dot && dot == stet_attr_record_by_code(STET_VIEW("stablehlo"), 5));
    EXPECT(dot && dot->fields[4].kind == STET_FIELD_END);
    EXPECT(e && stet_view_is(stet_enum_case(e, 2), "NORMAL"));
    EXPECT(e && stet_enum_case(e, 0).len == 0);
    EXPECT(!stet_attr_record_find(STET_VIEW("sdy"), STET_VIEW("dot")));
}

TEST(types_are_compared_by_value)
{
    struct stet_arena arena;
    int64_t dims[] = {2, STET_DYNAMIC}, other[] = {2, 3};
    const struct stet_type *a, *b, *c;
    uint64_t n;

    stet_arena_init(&arena, 1 << 20);
    a = stet_type_tensor(&arena, stet_type_float(STET_BF16), dims, 2);
    b = stet_type_tensor(&arena, stet_type_float(STET_BF16), dims, 2);
    c = stet_type_tensor(&arena, stet_type_float(STET_BF16), other, 2);
    EXPECT(a != b && stet_type_eq(a, b));
    EXPECT(!stet_type_eq(a, c));
    EXPECT(!stet_type_elements(a, &n));
    EXPECT(stet_type_elements(c, &n) && n == 6);
    EXPECT_INT(16, stet_type_storage_bits(a->element));
    EXPECT_INT(8, stet_type_storage_bits(stet_type_integer(&arena, 4, STET_SIGNLESS)));
    EXPECT(stet_type_integer(&arena, 7, STET_SIGNED)->width == 7);
    stet_arena_release(&arena);
}

TEST(attributes_are_sorted_and_duplicates_refused)
{
    struct stet_named_attr attrs[] = {
        {STET_VIEW("b"), NULL}, {STET_VIEW("a"), NULL}, {STET_VIEW("aa"), NULL}};

    EXPECT(stet_build_sort(attrs, 3));
    EXPECT(stet_view_is(attrs[1].name, "aa"));
    attrs[2].name = STET_VIEW("a");
    EXPECT(!stet_build_sort(attrs, 3));
}

TEST(the_function_is_the_name_around_the_file)
{
    struct stet_loc file = {.kind = STET_LOC_FILE, .text = STET_VIEW("t.py"), .line = 7};
    const struct stet_loc *files[] = {&file};
    struct stet_loc inner = {
        .kind = STET_LOC_NAME, .text = STET_VIEW("step"), .count = 1, .parts = files};
    const struct stet_loc *inners[] = {&inner};
    struct stet_loc outer = {
        .kind = STET_LOC_NAME, .text = STET_VIEW("jit(f)/add"), .count = 1, .parts = inners};

    EXPECT(stet_loc_file(&outer) == &file);
    EXPECT(stet_view_is(stet_loc_function(&outer), "step"));
    outer.parts = files;
    EXPECT(stet_loc_function(&outer).len == 0);
    EXPECT(stet_loc_file(NULL) == NULL);
}

#define FUNCTION(argument, body)                                                                   \
    "module @m {\n  func.func public @main(%a: tensor<2xf32>" argument                             \
    ") -> tensor<2xf32> {\n" body "    return %b : tensor<2xf32>\n  }\n}\n"
#define NEGATE "    %b = stablehlo.negate %a : tensor<2xf32>\n"

static bool meets(const char *text)
{
    struct stet_program p;
    bool found;

    if (!read_program(&p, stet_view_str(text)))
        return false;
    found = stet_program_meets(&p);
    stet_program_release(&p);
    return found;
}

TEST(devices_meet_where_something_is_sharded_or_communicates)
{
    EXPECT(!meets(FUNCTION("", NEGATE)));
    EXPECT(meets(FUNCTION(" {mhlo.sharding = \"{replicated}\"}", NEGATE)));
    EXPECT(meets(FUNCTION(
        "",
        "    %b = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1]]> : "
        "tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>\n")));
    EXPECT(meets("module @m {\n  sdy.mesh @mesh = <[\"x\"=2]>\n"
                 "  func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n" NEGATE
                 "    return %b : tensor<2xf32>\n  }\n}\n"));
}
