/* Fills the tables in a few passes over the program. */
#include "explain/side.h"

#include "base/mem.h"
#include "program/defaults.h"

static uint64_t hash_view(struct stet_view v)
{
    return stet_hash_bytes(v).lo;
}

bool stet_side_counts(struct stet_side *s, const struct stet_op *op)
{
    return stet_canon_kind(&s->canon, op) == STET_KIND_PLAIN;
}

const struct stet_op *stet_side_callee(struct stet_side *s, const struct stet_op *op)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr *a = op->attrs[i].value;

        if (a->kind == STET_ATTR_ARRAY && a->count && a->items[0]->kind == STET_ATTR_SYMBOL)
            a = a->items[0];
        if (a->kind == STET_ATTR_SYMBOL) {
            const struct stet_op *f = stet_canon_symbol(&s->canon, stet_attr_text(a), NULL);

            if (f && f->region_count)
                return f;
        }
    }
    return NULL;
}

/* ---- signatures ---- */

enum { ROOTS = 32 };

struct hashing {
    struct stet_side *side;
    struct stet_sink sink;
    uint64_t *functions; /* by operation id: signature of a function's body, 0 for not yet */
    unsigned depth;
    uint64_t roots[ROOTS];
    unsigned root_count;
    bool numbered; /* HLO: every operation's location begins with its own name */
};

static uint64_t digest(struct stet_sink *s)
{
    uint64_t h = stet_sink_digest(s).lo;

    stet_sink_init(s, NULL);
    return h;
}

static uint64_t frame_of(const struct stet_loc *file)
{
    return stet_mix(stet_mix(hash_view(file->text), file->line), file->column);
}

/* The frames of the call that traced the program: every location ends in them, and they differ if
 * the same function is called from two places. */
static void note_roots(struct hashing *h, const struct stet_loc *loc, unsigned depth)
{
    if (!loc || depth > 32 || h->root_count == ROOTS)
        return;
    if (loc->kind == STET_LOC_FILE)
        h->roots[h->root_count++] = frame_of(loc);
    for (uint32_t i = 0; i < loc->count && i < ROOTS; i++)
        note_roots(h, loc->parts[i], depth + 1);
}

static void find_roots(struct hashing *h)
{
    const struct stet_op *entry = h->side->program->entry;
    const struct stet_block *body;

    if (!entry || !entry->region_count || !stet_op_region(entry, 0)->block_count)
        return;
    body = stet_op_region(entry, 0)->blocks[0];
    if (body->op_count) /* a return is not in the source: it has the place of the call */
        note_roots(h, body->ops[body->op_count - 1]->loc, 0);
}

static bool is_root(const struct hashing *h, const struct stet_loc *file)
{
    uint64_t frame = h->root_count ? frame_of(file) : 0;

    for (unsigned i = 0; i < h->root_count; i++)
        if (h->roots[i] == frame)
            return true;
    return false;
}

/* Names around the innermost file, columns, callers: what stays the same when lines are inserted
 * above. */
static uint64_t place_of(const struct hashing *h, const struct stet_loc *loc, unsigned depth)
{
    const struct stet_loc *file;
    uint64_t place = 1;

    if (!loc || depth > 32)
        return 0;
    switch (loc->kind) {
    case STET_LOC_FILE:
        return is_root(h, loc)
                   ? 0
                   : stet_mix(1, (uint64_t)loc->column << 32 | stet_loc_end(loc).column);
    case STET_LOC_NAME:
        file = loc->count && loc->parts[0]->kind == STET_LOC_FILE ? loc->parts[0] : NULL;
        if (file && depth && is_root(h, file))
            return 0;
        place = loc->count ? place_of(h, loc->parts[0], depth + 1) : 0;
        if (!depth && h->numbered) /* "neg.3" is a name and a number */
            return place;
        return stet_mix(hash_view(loc->text), place);
    case STET_LOC_CALLSITE:
    case STET_LOC_FUSED:
        for (uint32_t i = 0; i < loc->count && i < 16; i++) {
            uint64_t part = place_of(h, loc->parts[i], depth + 1);

            place = part ? stet_mix(place, part) : place;
        }
        return place;
    default:
        return 0;
    }
}

static uint64_t line_of(const struct hashing *h, const struct stet_loc *loc)
{
    const struct stet_loc *file = stet_loc_file(loc);
    struct stet_view name;

    if (!file || is_root(h, file))
        return 0;
    name = file->text;
    for (size_t i = name.len; i > 0; i--)
        if (name.ptr[i - 1] == '/') {
            name = stet_view_of(name.ptr + i, name.len - i);
            break;
        }
    return stet_mix(hash_view(name), file->line) | 1;
}

static uint64_t body_signature(struct hashing *h, const struct stet_op *op);

static bool is_call(const struct stet_attr *a)
{
    return a->kind == STET_ATTR_SYMBOL ||
           (a->kind == STET_ATTR_ARRAY && a->count && a->items[0]->kind == STET_ATTR_SYMBOL);
}

