/* stet-dump FILE…: every operation of every program as one line of JSON, for comparison with what
 * MLIR says about the same bytes (compare.py). "-t" prints the program as text instead. */
#include "base/fs.h"
#include "base/json.h"
#include "decode/decode.h"
#include "program/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dump {
    struct stet_buf out, text;
};

static struct stet_view type_text(struct dump *d, const struct stet_type *t)
{
    d->text.len = 0;
    stet_print_type(&d->text, t);
    return stet_buf_as_view(&d->text);
}

static struct stet_view loc_text(struct dump *d, const struct stet_loc *loc)
{
    d->text.len = 0;
    stet_print_loc(&d->text, loc);
    return stet_buf_as_view(&d->text);
}

static void dump_attrs(struct dump *d, struct stet_json *j, const struct stet_op *op)
{
    stet_json_array(j, "attrs");
    for (uint32_t i = 0; i < op->attr_count; i++) {
        stet_json_array(j, NULL);
        stet_json_string(j, NULL, op->attrs[i].name);
        d->text.len = 0;
        stet_print_attr(&d->text, op->attrs[i].value);
        stet_json_string(j, NULL, stet_buf_as_view(&d->text));
        stet_json_end_array(j);
    }
    stet_json_end_array(j);
}

/* Regions as lists of blocks, blocks as lists of arguments. */
static void dump_regions(struct dump *d, struct stet_json *j, const struct stet_op *op)
{
    stet_json_array(j, "regions");
    for (unsigned r = 0; r < op->region_count; r++) {
        stet_json_array(j, NULL);
        for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++) {
            const struct stet_block *block = stet_op_region(op, r)->blocks[b];

            stet_json_array(j, NULL);
            for (uint32_t i = 0; i < block->arg_count; i++) {
                stet_json_string(j, NULL, type_text(d, block->args[i].type));
                stet_json_string(j, NULL, loc_text(d, stet_block_locs(block)[i]));
            }
            stet_json_uint(j, NULL, block->op_count);
            stet_json_end_array(j);
        }
        stet_json_end_array(j);
    }
    stet_json_end_array(j);
}

static bool dump_op(const struct stet_op *op, void *context)
{
    struct dump *d = context;
    struct stet_json j;

    stet_json_init(&j, &d->out);
    stet_json_object(&j, NULL);
    stet_json_string(&j, "name", stet_op_name(op));
    stet_json_array(&j, "operands");
    for (uint32_t i = 0; i < op->operand_count; i++)
        stet_json_uint(&j, NULL, stet_op_operand(op, i)->id);
    stet_json_end_array(&j);
    stet_json_array(&j, "results");
    for (uint32_t i = 0; i < op->result_count; i++)
        stet_json_string(&j, NULL, type_text(d, op->results[i].type));
    stet_json_end_array(&j);
    dump_attrs(d, &j, op);
    dump_regions(d, &j, op);
    stet_json_string(&j, "loc", loc_text(d, op->loc));
    stet_json_end_object(&j);
    stet_buf_char(&d->out, '\n');
    return true;
}

static int dump_file(struct dump *d, const char *path, bool as_text)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program program;
    struct stet_file file;
    int failed = 0;

    d->out.len = 0;
    if (stet_file_open(&file, path, &err) != STET_OK) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        return 1;
    }
    if (stet_decode(&program, file.bytes, &err) == STET_OK) {
        struct stet_print_options options = {.locations = true};

        if (as_text)
            failed = stet_print_program(&d->out, &program, &options, &err) != STET_OK;
        else
            stet_program_walk(&program, dump_op, d);
        stet_program_release(&program);
    } else {
        failed = 1;
    }
    if (failed)
        fprintf(stderr, "%s: %s (at %lld)\n", path, err.text, (long long)err.offset);
    if (!as_text)
        printf("%s %s\n", failed ? "failed" : "program", path);
    fwrite(d->out.ptr, 1, d->out.len, stdout);
    stet_file_close(&file);
    return failed;
}

int main(int argc, char **argv)
{
    struct dump d = {{0}, {0}};
    bool as_text = argc > 1 && strcmp(argv[1], "-t") == 0;
    int failed = 0;

    for (int i = as_text ? 2 : 1; i < argc; i++)
        failed |= dump_file(&d, argv[i], as_text);
    stet_buf_release(&d.out);
    stet_buf_release(&d.text);
    return failed;
}
