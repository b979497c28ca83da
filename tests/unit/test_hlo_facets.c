/* Facts about HLO programs and facets: each single change moves its own and no other. */
#include "test.h"

#include "base/buf.h"
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
