/* Reads BufferAssignmentProto (xla/service/hlo.proto): which value has which memory, and when. */
#include "footprint/footprint.h"

#include "base/mem.h"
#include "base/vec.h"
#include "decode/proto.h"
#include "footprint/footprint_internal.h"

#include <stdlib.h>
#include <string.h>

/* Field numbers. */
enum {
    ASSIGNMENT_BUFFERS = 1,
    ASSIGNMENT_ALLOCATIONS = 3,
    ASSIGNMENT_TRACES = 4,
    BUFFER_ID = 1,
    BUFFER_SIZE = 2,
    BUFFER_DEFINED_AT = 3,
    LOCATION_SHAPE_INDEX = 3,
    LOCATION_INSTRUCTION = 4,
    ALLOCATION_INDEX = 1,
    ALLOCATION_SIZE = 2,
    ALLOCATION_THREAD_LOCAL = 3,
    ALLOCATION_PARAMETER = 5,
    ALLOCATION_LIVE_OUT = 7,
    ALLOCATION_COLOR = 8,
    ALLOCATION_ASSIGNED = 9,
    ALLOCATION_CONSTANT = 12,
    ALLOCATION_ALIASED = 13,
    ASSIGNED_BUFFER = 1,
    TRACE_EVENTS = 1,
    TRACE_ALLOCATION = 3,
    EVENT_KIND = 1,
    EVENT_BUFFER = 2,
    EVENT_SHARES_WITH = 5,
};

enum { EVENT_ALLOC = 0, EVENT_FREE = 1, EVENT_SHARE = 2 };
enum { MAIN_MEMORY = 0, HOST_MEMORY = 5 }; /* colors of XLA's layouts, S(5) */
enum { MOST_BUFFERS = 1 << 24, MOST_INDEX = 8 };

struct value {
    struct stet_footprint_value v;
    int64_t index[MOST_INDEX]; /* in the instruction's tuple */
    uint32_t depth;
    uint64_t owner; /* of the memory that it shares; 0: it has its own */
};

struct allocation {
    uint64_t number, size, color;
    bool in_thread, parameter, live_out, constant, aliased;
};

struct reading {
    struct stet_footprint *f;
    struct stet_proto_fault fault;
    STET_VEC(struct value) values;
    struct stet_map by_id;
    uint64_t largest; /* the largest allocation for temporaries, and its number */
    uint64_t number;
    size_t allocations;
};

static bool is_temporary(const struct allocation *a)
{
    return !a->parameter && !a->live_out && !a->in_thread && !a->constant &&
           a->color == MAIN_MEMORY;
}

/* ---- values ---- */

static void read_location(struct reading *r, struct stet_proto p, struct value *v)
{
    struct stet_arena scratch;
    struct stet_ints index = {0};
    struct stet_proto_field f;

    stet_arena_init(&scratch, 1 << 16);
    while (stet_proto_next(&p, &f)) {
        if (f.number == LOCATION_INSTRUCTION)
            v->v.instruction = stet_proto_uint(&r->fault, &f);
        else if (f.number == LOCATION_SHAPE_INDEX)
            stet_proto_ints(&r->fault, &f, &scratch, &index);
    }
    for (uint32_t i = 0; i < index.count && i < MOST_INDEX; i++)
        v->index[v->depth++] = index.at[i];
    stet_arena_release(&scratch);
}

static void read_value(struct reading *r, struct stet_proto p)
{
    struct value v = {0};
    struct stet_proto_field f;

    while (stet_proto_next(&p, &f)) {
        if (f.number == BUFFER_ID)
            v.v.id = stet_proto_uint(&r->fault, &f);
        else if (f.number == BUFFER_SIZE)
            v.v.size = stet_proto_uint(&r->fault, &f);
        else if (f.number == BUFFER_DEFINED_AT)
            read_location(r, stet_proto_sub(&p, &f), &v);
    }
    stet_map_put(&r->by_id, v.v.id, (uint32_t)r->values.count);
    STET_VEC_PUSH(&r->values, v);
}

static struct value *value_of(struct reading *r, uint64_t id)
{
    uint32_t at = stet_map_get(&r->by_id, id);

    return at == STET_MAP_NONE ? NULL : &r->values.items[at];
}

/* ---- allocations ---- */

static struct allocation read_allocation(struct stet_proto p)
{
    struct allocation a = {0};
    struct stet_proto_field f;

