/* Encodes summaries as bytes: varints and counted strings in a fixed order. */
#include "lint/summary.h"

#include "base/mem.h"
#include "base/reader.h"

void lint_summary_release(struct lint_summary *s)
{
    stet_arena_release(&s->arena);
    *s = (struct lint_summary){0};
}

static void put_text(struct stet_buf *out, struct stet_view v)
{
    stet_buf_varint(out, v.len);
    stet_buf_view(out, v);
}

/* LINT_NONE becomes 0. */
static void put_index(struct stet_buf *out, uint32_t index)
{
    stet_buf_varint(out, index + 1);
}

static void put_fn(struct stet_buf *out, const struct lint_fn *f)
{
    put_text(out, f->name);
    put_index(out, f->class_index);
    stet_buf_varint(out, f->nest);
    stet_buf_varint(out, f->line);
    stet_buf_varint(out, f->first_bit);
    stet_buf_varint(out, f->param_count);
    for (uint32_t i = 0; i < f->param_count; i++)
        put_text(out, f->params[i]);
    stet_buf_varint(out, f->python_mask);
    stet_buf_varint(out, f->tensor_mask);
    stet_buf_varint(out, f->scalar_mask);
    stet_buf_varint(out,
                    (uint64_t)f->disabled | (uint64_t)f->is_method << 1 | (uint64_t)f->nested << 2);
}

static void put_call(struct stet_buf *out, const struct lint_call *c)
{
    put_index(out, c->caller);
    put_index(out, c->callee);
    put_text(out, c->target);
    put_index(out, c->class_index);
    stet_buf_varint(out, c->lanes);
    stet_buf_varint(out, c->line);
    put_text(out, c->how);
    stet_buf_varint(out, (uint64_t)c->all_tensors | (uint64_t)c->in_loop << 1);
    stet_buf_varint(out, c->static_positions);
    stet_buf_varint(out, c->static_name_count);
    for (uint32_t i = 0; i < c->static_name_count; i++)
        put_text(out, c->static_names[i]);
    stet_buf_varint(out, c->arg_count);
    for (uint32_t i = 0; i < c->arg_count; i++) {
        stet_buf_varint(out, (unsigned)(c->args[i].position + 1));
        put_text(out, c->args[i].name);
        stet_buf_varint(out, c->args[i].deps);
        stet_buf_varint(out, c->args[i].static_deps);
        stet_buf_varint(out, c->args[i].varies);
    }
}

static void put_candidate(struct stet_buf *out, const struct lint_candidate *c)
{
    stet_buf_varint(out, c->rule);
    stet_buf_varint(out, c->lanes);
    stet_buf_varint(out, c->mode);
    stet_buf_varint(out, c->fn);
    stet_buf_varint(out, c->deps);
    stet_buf_varint(out, c->line);
    stet_buf_varint(out, c->column);
    stet_buf_varint(out, c->end_line);
    stet_buf_varint(out, c->end_column);
    put_text(out, c->what);
    put_text(out, c->source);
    stet_buf_varint(out, c->edit.text.ptr != NULL);
    if (c->edit.text.ptr) {
        stet_buf_varint(out, c->edit.start);
        stet_buf_varint(out, c->edit.end);
        put_text(out, c->edit.text);
    }
}

void lint_summary_write(const struct lint_summary *s, struct stet_buf *out)
{
    put_text(out, s->module);
    stet_buf_varint(out, s->broken);
    stet_buf_varint(out, s->ignored);
    stet_buf_varint(out, s->import_count);
    for (uint32_t i = 0; i < s->import_count; i++) {
        put_text(out, s->imports[i].local);
        put_text(out, s->imports[i].target);
    }
    stet_buf_varint(out, s->class_count);
    for (uint32_t i = 0; i < s->class_count; i++) {
        put_text(out, s->classes[i].name);
        stet_buf_varint(out, s->classes[i].base_count);
        for (uint32_t b = 0; b < s->classes[i].base_count; b++)
            put_text(out, s->classes[i].bases[b]);
    }
    stet_buf_varint(out, s->fn_count);
    for (uint32_t i = 0; i < s->fn_count; i++)
        put_fn(out, &s->fns[i]);
    stet_buf_varint(out, s->call_count);
    for (uint32_t i = 0; i < s->call_count; i++)
        put_call(out, &s->calls[i]);
    stet_buf_varint(out, s->candidate_count);
    for (uint32_t i = 0; i < s->candidate_count; i++)
        put_candidate(out, &s->candidates[i]);
}

/* Texts stay in the input bytes, which the caller keeps. */
static struct stet_view get_text(struct stet_reader *r)
{
    return stet_reader_bytes(r, stet_reader_varint(r));
}

