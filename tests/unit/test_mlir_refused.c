/* Facts about MLIR text that is refused: damaged, cut, hostile, too deep. */
#include "mlir_help.h"

TEST(every_error_has_line_and_column)
{
    EXPECT(refused("", "line 1 column 1: no operation"));
    EXPECT(refused("// made by hand\n\n  import jax", "line 3 column 3: this is neither MLIR nor"));
    EXPECT(
        refused("{ lambda ; a:f32[]. let b = sin a in (b,) }", "line 1 column 1: this is neither"));
    EXPECT(refused("module {\n  func.func @main() {\n    %0 = foo.bar %1 : i32\n",
                   "line 3 column 10: "
                   "no short form is "
                   "known for 'foo.bar'"));
    EXPECT(refused("module {\n  %0 = \"a.b\"(%1) : (i32) -> i32\n}",
                   "line 2 column 14: '%1' is not "
                   "defined"));
    EXPECT(
        refused("module { \"a.b\"() : () -> () loc(#loc9) }", "column 33: '#loc9' is not defined"));
    EXPECT(refused("module { \"a.b\"()[^bb1] : () -> () }", "block '^bb1' is not defined"));
    EXPECT(refused("module { %0:2 = \"a.b\"() : () -> i32 }", "has 1 result"));
    EXPECT(refused("module { %0 = \"a.b\"() : () -> i32 \"c.d\"(%0#1) : (i32) -> () }",
                   "has 1 result"));
    EXPECT(
        refused("module { %0 = \"a.b\"() : () -> i32 \"c.d\"(%0) : (i64) -> () }", "another type"));
    EXPECT(refused("module { \"a.b\"() {x = 1, x = 2} : () -> () }", "given twice"));
    EXPECT(refused("module { \"a.b\"() {x = \"\n\"} : () -> () }", "string without an end"));
    EXPECT(refused("module { \"a.b\"() {x = dense<[1, 2]> : tensor<3xi32>} : () -> () }",
                   "expected 3 "
                   "elements"));
    EXPECT(refused("module { \"a.b\"() {x = dense<1> : tensor<?xi32>} : () -> () }", "not static"));
    EXPECT(refused("module { \"a.b\"() {x = dense<[\"a\", \"b\"]> : tensor<5x!a.s>} : () -> () }",
                   "2 strings do not fill the type"));
    EXPECT(refused("module { \"a.b\"() {x = dense<> : tensor<5x!a.s>} : () -> () }",
                   "0 strings do not fill the type"));
    EXPECT(refused("module { \"a.b\"() : () -> vector<[x]xf32> }", "column 34: expected a size"));
    EXPECT(refused("module { \"a.b\"() : () -> vector<[4xf32> }", "expected ']'"));
    EXPECT(refused("module { \"a.b\"() : () -> tensor<[4]xf32> }", "column 33: expected a type"));
    EXPECT(refused("module { %0 = arith.constant unit }", "a value with a type"));
    EXPECT(refused("module { \"a.b\"() {x = 300 : i8} : () -> () }", "integer too large"));
    EXPECT(refused("module { \"a.b\"() {x = #nope} : () -> () }", "not defined"));
    EXPECT(refused("#l = loc(#m)\n#m = loc(#l)\nmodule {}",
                   "line 1 column 10: '#m' is not defined above"));
    EXPECT(refused("#loc = [unknown]\nmodule {\n} [unknown]\n",
                   "line 1 column 8: expected loc(…); locations printed with pretty_debug_info"));
    EXPECT(refused("module {} }", "line 1 column 11"));
    EXPECT_INT(10, err.offset);
    EXPECT(refused("module { \"a.b\"() : () -> tensor<4x", "line 1 column 35"));
}

/* Reads `text` cut after every byte: each cut is refused, with an offset inside it. */
static void cut_everywhere(struct stet_view text)
{
    for (size_t n = 0; n < text.len; n++) {
        struct stet_program p;
        char *copy =
            malloc(n ? n : 1); /* exactly n bytes: a read past them is seen by the sanitizer */

        memcpy(copy, text.ptr, n);
        err = (struct stet_err)STET_ERR_INIT;
        if (stet_decode_mlir_text(&p, stet_view_of(copy, n), &err) == STET_OK)
            stet_program_release(&p);
        else
            EXPECT(err.offset <= n && strstr(err.text, "line "));
        free(copy);
    }
}

static const char *const samples[] = {"mlp.pretty",      "mlp.generic",    "control.pretty",
                                      "control.generic", "sharded.pretty", "located.pretty",
                                      "consts.pretty"};

static bool open_sample(struct stet_file *f, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/data/mlir/%s.mlir", STET_SOURCE_DIR, name);
    err = (struct stet_err)STET_ERR_INIT;
    return stet_file_open(f, path, &err) == STET_OK;
}

TEST(what_jax_prints_is_read_whole_and_refused_when_cut)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        struct stet_file f;
        struct stet_program p;

        if (!open_sample(&f, samples[i])) {
            EXPECT_STR("", err.text);
            continue;
        }
        EXPECT_INT(STET_OK, stet_decode_mlir_text(&p, f.bytes, &err));
        EXPECT_STR("", err.text);
        if (err.rc == STET_OK)
            stet_program_release(&p);
        cut_everywhere(f.bytes);
        stet_file_close(&f);
    }
}

