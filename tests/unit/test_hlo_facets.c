/* Facts about HLO programs and facets: each single change moves its own and no other. */
#include "test.h"

#include "base/buf.h"
#include "base/fs.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"

#include <stdlib.h>

static const char program[] =
    "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }, "
    "entry_computation_layout={(f32[4,8]{1,0}, f32[4,8]{1,0})->(f32[4,8]{1,0}, f32[2,8]{1,0})}\n\n"
    "ENTRY e {\n"
    "  x = f32[4,8]{1,0} parameter(0), sharding={devices=[2,1]0,1}\n"
    "  y = f32[4,8]{1,0} parameter(1)\n"
    "  c = f32[] constant(0.001)\n"
    "  b = f32[4,8]{1,0} broadcast(c), dimensions={}\n"
    "  s = f32[4,8]{1,0} multiply(x, b)\n"
    "  a = f32[4,8]{1,0} add(s, y)\n"
    "  l = f32[2,8]{1,0} slice(y), slice={[1:3], [0:8]}\n"
    "  ROOT t = (f32[4,8]{1,0}, f32[2,8]{1,0}) tuple(a, l)\n}\n";

/* `from` replaced by `to` everywhere. */
static struct stet_buf edited(const char *from, const char *to)
{
    struct stet_buf b = STET_BUF_INIT;
    const char *at = program, *found;

    while ((found = strstr(at, from))) {
        stet_buf_add(&b, at, (size_t)(found - at));
        stet_buf_str(&b, to);
        at = found + strlen(from);
    }
    stet_buf_str(&b, at);
    return b;
}

static struct stet_fingerprint fingerprint(struct stet_view text)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_fingerprint f = {0};
    struct stet_program p;

    EXPECT_INT(STET_OK, stet_decode_hlo_text(&p, text, &err));
    if (err.rc != STET_OK) {
        fprintf(stderr, "%s\n", err.text);
        return f;
    }
    EXPECT_INT(STET_OK, stet_fingerprint_make(&f, &p, (struct stet_view){0}, &err));
    stet_program_release(&p);
    return f;
}

static unsigned moved(const char *from, const char *to)
{
    struct stet_fingerprint a = fingerprint(stet_view_str(program)), b;
    struct stet_buf text = edited(from, to);

    EXPECT(strcmp(text.ptr, program) != 0);
    b = fingerprint(stet_buf_as_view(&text));
    EXPECT(stet_hash_eq(a.skeleton, b.skeleton));
    stet_buf_release(&text);
    return stet_fingerprint_moved(&a, &b);
}

TEST(each_single_change_moves_its_own_facet)
{
    EXPECT_INT(1u << STET_FACET_CONSTANTS, moved("0.001", "0.002"));
    EXPECT_INT(1u << STET_FACET_SLICES, moved("[1:3]", "[2:4]"));
    EXPECT_INT(1u << STET_FACET_SHAPES, moved("[4,8]", "[6,8]"));
    EXPECT_INT(1u << STET_FACET_DTYPES, moved("f32", "bf16"));
    EXPECT_INT(1u << STET_FACET_SHARDINGS, moved("[2,1]0,1", "[1,2]0,1"));
    EXPECT_INT(1u << STET_FACET_DONATION, moved("{0}: (0, {}", "{0}: (1, {}"));
    EXPECT_INT(1u << STET_FACET_LAYOUTS, moved("{(f32[4,8]{1,0}", "{(f32[4,8]{0,1}"));
}

TEST(names_do_not_matter)
{
    struct stet_fingerprint a = fingerprint(stet_view_str(program)), b;
    struct stet_buf text = edited("HloModule m", "HloModule other");

    b = fingerprint(stet_buf_as_view(&text));
    EXPECT(stet_hash_eq(a.key, b.key));
    stet_buf_release(&text);
    text = edited("add(s, y)",
                  "add(s, y), metadata={op_name=\"n\" source_file=\"f.py\" source_line=3}");
    b = fingerprint(stet_buf_as_view(&text));
    EXPECT(stet_hash_eq(a.key, b.key));
    stet_buf_release(&text);
}