    while (stet_proto_next(&p, &f)) {
        if (f.wire != STET_PROTO_VARINT)
            continue;
        switch (f.number) {
        case ALLOCATION_INDEX:
            a.number = f.value;
            break;
        case ALLOCATION_SIZE:
            a.size = f.value;
            break;
        case ALLOCATION_COLOR:
            a.color = f.value;
            break;
        case ALLOCATION_THREAD_LOCAL:
            a.in_thread = f.value;
            break;
        case ALLOCATION_PARAMETER:
            a.parameter = f.value;
            break;
        case ALLOCATION_LIVE_OUT:
            a.live_out = f.value;
            break;
        case ALLOCATION_CONSTANT:
            a.constant = f.value;
            break;
        case ALLOCATION_ALIASED:
            a.aliased = f.value;
            break;
        default:
            break;
        }
    }
    return a;
}

/* As XLA fills the statistics of a compiled program. */
static void count(struct stet_footprint_memory *m, const struct allocation *a)
{
    if (a->color == HOST_MEMORY && !a->in_thread) {
        stet_footprint_add(&m->host, a->size);
        return;
    }
    if (a->color != MAIN_MEMORY)
        return;
    if (a->parameter) {
        stet_footprint_add(&m->arguments, a->size);
        if (a->aliased || a->live_out)
            stet_footprint_add(&m->aliased, a->size);
    }
    if (a->live_out)
        stet_footprint_add(&m->outputs, a->size);
    if (is_temporary(a))
        stet_footprint_add(&m->temporaries, a->size);
}

static void mark_temporaries(struct reading *r, struct stet_proto p)
{
    struct stet_proto_field f, g;

    while (stet_proto_next(&p, &f)) {
        struct stet_proto assigned;

        if (f.number != ALLOCATION_ASSIGNED)
            continue;
        assigned = stet_proto_sub(&p, &f);
        while (stet_proto_next(&assigned, &g)) {
            struct value *v =
                g.number == ASSIGNED_BUFFER ? value_of(r, stet_proto_uint(&r->fault, &g)) : NULL;

            if (v)
                v->v.temporary = true;
        }
    }
}

static void take_allocation(struct reading *r, struct stet_proto p)
{
    struct stet_proto again = p;
    struct allocation a = read_allocation(p);

    r->allocations++;
    count(&r->f->memory, &a);
    if (!is_temporary(&a))
        return;
    mark_temporaries(r, again);
    if (a.size > r->largest) {
        r->largest = a.size;
        r->number = a.number;
    }
}

/* ---- when they are in use ---- */

/* Values that share memory count once; `uses` is kept at the one that owns it. */
static void take_event(struct reading *r, struct stet_proto p, uint64_t *now)
{
    uint64_t kind = EVENT_ALLOC, id = 0, with = 0;
    struct stet_proto_field f;
    struct value *v;

    while (stet_proto_next(&p, &f)) {
        if (f.number == EVENT_KIND)
            kind = stet_proto_uint(&r->fault, &f);
        else if (f.number == EVENT_BUFFER)
            id = stet_proto_uint(&r->fault, &f);
        else if (f.number == EVENT_SHARES_WITH)
            with = stet_proto_uint(&r->fault, &f);
    }
    v = value_of(r, id);
    if (v && kind == EVENT_SHARE)
        v->owner = with;
    if (v && v->owner)
        v = value_of(r, v->owner);
    if (!v)
        return;
    if (kind == EVENT_FREE) {
        if (v->v.uses == 1)
            *now -= v->v.size;
        v->v.uses -= v->v.uses != 0;
        return;
    }
    if (v->v.uses == 0)
        *now += v->v.size;
    v->v.uses++;
}

/* Runs through the events; stops after event `until`. Returns the number of the event at which most
 * is in use. */
static size_t replay(struct reading *r, struct stet_proto trace, size_t until, uint64_t *peak)
{
    struct stet_proto_field f;
    uint64_t now = 0;
    size_t n = 0, at = 0;

    *peak = 0;
    for (size_t i = 0; i < r->values.count; i++)
        r->values.items[i].v.uses = 0, r->values.items[i].owner = 0;
    while (n < until && stet_proto_next(&trace, &f)) {
        if (f.number != TRACE_EVENTS)
            continue;
        take_event(r, stet_proto_sub(&trace, &f), &now);
        n++;
        if (now > *peak) {
            *peak = now;
            at = n;
        }
    }
    return at;
}

static bool is_of(struct reading *r, struct stet_proto trace, uint64_t number)
{
    struct stet_proto_field f;
    uint64_t allocation = 0;

    while (stet_proto_next(&trace, &f)) {
        if (f.number == TRACE_ALLOCATION)
            allocation = stet_proto_uint(&r->fault, &f);
    }
    return allocation == number;
}

static void take_trace(struct reading *r, struct stet_proto trace)
{
    uint64_t peak, again;
    size_t at;

    if (!r->largest || !is_of(r, trace, r->number))
        return;
    at = replay(r, trace, SIZE_MAX, &peak);
    replay(r, trace, at, &again);
    r->f->peak = peak;
    r->f->timed = true;
}

