/* Reads the optimized program: every instruction with its line, and what all of them cost. */
#include "footprint/footprint.h"

#include "base/buf.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "decode/proto.h"
#include "fingerprint/source_place.h"
#include "footprint/footprint_internal.h"
#include "program/hlo.h"

enum { MOST_NESTING = 64, BORROW_DEPTH = 6 };

static const size_t arena_cap = (size_t)1 << 32;

void stet_footprint_init(struct stet_footprint *f)
{
    *f = (struct stet_footprint){0};
    stet_arena_init(&f->arena, arena_cap);
}

void stet_footprint_release(struct stet_footprint *f)
{
    stet_map_release(&f->by_name);
    stet_map_release(&f->by_id);
    stet_arena_release(&f->arena);
    *f = (struct stet_footprint){0};
}

/* ---- lines ---- */

/* "jit(step)/jvp()/dot_general": the name inside the instruction's own. */
static struct stet_view op_name_of(const struct stet_loc *loc)
{
    for (unsigned depth = 0; loc && depth < MOST_NESTING; depth++) {
        const struct stet_attr *m = stet_loc_metadata(loc);
        const struct stet_attr *name = m ? stet_attr_field(m, "op_name") : NULL;

        if (name)
            return stet_attr_text(name);
        if (loc->kind != STET_LOC_NAME || !loc->count)
            return (struct stet_view){0};
        loc = loc->parts[0];
    }
    return (struct stet_view){0};
}

/* The line of an instruction without metadata is that of what it was made of: the result of a
 * fusion, or the first operand that has one. */
static struct stet_place borrow(const struct stet_program *p, const struct stet_op *op,
                                unsigned depth)
{
    struct stet_place place = stet_place_of(op->loc);
    const struct stet_block *body;

    if (place.line || depth == 0)
        return place;
    body = op->known == STET_HLO_FUSION ? stet_footprint_body(stet_footprint_called(p, op, "calls"))
                                        : NULL;
    for (uint32_t i = body ? body->op_count : 0; i-- > 0 && !place.line;)
        place = stet_place_of(body->ops[i]->loc);
    for (uint32_t i = 0; i < op->operand_count && !place.line; i++) {
        const struct stet_op *from = stet_value_def(stet_op_operand(op, i));

        if (from)
            place = borrow(p, from, depth - 1);
    }
    return place;
}

static struct stet_view shape_text(struct stet_footprint *f, const struct stet_type *t)
{
    struct stet_buf b = STET_BUF_INIT;
    struct stet_view v = {0};

    stet_print_hlo_type(&b, t, false);
    if (!b.failed)
        v = stet_arena_copy(&f->arena, stet_buf_as_view(&b));
    stet_buf_release(&b);
    return v;
}

static void describe(struct stet_footprint *f, struct stet_footprint_instruction *i,
                     const struct stet_program *p, const struct stet_op *op)
{
    struct stet_place own = stet_place_of(op->loc);
    struct stet_place place = own.line ? own : borrow(p, op, BORROW_DEPTH);

    i->name = op->loc && op->loc->kind == STET_LOC_NAME ? stet_arena_copy(&f->arena, op->loc->text)
                                                        : (struct stet_view){0};
    i->opcode = stet_arena_copy(&f->arena, stet_footprint_opcode(op));
    i->shape = op->result_count ? shape_text(f, op->results[0].type) : (struct stet_view){0};
    i->op_name = stet_arena_copy(&f->arena, op_name_of(op->loc));
    i->file = stet_arena_copy(&f->arena, place.file);
    i->function = stet_arena_copy(&f->arena, place.function);
    i->line = place.line;
}

/* ---- costs ---- */

struct walk {
    struct stet_footprint *f;
    const struct stet_program *p;
    const uint32_t *place; /* of each operation, by id: in `instructions`, + 1 */
};

static void walk_block(struct walk *w, const struct stet_block *b, double times, bool fused,
                       unsigned depth);

static void walk_called(struct walk *w, const struct stet_op *op, const char *attribute,
                        double times, bool fused, unsigned depth)
{
    const struct stet_block *b = stet_footprint_body(stet_footprint_called(w->p, op, attribute));

    if (b && depth < MOST_NESTING)
        walk_block(w, b, times, fused, depth + 1);
}

static void walk_branches(struct walk *w, const struct stet_op *op, double times, unsigned depth)
{
    const struct stet_attr *a = stet_op_attr(op, "branch_computations");

    /* Any of them may run; each counts as if it did, because which one is not known. */
    walk_called(w, op, "true_computation", times, false, depth);
    walk_called(w, op, "false_computation", times, false, depth);
    for (uint32_t i = 0; a && a->kind == STET_ATTR_ARRAY && i < a->count; i++) {
        const struct stet_op *f = stet_program_function(w->p, stet_attr_text(a->items[i]));
        const struct stet_block *b = stet_footprint_body(f);

        if (b && depth < MOST_NESTING)
            walk_block(w, b, times, false, depth + 1);
    }
}

