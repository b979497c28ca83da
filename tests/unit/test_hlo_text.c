/* Facts about HLO text that is written by hand: errors, short forms, limits. */
#include "hlo_help.h"

static enum stet_rc read_text(const char *text, struct stet_err *err)
{
    struct stet_program p;
    enum stet_rc rc = stet_decode_hlo_text(&p, stet_view_str(text), err);

    if (rc == STET_OK)
        stet_program_release(&p);
    return rc;
}

TEST(errors_in_text_carry_line_and_column)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"Hello", "HLO text, line 1 column 1: expected HloModule"},
        {"HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] add(a, c)\n}\n",
         "HLO text, line 5 column 25: no earlier instruction of this computation has this name"},
        {"HloModule m\n\nENTRY e {\n  a = f99[2] parameter(0)\n}\n",
         "HLO text, line 4 column 7: 'f99' is not an element type"},
        {"HloModule m\n\nENTRY e {\n  a = f32[2]{0,1} parameter(0)\n}\n",
         "HLO text, line 4 column 13: the layout has 2 entries for 1 dimensions"},
        {"HloModule m\n\nENTRY e {\n  a = f32[] frobnicate()\n}\n",
         "HLO text, line 4 column 13: 'frobnicate' is not an opcode that this build knows"},
        {"HloModule m\n\nENTRY e {\n  a = f32[] iota(), slice={[0:1]}\n}\n",
         "HLO text, line 4 column 21: slice is not an attribute of iota"},
        {"HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  b = pred[] compare(a, a), "
         "direction=LT, order=MOST\n}\n",
         "HLO text, line 5 column 49: an order is TOTAL or PARTIAL"},
        {"HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  b = pred[] compare(a, a), "
         "direction=LT, order=TOTAL, order=TOTAL\n}\n",
         "HLO text, line 5 column 56: order is not a second attribute of compare"},
        {"HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  b = pred[] compare(a, a), "
         "type=TOTALORDER, order=PARTIAL\n}\n",
         "HLO text, line 5 column 52: a comparison by total order has no partial one"},
        {"HloModule m\n\nENTRY e {\n  a = s8[2]{0} constant({1, 200})\n}\n",
         "HLO text, line 4 column 29: '200' is not a number of this type"},
        {"HloModule m\n\ne {\n  a = f32[] parameter(0)\n}\n",
         "HLO text, line 6 column 1: no ENTRY computation"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct stet_err err = STET_ERR_INIT;

        EXPECT_INT(STET_BAD_INPUT, read_text(bad[i].text, &err));
        EXPECT_STR(bad[i].message, err.text);
    }
}

TEST(a_zero_byte_in_a_text_is_refused)
{
    static const char text[] = "HloModule m\n\nENTRY e {\n  ROOT a = f32[] parameter(0), "
                               "frontend_attributes={x\0y=\"z\"}\n}\n";
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;

    EXPECT_INT(STET_BAD_INPUT, stet_decode_hlo_text(&p, stet_view_of(text, sizeof text - 1), &err));
    EXPECT_STR("HLO text, line 4 column 54: a zero byte", err.text);
}

/* The proto with a byte of the first `name` in it set to zero, printed. */
static enum stet_rc print_with_zero(struct stet_view proto, const char *name, struct stet_err *err)
{
    struct stet_buf bytes = STET_BUF_INIT, out = STET_BUF_INIT;
    struct stet_program p;
    enum stet_rc rc;
    char *at;

    stet_buf_view(&bytes, proto);
    at = memmem(bytes.ptr, bytes.len, name, strlen(name));
    EXPECT(at != NULL);
    if (at)
        at[1] = 0;
    rc = stet_decode_hlo_proto(&p, stet_buf_as_view(&bytes), err);
    EXPECT_INT(STET_OK, rc);
    if (rc == STET_OK) {
        rc = stet_print_hlo(&p, &stet_hlo_print_long, &out, err);
        stet_program_release(&p);
    }
    stet_buf_release(&bytes);
    stet_buf_release(&out);
    return rc;
}

TEST(programs_that_text_cannot_express_are_not_printed)
{
    struct stet_file file;
    struct stet_program p = read_file("jax_while_loop.pb", &file);
    struct stet_err err = STET_ERR_INIT;
    char name[64];

    snprintf(name, sizeof name, "%.*s", STET_FMT(stet_op_symbol(p.module)));
    EXPECT_INT(STET_UNSUPPORTED, print_with_zero(file.bytes, name, &err));
    EXPECT_STR("a name that HLO text cannot express", err.text);
    err = (struct stet_err)STET_ERR_INIT;
    snprintf(name, sizeof name, "%.*s",
             STET_FMT(stet_op_region(p.entry, 0)->blocks[0]->ops[0]->loc->text));
    EXPECT_INT(STET_UNSUPPORTED, print_with_zero(file.bytes, name, &err));
    EXPECT_STR("a name that HLO text cannot express", err.text);
    stet_program_release(&p);
    stet_file_close(&file);
}

