/* Facts about the MLIR bytecode reader, on the programs of tests/fuzz/corpus/bytecode. */
#include "base/fs.h"
#include "base/mem.h"
#include "decode/bytecode/bytecode.h"
#include "decode/decode.h"
#include "program/compare.h"
#include "program/ops.h"
#include "program/print.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>

#define CORPUS STET_SOURCE_DIR "/tests/fuzz/corpus/bytecode/"

static bool open_program(struct stet_program *p, struct stet_file *f, const char *name)
{
    struct stet_err err = STET_ERR_INIT;
    char path[512];

    snprintf(path, sizeof path, CORPUS "%s", name);
    if (stet_file_open(f, path, &err) != STET_OK ||
        stet_decode_bytecode(p, f->bytes, &err) != STET_OK) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return false;
    }
    return true;
}

static void close_program(struct stet_program *p, struct stet_file *f)
{
    stet_program_release(p);
    stet_file_close(f);
}

/* Calls `each` for every file; returns how many there are. */
static unsigned each_file(void (*each)(const char *name, struct stet_view bytes))
{
    DIR *folder = opendir(CORPUS);
    struct dirent *entry;
    unsigned n = 0;

    while (folder && (entry = readdir(folder))) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_file f;
        char path[512];

        if (!strstr(entry->d_name, ".mlirbc"))
            continue;
        snprintf(path, sizeof path, CORPUS "%s", entry->d_name);
        EXPECT(stet_file_open(&f, path, &err) == STET_OK);
        each(entry->d_name, f.bytes);
        stet_file_close(&f);
        n++;
    }
    if (folder)
        closedir(folder);
    return n;
}

TEST(arguments_carry_names_shardings_and_donation)
{
    struct stet_program p;
    struct stet_file f;

    if (!open_program(&p, &f, "random_and_calls-donate.vhlo-1.17.0.mlirbc")) {
        EXPECT(false);
        return;
    }
    EXPECT_INT(2, p.argument_count);
    EXPECT_INT(2, p.output_count);
    EXPECT(stet_view_is(p.arguments[0].name, "x"));
    EXPECT_INT(0, p.arguments[0].alias);
    EXPECT_INT(-1, p.arguments[1].alias);
    EXPECT(stet_view_is(stet_op_symbol(p.entry), "main"));
    EXPECT(stet_view_starts(p.producer, "StableHLO_v"));
    close_program(&p, &f);
    if (!open_program(&p, &f, "sharding-model-shardy.vhlo-1.17.0.mlirbc")) {
        EXPECT(false);
        return;
    }
    EXPECT(p.arguments[0].sharding && p.arguments[0].sharding->kind == STET_ATTR_RECORD);
    EXPECT(p.outputs[0].sharding != NULL);
    close_program(&p, &f);
}

TEST(vhlo_reads_as_stablehlo)
{
    struct stet_program p;
    struct stet_file f;
    const struct stet_op *tanh = NULL;

    if (!open_program(&p, &f, "unary-tanh.vhlo-1.17.0.mlirbc")) {
        EXPECT(false);
        return;
    }
    tanh = stet_op_region(p.entry, 0)->blocks[0]->ops[0];
    EXPECT_INT(STET_STABLEHLO_TANH, tanh->known);
    EXPECT_INT(0, tanh->attr_count); /* the default accuracy is left out, as in StableHLO */
    EXPECT_INT(STET_FUNC_RETURN, stet_op_region(p.entry, 0)->blocks[0]->ops[1]->known);
    EXPECT(stet_loc_file(tanh->loc) && stet_view_ends(stet_loc_file(tanh->loc)->text, ".py"));
    close_program(&p, &f);
}

TEST(bounded_dimensions_are_known)
{
    struct stet_program p;
    struct stet_file f;
    const struct stet_type *t;

    if (!open_program(&p, &f, "text-bounded.vhlo-1.17.0.mlirbc")) {
        EXPECT(false);
        return;
    }
    t = p.arguments[0].value->type;
    EXPECT(t->dims[0] == STET_DYNAMIC && stet_type_rest(t)->bounds &&
           stet_type_rest(t)->bounds[0] == 8);
    EXPECT(stet_type_rest(t)->bounds && stet_type_rest(t)->bounds[1] == STET_DYNAMIC);
    close_program(&p, &f);
}