/* ---- the list ---- */

/* Member `index` of a printed tuple: "(f32[2], (s32[], u32[]))". */
static struct stet_view tuple_member(struct stet_view text, int64_t index)
{
    int depth = 0;
    size_t from = 1;

    if (!text.len || text.ptr[0] != '(')
        return text;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        depth += c == '(' || c == '[' || c == '{';
        if (depth == 1 && (c == ',' || i + 1 == text.len)) {
            if (index-- == 0)
                return stet_view_of(text.ptr + from, i - from);
            from = i + 1 + (i + 1 < text.len && text.ptr[i + 1] == ' ');
        }
        depth -= c == ')' || c == ']' || c == '}';
    }
    return text;
}

static const struct stet_footprint_instruction *instruction_of(const struct stet_footprint *f,
                                                               const struct stet_footprint_value *v)
{
    uint32_t at = v->name.len ? stet_map_get(&f->by_name, stet_map_text(v->name))
                              : stet_map_get(&f->by_id, v->instruction);

    return at == STET_MAP_NONE ? NULL : &f->instructions[at];
}

static int larger_first(const void *a, const void *b)
{
    const struct stet_footprint_value *x = *(const struct stet_footprint_value *const *)a;
    const struct stet_footprint_value *y = *(const struct stet_footprint_value *const *)b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

enum stet_rc stet_footprint_keep_buffers(struct stet_footprint *f,
                                         const struct stet_footprint_value **live, size_t count,
                                         struct stet_err *err)
{
    if (count)
        qsort(live, count, sizeof *live, larger_first);
    f->buffers = STET_NEW_ARRAY(&f->arena, struct stet_footprint_buffer, count + 1);
    if (!f->buffers)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the buffers of a program");
    for (size_t i = 0; i < count; i++) {
        const struct stet_footprint_instruction *by = instruction_of(f, live[i]);

        f->buffers[f->buffer_count++] = (struct stet_footprint_buffer){
            .made_by = by, .shape = by ? by->shape : (struct stet_view){0}, .size = live[i]->size};
    }
    f->assigned = true;
    return STET_OK;
}

static enum stet_rc keep(struct reading *r, struct stet_err *err)
{
    const struct stet_footprint_value **live =
        stet_mem_calloc(r->values.count + 1, sizeof(struct stet_footprint_value *));
    size_t n = 0;
    enum stet_rc rc;

    if (!live)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the buffers of a program");
    for (size_t i = 0; i < r->values.count; i++) {
        const struct stet_footprint_value *v = &r->values.items[i].v;

        if (v->temporary && (v->uses || !r->f->timed))
            live[n++] = v;
    }
    rc = stet_footprint_keep_buffers(r->f, live, n, err);
    for (size_t i = 0; rc == STET_OK && i < n; i++) {
        const struct value *v = (const struct value *)live[i];

        for (uint32_t d = 0; d < v->depth; d++)
            r->f->buffers[i].shape = tuple_member(r->f->buffers[i].shape, v->index[d]);
    }
    stet_mem_free(live);
    return rc;
}

static void each(struct reading *r, struct stet_view bytes, uint32_t number,
                 void (*take)(struct reading *r, struct stet_proto p))
{
    struct stet_proto_field f;
    struct stet_proto p;

    stet_proto_init(&p, bytes, &r->fault);
    while (stet_proto_next(&p, &f)) {
        if (f.number == number)
            take(r, stet_proto_sub(&p, &f));
    }
}

enum stet_rc stet_footprint_read_assignment(struct stet_footprint *f, struct stet_view bytes,
                                            struct stet_err *err)
{
    struct reading r = {.f = f, .values = {.cap = MOST_BUFFERS}};
    enum stet_rc rc;

    f->memory = (struct stet_footprint_memory){.code = f->memory.code};
    each(&r, bytes, ASSIGNMENT_BUFFERS, read_value);
    each(&r, bytes, ASSIGNMENT_ALLOCATIONS, take_allocation);
    each(&r, bytes, ASSIGNMENT_TRACES, take_trace);
    rc = r.values.failed || r.by_id.failed
             ? stet_fail(err, STET_NO_MEMORY, "out of memory for the buffers of a program")
             : stet_proto_finish(&r.fault, "assignment of buffers", err);
    if (rc == STET_OK && !r.allocations)
        rc = stet_fail(err, STET_BAD_INPUT, "the assignment of buffers lists no allocations");
    if (rc == STET_OK)
        rc = keep(&r, err);
    STET_VEC_RELEASE(&r.values);
    stet_map_release(&r.by_id);
    return rc;
}
