/* The entry points of the MLIR text reader: a whole file, or one attribute or type. */
#include "decode/mlir/mlir_text.h"

#include "program/ops.h"

void stet_mlir_init(struct mlir *p, struct stet_arena *arena, struct stet_view text,
                    struct stet_err *err)
{
    static const struct stet_loc unknown = {.kind = STET_LOC_UNKNOWN};

    *p = (struct mlir){.start = text.ptr,
                       .at = text.ptr,
                       .end = text.ptr + text.len,
                       .arena = arena,
                       .err = err,
                       .unknown = &unknown};
    stet_arena_init(&p->temporary, arena->cap);
    p->temporary.least = 512;
}

void stet_mlir_release(struct mlir *p)
{
    stet_mlir_names_release(&p->names);
    stet_decode_shared_attrs_release(&p->interned);
    stet_arena_release(&p->temporary);
    stet_buf_release(&p->scratch);
    stet_buf_release(&p->operands);
    stet_buf_release(&p->attrs);
    stet_buf_release(&p->types);
    stet_buf_release(&p->results);
    stet_buf_release(&p->bytes);
}

/* If the top level is not a single module, a module is put around it, as MLIR does. */
static struct stet_op *module_around(struct mlir *p, struct stet_op **ops, uint32_t count)
{
    struct stet_block *block = STET_NEW(p->arena, struct stet_block),
                      **blocks = STET_NEW_ARRAY(p->arena, struct stet_block *, 1);
    struct stet_region region = {blocks, 1};
    struct stet_op_parts parts = {
        .known = STET_BUILTIN_MODULE, .loc = p->unknown, .regions = &region, .region_count = 1};
    struct stet_op *module;

    if (!block || !blocks) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    block->ops = ops;
    block->op_count = count;
    blocks[0] = block;
    module = stet_build_op(p->arena, &parts);
    if (!module)
        stet_mlir_no_memory(p);
    for (uint32_t i = 0; i < count; i++)
        ops[i]->parent = block;
    return module;
}

/* A quoted or a dotted name, results, or the one operation without a dialect in its name. */
static bool begins_operation(const struct mlir *p)
{
    const char *c = p->at;

    while (c < p->end && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                          (c > p->at && *c >= '0' && *c <= '9')))
        c++;
    if (c == p->at)
        return *c == '"' || *c == '%';
    return (c < p->end && *c == '.') ||
           stet_view_is(stet_view_of(p->at, (size_t)(c - p->at)), "module");
}

static struct stet_op *file(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    struct stet_op **ops;
    uint32_t count;

    for (char c = stet_mlir_peek(p); c && mlir_ok(p); c = stet_mlir_peek(p)) {
        if (c == '#' || c == '!') {
            stet_mlir_alias_definition(p);
        } else if (stet_mlir_at(p, "{-#")) {
            stet_mlir_resources(p);
        } else if (mlir_mark(&p->scratch) == mark && !begins_operation(p)) {
            stet_mlir_fail(p, p->at, "this is neither MLIR nor HLO text");
        } else {
            struct stet_op *op = stet_mlir_operation(p);

            stet_mlir_push_pointer(p, &p->scratch, op);
        }
    }
    if (mlir_ok(p) && p->at < p->end)
        stet_mlir_fail(p, p->at, "unexpected character");
    stet_mlir_check_values(p);
    stet_mlir_check_aliases(p);
    ops = stet_mlir_pop(p, &p->scratch, mark, sizeof(*ops), &count);
    if (mlir_ok(p) && count == 0)
        stet_mlir_fail(p, p->at, "no operation in the text");
    if (!mlir_ok(p))
        return NULL;
    return count == 1 && ops[0]->known == STET_BUILTIN_MODULE ? ops[0]
                                                              : module_around(p, ops, count);
}

/* Limits expansion: three bytes of short text may become a hundred bytes of attributes. Real
 * programs stay far below. */
static size_t arena_cap(size_t length)
{
    return length > SIZE_MAX / 128 ? SIZE_MAX / 2 : length * 64 + ((size_t)1 << 20);
}

/* On the stack: what the reader itself needs for a text of a few KB. */
struct room {
    _Alignas(8) char tables[8 << 10];
    _Alignas(8) char stacks[6][512];
};

static void lend(struct mlir *p, struct room *room)
{
    struct stet_buf *const stacks[] = {&p->scratch, &p->operands, &p->attrs,
                                       &p->types,   &p->results,  &p->bytes};

    stet_arena_lend(&p->temporary, room->tables, sizeof room->tables);
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
        stet_buf_lend(stacks[i], room->stacks[i], sizeof room->stacks[i]);
}

enum stet_rc stet_decode_mlir_text(struct stet_program *out, struct stet_view text,
                                   struct stet_err *err)
{
    struct mlir p;
    struct room room;
    enum stet_rc rc;

    *out = (struct stet_program){.source = STET_SOURCE_MLIR_TEXT};
    stet_arena_init(&out->arena, arena_cap(text.len));
    out->arena.least = 512; /* most programs are small */
    if (text.len == 0)
        text = STET_VIEW("");
    stet_mlir_init(&p, &out->arena, text, err);
    lend(&p, &room);
    out->module = file(&p);
    rc = p.rc;
    out->left_out = p.left_out;
    stet_mlir_release(&p);
    return stet_build_finish(out, rc, err);
}

static void check_end(struct mlir *p)
{
    if (stet_mlir_peek(p) || p->at < p->end)
        stet_mlir_fail(p, p->at, "expected the end");
}

enum stet_rc stet_mlir_parse_attr(struct stet_arena *arena, struct stet_view text,
                                  const struct stet_attr **out, struct stet_err *err)
{
    struct mlir p;

    stet_mlir_init(&p, arena, text, err);
    *out = stet_mlir_attr(&p);
    check_end(&p);
    stet_mlir_release(&p);
    return p.rc;
}

enum stet_rc stet_mlir_parse_type(struct stet_arena *arena, struct stet_view text,
                                  const struct stet_type **out, struct stet_err *err)
{
    struct mlir p;

    stet_mlir_init(&p, arena, text, err);
    *out = stet_mlir_type(&p);
    check_end(&p);
    stet_mlir_release(&p);
    return p.rc;
}