static uint64_t own_signature(struct hashing *h, const struct stet_op *op)
{
    stet_sink_view(&h->sink, stet_op_portable_name(op));
    stet_sink_varint(&h->sink, op->result_count);
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_named_attr *n = &op->attrs[i];

        if (is_call(n->value) || stet_canon_silent(op, n))
            continue;
        if (stet_canon_attr(&h->side->canon, n) != STET_CLASS_SKELETON)
            continue;
        stet_sink_view(&h->sink, n->name);
        stet_content_attr(&h->sink, n->value, NULL);
    }
    return digest(&h->sink);
}

/* Everything about the operation that is not its operands' origin. */
static uint64_t own_content(struct hashing *h, const struct stet_op *op)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_named_attr *n = &op->attrs[i];
        enum stet_attr_class class = stet_canon_attr(&h->side->canon, n);

        if (is_call(n->value) || stet_canon_silent(op, n) || class == STET_CLASS_NAMES ||
            class == STET_CLASS_KEY)
            continue;
        stet_sink_view(&h->sink, n->name);
        stet_content_attr(&h->sink, n->value, NULL);
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        stet_content_type(&h->sink, op->results[i].type);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_canon_source(&h->side->canon, stet_op_operand(op, i));

        if (!stet_value_def(v) ||
            stet_canon_kind(&h->side->canon, stet_value_def(v)) != STET_KIND_CONSTANT)
            continue;
        stet_sink_varint(&h->sink, i);
        stet_content_attr(&h->sink, stet_op_attr(stet_value_def(v), "value"), NULL);
    }
    return digest(&h->sink);
}

static uint64_t sign(struct hashing *h, const struct stet_op *op)
{
    struct stet_side *s = h->side;
    uint64_t own = own_signature(h, op), signature = stet_mix(own, body_signature(h, op));
    uint64_t where = place_of(h, op->loc, 0);

    s->own[op->id] = own;
    s->spot[op->id] = stet_mix(own, where);
    s->signature[op->id] = signature;
    s->place[op->id] = stet_mix(signature, where);
    s->line[op->id] = line_of(h, op->loc);
    s->exact[op->id] = stet_mix(s->place[op->id], own_content(h, op));
    return signature;
}

static uint64_t function_signature(struct hashing *h, const struct stet_op *f)
{
    if (!h->functions[f->id]) {
        h->functions[f->id] = 1; /* recursion, which is hostile here, ends at this mark */
        h->functions[f->id] = body_signature(h, f) | 2;
    }
    return h->functions[f->id];
}

/* Signatures of what is inside, in order; of the callee for a call. */
static uint64_t body_signature(struct hashing *h, const struct stet_op *op)
{
    const struct stet_op *callee = stet_side_callee(h->side, op);
    uint64_t body = 7;

    if (h->depth > STET_MAX_DEPTH)
        return body;
    h->depth++;
    if (callee)
        body = stet_mix(body, function_signature(h, callee));
    for (unsigned r = 0; r < op->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++) {
            const struct stet_block *block = stet_op_region(op, r)->blocks[b];

            for (uint32_t i = 0; i < block->op_count; i++)
                if (h->side->signature[block->ops[i]->id])
                    body = stet_mix(body, h->side->signature[block->ops[i]->id]);
                else if (stet_side_counts(h->side, block->ops[i]))
                    body = stet_mix(body, sign(h, block->ops[i]));
        }
    h->depth--;
    return body;
}

/* ---- tables ---- */

static bool note_op(const struct stet_op *op, void *context)
{
    struct stet_side *s = context;

    s->ops[op->id] = op;
    return true;
}

static void find_uses(struct stet_side *s)
{
    uint32_t values = s->program->value_count;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < s->program->op_count; i++) {
            const struct stet_op *op = s->ops[i];

            if (!op || !stet_side_counts(s, op))
                continue;
            for (uint32_t j = 0; j < op->operand_count; j++) {
                const struct stet_value *v = stet_canon_source(&s->canon, stet_op_operand(op, j));

                if (pass)
                    s->uses[s->use_start[v->id]++] = (struct stet_use){op, j};
                else
                    s->use_start[v->id + 1]++;
            }
        }
        for (uint32_t v = 0; !pass && v < values; v++)
            s->use_start[v + 1] += s->use_start[v];
        for (uint32_t v = values; pass && v > 0; v--)
            s->use_start[v] = s->use_start[v - 1];
        if (pass)
            s->use_start[0] = 0;
    }
}

