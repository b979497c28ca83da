/* The module that OptimizedProgram returns: the original if it was HLO, otherwise a module with the
 * parameters, one opaque call for each output, and a tuple. Frameworks read shapes, names and
 * aliasing from it. */
#include "backend/api/cpu_api.h"

#include "base/proto_write.h"
#include "decode/proto.h"

#include <stdio.h>

enum {
#define FIELD(message, name, number)  message##_##name = (number),
#define PRIMITIVE(name, text, number) PRIMITIVE_##name = (number),
#include "decode/hlo_fields.def"
    KIND_MAY_ALIAS = 1,
};

/* Appends and releases the message. */
static void put_message(struct stet_buf *b, unsigned field, struct stet_buf *message)
{
    stet_proto_write_move(b, field, message);
    stet_buf_release(message);
}

static void put_shape(struct stet_buf *b, unsigned field, const struct stet_shape *s)
{
    struct stet_buf message = STET_BUF_INIT, layout = STET_BUF_INIT, packed = STET_BUF_INIT;

    stet_proto_write_uint(&message, SHAPE_ELEMENT_TYPE, (uint64_t)stet_dtype_number(s->dtype));
    for (uint32_t i = 0; i < s->rank; i++)
        stet_buf_varint(&packed, (uint64_t)s->dims[i]);
    put_message(&message, SHAPE_DIMENSIONS, &packed);
    for (uint32_t i = s->rank; i-- > 0;)
        stet_buf_varint(&packed, i);
    put_message(&layout, LAYOUT_MINOR_TO_MAJOR, &packed);
    if (s->dtype != STET_DT_TOKEN)
        put_message(&message, SHAPE_LAYOUT, &layout);
    else
        stet_buf_release(&layout);
    for (uint32_t i = 0; i < s->rank; i++)
        stet_buf_varint(&packed, 0);
    put_message(&message, SHAPE_IS_DYNAMIC_DIMENSION, &packed);
    put_message(b, field, &message);
}

static void put_result(struct stet_buf *b, unsigned field, const struct stet_plan_info *info)
{
    struct stet_buf tuple = STET_BUF_INIT;

    if (info->output_count == 1) {
        put_shape(b, field, &info->outputs[0]);
        return;
    }
    stet_proto_write_uint(&tuple, SHAPE_ELEMENT_TYPE, PRIMITIVE_TUPLE);
    for (uint32_t i = 0; i < info->output_count; i++)
        put_shape(&tuple, SHAPE_TUPLE_SHAPES, &info->outputs[i]);
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
        stet_proto_write_cstr(&message, PROGRAM_SHAPE_PARAMETER_NAMES, name);
    }
    put_message(b, field, &message);
}

static void begin_instruction(struct stet_buf *b, const char *opcode, uint64_t id)
{
    char name[40];

    snprintf(name, sizeof name, "%s.%llu", opcode, (unsigned long long)id);
    stet_proto_write_cstr(b, INSTR_NAME, name);
    stet_proto_write_cstr(b, INSTR_OPCODE, opcode);
    stet_proto_write_uint(b, INSTR_ID, id);
}

static void put_computation(struct stet_buf *b, const struct stet_plan_info *info)
{
    struct stet_buf message = STET_BUF_INIT, one = STET_BUF_INIT, operands = STET_BUF_INIT;
    uint64_t id = 0;

    stet_proto_write_cstr(&message, COMPUTATION_NAME, "main");
    for (uint32_t i = 0; i < info->input_count; i++) {
        begin_instruction(&one, "parameter", ++id);
        put_shape(&one, INSTR_SHAPE, &info->inputs[i]);
        stet_proto_write_uint(&one, INSTR_PARAMETER_NUMBER, i);
        put_message(&message, COMPUTATION_INSTRUCTIONS, &one);
    }
    for (uint32_t i = 0; i < info->output_count; i++) {
        begin_instruction(&one, "custom-call", ++id);
        put_shape(&one, INSTR_SHAPE, &info->outputs[i]);
        stet_proto_write_cstr(&one, INSTR_CUSTOM_CALL_TARGET, "stet_cpu");
        put_message(&message, COMPUTATION_INSTRUCTIONS, &one);
        stet_buf_varint(&operands, id);
    }
    if (info->output_count != 1) {
        begin_instruction(&one, "tuple", ++id);
        put_result(&one, INSTR_SHAPE, info);
        put_message(&one, INSTR_OPERAND_IDS, &operands);
        put_message(&message, COMPUTATION_INSTRUCTIONS, &one);
    }
    stet_buf_release(&operands);
    put_program_shape(&message, COMPUTATION_PROGRAM_SHAPE, info);
    stet_proto_write_uint(&message, COMPUTATION_ID, 1);
    stet_proto_write_uint(&message, COMPUTATION_ROOT_ID, id);
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
        put_message(&entry, ALIAS_OUTPUT_SHAPE_INDEX, &index);
        stet_proto_write_uint(&entry, ALIAS_PARAMETER_NUMBER, (uint64_t)info->output_alias[i]);
        stet_proto_write_uint(&entry, ALIAS_KIND, KIND_MAY_ALIAS);
        put_message(&message, ALIASES_ENTRIES, &entry);
    }
    if (message.len)
        put_message(b, MODULE_INPUT_OUTPUT_ALIAS, &message);
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
        if (f.number == MODULE_HOST_PROGRAM_SHAPE && f.wire == STET_PROTO_BYTES)
            found = f.bytes;
    }
    return fault.rc ? (struct stet_view){0} : found;
}

static void put_module(struct stet_buf *b, unsigned field, const struct stet_cpu_code *code,
                       const struct stet_plan_info *info)
{
    struct stet_buf module = STET_BUF_INIT;

    stet_proto_write_cstr(&module, MODULE_NAME, code->name);
    stet_proto_write_cstr(&module, MODULE_ENTRY_COMPUTATION_NAME, "main");
    put_computation(&module, info);
    put_program_shape(&module, MODULE_HOST_PROGRAM_SHAPE, info);
    stet_proto_write_uint(&module, MODULE_ID, 1);
    stet_proto_write_uint(&module, MODULE_ENTRY_COMPUTATION_ID, 1);
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
        stet_proto_write_bytes(out, MODULE_WITH_CONFIG_HLO_MODULE,
                               stet_view_of(code->bytes, code->size));
        stet_proto_write_bytes(&config, CONFIG_ENTRY_COMPUTATION_LAYOUT, shape);
    } else {
        put_module(out, MODULE_WITH_CONFIG_HLO_MODULE, code, &one);
        put_program_shape(&config, CONFIG_ENTRY_COMPUTATION_LAYOUT, &one);
    }
    stet_proto_write_uint(&config, CONFIG_REPLICA_COUNT, code->assignment.replicas);
    stet_proto_write_uint(&config, CONFIG_NUM_PARTITIONS, code->assignment.partitions);
    put_message(out, MODULE_WITH_CONFIG_CONFIG, &config);
}
