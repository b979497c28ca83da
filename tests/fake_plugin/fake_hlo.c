#include "fake_hlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers of hlo.proto and xla_data.proto, public in the XLA repository. */
enum {
    MODULE_WITH_CONFIG_MODULE = 1,
    MODULE_WITH_CONFIG_CONFIG = 2,
    CONFIG_ENTRY_LAYOUT = 1,
    MODULE_NAME = 1,
    MODULE_ENTRY_NAME = 2,
    MODULE_COMPUTATIONS = 3,
    MODULE_PROGRAM_SHAPE = 4,
    MODULE_ID = 5,
    MODULE_ENTRY_ID = 6,
    COMPUTATION_NAME = 1,
    COMPUTATION_INSTRUCTIONS = 2,
    COMPUTATION_PROGRAM_SHAPE = 4,
    COMPUTATION_ID = 5,
    COMPUTATION_ROOT = 6,
    INSTRUCTION_NAME = 1,
    INSTRUCTION_OPCODE = 2,
    INSTRUCTION_SHAPE = 3,
    INSTRUCTION_PARAMETER = 9,
    INSTRUCTION_CALL_TARGET = 28,
    INSTRUCTION_ID = 35,
    INSTRUCTION_OPERANDS = 36,
    PROGRAM_SHAPE_PARAMETERS = 1,
    PROGRAM_SHAPE_RESULT = 2,
    PROGRAM_SHAPE_NAMES = 3,
    SHAPE_TYPE = 2,
    SHAPE_DIMS = 3,
    SHAPE_TUPLE = 4,
    SHAPE_LAYOUT = 5,
    SHAPE_DYNAMIC = 6,
    LAYOUT_MINOR_TO_MAJOR = 1,
    TYPE_TUPLE = 13,
};

struct bytes {
    unsigned char *data;
    size_t size, capacity;
};

static void put(struct bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->capacity) {
        b->capacity = (b->size + size) * 2;
        b->data = realloc(b->data, b->capacity);
        if (!b->data)
            abort();
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_varint(struct bytes *b, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        put(b, &byte, 1);
    } while (value >>= 7);
}

static void put_int(struct bytes *b, int field, uint64_t value)
{
    put_varint(b, (uint64_t)field << 3);
    put_varint(b, value);
}

static void put_bytes(struct bytes *b, int field, const void *data, size_t size)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, size);
    put(b, data, size);
}