static bool allocate(struct stet_side *s)
{
    size_t ops = (size_t)s->program->op_count + 1, values = (size_t)s->program->value_count + 2;

    s->ops = STET_NEW_ARRAY(&s->arena, const struct stet_op *, ops);
    s->match = STET_NEW_ARRAY(&s->arena, const struct stet_op *, ops);
    s->certain = STET_NEW_ARRAY(&s->arena, uint8_t, ops);
    s->value_match = STET_NEW_ARRAY(&s->arena, const struct stet_value *, values);
    if (!s->arena.failed)
        stet_program_walk(s->program, note_op, s);
    return !s->arena.failed;
}

bool stet_side_need_uses(struct stet_side *s)
{
    size_t operands = 0;

    if (s->uses)
        return true;
    for (uint32_t i = 0; i < s->program->op_count; i++)
        operands += s->ops[i] ? s->ops[i]->operand_count : 0;
    s->use_start = STET_NEW_ARRAY(&s->arena, uint32_t, (size_t)s->program->value_count + 2);
    s->uses = s->use_start ? STET_NEW_ARRAY(&s->arena, struct stet_use, operands + 1) : NULL;
    if (s->uses)
        find_uses(s);
    return s->uses != NULL;
}

static void note_first_uses(struct stet_side *s, const struct stet_op *op, uint32_t *left)
{
    const struct stet_program *p = s->program;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_canon_source(&s->canon, stet_op_operand(op, i));

        if (stet_value_def(v) || v->index >= p->argument_count || s->first_uses[v->index] ||
            p->arguments[v->index].value != v || !stet_loc_file(op->loc))
            continue;
        s->first_uses[v->index] = op;
        --*left;
    }
}

bool stet_side_need_first_uses(struct stet_side *s)
{
    uint32_t left = s->program->argument_count;

    if (s->first_uses)
        return true;
    s->first_uses = STET_NEW_ARRAY(&s->arena, const struct stet_op *, (size_t)left + 1);
    for (uint32_t i = 0; s->first_uses && left && i < s->program->op_count; i++)
        if (s->ops[i] && stet_side_counts(s, s->ops[i]))
            note_first_uses(s, s->ops[i], &left);
    return s->first_uses != NULL;
}

bool stet_side_need_signatures(struct stet_side *s)
{
    const struct stet_program *p = s->program;
    struct hashing h = {
        .side = s, .numbered = p->source == STET_SOURCE_HLO || p->source == STET_SOURCE_HLO_TEXT};
    size_t ops = (size_t)p->op_count + 1;
    uint64_t **tables[] = {&s->own, &s->spot, &s->signature, &s->place, &s->exact, &s->line};

    if (s->own)
        return true;
    h.functions = stet_mem_calloc(ops, sizeof *h.functions);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        *tables[i] = STET_NEW_ARRAY(&s->arena, uint64_t, ops);
    if (!h.functions || s->arena.failed) {
        s->own = NULL;
        stet_mem_free(h.functions);
        return false;
    }
    stet_sink_init(&h.sink, NULL);
    find_roots(&h);
    for (uint32_t i = 0; i < p->op_count; i++)
        if (s->ops[i] && !s->signature[i] && stet_side_counts(s, s->ops[i]))
            sign(&h, s->ops[i]);
    stet_mem_free(h.functions);
    return true;
}

static enum stet_rc init(struct stet_side *s, const struct stet_program *p, struct stet_err *err)
{
    enum stet_rc rc;

    *s = (struct stet_side){.program = p};
    stet_arena_init(&s->arena, SIZE_MAX / 2);
    rc = stet_canon_init(&s->canon, p, err);
    if (rc != STET_OK)
        return rc;
    if (allocate(s))
        return STET_OK;
    stet_side_release(s);
    return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
}

enum stet_rc stet_side_init(struct stet_side *s, const struct stet_program *p, struct stet_err *err)
{
    enum stet_rc rc = init(s, p, err);

    if (rc != STET_OK || (stet_side_need_signatures(s) && stet_side_need_uses(s)))
        return rc;
    stet_side_release(s);
    return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
}

enum stet_rc stet_side_prepare(struct stet_side *s, const struct stet_program *p,
                               struct stet_view options, struct stet_fingerprint *out,
                               struct stet_err *err)
{
    enum stet_rc rc = init(s, p, err);

    if (rc != STET_OK)
        return rc;
    s->order.ops = STET_NEW_ARRAY(&s->arena, const struct stet_op *, (size_t)p->op_count + 1);
    if (s->order.ops)
        rc = stet_fingerprint_of(out, &s->canon, &s->order, options, err);
    else
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
    if (rc != STET_OK)
        stet_side_release(s);
    return rc;
}

void stet_side_clear(struct stet_side *s)
{
    size_t ops = (size_t)s->program->op_count + 1, values = (size_t)s->program->value_count + 2;

    memset(s->match, 0, ops * sizeof *s->match);
    memset(s->certain, 0, ops * sizeof *s->certain);
    memset(s->value_match, 0, values * sizeof *s->value_match);
}

void stet_side_release(struct stet_side *s)
{
    stet_canon_release(&s->canon);
    stet_arena_release(&s->arena);
}