TEST(generic_and_short_samples_are_the_same_program)
{
    static const char *const names[] = {"mlp", "control"};

    for (size_t i = 0; i < 2; i++) {
        struct stet_file a, b;
        struct stet_program x, y;
        struct stet_err why = STET_ERR_INIT;
        char name[64];

        snprintf(name, sizeof(name), "%s.pretty", names[i]);
        EXPECT(open_sample(&a, name));
        snprintf(name, sizeof(name), "%s.generic", names[i]);
        EXPECT(open_sample(&b, name));
        EXPECT_INT(STET_OK, stet_decode_mlir_text(&x, a.bytes, &err));
        EXPECT_INT(STET_OK, stet_decode_mlir_text(&y, b.bytes, &err));
        EXPECT(stet_program_same(&x, &y, STET_COMPARE_PLAIN, &why));
        EXPECT_STR("", why.text);
        stet_program_release(&x);
        stet_program_release(&y);
        stet_file_close(&a);
        stet_file_close(&b);
    }
}

/* ---- hostile texts ---- */

/* Calls `try` with every file of the fuzz corpus: what JAX prints of small programs, and past
 * finds. */
static unsigned for_each_seed(void (*try)(struct stet_view text))
{
    static const char folder[] = STET_SOURCE_DIR "/tests/fuzz/corpus/mlir_text";
    DIR *d = opendir(folder);
    unsigned count = 0;
    char path[1024];

    for (struct dirent *e; d && (e = readdir(d));) {
        struct stet_file f;

        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || stet_file_open(&f, path, NULL) != STET_OK)
            continue;
        try(f.bytes);
        stet_file_close(&f);
        count++;
    }
    if (d)
        closedir(d);
    return count;
}

/* One byte at a time changed to something that means something here. */
static void flip_everywhere(struct stet_view text)
{
    static const char others[] = {'<', '%', '"', '9', '(', '\0', '\x80'};
    char *copy = malloc(text.len ? text.len : 1);

    memcpy(copy, text.ptr, text.len);
    for (size_t i = 0; i < text.len; i++) {
        struct stet_program p;

        copy[i] = others[i % sizeof(others)];
        err = (struct stet_err)STET_ERR_INIT;
        if (stet_decode_mlir_text(&p, stet_view_of(copy, text.len), &err) == STET_OK)
            stet_program_release(&p);
        else
            EXPECT(err.offset <= text.len && strstr(err.text, "line "));
        copy[i] = text.ptr[i];
    }
    free(copy);
}

TEST(no_truncation_and_no_flipped_byte_breaks_the_reader)
{
    EXPECT(for_each_seed(cut_everywhere) >= 20);
    for_each_seed(flip_everywhere);
}

/* head, then `count` times middle, then tail. */
static struct stet_view repeat(const char *head, const char *middle, size_t count, const char *tail)
{
    size_t m = strlen(middle), h = strlen(head), t = strlen(tail);
    char *text = malloc(h + m * count + t + 1);

    memcpy(text, head, h);
    for (size_t i = 0; i < count; i++)
        memcpy(text + h + i * m, middle, m);
    memcpy(text + h + m * count, tail, t + 1);
    return stet_view_of(text, h + m * count + t);
}

static enum stet_rc decode(struct stet_view text)
{
    struct stet_program p;
    enum stet_rc rc;

    err = (struct stet_err)STET_ERR_INIT;
    rc = stet_decode_mlir_text(&p, text, &err);
    if (rc == STET_OK)
        stet_program_release(&p);
    free((void *)(uintptr_t)text.ptr);
    return rc;
}

#define LEFT_OUT(value)                                                                            \
    STET_VIEW("func.func public @main() -> tensor<4xf32> {\n"                                      \
              "  %c = stablehlo.constant " value " : tensor<4xf32>\n"                              \
              "  return %c : tensor<4xf32>\n}\n")

TEST(elided_constants_are_reported)
{
    struct stet_err why = STET_ERR_INIT;
    struct stet_program p;

    EXPECT_INT(STET_OK, stet_decode_mlir_text(&p, LEFT_OUT("dense_resource<__elided__>"), &why));
    EXPECT_INT(1, p.left_out);
    stet_program_release(&p);
    EXPECT_INT(STET_BAD_INPUT, stet_decode_mlir_text(&p, LEFT_OUT("dense<__elided__>"), &why));
    EXPECT(strstr(why.text, "left out"));
}