/* The key of the program with `more` behind its first addition. */
static struct stet_hash key_with(const char *more)
{
    char line[256];
    struct stet_buf text;
    struct stet_hash key;

    snprintf(line, sizeof line, "add(s, y)%s", more);
    text = edited("add(s, y)", line);
    key = fingerprint(stet_buf_as_view(&text)).key;
    stet_buf_release(&text);
    return key;
}

TEST(fields_of_a_backend_config_have_no_order)
{
    struct stet_hash a =
        key_with(", backend_config={\"a\":{\"x\":[1,2],\"y\":\"},\\\"{\"},\"b\":[{}]}");

    EXPECT(stet_hash_eq(
        a,
        key_with(", backend_config={\"b\": [ {} ], \"a\" : {\"y\":\"},\\\"{\", \"x\":[1, 2]} }")));
    EXPECT(!stet_hash_eq(
        a, key_with(", backend_config={\"a\":{\"x\":[2,1],\"y\":\"},\\\"{\"},\"b\":[{}]}")));
    EXPECT(!stet_hash_eq(
        a, key_with(", backend_config={\"a\":{\"x\":[1,2],\"y\":\"}, \\\"{\"},\"b\":[{}]}")));
    EXPECT(!stet_hash_eq(a, key_with(", backend_config=\"\"")));
    /* what is no JSON has spaces and an order */
    EXPECT(!stet_hash_eq(key_with(", backend_config={b = 1, a = 2}"),
                         key_with(", backend_config={a = 2, b = 1}")));
    EXPECT(!stet_hash_eq(key_with(", backend_config=\"{x y}\""),
                         key_with(", backend_config=\"{x  y}\"")));
}

TEST(options_on_the_first_line_do_not_belong_to_the_program)
{
    static const char *const options[] = {
        "HloModule m, num_partitions=8,", "HloModule m, replica_count=2,",
        "HloModule m, allow_spmd_sharding_propagation_to_parameters={true,false},",
        "HloModule m, allow_spmd_sharding_propagation_to_output={true},",
        "HloModule m, alias_passthrough_params=true,"};
    struct stet_fingerprint a = fingerprint(stet_view_str(program)), b;

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct stet_buf text = edited("HloModule m,", options[i]);

        b = fingerprint(stet_buf_as_view(&text));
        EXPECT(stet_hash_eq(a.key, b.key));
        EXPECT_INT(0, stet_fingerprint_moved(&a, &b));
        stet_buf_release(&text);
    }
}

static struct stet_hash key_of_comparison(const char *dtype, const char *more)
{
    char text[512];

    snprintf(text, sizeof text,
             "HloModule m\n\nENTRY e {\n  x = %s[4]{0} parameter(0)\n"
             "  ROOT c = pred[4]{0} compare(x, x), direction=LT%s\n}\n",
             dtype, more);
    return fingerprint(stet_view_str(text)).key;
}

TEST(the_order_of_a_comparison_is_its_type_by_another_name)
{
    EXPECT(stet_hash_eq(key_of_comparison("f32", ", type=TOTALORDER"),
                        key_of_comparison("f32", ", order=TOTAL")));
    EXPECT(!stet_hash_eq(key_of_comparison("f32", ""), key_of_comparison("f32", ", order=TOTAL")));
    EXPECT(stet_hash_eq(key_of_comparison("f32", ""), key_of_comparison("f32", ", order=PARTIAL")));
    EXPECT(stet_hash_eq(key_of_comparison("s32", ""), key_of_comparison("s32", ", order=TOTAL")));
}

