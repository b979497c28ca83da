/* Facts about the HLO readers and the HLO printer, over protos captured from PyTorch/XLA and JAX
 * with the text XLA printed for them (tests/data/hlo; tests/e2e/hlo makes such files afresh). */
#include "hlo_help.h"

#include <dirent.h>

/* Calls `check` with every captured proto and its text. */
static void for_each(void (*check)(const char *name, struct stet_view proto, struct stet_view text))
{
    DIR *d = opendir(folder);
    struct dirent *e;
    int seen = 0;

    EXPECT(d != NULL);
    while (d && (e = readdir(d))) {
        struct stet_view name = stet_view_str(e->d_name);
        struct stet_file proto = {0}, text = {0};
        struct stet_err err = STET_ERR_INIT;
        char path[512];

        if (!stet_view_ends(name, ".pb"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        EXPECT_INT(STET_OK, stet_file_open(&proto, path, &err));
        snprintf(path, sizeof path, "%s/%.*s.txt", folder, (int)name.len - 3, e->d_name);
        EXPECT_INT(STET_OK, stet_file_open(&text, path, &err));
        check(e->d_name, proto.bytes, text.bytes);
        stet_file_close(&proto);
        stet_file_close(&text);
        seen++;
    }
    if (d)
        closedir(d);
    EXPECT(seen >= 20);
}

static struct stet_buf printed(const struct stet_program *p, const struct stet_hlo_print *how)
{
    struct stet_buf out = STET_BUF_INIT;

    EXPECT_INT(STET_OK, stet_print_hlo(p, how, &out, NULL));
    return out;
}

static bool elided(struct stet_view text)
{
    return memmem(text.ptr, text.len, "constant({...})", 15) != NULL;
}

/* Lines of XLA's text that hold instructions are lines of ours. */
static void prints_as_xla(const char *name, struct stet_view proto, struct stet_view text)
{
    struct stet_hlo_print how = stet_hlo_print_long;
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    struct stet_buf ours;
    const char *line = text.ptr, *end = text.ptr + text.len, *stop;
    int lines = 0, missing = 0;

    how.large_constants = !elided(text);
    if (stet_view_starts(stet_view_str(name), "torch")) {
        how.operand_shapes = true;
        how.frame_ids = false;
    } else {
        how.frame_ids = !strstr(name, ".opt");
    }
    EXPECT_INT(STET_OK, stet_decode_hlo_proto(&p, proto, &err));
    if (err.rc != STET_OK) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return;
    }
    ours = printed(&p, &how);
    for (; line < end && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
        /* XLA renumbers frames when it reads a compiled module back */
        bool frame = strstr(name, ".opt") && memmem(line, (size_t)(stop - line), "stack_frame", 11);

        if (strncmp(line, "  ", 2) != 0 || frame)
            continue;
        lines++;
        if (!memmem(ours.ptr, ours.len, line, (size_t)(stop - line) + 1) && missing++ < 3)
            fprintf(stderr, "%s: not printed: %.*s\n", name, (int)(stop - line), line);
    }
    EXPECT(lines > 0 && missing == 0);
    stet_buf_release(&ours);
    stet_program_release(&p);
}

TEST(protos_print_as_the_text_that_xla_prints)
{
    for_each(prints_as_xla);
}

/* As stet_print_hlo shows it, places included. */
static void same_from_text(const char *name, struct stet_view proto, struct stet_view text)
{
    struct stet_hlo_print how = stet_hlo_print_long;
    struct stet_err err = STET_ERR_INIT;
    struct stet_program a, b;
    struct stet_buf x, y;

    if (elided(text))
        return;
    how.large_constants = true;
    how.stack = !stet_view_starts(stet_view_str(name), "torch");
    how.frame_ids = false;
    if (stet_decode_hlo_proto(&a, proto, &err) != STET_OK ||
        stet_decode_hlo_text(&b, text, &err) != STET_OK) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        EXPECT(false);
        return;
    }
    x = printed(&a, &how);
    y = printed(&b, &how);
    if (!stet_view_eq(stet_buf_as_view(&x), stet_buf_as_view(&y)))
        fprintf(stderr, "%s: text and proto differ\n", name);
    EXPECT(stet_view_eq(stet_buf_as_view(&x), stet_buf_as_view(&y)));
    EXPECT_INT(a.op_count, b.op_count);
    EXPECT_INT(a.value_count, b.value_count);
    EXPECT_INT(a.argument_count, b.argument_count);
    for (uint32_t i = 0; i < a.argument_count && i < b.argument_count; i++)
        EXPECT(a.arguments[i].alias == b.arguments[i].alias &&
               a.arguments[i].donor == b.arguments[i].donor);
    stet_buf_release(&x);
    stet_buf_release(&y);
    stet_program_release(&a);
    stet_program_release(&b);
}