TEST(deep_nesting_ends_in_a_limit)
{
    EXPECT_INT(STET_LIMIT, decode(repeat("module { \"a.b\"() {x = ", "[", 1000000, "")));
    EXPECT_INT(STET_LIMIT, decode(repeat("module { \"a.b\"() {x = ", "{a = ", 100000, "")));
    EXPECT_INT(STET_LIMIT, decode(repeat("", "module { ", 100000, "")));
    EXPECT_INT(STET_LIMIT, decode(repeat("", "\"a.b\"() ({ ", 100000, "")));
    EXPECT_INT(STET_LIMIT, decode(repeat("module { \"a.b\"() : () -> ", "tuple<", 100000, "")));
    EXPECT_INT(STET_LIMIT, decode(repeat("module { \"a.b\"() : () -> ", "(", 100000, "i32 }")));
    EXPECT_INT(STET_LIMIT, decode(repeat("module { \"a.b\"() : () -> !a.b", "<", 100000, "")));
    EXPECT_INT(STET_LIMIT, decode(repeat("module { } loc(", "\"a\"(", 100000, "")));
    EXPECT_INT(STET_LIMIT,
               decode(repeat("module { \"a.b\"() {x = dense<1> : tensor<", "tensor<", 100000, "")));
}

TEST(exponential_aliases_are_refused)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof(text), "#a0 = [1]\n");

    for (int i = 1; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "#a%d = [#a%d, #a%d]\n", i, i - 1, i - 1);
    snprintf(text + n, sizeof(text) - n, "module {}");
    EXPECT(refused(text, "expands to too much"));
    n = (size_t)snprintf(text, sizeof(text), "!t0 = i32\n");
    for (int i = 1; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "!t%d = tuple<!t%d, !t%d>\n", i, i - 1,
                              i - 1);
    snprintf(text + n, sizeof(text) - n, "module {}");
    EXPECT(refused(text, "expands to too much"));
}

TEST(chains_of_aliases_count_as_nesting)
{
    struct stet_buf b = STET_BUF_INIT;
    struct stet_program p;

    stet_buf_str(&b, "#loc0 = loc(unknown)\n");
    for (int i = 1; i < 2000; i++)
        stet_buf_printf(&b, "#loc%d = loc(\"n\"(#loc%d))\n", i, i - 1);
    stet_buf_str(&b, "module {}");
    err = (struct stet_err)STET_ERR_INIT;
    EXPECT_INT(STET_LIMIT, stet_decode_mlir_text(&p, stet_buf_as_view(&b), &err));
    stet_buf_release(&b);
}

TEST(long_texts_take_linear_time)
{
    struct stet_buf b = STET_BUF_INIT;

    EXPECT_INT(STET_BAD_INPUT, decode(repeat("module { \"", "x", 10000000, "")));
    EXPECT_INT(STET_BAD_INPUT, decode(repeat("// ", "x", 10000000, "")));
    EXPECT_INT(STET_OK, decode(repeat("module { ", "\"a.b\"() : () -> () ", 200000, "}")));
    EXPECT_INT(STET_OK, decode(repeat("module { ", "\"a.b\"() ({}) : () -> () ", 200000, "}")));
    EXPECT_INT(STET_BAD_INPUT,
               decode(repeat("module { ", "\"a.b\"(%x) : (i32) -> () ", 200000, "}")));
    /* values used before they are defined, across many regions */
    stet_buf_str(&b, "module { ");
    for (int i = 0; i < 50000; i++)
        stet_buf_printf(&b, "\"a.b\"(%%%d) ({ \"c.d\"(%%%d) : (i32) -> () }) : (i32) -> () ", i, i);
    for (int i = 0; i < 50000; i++)
        stet_buf_printf(&b, "%%%d = \"a.b\"() : () -> i32 ", i);
    stet_buf_str(&b, "}");
    char *text = malloc(b.len);

    memcpy(text, b.ptr, b.len);
    EXPECT_INT(STET_OK, decode(stet_view_of(text, b.len)));
    stet_buf_release(&b);
}

TEST(memory_is_capped_by_the_length_of_the_text)
{
    enum stet_rc rc =
        decode(repeat("module { \"a.b\"() {x = [", "[],", 1000000, "[]]} : () -> () }"));

    EXPECT(rc == STET_OK || rc == STET_LIMIT);
    EXPECT(refused(
        "module { \"a.b\"() {x = dense<\"0x00\"> : tensor<4294967296x4294967296xi8>} : () -> "
        "() }",
        "line 1"));
    EXPECT(refused("module { %0:4294967295 = \"a.b\"() : () -> () }", "has 0 results"));
}

#ifdef STET_FAULT_INJECTION
TEST(any_allocation_may_fail)
{
    const char *text =
        in_main("%0 = stablehlo.slice %b [0:2, 0:3:2] : (tensor<2x3xf32>) -> "
                "tensor<2x2xf32>\n%c = stablehlo.constant dense<[1, 2]> : tensor<2xi8>");

    for (long n = 0; n < 200; n++) {
        struct stet_program p;

        stet_mem_fail_after(n, true);
        err = (struct stet_err)STET_ERR_INIT;
        enum stet_rc rc = stet_decode_mlir_text(&p, stet_view_str(text), &err);

        stet_mem_fail_after(-1, false);
        if (rc == STET_OK) {
            stet_program_release(&p);
            EXPECT(n > 3);
            return;
        }
        EXPECT(rc == STET_NO_MEMORY || rc == STET_LIMIT);
    }
    EXPECT(false); /* there was no end of allocations */
}
#endif