/* As XLA's canonical form has them, and its parser reads. */
TEST(computations_may_be_written_where_they_are_called)
{
    static const char named[] =
        "HloModule m\n\n%add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = f32[] add(a, b)\n}\n\n%sum {\n  a = f32[4]{0} parameter(0)\n"
        "  z = f32[] constant(0)\n"
        "  ROOT c = f32[] reduce(a, z), dimensions={0}, to_apply=%add\n}\n\nENTRY e {\n"
        "  x = f32[4]{0} parameter(0)\n"
        "  ROOT c = f32[] fusion(x), kind=kLoop, calls=%sum, metadata={op_name=\"n\"}\n}\n";
    static const char nested[] =
        "HloModule m\n\nENTRY e {\n  x = f32[4]{0} parameter(0)\n"
        "  ROOT c = f32[] fusion(x), kind=kLoop, calls=\n  {\n    a = f32[4]{0} parameter(0)\n"
        "    z = f32[] constant(0)\n    ROOT c = f32[] reduce(a, z), dimensions={0}, to_apply=\n"
        "    {\n      a = f32[] parameter(0)\n      b = f32[] parameter(1)\n"
        "      ROOT c = f32[] add(a, b)\n    }\n  }, metadata={op_name=\"n\"}\n}\n";
    struct stet_fingerprint a = fingerprint(stet_view_str(named)),
                            b = fingerprint(stet_view_str(nested));

    EXPECT(stet_hash_eq(a.skeleton, b.skeleton));
    EXPECT_INT(0, stet_fingerprint_moved(&a, &b));
    EXPECT(stet_hash_eq(a.key, b.key));
}

TEST(nested_computations_have_a_limit)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;

    stet_buf_str(&text, "HloModule m\n\nENTRY e {\n");
    for (int i = 0; i < 100; i++)
        stet_buf_str(&text, "x = f32[] call(), to_apply={");
    EXPECT_INT(STET_BAD_INPUT, stet_decode_hlo_text(&p, stet_buf_as_view(&text), &err));
    EXPECT(strstr(err.text, "computations are nested too deep"));
    stet_buf_release(&text);
}

TEST(a_comparison_may_have_both_its_type_and_its_order)
{
    static const char *const total[] = {", type=TOTALORDER, order=TOTAL",
                                        ", order=TOTAL, type=TOTALORDER",
                                        ", type=FLOAT, order=TOTAL"};

    for (size_t i = 0; i < sizeof total / sizeof *total; i++)
        EXPECT(stet_hash_eq(key_of_comparison("f32", ", order=TOTAL"),
                            key_of_comparison("f32", total[i])));
    EXPECT(stet_hash_eq(key_of_comparison("f32", ""),
                        key_of_comparison("f32", ", type=FLOAT, order=PARTIAL")));
    EXPECT(stet_hash_eq(key_of_comparison("s32", ""),
                        key_of_comparison("s32", ", type=SIGNED, order=TOTAL")));
    EXPECT(stet_hash_eq(key_of_comparison("s32", ", type=UNSIGNED"),
                        key_of_comparison("s32", ", order=TOTAL, type=UNSIGNED")));
}

static struct stet_fingerprint of_file(const char *name)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_fingerprint f = {0};
    struct stet_program p;
    struct stet_file file;
    char path[512];

    snprintf(path, sizeof path, STET_SOURCE_DIR "/tests/data/hlo/tpu/%s", name);
    EXPECT_INT(STET_OK, stet_file_open(&file, path, &err));
    if (err.rc != STET_OK)
        return f;
    EXPECT_INT(STET_OK, stet_decode(&p, file.bytes, &err));
    if (err.rc == STET_OK) {
        EXPECT_INT(STET_OK, stet_fingerprint_make(&f, &p, (struct stet_view){0}, &err));
        stet_program_release(&p);
    }
    stet_file_close(&file);
    return f;
}

/* libtpu's XLA is newer than jaxlib's; tests/e2e/hlo has it dump many programs. */
TEST(text_and_proto_of_a_tpu_dump_are_the_same_program)
{
    struct stet_fingerprint a = of_file("sort.before_optimizations.pb"),
                            b = of_file("sort.before_optimizations.txt"),
                            c = of_file("sort.after_optimizations.pb"),
                            d = of_file("sort.after_optimizations.txt");

    EXPECT(stet_hash_eq(a.key, b.key));
    EXPECT_INT(0, stet_fingerprint_moved(&a, &b));
    EXPECT(stet_hash_eq(c.key, d.key));
    EXPECT_INT(0, stet_fingerprint_moved(&c, &d));
    EXPECT(!stet_hash_eq(a.key, c.key));
}
