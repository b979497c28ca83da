/* Any bytes as MLIR bytecode: read or refused at a place inside them, and what is read is sound,
 * prints, and reads the same again. */
#include "fuzz.h"

#include "decode/decode.h"
#include "program/compare.h"
#include "program/print.h"

static bool sound(const struct stet_op *op, void *context)
{
    const struct stet_program *p = context;

    CHECK(op->id < p->op_count && op->loc);
    for (uint32_t i = 0; i < op->operand_count; i++)
        CHECK(stet_op_operand(op, i) && stet_op_operand(op, i)->id < p->value_count &&
              stet_op_operand(op, i)->type);
    for (uint32_t i = 0; i < op->result_count; i++)
        CHECK(op->results[i].type && stet_value_def(&op->results[i]) == op &&
              op->results[i].id < p->value_count);
    for (uint32_t i = 0; i < op->attr_count; i++)
        CHECK(op->attrs[i].value &&
              (!i || stet_view_cmp(op->attrs[i - 1].name, op->attrs[i].name) < 0));
    for (unsigned r = 0; r < op->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++)
            CHECK(stet_op_region(op, r)->blocks[b]->parent == op);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_program p, again;
    struct stet_err err = STET_ERR_INIT;
    struct stet_view bytes = stet_view_of(data, size);
    struct stet_print_options options = {.locations = true};
    struct stet_buf text = {.cap = 1 << 24}; /* shared parts may print many times over */

    if (stet_decode_bytecode(&p, bytes, &err) != STET_OK) {
        CHECK(err.rc != STET_OK && err.text[0] && err.offset <= size);
        return 0;
    }
    CHECK(p.arena.used <= 64 * size + (1 << 20));
    stet_program_walk(&p, sound, &p);
    stet_print_program(&text, &p, &options, NULL);
    stet_buf_release(&text);
    CHECK(stet_decode_bytecode(&again, bytes, &err) == STET_OK);
    CHECK(stet_program_same(&p, &again, STET_COMPARE_LOCATIONS, NULL));
    stet_program_release(&again);
    stet_program_release(&p);
    return 0;
}