static void walk_loop(struct walk *w, const struct stet_op *op, double times, unsigned depth)
{
    double trips = 1;

    if (!stet_footprint_trips(w->p, op, &trips))
        w->f->open_loops++;
    walk_called(w, op, "condition", times * (trips + 1), false, depth);
    walk_called(w, op, "body", times * trips, false, depth);
}

static void note_kernel(struct walk *w, const struct stet_op *op)
{
    const struct stet_attr *target = stet_op_attr(op, "custom_call_target");
    struct stet_view name = target ? stet_attr_text(target) : (struct stet_view){0};

    /* the others are the compiler's own marks, which compute nothing */
    if (!stet_view_is(name, "tpu_custom_call") && !stet_view_starts(name, "__cu") &&
        !stet_view_starts(name, "triton"))
        return;
    if (!w->f->kernels++)
        w->f->kernel = stet_arena_copy(&w->f->arena, name);
}

static void walk_op(struct walk *w, const struct stet_op *op, double times, bool fused,
                    unsigned depth)
{
    uint32_t place = w->place[op->id];

    if (place && !fused)
        w->f->instructions[place - 1].times += times;
    w->f->flops += times * stet_footprint_flops(op);
    if (!fused)
        w->f->memory_bytes += times * stet_footprint_moved(w->p, op);
    if (stet_footprint_collective(op) != STET_COLLECTIVES)
        stet_footprint_count_collective(w->f->traffic, op, times);
    switch (op->known) {
    case STET_HLO_FUSION:
        walk_called(w, op, "calls", times, true, depth);
        break;
    case STET_HLO_WHILE:
        walk_loop(w, op, times, depth);
        break;
    case STET_HLO_CONDITIONAL:
        walk_branches(w, op, times, depth);
        break;
    case STET_HLO_CALL:
        walk_called(w, op, "to_apply", times, fused, depth);
        break;
    case STET_HLO_ASYNC_START:
        walk_called(w, op, "calls", times, fused, depth);
        break;
    case STET_HLO_CUSTOM_CALL:
        note_kernel(w, op);
        break;
    default:
        break;
    }
}

static void walk_block(struct walk *w, const struct stet_block *b, double times, bool fused,
                       unsigned depth)
{
    for (uint32_t i = 0; i < b->op_count; i++)
        walk_op(w, b->ops[i], times, fused, depth);
}

/* ---- signatures ---- */

static uint64_t own_signature(const struct stet_footprint_instruction *i)
{
    return stet_map_text(i->opcode) * 31 + stet_map_text(i->shape);
}

