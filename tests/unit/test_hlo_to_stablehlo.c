/* Facts about HLO brought over to StableHLO. That it means the same is tests/e2e/hlo/legal.py's. */
#include "test.h"

#include "base/buf.h"
#include "base/fs.h"
#include "decode/decode.h"
#include "legalize/hlo_to_stablehlo.h"
#include "program/compare.h"
#include "program/ops.h"
#include "program/print.h"

#include <dirent.h>

static const char folder[] = STET_SOURCE_DIR "/tests/data/hlo";

static bool no_hlo(const struct stet_op *op, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (op->results[i].type->kind == STET_TYPE_TUPLE ||
            stet_type_rest(op->results[i].type)->layout)
            return false;
    return !stet_view_starts(stet_op_name(op), "hlo.") && op->known != STET_OP_UNKNOWN;
}

/* Converted, it has no HLO and no tuple left, and its text reads back as the same program. */
static void converts(const char *path)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_file file = {0};
    struct stet_program hlo, p, again;
    struct stet_buf text = STET_BUF_INIT;

    EXPECT_INT(STET_OK, stet_file_open(&file, path, &err));
    EXPECT_INT(STET_OK, stet_decode_hlo_proto(&hlo, file.bytes, &err));
    if (stet_legalize_hlo(&p, &hlo, &err) != STET_OK) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        EXPECT(false);
    } else {
        EXPECT(stet_program_walk(&p, no_hlo, NULL));
        EXPECT_INT(STET_OK, stet_print_program(&text, &p, NULL, &err));
        EXPECT_INT(STET_OK, stet_decode_mlir_text(&again, stet_buf_as_view(&text), &err));
        if (err.rc == STET_OK) {
            EXPECT(stet_program_same(&p, &again, STET_COMPARE_PLAIN, &err));
            stet_program_release(&again);
        }
        if (err.rc != STET_OK)
            fprintf(stderr, "%s: %s\n", path, err.text);
        stet_program_release(&p);
    }
    stet_buf_release(&text);
    stet_program_release(&hlo);
    stet_file_close(&file);
}

TEST(captured_programs_convert_and_their_text_reads_back)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    int seen = 0;

    while (d && (e = readdir(d))) {
        char path[512];

        if (!stet_view_ends(stet_view_str(e->d_name), ".pb"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        converts(path);
        seen++;
    }
    if (d)
        closedir(d);
    EXPECT(seen >= 20);
}

static enum stet_rc convert_text(struct stet_program *hlo, struct stet_program *out,
                                 const char *text, struct stet_err *err)
{
    EXPECT_INT(STET_OK, stet_decode_hlo_text(hlo, stet_view_str(text), err));
    return stet_legalize_hlo(out, hlo, err);
}

TEST(donation_and_sharding_come_along)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program hlo, p;

    EXPECT_INT(STET_OK, convert_text(&hlo, &p,
                                     "HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }, "
                                     "buffer_donor={ (1, {}) }\n\nENTRY e {\n"
                                     "  a = f32[2]{0} parameter(0), sharding={devices=[2]0,1}\n"
                                     "  b = f32[2]{0} parameter(1)\n"
                                     "  ROOT t = (f32[2]{0}, f32[2]{0}) tuple(b, a)\n}\n",
                                     &err));
    EXPECT_INT(2, p.argument_count);
    EXPECT_INT(2, p.output_count);
    EXPECT_INT(1, p.arguments[0].alias);
    EXPECT(p.arguments[1].donor && !p.arguments[0].donor);
    EXPECT(stet_view_is(stet_attr_text(p.arguments[0].sharding), "{devices=[2]0,1}"));
    EXPECT(stet_view_is(p.arguments[0].name, "a"));
    stet_program_release(&p);
    stet_program_release(&hlo);
}

TEST(tuples_of_loops_become_values)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program hlo, p;
    const struct stet_block *body;

    EXPECT_INT(STET_OK,
               convert_text(&hlo, &p,
                            "HloModule m\n\nc {\n  p = (s32[], (f32[2]{0}, f32[])) parameter(0)\n"
                            "  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(3)\n"
                            "  ROOT l = pred[] compare(i, n), direction=LT\n}\n\n"
                            "b {\n  ROOT p = (s32[], (f32[2]{0}, f32[])) parameter(0)\n}\n\n"
                            "ENTRY e {\n  x = (s32[], (f32[2]{0}, f32[])) parameter(0)\n"
                            "  w = (s32[], (f32[2]{0}, f32[])) while(x), condition=c, body=b\n"
                            "  y = (f32[2]{0}, f32[]) get-tuple-element(w), index=1\n"
                            "  ROOT z = f32[] get-tuple-element(y), index=1\n}\n",
                            &err));
    body = stet_op_region(p.entry, 0)->blocks[0];
    EXPECT_INT(3, body->arg_count);
    EXPECT_INT(2, body->op_count);
    EXPECT_INT(STET_STABLEHLO_WHILE, body->ops[0]->known);
    EXPECT_INT(3, body->ops[0]->result_count);
    EXPECT(stet_op_operand(body->ops[1], 0) == &body->ops[0]->results[2]);
    stet_program_release(&p);
    stet_program_release(&hlo);
}

TEST(operations_without_a_counterpart_are_named)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program hlo, p;

    EXPECT_INT(STET_UNSUPPORTED,
               convert_text(&hlo, &p,
                            "HloModule m\n\nENTRY e {\n  a = f32[2]{0} parameter(0)\n"
                            "  ROOT odd.7 = s32[2]{0} bitcast(a)\n}\n",
                            &err));
    EXPECT_STR("odd.7 (hlo.bitcast): has no counterpart in StableHLO", err.text);
    stet_program_release(&hlo);
}

TEST(missing_operands_are_an_error)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program hlo, p;

    EXPECT_INT(STET_BAD_INPUT,
               convert_text(&hlo, &p,
                            "HloModule m\n\nENTRY e {\n  ROOT c = pred[] compare(), "
                            "direction=LT\n}\n",
                            &err));
    EXPECT_STR("c (hlo.compare): has no operand", err.text);
    stet_program_release(&hlo);
}

/* Each level calls the next twice: 2^40 copies if regions were made without end. */
TEST(exponentially_nested_computations_are_an_error)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program hlo, p;
    struct stet_buf b = STET_BUF_INIT;

    stet_buf_str(&b, "HloModule m\n\nf0 {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                     "  ROOT r = f32[] add(x, y)\n}\n\n");
    for (int i = 1; i <= 40; i++)
        stet_buf_printf(&b,
                        "f%d {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                        "  a = f32[] reduce(x, y), dimensions={}, to_apply=f%d\n"
                        "  ROOT r = f32[] reduce(a, y), dimensions={}, to_apply=f%d\n}\n\n",
                        i, i - 1, i - 1);
    stet_buf_str(&b, "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] reduce(x, x), "
                     "dimensions={}, to_apply=f40\n}\n");
    EXPECT_INT(STET_LIMIT, convert_text(&hlo, &p, b.ptr, &err));
    stet_program_release(&hlo);
    stet_buf_release(&b);
}
