/* Encodes summaries as bytes: varints and counted strings in a fixed order. */
#include "flow/summary.h"

#include "base/mem.h"

bool stet_flow_summary_empty(struct stet_flow_summary *s)
{
    *s = (struct stet_flow_summary){.fn_count = 1};
    stet_arena_init(&s->arena, (size_t)16 << 20);
    s->fns = STET_NEW(&s->arena, struct stet_flow_fn);
    if (!s->fns)
        return false;
    s->fns->class_index = FLOW_NONE;
    return true;
}

void stet_flow_summary_release(struct stet_flow_summary *s)
{
    stet_arena_release(&s->arena);
    *s = (struct stet_flow_summary){0};
}

/* FLOW_NONE becomes 0. */
static void put_index(struct stet_buf *out, uint32_t index)
{
    stet_buf_varint(out, index + 1);
}

static void put_fn(struct stet_buf *out, const struct stet_flow_fn *f)
{
    stet_buf_text(out, f->name);
    put_index(out, f->class_index);
    stet_buf_varint(out, f->nest);
    stet_buf_varint(out, f->line);
    stet_buf_varint(out, f->first_bit);
    stet_buf_varint(out, f->param_count);
    for (uint32_t i = 0; i < f->param_count; i++)
        stet_buf_text(out, f->params[i]);
    stet_buf_varint(out, f->positional);
    for (uint32_t i = 0; i < f->param_count; i++)
        stet_buf_text(out, f->types[i]);
    stet_buf_varint(out, f->python_mask);
    stet_buf_varint(out, f->tensor_mask);
    stet_buf_varint(out, f->scalar_mask);
    stet_buf_varint(out, f->number_mask);
    stet_buf_varint(out, (uint64_t)f->disabled | (uint64_t)f->is_method << 1 |
                             (uint64_t)f->nested << 2 | (uint64_t)f->asks_compiling << 3 |
                             (uint64_t)f->denies_compiling << 4 | (uint64_t)f->compiled << 5);
}

static void put_call(struct stet_buf *out, const struct stet_flow_call *c)
{
    put_index(out, c->caller);
    put_index(out, c->callee);
    stet_buf_text(out, c->target);
    put_index(out, c->class_index);
    stet_buf_varint(out, c->guard);
    stet_buf_varint(out, c->lanes);
    stet_buf_varint(out, c->line);
    stet_buf_text(out, c->how);
    stet_buf_varint(out, (uint64_t)c->all_tensors | (uint64_t)c->in_loop << 1 |
                             (uint64_t)c->compiled << 2 | (uint64_t)c->spreads << 3);
    stet_buf_varint(out, c->asked);
    stet_buf_varint(out, c->static_positions);
    stet_buf_varint(out, c->static_name_count);
    for (uint32_t i = 0; i < c->static_name_count; i++)
        stet_buf_text(out, c->static_names[i]);
    stet_buf_varint(out, c->arg_count);
    for (uint32_t i = 0; i < c->arg_count; i++) {
        stet_buf_varint(out, (unsigned)(c->args[i].position + 1));
        stet_buf_text(out, c->args[i].name);
        stet_buf_varint(out, c->args[i].deps);
        stet_buf_varint(out, c->args[i].static_deps);
        stet_buf_varint(out, (uint64_t)c->args[i].varies | (uint64_t)c->args[i].guess << 1 |
                                 (uint64_t)c->args[i].nothing << 2);
    }
}

void stet_flow_summary_write(const struct stet_flow_summary *s, struct stet_buf *out)
{
    stet_buf_text(out, s->module);
    stet_buf_varint(out, s->broken);
    stet_buf_varint(out, s->import_count);
    for (uint32_t i = 0; i < s->import_count; i++) {
        stet_buf_text(out, s->imports[i].local);
        stet_buf_text(out, s->imports[i].target);
    }
    stet_buf_varint(out, s->class_count);
    for (uint32_t i = 0; i < s->class_count; i++) {
        stet_buf_text(out, s->classes[i].name);
        stet_buf_varint(out, s->classes[i].base_count);
        for (uint32_t b = 0; b < s->classes[i].base_count; b++)
            stet_buf_text(out, s->classes[i].bases[b]);
        stet_buf_varint(out, s->classes[i].is_plain);
    }
    stet_buf_varint(out, s->guard_count);
    for (uint32_t i = 0; i < s->guard_count; i++)
        stet_buf_text(out, s->guards[i]);
    stet_buf_varint(out, s->fn_count);
    for (uint32_t i = 0; i < s->fn_count; i++)
        put_fn(out, &s->fns[i]);
    stet_buf_varint(out, s->call_count);
    for (uint32_t i = 0; i < s->call_count; i++)
        put_call(out, &s->calls[i]);
}

static uint32_t get_index(struct stet_reader *r)
{
    return stet_reader_small(r) - 1; /* 0 is FLOW_NONE */
}

static struct stet_view *get_texts(struct stet_flow_summary *s, struct stet_reader *r,
                                   uint32_t *count)
{
    struct stet_view *texts;

    *count = stet_reader_count(r);
    texts = STET_NEW_ARRAY(&s->arena, struct stet_view, *count + 1);
    for (uint32_t i = 0; texts && i < *count; i++)
        texts[i] = stet_reader_text(r);
    return texts;
}

