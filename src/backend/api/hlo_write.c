/* The module that OptimizedProgram returns: the original if it was HLO, otherwise a module with the
 * parameters, one opaque call for each output, and a tuple. Frameworks read shapes, names and
 * aliasing from it. Field numbers are those of hlo.proto and xla_data.proto, public in the XLA
 * repository. */
#include "backend/api/cpu_api.h"

#include "decode/proto.h"

#include <stdio.h>

enum {
    WITH_CONFIG_MODULE = 1,
    WITH_CONFIG_CONFIG = 2,
    CONFIG_ENTRY_LAYOUT = 1,
    CONFIG_REPLICAS = 4,
    CONFIG_PARTITIONS = 5,
    MODULE_NAME = 1,
    MODULE_ENTRY_NAME = 2,
    MODULE_COMPUTATIONS = 3,
    MODULE_PROGRAM_SHAPE = 4,
    MODULE_ID = 5,
    MODULE_ENTRY_ID = 6,
    MODULE_ALIAS = 8,
    ALIAS_ENTRIES = 1,
    ENTRY_OUTPUT_INDEX = 1,
    ENTRY_PARAMETER = 2,
    ENTRY_KIND = 4,
    KIND_MAY_ALIAS = 1,
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

static void put_int(struct stet_buf *b, unsigned field, uint64_t value)
{
    stet_buf_varint(b, (uint64_t)field << 3);
    stet_buf_varint(b, value);
}

static void put_view(struct stet_buf *b, unsigned field, struct stet_view v)
{
    stet_buf_varint(b, (uint64_t)field << 3 | 2);
    stet_buf_varint(b, v.len);
    stet_buf_view(b, v);
}

static void put_text(struct stet_buf *b, unsigned field, const char *text)
{
    put_view(b, field, stet_view_str(text));
}

/* Appends and releases the message. */
static void put_message(struct stet_buf *b, unsigned field, struct stet_buf *message)
{
    b->failed |= message->failed;
    put_view(b, field, stet_buf_as_view(message));
    stet_buf_release(message);
}

static void put_shape(struct stet_buf *b, unsigned field, const struct stet_shape *s)
{
    struct stet_buf message = STET_BUF_INIT, layout = STET_BUF_INIT, packed = STET_BUF_INIT;

    put_int(&message, SHAPE_TYPE, (uint64_t)stet_dtype_number(s->dtype));
    for (uint32_t i = 0; i < s->rank; i++)
        stet_buf_varint(&packed, (uint64_t)s->dims[i]);
    put_message(&message, SHAPE_DIMS, &packed);
    for (uint32_t i = s->rank; i-- > 0;)
        stet_buf_varint(&packed, i);
    put_message(&layout, LAYOUT_MINOR_TO_MAJOR, &packed);
    if (s->dtype != STET_DT_TOKEN)
        put_message(&message, SHAPE_LAYOUT, &layout);
    else
        stet_buf_release(&layout);
    for (uint32_t i = 0; i < s->rank; i++)
        stet_buf_varint(&packed, 0);
    put_message(&message, SHAPE_DYNAMIC, &packed);
    put_message(b, field, &message);
}

static void put_result(struct stet_buf *b, unsigned field, const struct stet_plan_info *info)
{
    struct stet_buf tuple = STET_BUF_INIT;

    if (info->output_count == 1) {
        put_shape(b, field, &info->outputs[0]);
        return;
    }
    put_int(&tuple, SHAPE_TYPE, TYPE_TUPLE);
    for (uint32_t i = 0; i < info->output_count; i++)
        put_shape(&tuple, SHAPE_TUPLE, &info->outputs[i]);
    put_message(b, field, &tuple);
}

static void put_program_shape(struct stet_buf *b, unsigned field, const struct stet_plan_info *info)
{
    struct stet_buf message = STET_BUF_INIT;
    char name[24];

    for (uint32_t i = 0; i < info->input_count; i++)
        put_shape(&message, PROGRAM_SHAPE_PARAMETERS, &info->inputs[i]);
    put_result(&message, PROGRAM_SHAPE_RESULT, info);
    for (uint32_t i = 0; i < info->input_count; i++) {
        snprintf(name, sizeof name, "p%u", i);
        put_text(&message, PROGRAM_SHAPE_NAMES, name);
    }
    put_message(b, field, &message);
}

static void begin_instruction(struct stet_buf *b, const char *opcode, uint64_t id)
{
    char name[40];

    snprintf(name, sizeof name, "%s.%llu", opcode, (unsigned long long)id);
    put_text(b, INSTRUCTION_NAME, name);
    put_text(b, INSTRUCTION_OPCODE, opcode);
    put_int(b, INSTRUCTION_ID, id);
}

static void put_computation(struct stet_buf *b, const struct stet_plan_info *info)
{
    struct stet_buf message = STET_BUF_INIT, one = STET_BUF_INIT, operands = STET_BUF_INIT;
    uint64_t id = 0;

    put_text(&message, COMPUTATION_NAME, "main");
    for (uint32_t i = 0; i < info->input_count; i++) {
        begin_instruction(&one, "parameter", ++id);
        put_shape(&one, INSTRUCTION_SHAPE, &info->inputs[i]);
        put_int(&one, INSTRUCTION_PARAMETER, i);
        put_message(&message, COMPUTATION_INSTRUCTIONS, &one);
    }
    for (uint32_t i = 0; i < info->output_count; i++) {
        begin_instruction(&one, "custom-call", ++id);
        put_shape(&one, INSTRUCTION_SHAPE, &info->outputs[i]);
        put_text(&one, INSTRUCTION_CALL_TARGET, "stet_cpu");
        put_message(&message, COMPUTATION_INSTRUCTIONS, &one);
        stet_buf_varint(&operands, id);
    }
    if (info->output_count != 1) {
        begin_instruction(&one, "tuple", ++id);
        put_result(&one, INSTRUCTION_SHAPE, info);
        put_message(&one, INSTRUCTION_OPERANDS, &operands);
        put_message(&message, COMPUTATION_INSTRUCTIONS, &one);
    }
    stet_buf_release(&operands);
    put_program_shape(&message, COMPUTATION_PROGRAM_SHAPE, info);
    put_int(&message, COMPUTATION_ID, 1);
    put_int(&message, COMPUTATION_ROOT, id);
    put_message(b, MODULE_COMPUTATIONS, &message);
}

static void put_alias(struct stet_buf *b, const struct stet_plan_info *info)
{
    struct stet_buf message = STET_BUF_INIT, entry = STET_BUF_INIT, index = STET_BUF_INIT;

    for (uint32_t i = 0; i < info->output_count; i++) {
        if (info->output_alias[i] < 0)
            continue;
        if (info->output_count != 1) /* a single result is not a tuple: its index is empty */
            stet_buf_varint(&index, i);
        put_message(&entry, ENTRY_OUTPUT_INDEX, &index);
        put_int(&entry, ENTRY_PARAMETER, (uint64_t)info->output_alias[i]);
        put_int(&entry, ENTRY_KIND, KIND_MAY_ALIAS);
        put_message(&message, ALIAS_ENTRIES, &entry);
    }
    if (message.len)
        put_message(b, MODULE_ALIAS, &message);
}

/* The program shape of an HloModuleProto, with tuples as in the program. Empty if the original is
 * not HLO. */
static struct stet_view shape_that_came(const struct stet_cpu_code *code)
{
    struct stet_view found = {0};
    struct stet_proto_fault fault = {0};
    struct stet_proto_field f;
    struct stet_proto p;

