/* HloInstructionProto → an instruction of the current computation. */
#include "base/hash.h"
#include "base/mem.h"
#include "decode/hlo/hlo_proto_attr.h"

enum { LAST_KNOWN = STET_HLO_INSTR_HAS_DYNAMIC_ROOT, MOST_ATTRS = 32 };

static bool collect(struct stet_hlo_reader *r, struct stet_proto *m)
{
    struct stet_proto_field f;

    r->field_count = 0;
    while (stet_proto_next(m, &f)) {
        if (r->field_count == r->field_room) {
            size_t room = r->field_room ? r->field_room * 2 : STET_HLO_FIRST_FIELDS;
            struct stet_proto_field *grown =
                r->field_room ? stet_mem_outgrow(r->fields, r->field_room, STET_HLO_FIRST_FIELDS,
                                                 room, sizeof *grown)
                              : stet_arena_raw(&r->b.scratch, room, sizeof *grown);

            if (!grown) {
                r->b.a->failed = true;
                return false;
            }
            r->fields = grown;
            r->field_room = room;
        }
        r->fields[r->field_count++] = f;
    }
    return r->fault.rc == STET_OK;
}

static const struct stet_loc *metadata(struct stet_hlo_reader *r, const struct stet_proto *in,
                                       const struct stet_proto_field *f)
{
    const struct stet_loc *l = stet_decode_hlo_recall(&r->b, f->whole);
    struct stet_hlo_metadata m = {.line = 0};
    struct stet_ints types = {0};
    struct stet_proto p = stet_proto_sub(in, f), payload;
    struct stet_proto_field g, h;

    if (l || !f->bytes.len)
        return l;
    while (stet_proto_next(&p, &g))
        switch (g.number) {
        case STET_HLO_METADATA_OP_TYPE:
            m.op_type = stet_proto_text(&r->fault, &g);
            break;
        case STET_HLO_METADATA_OP_NAME:
            m.op_name = stet_proto_text(&r->fault, &g);
            break;
        case STET_HLO_METADATA_SOURCE_FILE:
            m.source_file = stet_proto_text(&r->fault, &g);
            break;
        case STET_HLO_METADATA_SOURCE_LINE:
            m.line = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_METADATA_PROFILE_TYPE:
            stet_proto_ints(&r->fault, &g, r->b.a, &types);
            break;
        case STET_HLO_METADATA_DEDUPLICATED_NAME:
            m.deduplicated_name = stet_proto_text(&r->fault, &g);
            break;
        case STET_HLO_METADATA_STACK_FRAME_ID:
            m.frame = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_METADATA_SCHEDULING_NAME:
            m.scheduling_name = stet_proto_text(&r->fault, &g);
            break;
        case STET_HLO_METADATA_SOURCE_END_LINE:
            m.end_line = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_METADATA_SOURCE_COLUMN:
            m.column = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_METADATA_SOURCE_END_COLUMN:
            m.end_column = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_METADATA_PAYLOAD:
            payload = stet_proto_sub(&p, &g);
            while (stet_proto_next(&payload, &h))
                if (h.number == STET_HLO_PAYLOAD_VALUE)
                    m.payload = stet_proto_text(&r->fault, &h);
            break;
        }
    m.profile_types = types.at;
    m.profile_type_count = types.count;
    l = stet_decode_hlo_build_metadata(&r->b, &m);
    if (l)
        stet_decode_hlo_remember(&r->b, f->whole, l);
    return l;
}

/* Data operands, then control predecessors; both must be instructions before this one. */
static void operands(struct stet_hlo_reader *r, struct stet_hlo_instr *instr)
{
    struct stet_ints data = stet_decode_hlo_ints_in(r, &r->b.scratch, STET_HLO_INSTR_OPERAND_IDS),
                     before = stet_decode_hlo_ints_in(r, &r->b.scratch,
                                                      STET_HLO_INSTR_CONTROL_PREDECESSOR_IDS);
    uint32_t n = data.count + before.count;

    instr->operands = stet_arena_raw(&r->b.scratch, n, sizeof *instr->operands);
    r->b.a->failed |= r->b.scratch.failed;
    if (!instr->operands)
        return;
    for (uint32_t i = 0; i < n; i++) {
        int64_t id = i < data.count ? data.at[i] : before.at[i - data.count];
        int64_t at = stet_decode_hlo_instr_find(&r->b, (uint64_t)id, (struct stet_view){0});

        if (at < 0) {
            stet_proto_fail(&r->fault, STET_BAD_INPUT, instr->offset,
                            "an operand is not an earlier instruction of its computation");
            return;
        }
        instr->operands[i] = (uint32_t)at;
    }
    instr->operand_count = n;
    instr->control_count = before.count;
}

static void add(struct stet_hlo_instr *instr, const char *name, const struct stet_attr *v)
{
    if (v)
        instr->attrs[instr->attr_count++] = (struct stet_named_attr){stet_view_str(name), v};
}