TEST(text_gives_the_program_of_the_proto)
{
    for_each(same_from_text);
}

/* Print → read → print is the same text. */
static void round_trip(const char *name, struct stet_view proto, struct stet_view text)
{
    struct stet_hlo_print how = stet_hlo_print_long;
    struct stet_program a, b;
    struct stet_buf x, y;
    struct stet_err err = STET_ERR_INIT;

    (void)text;
    how.large_constants = true;
    how.frame_ids = false;
    EXPECT_INT(STET_OK, stet_decode_hlo_proto(&a, proto, &err));
    x = printed(&a, &how);
    if (stet_decode_hlo_text(&b, stet_buf_as_view(&x), &err) != STET_OK) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        EXPECT(false);
    } else {
        y = printed(&b, &how);
        EXPECT(stet_view_eq(stet_buf_as_view(&x), stet_buf_as_view(&y)));
        stet_buf_release(&y);
        stet_program_release(&b);
    }
    stet_buf_release(&x);
    stet_program_release(&a);
}

TEST(what_is_printed_reads_back)
{
    for_each(round_trip);
}

/* Any prefix reads or fails with an offset inside it (and `place` in its words), and nothing is
 * left to release. */
static void cut_everywhere(reader read, struct stet_view v, const char *place)
{
    char *copy = malloc(v.len ? v.len : 1);

    for (size_t n = 0; copy && n < v.len; n++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_program p;

        memcpy(copy + v.len - n, v.ptr, n); /* the end of the buffer is the end of the input */
        if (read(&p, stet_view_of(copy + v.len - n, n), &err) == STET_OK) {
            stet_program_release(&p);
        } else {
            EXPECT(err.rc != STET_OK && err.text[0] && strstr(err.text, place));
            EXPECT(err.offset <= n);
        }
    }
    free(copy);
}

static unsigned texts_cut;

static void survives_truncation(const char *name, struct stet_view proto, struct stet_view text)
{
    (void)name;
    cut_everywhere(stet_decode_hlo_proto, proto, "");
    if (text.len > 6000) /* the shorter ones are enough, and many */
        return;
    cut_everywhere(stet_decode_hlo_text, text, "line ");
    texts_cut++;
}

TEST(truncated_input_is_refused_at_every_byte)
{
    for_each(survives_truncation);
    EXPECT(texts_cut >= 20);
}

static void flip(reader read, struct stet_view v, const char *place)
{
    char *copy = malloc(v.len);
    uint64_t state = 88172645463325252u;

    for (int i = 0; copy && i < 600; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_program p;

        memcpy(copy, v.ptr, v.len);
        for (int k = 0; k < 1 + i % 3; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            copy[state % v.len] ^= (char)(1 << (state >> 32) % 8);
        }
        if (read(&p, stet_view_of(copy, v.len), &err) == STET_OK)
            stet_program_release(&p);
        else
            EXPECT(err.text[0] && strstr(err.text, place) && err.offset <= v.len);
    }
    free(copy);
}

static void survives_flips(const char *name, struct stet_view proto, struct stet_view text)
{
    (void)name;
    flip(stet_decode_hlo_proto, proto, "");
    flip(stet_decode_hlo_text, text, "line ");
}

TEST(flipped_bits_do_no_harm)
{
    for_each(survives_flips);
}

TEST(out_of_memory_at_any_allocation_is_an_error)
{
    struct stet_file file;
    struct stet_program p = read_file("jax_while_loop.pb", &file);
    enum stet_rc rc = STET_NO_MEMORY;

    stet_program_release(&p);
    for (long n = 0; rc != STET_OK && n < 400; n++) {
        stet_mem_fail_after(n, false);
        rc = stet_decode_hlo_proto(&p, file.bytes, NULL);
        if (rc == STET_OK)
            stet_program_release(&p);
    }
    stet_mem_fail_after(-1, false);
    EXPECT_INT(STET_OK, rc);
    stet_file_close(&file);
}