static bool find_gather(const struct stet_op *op, void *context)
{
    if (op->known == STET_STABLEHLO_GATHER)
        *(const struct stet_op **)context = op;
    return true;
}

TEST(raw_bytecode_of_older_releases_reads)
{
    struct stet_program p;
    struct stet_file f;
    const struct stet_op *gather = NULL;
    const struct stet_attr *dims;

    if (!open_program(&p, &f, "jax-0.4.30-gather.raw.mlirbc")) {
        EXPECT(false);
        return;
    }
    stet_program_walk(&p, find_gather, &gather);
    dims = gather ? stet_op_attr(gather, "dimension_numbers") : NULL;
    EXPECT(dims && dims->count == 6); /* with the batching dimensions it knew nothing of */
    EXPECT(stet_attr_field(dims, "operand_batching_dims")->count == 0);
    EXPECT_INT(1, stet_attr_int(stet_attr_field(dims, "index_vector_dim")));
    close_program(&p, &f);
}

static bool find_blob(const struct stet_op *op, void *context)
{
    const struct stet_attr *a = stet_op_attr(op, "value");

    if (!a || a->kind != STET_ATTR_RESOURCE)
        return true;
    *(const struct stet_attr **)context = a;
    return false;
}

TEST(resources_stay_in_the_input)
{
    struct stet_program p;
    struct stet_file f;
    const struct stet_attr *a = NULL;

    if (!open_program(&p, &f, "text-resources.raw-6.mlirbc")) {
        EXPECT(false);
        return;
    }
    stet_program_walk(&p, find_blob, &a);
    EXPECT(a && stet_attr_bytes(a).len == 16);
    EXPECT(a && stet_attr_bytes(a).ptr >= f.bytes.ptr &&
           stet_attr_bytes(a).ptr < f.bytes.ptr + f.bytes.len);
    EXPECT(p.constant_bytes >= 16);
    close_program(&p, &f);
}

TEST(a_newer_format_is_named)
{
    struct stet_program p;
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_UNSUPPORTED, stet_decode_bytecode(&p, STET_VIEW("ML\xefR\x0fMLIR\0"), &err));
    EXPECT(strstr(err.text, "version 7"));
    EXPECT_INT(4, err.offset);
}

/* ---- hostile input ---- */

static void expect_sane(const char *what, const char *name, size_t at, struct stet_view bytes)
{
    struct stet_program p;
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = stet_decode_bytecode(&p, bytes, &err);

    if (rc == STET_OK) {
        if (p.arena.used > 64 * bytes.len + (1 << 20)) {
            fprintf(stderr, "%s %s at %zu: %zu bytes of memory\n", what, name, at, p.arena.used);
            EXPECT(false);
        }
        stet_program_release(&p);
    } else if (err.rc != rc || !err.text[0] || err.offset > bytes.len) {
        fprintf(stderr, "%s %s at %zu: no clear error (%s at %llu)\n", what, name, at, err.text,
                (unsigned long long)err.offset);
        EXPECT(false);
    }
}

static void truncate_everywhere(const char *name, struct stet_view bytes)
{
    struct stet_program p;
    struct stet_err err = STET_ERR_INIT;

    for (size_t n = 0; n < bytes.len; n++) {
        /* In memory of its own, so that a sanitizer sees a byte too far. */
        char *cut = stet_mem_alloc(n ? n : 1);

        if (!cut)
            return;
        memcpy(cut, bytes.ptr, n);
        expect_sane("cut", name, n, stet_view_of(cut, n));
        stet_mem_free(cut);
    }
    if (bytes.len > 8) {
        EXPECT(stet_decode_bytecode(&p, stet_view_of(bytes.ptr, bytes.len - 1), &err) != STET_OK);
        EXPECT(err.offset <= bytes.len);
    }
}