static void get_fn(struct stet_flow_summary *s, struct stet_reader *r, struct stet_flow_fn *f)
{
    uint64_t bits;

    f->name = stet_reader_text(r);
    f->class_index = get_index(r);
    f->nest = stet_reader_small(r);
    f->line = stet_reader_small(r);
    f->first_bit = stet_reader_small(r);
    f->params = get_texts(s, r, &f->param_count);
    f->positional = stet_reader_small(r);
    f->types = STET_NEW_ARRAY(&s->arena, struct stet_view, f->param_count + 1);
    for (uint32_t i = 0; f->types && i < f->param_count; i++)
        f->types[i] = stet_reader_text(r);
    f->python_mask = stet_reader_varint(r);
    f->tensor_mask = stet_reader_varint(r);
    f->scalar_mask = stet_reader_varint(r);
    f->number_mask = stet_reader_varint(r);
    bits = stet_reader_varint(r);
    f->disabled = bits & 1;
    f->is_method = bits & 2;
    f->nested = bits & 4;
    f->asks_compiling = bits & 8;
    f->denies_compiling = bits & 16;
    f->compiled = bits & 32;
}

static void get_call(struct stet_flow_summary *s, struct stet_reader *r, struct stet_flow_call *c)
{
    uint32_t bits;

    c->caller = get_index(r);
    c->callee = get_index(r);
    c->target = stet_reader_text(r);
    c->class_index = get_index(r);
    c->guard = stet_reader_small(r);
    c->lanes = (uint8_t)stet_reader_small(r);
    c->line = stet_reader_small(r);
    c->how = stet_reader_text(r);
    bits = stet_reader_small(r);
    c->all_tensors = bits & 1;
    c->in_loop = bits & 2;
    c->compiled = bits & 4;
    c->spreads = bits & 8;
    c->asked = stet_reader_varint(r);
    c->static_positions = stet_reader_varint(r);
    c->static_names = get_texts(s, r, &c->static_name_count);
    c->arg_count = stet_reader_count(r);
    c->args = STET_NEW_ARRAY(&s->arena, struct stet_flow_arg, c->arg_count + 1);
    for (uint32_t i = 0; c->args && i < c->arg_count; i++) {
        c->args[i].position = (int32_t)stet_reader_small(r) - 1;
        c->args[i].name = stet_reader_text(r);
        c->args[i].deps = stet_reader_varint(r);
        c->args[i].static_deps = stet_reader_varint(r);
        bits = stet_reader_small(r);
        c->args[i].varies = bits & 1;
        c->args[i].guess = bits & 2;
        c->args[i].nothing = bits & 4;
    }
}

/* Indices inside the lists they point into. */
static bool sound(const struct stet_flow_summary *s)
{
    for (uint32_t i = 0; i < s->fn_count; i++) {
        if (s->fns[i].nest >= s->fn_count ||
            (s->fns[i].class_index != FLOW_NONE && s->fns[i].class_index >= s->class_count))
            return false;
    }
    for (uint32_t i = 0; i < s->call_count; i++) {
        const struct stet_flow_call *c = &s->calls[i];

        if ((c->caller != FLOW_NONE && c->caller >= s->fn_count) ||
            (c->callee != FLOW_NONE && c->callee >= s->fn_count) ||
            (c->class_index != FLOW_NONE && c->class_index >= s->class_count) ||
            c->guard > s->guard_count)
            return false;
    }
    return true;
}

void stet_flow_summary_read(struct stet_flow_summary *s, struct stet_reader *r)
{
    *s = (struct stet_flow_summary){0};
    stet_arena_init(&s->arena, (size_t)256 << 20);
    s->module = stet_reader_text(r);
    s->broken = stet_reader_small(r) != 0;
    s->import_count = stet_reader_count(r);
    s->imports = STET_NEW_ARRAY(&s->arena, struct stet_flow_import, s->import_count + 1);
    for (uint32_t i = 0; s->imports && i < s->import_count; i++) {
        s->imports[i].local = stet_reader_text(r);
        s->imports[i].target = stet_reader_text(r);
    }
    s->class_count = stet_reader_count(r);
    s->classes = STET_NEW_ARRAY(&s->arena, struct stet_flow_class, s->class_count + 1);
    for (uint32_t i = 0; s->classes && i < s->class_count; i++) {
        s->classes[i].name = stet_reader_text(r);
        s->classes[i].bases = get_texts(s, r, &s->classes[i].base_count);
        s->classes[i].is_plain = stet_reader_small(r) != 0;
    }
    s->guards = get_texts(s, r, &s->guard_count);
    s->fn_count = stet_reader_count(r);
    s->fns = STET_NEW_ARRAY(&s->arena, struct stet_flow_fn, s->fn_count + 1);
    for (uint32_t i = 0; s->fns && i < s->fn_count; i++)
        get_fn(s, r, &s->fns[i]);
    s->call_count = stet_reader_count(r);
    s->calls = STET_NEW_ARRAY(&s->arena, struct stet_flow_call, s->call_count + 1);
    for (uint32_t i = 0; s->calls && i < s->call_count; i++)
        get_call(s, r, &s->calls[i]);
    if (s->arena.failed || !s->fns || !s->calls || !sound(s))
        stet_reader_fail(r, "an index outside of its list");
}