static struct stet_fingerprint fingerprint_of(reader read, const char *path)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_fingerprint f = {0};
    struct stet_program p;
    struct stet_file file;

    EXPECT_INT(STET_OK, stet_file_open(&file, path, &err));
    EXPECT_INT(STET_OK, read(&p, file.bytes, &err));
    EXPECT_STR("", err.text);
    if (err.rc == STET_OK) {
        EXPECT_INT(STET_OK, stet_fingerprint_make(&f, &p, (struct stet_view){0}, &err));
        stet_program_release(&p);
    }
    stet_file_close(&file);
    return f;
}

/* "slice-start(x), slice=…" is what XLA prints of an async-start around a slice. Both files are
 * what jaxlib's _hlo.hlo_module_from_text made of text: the proto, and its own print of it. */
TEST(asynchronous_operations_in_short_form_are_those_of_the_proto)
{
    static const char *const names[] = {"slice", "slice_with_attributes", "custom_call", "chain"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stet_fingerprint a, b;
        char path[512];

        snprintf(path, sizeof path, "%s/async/%s.pb", folder, names[i]);
        a = fingerprint_of(stet_decode_hlo_proto, path);
        snprintf(path, sizeof path, "%s/async/%s.txt", folder, names[i]);
        b = fingerprint_of(stet_decode_hlo_text, path);
        EXPECT(stet_hash_eq(a.key, b.key) && !stet_hash_is_zero(a.key));
        EXPECT(stet_hash_eq(a.skeleton, b.skeleton));
        EXPECT_INT(0, stet_fingerprint_moved(&a, &b));
    }
}

TEST(an_asynchronous_operation_states_its_result_type)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_BAD_INPUT, read_text("HloModule m\n\nENTRY e {\n  a = f32[8] parameter(0)\n"
                                         "  b = f32[4] slice-start(a), slice={[2:6]}\n}\n",
                                         &err));
    EXPECT_STR(
        "HLO text, line 5 column 3: the shape of slice-start is not a tuple of operands and result",
        err.text);
    err = (struct stet_err)STET_ERR_INIT;
    EXPECT_INT(STET_BAD_INPUT,
               read_text("HloModule m\n\nENTRY e {\n  a = f32[8] parameter(0)\n"
                         "  b = ((f32[8]), f32[4]) slice-start(a), dimensions={0}\n}\n",
                         &err));
    EXPECT_STR("HLO text, line 5 column 42: dimensions is not an attribute of slice", err.text);
}

TEST(an_asynchronous_fusion_calls_what_the_fusion_does)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_OK, read_text("HloModule m\n\nf {\n  q = f32[4] parameter(0)\n"
                                  "  ROOT n = f32[4] negate(q)\n}\n\n"
                                  "ENTRY e {\n  p = f32[4] parameter(0)\n"
                                  "  s = ((f32[4]), f32[4]) fusion-start(p), kind=kLoop, calls=f\n"
                                  "  ROOT d = f32[4] fusion-done(s)\n}\n",
                                  &err));
    EXPECT_STR("", err.text);
}

TEST(an_elided_constant_is_an_error_with_the_way_to_print_it)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_BAD_INPUT,
               read_text("HloModule m\n\nENTRY e {\n  a = f32[20]{0} constant({...})\n}\n", &err));
    EXPECT(strstr(err.text, "line 4 column 27") && strstr(err.text, "large constants"));
}

TEST(computations_that_call_each_other_are_refused)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(
        STET_BAD_INPUT,
        read_text("HloModule m\n\nf {\n  a = f32[] parameter(0)\n  ROOT b = f32[] call(a), "
                  "to_apply=g\n}\n\ng {\n  a = f32[] parameter(0)\n  ROOT b = f32[] call(a), "
                  "to_apply=f\n}\n\nENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] "
                  "call(a), to_apply=g\n}\n",
                  &err));
    EXPECT_STR("HLO text, line 8 column 1: computation g calls itself", err.text);
}

TEST(deep_nesting_ends_in_an_error)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf b = STET_BUF_INIT;

    stet_buf_str(&b, "HloModule m\n\nENTRY e {\n  a = ");
    for (int i = 0; i < 100000; i++)
        stet_buf_char(&b, '(');
    EXPECT_INT(STET_BAD_INPUT, read_text(b.ptr, &err));
    EXPECT(strstr(err.text, "too deeply"));
    stet_buf_release(&b);
}

TEST(huge_counts_cost_no_memory)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_BAD_INPUT,
               read_text("HloModule m\n\nENTRY e {\n  a = f32[1000000000000]{0} constant({1})\n}\n",
                         &err));
    err = (struct stet_err)STET_ERR_INIT;
    EXPECT_INT(STET_BAD_INPUT,
               read_text("HloModule m\n\nENTRY e {\n  a = f32[4611686018427387904,8]{1,0} "
                         "constant({1})\n}\n",
                         &err));
    EXPECT(strstr(err.text, "overflowing"));
}

TEST(parameters_are_numbered_without_gaps)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_BAD_INPUT,
               read_text("HloModule m\n\nENTRY e {\n  ROOT a = f32[] parameter(3)\n}\n", &err));
    EXPECT(strstr(err.text, "HLO text, line 4 column 8: parameter numbers"));
    err = (struct stet_err)STET_ERR_INIT;
    EXPECT_INT(STET_OK, read_text("HloModule m\n\nENTRY e {\n  b = f32[] parameter(1)\n  a = f32[] "
                                  "parameter(0)\n  ROOT c = f32[] add(a, b)\n}\n",
                                  &err));
}
