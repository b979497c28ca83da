/* Any bytes as MLIR text: read or refused at a place inside them, and what is read is sound. */
#include "fuzz.h"

#include "decode/decode.h"
#include "program/compare.h"

static bool sound(const struct stet_op *op, void *context)
{
    const struct stet_program *p = context;

    CHECK(op->id < p->op_count && op->loc && stet_op_name(op).len <= 1u << 20);
    for (uint32_t i = 0; i < op->operand_count; i++)
        CHECK(stet_op_operand(op, i) && stet_op_operand(op, i)->id < p->value_count);
    for (uint32_t i = 0; i < op->result_count; i++)
        CHECK(op->results[i].type && stet_value_def(&op->results[i]) == op);
    for (uint32_t i = 1; i < op->attr_count; i++)
        CHECK(stet_view_cmp(op->attrs[i - 1].name, op->attrs[i].name) < 0);
    for (uint32_t i = 0; i < op->attr_count; i++)
        CHECK(op->attrs[i].value);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_program p, again;
    struct stet_err err = STET_ERR_INIT;
    struct stet_view text = stet_view_of(data, size);

    if (stet_decode_mlir_text(&p, text, &err) != STET_OK) {
        CHECK(err.rc != STET_OK && err.text[0]);
        CHECK(err.offset == STET_NO_OFFSET || err.offset <= size);
        return 0;
    }
    CHECK(p.arena.used <= 64 * size + (1 << 20));
    stet_program_walk(&p, sound, &p);
    CHECK(stet_decode_mlir_text(&again, text, &err) == STET_OK);
    CHECK(stet_program_same(&p, &again, STET_COMPARE_LOCATIONS, NULL));
    stet_program_release(&again);
    stet_program_release(&p);
    return 0;
}