static uint32_t get_u32(struct stet_reader *r)
{
    uint64_t v = stet_reader_varint(r);

    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static uint32_t get_index(struct stet_reader *r)
{
    return get_u32(r) - 1; /* 0 is LINT_NONE */
}

/* A list longer than the remaining bytes is invalid. */
static uint32_t get_count(struct stet_reader *r)
{
    uint64_t v = stet_reader_varint(r);

    if (v > stet_reader_left(r)) {
        stet_reader_fail(r, "a list longer than the bytes");
        return 0;
    }
    return (uint32_t)v;
}

static struct stet_view *get_texts(struct lint_summary *s, struct stet_reader *r, uint32_t *count)
{
    struct stet_view *texts;

    *count = get_count(r);
    texts = STET_NEW_ARRAY(&s->arena, struct stet_view, *count + 1);
    for (uint32_t i = 0; texts && i < *count; i++)
        texts[i] = get_text(r);
    return texts;
}

static void get_fn(struct lint_summary *s, struct stet_reader *r, struct lint_fn *f)
{
    uint64_t bits;

    f->name = get_text(r);
    f->class_index = get_index(r);
    f->nest = get_u32(r);
    f->line = get_u32(r);
    f->first_bit = get_u32(r);
    f->params = get_texts(s, r, &f->param_count);
    f->python_mask = stet_reader_varint(r);
    f->tensor_mask = stet_reader_varint(r);
    f->scalar_mask = stet_reader_varint(r);
    bits = stet_reader_varint(r);
    f->disabled = bits & 1;
    f->is_method = bits & 2;
    f->nested = bits & 4;
}

static void get_call(struct lint_summary *s, struct stet_reader *r, struct lint_call *c)
{
    uint32_t bits;

    c->caller = get_index(r);
    c->callee = get_index(r);
    c->target = get_text(r);
    c->class_index = get_index(r);
    c->lanes = (uint8_t)get_u32(r);
    c->line = get_u32(r);
    c->how = get_text(r);
    bits = get_u32(r);
    c->all_tensors = bits & 1;
    c->in_loop = bits & 2;
    c->static_positions = stet_reader_varint(r);
    c->static_names = get_texts(s, r, &c->static_name_count);
    c->arg_count = get_count(r);
    c->args = STET_NEW_ARRAY(&s->arena, struct lint_arg, c->arg_count + 1);
    for (uint32_t i = 0; c->args && i < c->arg_count; i++) {
        c->args[i].position = (int32_t)get_u32(r) - 1;
        c->args[i].name = get_text(r);
        c->args[i].deps = stet_reader_varint(r);
        c->args[i].static_deps = stet_reader_varint(r);
        c->args[i].varies = get_u32(r) != 0;
    }
}

static void get_candidate(struct stet_reader *r, struct lint_candidate *c)
{
    c->rule = (uint16_t)get_u32(r);
    c->lanes = (uint8_t)get_u32(r);
    c->mode = (uint8_t)get_u32(r);
    c->fn = get_u32(r);
    c->deps = stet_reader_varint(r);
    c->line = get_u32(r);
    c->column = get_u32(r);
    c->end_line = get_u32(r);
    c->end_column = get_u32(r);
    c->what = get_text(r);
    c->source = get_text(r);
    if (get_u32(r)) {
        c->edit.start = get_u32(r);
        c->edit.end = get_u32(r);
        c->edit.text = get_text(r);
        if (!c->edit.text.ptr)
            c->edit.text.ptr = "";
    }
}

/* Indices inside the lists they point into. */
static bool sound(const struct lint_summary *s, unsigned rules)
{
    for (uint32_t i = 0; i < s->fn_count; i++) {
        if (s->fns[i].nest >= s->fn_count ||
            (s->fns[i].class_index != LINT_NONE && s->fns[i].class_index >= s->class_count))
            return false;
    }
    for (uint32_t i = 0; i < s->call_count; i++) {
        const struct lint_call *c = &s->calls[i];

        if ((c->caller != LINT_NONE && c->caller >= s->fn_count) ||
            (c->callee != LINT_NONE && c->callee >= s->fn_count) ||
            (c->class_index != LINT_NONE && c->class_index >= s->class_count))
            return false;
    }
    for (uint32_t i = 0; i < s->candidate_count; i++) {
        if (s->candidates[i].fn >= s->fn_count || s->candidates[i].rule >= rules)
            return false;
    }
    return true;
}

enum stet_rc lint_summary_read(struct lint_summary *s, struct stet_view bytes, unsigned rules,
                               struct stet_err *err)
{
    struct stet_reader r;

    *s = (struct lint_summary){0};
    stet_arena_init(&s->arena, (size_t)256 << 20);
    stet_reader_init(&r, bytes, 0);
    s->module = get_text(&r);
    s->broken = get_u32(&r) != 0;
    s->ignored = stet_reader_varint(&r);
    s->import_count = get_count(&r);
    s->imports = STET_NEW_ARRAY(&s->arena, struct lint_import, s->import_count + 1);
    for (uint32_t i = 0; s->imports && i < s->import_count; i++) {
        s->imports[i].local = get_text(&r);
        s->imports[i].target = get_text(&r);
    }
    s->class_count = get_count(&r);
    s->classes = STET_NEW_ARRAY(&s->arena, struct lint_class, s->class_count + 1);
    for (uint32_t i = 0; s->classes && i < s->class_count; i++) {
        s->classes[i].name = get_text(&r);
        s->classes[i].bases = get_texts(s, &r, &s->classes[i].base_count);
    }
    s->fn_count = get_count(&r);
    s->fns = STET_NEW_ARRAY(&s->arena, struct lint_fn, s->fn_count + 1);
    for (uint32_t i = 0; s->fns && i < s->fn_count; i++)
        get_fn(s, &r, &s->fns[i]);
    s->call_count = get_count(&r);
    s->calls = STET_NEW_ARRAY(&s->arena, struct lint_call, s->call_count + 1);
    for (uint32_t i = 0; s->calls && i < s->call_count; i++)
        get_call(s, &r, &s->calls[i]);
    s->candidate_count = get_count(&r);
    s->candidates = STET_NEW_ARRAY(&s->arena, struct lint_candidate, s->candidate_count + 1);
    for (uint32_t i = 0; s->candidates && i < s->candidate_count; i++)
        get_candidate(&r, &s->candidates[i]);
    if (!stet_reader_ok(&r) || s->arena.failed || stet_reader_left(&r) || !sound(s, rules)) {
        lint_summary_release(s);
        return stet_fail(err, STET_BAD_INPUT, "not a lint summary");
    }
    return STET_OK;
}