/* Adds up what an instruction calls, so that the order of a computation does not matter. */
static uint64_t signature(const struct walk *w, const struct stet_op *op, unsigned depth)
{
    static const char *const attributes[] = {"calls", "to_apply"};
    uint64_t sum = 0;

    if (!w->place[op->id])
        return 0;
    for (size_t k = 0; k < 2 && depth < MOST_NESTING; k++) {
        const struct stet_block *b =
            stet_footprint_body(stet_footprint_called(w->p, op, attributes[k]));

        for (uint32_t i = 0; b && i < b->op_count; i++)
            sum += signature(w, b->ops[i], depth + 1);
    }
    sum = own_signature(&w->f->instructions[w->place[op->id] - 1]) +
          sum * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static void sign(const struct walk *w)
{
    const struct stet_block *entry = w->p->entry ? stet_footprint_body(w->p->entry) : NULL;
    const struct stet_op *end = entry && entry->op_count ? entry->ops[entry->op_count - 1] : NULL;

    for (uint32_t k = 0; k < w->p->function_count; k++) {
        const struct stet_block *b = stet_footprint_body(w->p->functions[k]);

        for (uint32_t i = 0; b && i < b->op_count; i++) {
            uint32_t place = w->place[b->ops[i]->id];

            if (place && w->f->instructions[place - 1].times > 0)
                w->f->instructions[place - 1].signature = signature(w, b->ops[i], 0);
        }
    }
    if (end && end->known == STET_HLO_RETURN && end->operand_count == 1) {
        const struct stet_op *root = stet_value_def(stet_op_operand(end, 0));

        if (root && w->place[root->id])
            w->f->root = &w->f->instructions[w->place[root->id] - 1];
    }
}

/* ---- instructions ---- */

static enum stet_rc list(struct stet_footprint *f, const struct stet_program *p, uint32_t *place,
                         struct stet_err *err)
{
    f->instructions = STET_NEW_ARRAY(&f->arena, struct stet_footprint_instruction, p->op_count + 1);
    for (uint32_t k = 0; f->instructions && k < p->function_count; k++) {
        const struct stet_block *b = stet_footprint_body(p->functions[k]);

        for (uint32_t i = 0; b && i < b->op_count; i++) {
            struct stet_footprint_instruction *at = &f->instructions[f->instruction_count];

            if (b->ops[i]->known == STET_HLO_RETURN)
                continue;
            describe(f, at, p, b->ops[i]);
            stet_map_put(&f->by_name, stet_map_text(at->name), (uint32_t)f->instruction_count);
            place[b->ops[i]->id] = (uint32_t)++f->instruction_count;
        }
    }
    return f->arena.failed || f->by_name.failed
               ? stet_fail(err, STET_NO_MEMORY, "out of memory for the instructions of a program")
               : STET_OK;
}

/* HloModuleProtoWithConfig has the module as its first field, and a module's first field is text.
 */
static struct stet_view module_of(struct stet_view bytes)
{
    struct stet_proto_fault fault = {0}, inner = {0};
    struct stet_proto_field f, g;
    struct stet_proto p, q;

    stet_proto_init(&p, bytes, &fault);
    if (!stet_proto_next(&p, &f) || f.number != 1 || f.wire != STET_PROTO_BYTES)
        return bytes;
    stet_proto_init(&q, f.bytes, &inner);
    while (stet_proto_next(&q, &g)) {
        if (g.number == 3 && g.wire == STET_PROTO_BYTES && !inner.rc)
            return f.bytes; /* computations */
    }
    return bytes;
}

/* Field numbers of HloModuleProto, HloComputationProto and HloInstructionProto. */
enum { MODULE_COMPUTATIONS = 3, COMPUTATION_INSTRUCTIONS = 2, INSTR_NAME = 1, INSTR_ID = 35 };

static void read_id(struct stet_footprint *f, struct stet_proto instruction)
{
    struct stet_proto_field g;
    struct stet_view name = {0};
    uint64_t id = 0;
    uint32_t at;

    while (stet_proto_next(&instruction, &g)) {
        if (g.number == INSTR_NAME)
            name = stet_proto_text(instruction.fault, &g);
        else if (g.number == INSTR_ID)
            id = stet_proto_uint(instruction.fault, &g);
    }
    at = name.len ? stet_map_get(&f->by_name, stet_map_text(name)) : STET_MAP_NONE;
    if (at != STET_MAP_NONE)
        stet_map_put(&f->by_id, id, at);
}

/* The assignment of buffers names instructions by number. */
static enum stet_rc read_ids(struct stet_footprint *f, struct stet_view hlo, struct stet_err *err)
{
    struct stet_proto_fault fault = {0};
    struct stet_proto_field a, b;
    struct stet_proto module, computation;

    stet_proto_init(&module, module_of(hlo), &fault);
    while (stet_proto_next(&module, &a)) {
        if (a.number != MODULE_COMPUTATIONS || a.wire != STET_PROTO_BYTES)
            continue;
        computation = stet_proto_sub(&module, &a);
        while (stet_proto_next(&computation, &b)) {
            if (b.number == COMPUTATION_INSTRUCTIONS && b.wire == STET_PROTO_BYTES)
                read_id(f, stet_proto_sub(&computation, &b));
        }
    }
    if (f->by_id.failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the instructions of a program");
    return stet_proto_finish(&fault, "optimized program", err);
}

enum stet_rc stet_footprint_read_program(struct stet_footprint *f, struct stet_view hlo,
                                         struct stet_err *err)
{
    struct stet_program p;
    uint32_t *place;
    enum stet_rc rc = stet_decode(&p, hlo, err);

    if (rc != STET_OK)
        return rc;
    place = stet_mem_calloc((size_t)p.op_count + 1, sizeof *place);
    if (!place)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for the instructions of a program");
    else if (p.source != STET_SOURCE_HLO && p.source != STET_SOURCE_HLO_TEXT)
        rc = stet_fail(err, STET_BAD_INPUT, "the optimized program is not HLO");
    if (rc == STET_OK)
        rc = list(f, &p, place, err);
    if (rc == STET_OK && p.entry && stet_footprint_body(p.entry)) {
        struct walk w = {f, &p, place};

        f->module = stet_arena_copy(&f->arena, stet_op_symbol(p.module));
        walk_block(&w, stet_footprint_body(p.entry), 1, false, 0);
        sign(&w);
        if (p.source == STET_SOURCE_HLO)
            rc = read_ids(f, hlo, err);
    }
    stet_mem_free(place);
    stet_program_release(&p);
    return rc;
}