static void add_listed(struct stet_hlo_reader *r, const struct stet_proto *m,
                       struct stet_hlo_instr *instr, const unsigned char *list)
{
    for (; *list; list++)
        if (*list != STET_HLO_A_METADATA && *list != STET_HLO_A_CONTROL_PREDECESSORS)
            stet_decode_hlo_put(r->b.a, instr->attrs, &instr->attr_count, MOST_ATTRS, *list,
                                stet_decode_hlo_proto_attr(r, m, instr, *list));
}

/* Names, ids, locations, and fields that are read for every opcode. */
static bool is_name_or_place(uint32_t field)
{
    return field <= STET_HLO_INSTR_SHAPE || field == STET_HLO_INSTR_METADATA ||
           (field >= STET_HLO_INSTR_ID && field <= STET_HLO_INSTR_CALLED_COMPUTATION_IDS) ||
           field == STET_HLO_INSTR_SHARDING || field == STET_HLO_INSTR_BACKEND_CONFIG ||
           field == STET_HLO_INSTR_FRONTEND_ATTRIBUTES || field == STET_HLO_INSTR_ORIGINAL_VALUE;
}

/* An unknown opcode keeps all its fields except names, ids and locations, compared as bytes. A
 * known one keeps the fields that are newer than this build, unless they are present but empty. */
static const struct stet_attr *unknown_fields(struct stet_hlo_reader *r, bool known)
{
    struct stet_attr *a;

    r->scratch.len = 0;
    for (size_t i = 0; i < r->field_count; i++) {
        uint32_t n = r->fields[i].number;
        bool empty = r->fields[i].wire == STET_PROTO_BYTES && !r->fields[i].bytes.len;
        bool ours = known ? n <= LAST_KNOWN || n == STET_HLO_INSTR_COMPARISON_ORDER || empty
                          : is_name_or_place(n);

        if (!ours)
            stet_buf_view(&r->scratch, r->fields[i].whole);
    }
    if (!r->scratch.len)
        return NULL;
    a = stet_build_attr(r->b.a, STET_ATTR_OPAQUE);
    if (a) {
        a->of.name = stet_build_name(r->b.a, STET_VIEW("hlo"), (struct stet_view){0});
        stet_attr_set_bytes(a, stet_decode_hlo_keep(r));
    }
    return a;
}

static void attributes(struct stet_hlo_reader *r, const struct stet_proto *m,
                       struct stet_hlo_instr *instr)
{
    static const unsigned char calls[] = {STET_HLO_A_CALLED_COMPUTATIONS, 0};
    struct stet_named_attr room[MOST_ATTRS];
    size_t bytes;

    instr->attrs = room;
    add_listed(r, m, instr, instr->op ? instr->op->attrs : calls);
    add_listed(r, m, instr, stet_hlo_tail);
    add(instr, "unknown_fields", unknown_fields(r, instr->op != NULL));
    if (instr->control_count)
        add(instr, "control-predecessors", stet_decode_hlo_new_int(r->b.a, instr->control_count));
    bytes = instr->attr_count * sizeof *room;
    instr->attrs = stet_arena_raw(r->b.a, instr->attr_count, sizeof *room);
    if (instr->attrs)
        memcpy(instr->attrs, room, bytes);
}

void stet_decode_hlo_proto_instruction(struct stet_hlo_reader *r, const struct stet_proto *in,
                                       const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_hlo_instr *instr;
    const struct stet_proto_field *g;

    if (!collect(r, &m))
        return;
    instr = stet_decode_hlo_instr_add(&r->b);
    if (!instr) {
        r->b.a->failed = true;
        return;
    }
    instr->offset = f->offset;
    instr->name = stet_decode_hlo_field_text(r, STET_HLO_INSTR_NAME);
    instr->opcode = stet_decode_hlo_field_text(r, STET_HLO_INSTR_OPCODE);
    instr->op = stet_hlo_op(instr->opcode);
    instr->key = (uint64_t)stet_decode_hlo_number(r, STET_HLO_INSTR_ID);
    g = stet_decode_hlo_field(r, STET_HLO_INSTR_SHAPE);
    instr->type = g ? stet_decode_hlo_shape(r, &m, g) : NULL;
    if (!instr->type)
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset, "an instruction without a shape");
    if (!instr->opcode.len)
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset, "an instruction without an opcode");
    if (stet_view_is(instr->opcode, "parameter")) {
        instr->parameter = stet_decode_hlo_number(r, STET_HLO_INSTR_PARAMETER_NUMBER);
        if (instr->parameter < 0)
            stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset, "a negative parameter number");
    }
    operands(r, instr);
    if (r->fault.rc != STET_OK || r->b.a->failed)
        return;
    g = stet_decode_hlo_field(r, STET_HLO_INSTR_METADATA);
    instr->metadata = g ? metadata(r, &m, g) : NULL;
    attributes(r, &m, instr);
    if (!stet_decode_hlo_instr_publish(&r->b, false))
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset,
                        "two instructions of a computation have the same id");
}