TEST(every_truncation_is_refused_with_its_place)
{
    EXPECT(each_file(truncate_everywhere) >= 20);
}

static void flip_everywhere(const char *name, struct stet_view bytes)
{
    char *copy = stet_mem_alloc(bytes.len);

    if (!copy)
        return;
    memcpy(copy, bytes.ptr, bytes.len);
    for (size_t i = 0; i < bytes.len; i++) {
        static const unsigned char masks[] = {0x01, 0x80, 0xff, 0x10};
        char before = copy[i];

        copy[i] = (char)(before ^ (char)masks[i % 4]);
        expect_sane("flipped", name, i, stet_view_of(copy, bytes.len));
        copy[i] = before;
    }
    stet_mem_free(copy);
}

TEST(flipped_bits_do_no_harm)
{
    EXPECT(each_file(flip_everywhere) >= 20);
}

static void fail_every_allocation(const char *name, struct stet_view bytes)
{
    struct stet_program p;
    struct stet_err err = STET_ERR_INIT;
    unsigned long before = stet_mem_count(), all;

    if (stet_decode_bytecode(&p, bytes, &err) != STET_OK) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        EXPECT(false);
        return;
    }
    stet_program_release(&p);
    all = stet_mem_count() - before;
    for (unsigned long i = 0; i < all; i++) {
        enum stet_rc rc;

        stet_mem_fail_after((long)i, true);
        rc = stet_decode_bytecode(&p, bytes, NULL);
        stet_mem_fail_after(-1, false);
        if (rc == STET_OK) /* only a hint was refused */
            stet_program_release(&p);
    }
}

TEST(running_out_of_memory_is_an_error)
{
    EXPECT(each_file(fail_every_allocation) >= 20);
}

/* The smallest file (format 0) around a section of operations: one operation name, and one
 * attribute, the unknown location. Numbers below 64 are written n << 1 | 1. */
static struct stet_view file_with(struct stet_buf *out, struct stet_view ir)
{
    out->len = 0;
    stet_buf_add(out, "ML\xefR\x01t\0", 7);
    stet_buf_add(out,
                 "\x00\x1b\x05\x05\x11"
                 "builtin\0"
                 "m\0",
                 15);                                     /* strings, last length first */
    stet_buf_add(out, "\x01\x0b\x03\x01\x01\x03\x03", 7); /* dialect 0 has the name "m" */
    stet_buf_add(out, "\x02\x03\x1f", 3);
    stet_buf_add(out, "\x03\x0b\x03\x01\x01\x03\x07", 7); /* … which is one byte of dialect 0 */
    stet_buf_add(out, "\x04\x00", 2);
    stet_buf_u64(out, ir.len);
    stet_buf_view(out, ir);
    return stet_buf_as_view(out);
}

/* The attribute that the text reader makes of what MLIR prints is the same. */
static void expect_same_in_text(const struct stet_attr *a, const char *text)
{
    struct stet_buf module = STET_BUF_INIT;
    struct stet_program p;

    stet_buf_printf(&module, "module attributes {x.map = %s} {}\n", text);
    EXPECT_INT(STET_OK, stet_decode_mlir_text(&p, stet_buf_as_view(&module), NULL));
    EXPECT(stet_attr_eq(a, stet_op_attr(p.module, "x.map")));
    stet_program_release(&p);
    stet_buf_release(&module);
}