TEST(donated_arguments_and_their_outputs_are_found)
{
    struct stet_file file;
    struct stet_program p = read_file("jax_donation.pb", &file);

    EXPECT_INT(2, p.argument_count);
    EXPECT_INT(2, p.output_count);
    EXPECT_INT(0, p.arguments[0].alias);
    EXPECT_INT(-1, p.arguments[1].alias);
    EXPECT(stet_view_is(p.arguments[0].name, "x"));
    stet_program_release(&p);
    stet_file_close(&file);
}

TEST(shardings_are_the_text_xla_prints)
{
    struct stet_file file;
    struct stet_program p = read_file("jax_sharding_named.pb", &file);

    EXPECT(p.arguments[0].sharding &&
           stet_view_is(stet_attr_text(p.arguments[0].sharding),
                        "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"));
    stet_program_release(&p);
    stet_file_close(&file);
}

TEST(a_call_stack_is_a_chain_of_call_sites_with_functions)
{
    struct stet_file file;
    struct stet_program p = read_file("jax_while_loop.pb", &file);
    const struct stet_loc *found = NULL;

    for (uint32_t i = 0; i < p.function_count && !found; i++) {
        const struct stet_block *b = stet_op_region(p.functions[i], 0)->blocks[0];

        for (uint32_t k = 0; k < b->op_count && !found; k++)
            if (b->ops[k]->known == STET_HLO_MULTIPLY)
                found = b->ops[k]->loc;
    }
    EXPECT(found && stet_loc_file(found));
    if (found) {
        EXPECT(stet_view_ends(stet_loc_file(found)->text, "jax_programs.py"));
        EXPECT(stet_view_is(stet_loc_function(found), "while_loop.<locals>.<lambda>"));
    }
    stet_program_release(&p);
    stet_file_close(&file);
}

/* ---- messages around a module ---- */

static void put_field(struct stet_buf *b, unsigned number, struct stet_view v)
{
    stet_buf_varint(b, (uint64_t)number << 3 | 2);
    stet_buf_varint(b, v.len);
    stet_buf_view(b, v);
}

static struct stet_program read_buf(const struct stet_buf *b)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p = {0};

    EXPECT_INT(STET_OK, stet_decode(&p, stet_buf_as_view(b), &err));
    return p;
}

TEST(a_module_is_found_inside_the_messages_that_carry_it)
{
    struct stet_file file;
    struct stet_program plain = read_file("jax_donation.pb", &file), p;
    struct stet_buf hlo = STET_BUF_INIT, snapshot = STET_BUF_INIT, with_config = STET_BUF_INIT;
    const struct stet_attr *a;

    put_field(&hlo, 1, file.bytes); /* HloProto */
    put_field(&hlo, 3, STET_VIEW(""));
    put_field(&snapshot, 1, stet_buf_as_view(&hlo)); /* HloSnapshot */
    put_field(&with_config, 1, file.bytes); /* HloModuleProtoWithConfig: 4 replicas, 2 partitions */
    put_field(&with_config, 2, STET_VIEW("\x20\x04\x28\x02\x8a\x02\x01\x01"));
    p = read_buf(&hlo);
    EXPECT_INT(plain.op_count, p.op_count);
    stet_program_release(&p);
    p = read_buf(&snapshot);
    EXPECT_INT(plain.op_count, p.op_count);
    stet_program_release(&p);
    p = read_buf(&with_config);
    EXPECT_INT(plain.op_count, p.op_count);
    a = stet_op_attr(p.module, "replica_count");
    EXPECT(a && stet_attr_int(a) == 4);
    a = stet_op_attr(p.module, "num_partitions");
    EXPECT(a && stet_attr_int(a) == 2);
    EXPECT(stet_op_attr(p.module, "config") != NULL);
    stet_program_release(&p);
    stet_program_release(&plain);
    stet_buf_release(&hlo);
    stet_buf_release(&snapshot);
    stet_buf_release(&with_config);
    stet_file_close(&file);
}

TEST(formats_are_recognised_by_content)
{
    static const struct {
        const char *bytes, *message;
    } bad[] = {
        {"", "empty input"},
        {"HloModule\n\nENTRY", "HLO text, line 3"},
        {"\x0a\x02hi\x12", "HLO proto: "},
        {"\x01\x02\x03", "neither MLIR bytecode"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_program p;

        EXPECT(stet_decode(&p, stet_view_str(bad[i].bytes), &err) != STET_OK);
        EXPECT(strstr(err.text, bad[i].message) == err.text);
        if (strstr(err.text, bad[i].message) != err.text)
            fprintf(stderr, "got: %s\n", err.text);
    }
}