static void put_text(struct bytes *b, int field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

static void put_message(struct bytes *b, int field, struct bytes *message)
{
    put_bytes(b, field, message->size ? (void *)message->data : "", message->size);
    free(message->data);
    *message = (struct bytes){0};
}

/* The interface numbers element types otherwise than xla_data.proto does. */
static uint64_t element_type(PJRT_Buffer_Type type)
{
    switch (type) {
    case PJRT_Buffer_Type_BF16:
        return 16;
    case PJRT_Buffer_Type_C64:
        return 15;
    case PJRT_Buffer_Type_C128:
        return 18;
    default:
        return (uint64_t)type; /* up to F64 they agree */
    }
}

static void put_shape(struct bytes *b, int field, const struct fake_shape *shape)
{
    struct bytes message = {0}, layout = {0}, packed = {0};

    put_int(&message, SHAPE_TYPE, element_type(shape->type));
    for (size_t i = 0; i < shape->rank; i++)
        put_varint(&packed, (uint64_t)shape->dims[i]);
    put_message(&message, SHAPE_DIMS, &packed);
    for (size_t i = shape->rank; i-- > 0;)
        put_varint(&packed, i);
    put_message(&layout, LAYOUT_MINOR_TO_MAJOR, &packed);
    put_message(&message, SHAPE_LAYOUT, &layout);
    for (size_t i = 0; i < shape->rank; i++)
        put_varint(&packed, 0);
    put_message(&message, SHAPE_DYNAMIC, &packed);
    put_message(b, field, &message);
}

static void put_result(struct bytes *b, int field, const struct fake_program *program)
{
    struct bytes tuple = {0};

    if (program->num_outputs == 1) {
        put_shape(b, field, &program->outputs[0]);
        return;
    }
    put_int(&tuple, SHAPE_TYPE, TYPE_TUPLE);
    for (size_t i = 0; i < program->num_outputs; i++)
        put_shape(&tuple, SHAPE_TUPLE, &program->outputs[i]);
    put_message(b, field, &tuple);
}

static void put_program_shape(struct bytes *b, int field, const struct fake_program *program)
{
    struct bytes message = {0};
    char name[24];

    for (size_t i = 0; i < program->num_params; i++)
        put_shape(&message, PROGRAM_SHAPE_PARAMETERS, &program->params[i]);
    put_result(&message, PROGRAM_SHAPE_RESULT, program);
    for (size_t i = 0; i < program->num_params; i++) {
        snprintf(name, sizeof(name), "p%zu", i);
        put_text(&message, PROGRAM_SHAPE_NAMES, name);
    }
    put_message(b, field, &message);
}

static void begin_instruction(struct bytes *b, const char *opcode, uint64_t id)
{
    char name[32];

    snprintf(name, sizeof(name), "%s.%d", opcode, (int)id);
    put_text(b, INSTRUCTION_NAME, name);
    put_text(b, INSTRUCTION_OPCODE, opcode);
    put_int(b, INSTRUCTION_ID, id);
}

/* Parameters, then one custom call an output, then a tuple of them unless there is one. */
static void put_computation(struct bytes *b, const struct fake_program *program)
{
    struct bytes message = {0}, instruction = {0}, operands = {0};
    uint64_t id = 0;

    put_text(&message, COMPUTATION_NAME, "main");
    for (size_t i = 0; i < program->num_params; i++) {
        begin_instruction(&instruction, "parameter", ++id);
        put_shape(&instruction, INSTRUCTION_SHAPE, &program->params[i]);
        put_int(&instruction, INSTRUCTION_PARAMETER, i);
        put_message(&message, COMPUTATION_INSTRUCTIONS, &instruction);
    }
    for (size_t i = 0; i < program->num_outputs; i++) {
        begin_instruction(&instruction, "custom-call", ++id);
        put_shape(&instruction, INSTRUCTION_SHAPE, &program->outputs[i]);
        put_text(&instruction, INSTRUCTION_CALL_TARGET, "fake");
        put_message(&message, COMPUTATION_INSTRUCTIONS, &instruction);
        put_varint(&operands, id);
    }
    if (program->num_outputs != 1) {
        begin_instruction(&instruction, "tuple", ++id);
        put_result(&instruction, INSTRUCTION_SHAPE, program);
        put_message(&instruction, INSTRUCTION_OPERANDS, &operands);
        put_message(&message, COMPUTATION_INSTRUCTIONS, &instruction);
    }
    free(operands.data);
    put_program_shape(&message, COMPUTATION_PROGRAM_SHAPE, program);
    put_int(&message, COMPUTATION_ID, 1);
    put_int(&message, COMPUTATION_ROOT, id);
    put_message(b, MODULE_COMPUTATIONS, &message);
}

size_t fake_hlo_write(const struct fake_program *program, unsigned char *out)
{
    struct bytes module = {0}, config = {0}, all = {0};
    size_t size;

    put_text(&module, MODULE_NAME, program->name);
    put_text(&module, MODULE_ENTRY_NAME, "main");
    put_computation(&module, program);
    put_program_shape(&module, MODULE_PROGRAM_SHAPE, program);
    put_int(&module, MODULE_ID, 1);
    put_int(&module, MODULE_ENTRY_ID, 1);
    put_message(&all, MODULE_WITH_CONFIG_MODULE, &module);
    put_program_shape(&config, CONFIG_ENTRY_LAYOUT, program);
    put_message(&all, MODULE_WITH_CONFIG_CONFIG, &config);
    size = all.size;
    if (out)
        memcpy(out, all.data, size);
    free(all.data);
    return size;
}