/* As newer builtin bytecode has it: kinds before their operands, numbers as prefix varints. */
TEST(affine_maps_read_as_their_text)
{
    enum { DIM, SYMBOL, CONSTANT, ADD, MUL, MOD, FLOORDIV, CEILDIV };
#define N(n) (unsigned char)((n) << 1 | 1)
#define C(n) N(CONSTANT), N((n) < 0 ? -2 * (n) - 1 : 2 * (n))
#define D(n) N(DIM), N(n)
#define S(n) N(SYMBOL), N(n)
    static const struct {
        unsigned char bytes[96];
        const char *text;
    } maps[] = {
        {{N(2 << 2 | 0)}, "affine_map<(d0, d1) -> (d0, d1)>"},
        {{N(0)}, "affine_map<() -> ()>"},
        {{N(2 << 2 | 1), N(1), N(0)}, "affine_map<(d0, d1) -> (d1, d0)>"},
        {{N(3 << 2 | 2), N(1), N(2)}, "affine_map<(d0, d1, d2) -> (d2)>"},
        {{N(2 << 2 | 3), N(1), /* symbols */
          N(9),                /* results */
          N(ADD),        D(0),       N(MUL), S(0),   C(3), N(FLOORDIV), D(1),   C(2),
          N(MUL),        D(0),       C(-1),  N(ADD), D(0), N(MUL),      D(1),   C(-1),
          N(MOD),        N(CEILDIV), D(0),   C(4),   C(5), N(MOD),      N(MUL), N(ADD),
          D(0),          C(1),       C(2),   C(7),   C(5), N(ADD),      S(0),   C(-3),
          N(ADD),        D(0),       N(MUL), S(0),   C(-2)},
         "affine_map<(d0, d1)[s0] -> (d0 + s0 * 3, d1 floordiv 2, -d0, d0 - d1, "
         "(d0 ceildiv 4) mod 5, ((d0 + 1) * 2) mod 7, 5, s0 - 3, d0 - s0 * 2)>"},
    };
    struct stet_program p = {0};
    struct bc b = {.p = &p, .arena = &p.arena, .input = STET_VIEW("")};

    stet_arena_init(&p.arena, 1 << 20);
    stet_arena_init(&b.scratch, 1 << 20);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        const struct stet_attr *a;
        struct stet_reader r;

        stet_reader_init(&r, stet_view_of(maps[i].bytes, sizeof maps[i].bytes), 0);
        a = stet_decode_bc_affine_map(&b, &r);
        EXPECT(stet_reader_ok(&r) && bc_ok(&b));
        EXPECT(a->kind == STET_ATTR_AFFINE_MAP);
        EXPECT_STR(maps[i].text, stet_attr_text(a).ptr);
        expect_same_in_text(a, maps[i].text);
    }
    stet_arena_release(&b.scratch);
    stet_program_release(&p);
}