    if (strcmp(code->format, "hlo") != 0 || !code->size || code->bytes[0] != (MODULE_NAME << 3 | 2))
        return found;
    stet_proto_init(&p, stet_view_of(code->bytes, code->size), &fault);
    while (stet_proto_next(&p, &f)) {
        if (f.number == MODULE_PROGRAM_SHAPE && f.wire == STET_PROTO_BYTES)
            found = f.bytes;
    }
    return fault.rc ? (struct stet_view){0} : found;
}

static void put_module(struct stet_buf *b, unsigned field, const struct stet_cpu_code *code,
                       const struct stet_plan_info *info)
{
    struct stet_buf module = STET_BUF_INIT;

    put_text(&module, MODULE_NAME, code->name);
    put_text(&module, MODULE_ENTRY_NAME, "main");
    put_computation(&module, info);
    put_program_shape(&module, MODULE_PROGRAM_SHAPE, info);
    put_int(&module, MODULE_ID, 1);
    put_int(&module, MODULE_ENTRY_ID, 1);
    put_alias(&module, info);
    put_message(b, field, &module);
}

void stet_cpu_api_write_hlo(struct stet_buf *out, const struct stet_cpu_code *code)
{
    struct stet_view shape = shape_that_came(code);
    struct stet_plan_info one = *code->info; /* what each device has */
    struct stet_buf config = STET_BUF_INIT;

    one.input_count = code->inputs;
    one.output_count = code->outputs;
    if (shape.len) {
        put_view(out, WITH_CONFIG_MODULE, stet_view_of(code->bytes, code->size));
        put_view(&config, CONFIG_ENTRY_LAYOUT, shape);
    } else {
        put_module(out, WITH_CONFIG_MODULE, code, &one);
        put_program_shape(&config, CONFIG_ENTRY_LAYOUT, &one);
    }
    put_int(&config, CONFIG_REPLICAS, code->assignment.replicas);
    put_int(&config, CONFIG_PARTITIONS, code->assignment.partitions);
    put_message(out, WITH_CONFIG_CONFIG, &config);
}