/* Their bytes are the same places in two tables that differ. */
TEST(unknown_bytes_distinguish_programs)
{
    static const char *const pairs[][3] = {
        {"unknown-properties-slt.raw-6.mlirbc", "unknown-properties-sgt.raw-6.mlirbc",
         "'arith.cmpi'"},
        {"unknown-flag-1.mlirbc", "unknown-flag-2.mlirbc", "attribute properties"},
        {"unknown-attribute-1.mlirbc", "unknown-attribute-2.mlirbc", "attribute"},
        {"unknown-type-1.mlirbc", "unknown-type-2.mlirbc", "type of a result"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct stet_program a, b;
        struct stet_file f, g;
        struct stet_err why = STET_ERR_INIT;

        if (!open_program(&a, &f, pairs[i][0]) || !open_program(&b, &g, pairs[i][1])) {
            EXPECT(false && "both are read");
            return;
        }
        EXPECT(!stet_program_same(&a, &b, STET_COMPARE_PLAIN, &why));
        EXPECT(strstr(why.text, pairs[i][2]));
        EXPECT(stet_program_same(&a, &a, STET_COMPARE_PLAIN, NULL));
        close_program(&a, &f);
        close_program(&b, &g);
    }
}

/* What MLIR prints of the same modules, in tests/fuzz/corpus/mlir_text. */
TEST(vectors_memrefs_and_arith_read_as_their_text)
{
    static const char *const names[][2] = {{"text-vectors.raw-6.mlirbc", "vectors.mlir"},
                                           {"text-memrefs.raw-6.mlirbc", "memrefs.mlir"},
                                           {"text-arith.raw-6.mlirbc", "arith.mlir"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_program bytes, text;
        struct stet_file f, g;
        char path[512];

        snprintf(path, sizeof path, CORPUS "../mlir_text/%s", names[i][1]);
        EXPECT_INT(STET_OK, stet_file_open(&g, path, &err));
        EXPECT_INT(STET_OK, stet_decode_mlir_text(&text, g.bytes, &err));
        EXPECT(open_program(&bytes, &f, names[i][0]));
        EXPECT(stet_program_same(&bytes, &text, STET_COMPARE_PLAIN, &err));
        EXPECT_STR("", err.text);
        close_program(&bytes, &f);
        close_program(&text, &g);
    }
}

TEST(deep_nesting_is_refused)
{
    struct stet_buf ir = STET_BUF_INIT, file = STET_BUF_INIT;
    struct stet_program p;
    struct stet_err err = STET_ERR_INIT;

    stet_buf_char(&ir, 0x05);        /* a block of one operation */
    for (int i = 0; i < 100000; i++) /* name, "has regions", location, one region, one block, no
                                        values, one operation */
        stet_buf_add(&ir, "\x01\x10\x01\x05\x03\x01\x05", 7);
    EXPECT_INT(STET_LIMIT, stet_decode_bytecode(&p, file_with(&file, stet_buf_as_view(&ir)), &err));
    EXPECT(strstr(err.text, "deeper"));
    stet_buf_release(&ir);
    stet_buf_release(&file);
}

TEST(huge_counts_are_refused)
{
    struct stet_buf file = STET_BUF_INIT;
    struct stet_program p;
    struct stet_err err = STET_ERR_INIT;
    /* A block of 2^40 operations, written as eight bytes. */
    struct stet_view ir = STET_VIEW("\0\0\0\0\0\0\2\0\0");

    EXPECT_INT(STET_BAD_INPUT, stet_decode_bytecode(&p, file_with(&file, ir), &err));
    EXPECT(strstr(err.text, "count") && err.offset <= file.len);
    stet_buf_release(&file);
}

/* A file of tests/data/mlir, written by JAX 0.10.2: `Exported.serialize()` of a function, and the
 * module that is in it. */
static struct stet_file exported(const char *name)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f = {0};
    char path[512];

    snprintf(path, sizeof path, STET_SOURCE_DIR "/tests/data/mlir/%s", name);
    EXPECT_INT(STET_OK, stet_file_open(&f, path, &err));
    return f;
}

TEST(an_export_of_jax_holds_its_module)
{
    struct stet_file whole = exported("exported.bin"), module = exported("exported.mlirbc");
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;

    EXPECT(stet_view_eq(stet_decode_exported(whole.bytes), module.bytes));
    EXPECT_INT(STET_OK, stet_decode(&p, whole.bytes, &err));
    if (err.rc == STET_OK) {
        EXPECT_INT(2, p.argument_count);
        stet_program_release(&p);
    }
    stet_file_close(&whole);
    stet_file_close(&module);
}

TEST(a_broken_export_of_jax_is_an_error)
{
    struct stet_file whole = exported("exported.bin");
    struct stet_view module = stet_decode_exported(whole.bytes);
    size_t start = (size_t)(module.ptr - whole.bytes.ptr);
    char *copy = malloc(whole.bytes.len);

    for (size_t n = 1; copy && n < whole.bytes.len; n++) { /* cut, at the end of the memory */
        char *at = memcpy(copy + whole.bytes.len - n, whole.bytes.ptr, n);
        struct stet_err err = STET_ERR_INIT;
        struct stet_program p;

        if (stet_decode(&p, stet_view_of(at, n), &err) == STET_OK) {
            EXPECT(n >= start + module.len);
            stet_program_release(&p);
        } else {
            EXPECT(n < start + module.len && err.text[0] && err.offset <= n);
        }
    }
    for (size_t i = 0; copy && i < 8 * (start + 64); i++) { /* flipped */
        struct stet_err err = STET_ERR_INIT;
        struct stet_program p;

        memcpy(copy, whole.bytes.ptr, whole.bytes.len);
        copy[i / 8] = (char)(copy[i / 8] ^ 1 << i % 8);
        if (stet_decode(&p, stet_view_of(copy, whole.bytes.len), &err) == STET_OK)
            stet_program_release(&p);
        else
            EXPECT(err.text[0] && err.offset <= whole.bytes.len);
    }
    free(copy);
    stet_file_close(&whole);
}
