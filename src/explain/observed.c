/* See observed.h. A frame of one compile is the frame of the other with the same function. */
#include "explain/observed.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "explain/held_list.h"

#include <stdlib.h>

enum { SLOTS = 2 * STET_HELD_LIST_MOST, GENERATORS = 8, WAITS_MOST = 12 };

struct table {
    struct stet_journal_value *items;
    uint32_t count;
    uint16_t slots[SLOTS]; /* number + 1, by frame and path */
};

struct stet_observed_values {
    struct stet_arena arena;
    struct table was, is;
};

/* Generators have numbers of their own: behind all frames. */
static uint32_t key_of(const struct stet_journal_value *v)
{
    return v->scope == STET_SCOPE_SUSPENDED ? UINT32_MAX - v->frame : v->frame;
}

static uint64_t hash_of(uint32_t frame, struct stet_view path)
{
    return stet_hash_mix_u64(stet_hash_bytes(path), frame).lo;
}

static const struct stet_journal_value *find(const struct table *t, uint32_t frame,
                                             struct stet_view path)
{
    for (uint64_t at = hash_of(frame, path);; at++) {
        uint16_t n = t->slots[at % SLOTS];

        if (!n)
            return NULL;
        if (key_of(&t->items[n - 1]) == frame && stet_view_eq(t->items[n - 1].path, path))
            return &t->items[n - 1];
    }
}

static bool fill(struct table *t, struct stet_arena *arena, struct stet_view bytes)
{
    struct stet_held_list list;

    if (!stet_held_list_read(&list, arena, bytes))
        return false;
    t->items = list.items;
    for (uint32_t i = 0; i < list.count; i++) {
        struct stet_journal_value v = list.items[i];
        uint64_t at = hash_of(key_of(&v), v.path);

        if (v.scope == STET_SCOPE_ARGUMENT || v.scope == STET_SCOPE_CALLED ||
            v.scope == STET_SCOPE_PASSED || find(t, key_of(&v), v.path))
            continue;
        while (t->slots[at % SLOTS])
            at++;
        t->items[t->count++] = v;
        t->slots[at % SLOTS] = (uint16_t)t->count;
    }
    return true;
}

static struct stet_observed_values *values_of(struct stet_observed *o)
{
    struct stet_observed_values *v;

    if (o->values || !o->was || !o->was->values.len || !o->is->values.len)
        return o->values;
    v = stet_mem_calloc(1, sizeof *v);
    if (!v)
        return NULL;
    stet_arena_init(&v->arena, (size_t)16 << 20);
    if (!fill(&v->is, &v->arena, o->is->values) || !fill(&v->was, &v->arena, o->was->values)) {
        stet_arena_release(&v->arena);
        stet_mem_free(v);
        return NULL;
    }
    return o->values = v;
}

void stet_observed_release(struct stet_observed *o)
{
    if (o->values)
        stet_arena_release(&o->values->arena);
    stet_mem_free(o->values);
    o->values = NULL;
}

/* ---- frames ---- */

/* Is it the path of what a loop or a variable holds: "frames[2]", "suspended[0]"? */
static bool is_head(struct stet_view path)
{
    return stet_view_starts(path, "frames[") || stet_view_starts(path, "suspended[");
}

static uint32_t number_in(struct stet_view path)
{
    const char *open = memchr(path.ptr, '[', path.len);

    return open ? (uint32_t)strtoul(open + 1, NULL, 10) : 0;
}

/* Where the loop or variable is that holds it: a frame, or another generator. */
static uint32_t holder_in(struct stet_view path)
{
    uint32_t number = number_in(path);

    return stet_view_starts(path, "suspended[") ? UINT32_MAX - number : number;
}

/* The hash of the name of the variable that holds it: "frames[2].loader"; 0 for a loop. */
static uint64_t variable_in(struct stet_view path)
{
    const char *dot = memchr(path.ptr, '.', path.len);

    return dot ? stet_map_text((struct stet_view){dot + 1, (size_t)(path.ptr + path.len - dot - 1)})
               : 0;
}

/* The head of a suspended generator; its path is not kept. */
struct suspended {
    struct stet_journal_value head;
    uint32_t holder;
    uint64_t variable;
};

/* The generators of a compile, by their number. */
static size_t generators_of(const struct stet_sighting *s, struct suspended out[GENERATORS])
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;
    size_t n = 0;

    stet_journal_values_open(&r, s->values);
    while (n < GENERATORS && stet_journal_values_next(&r, &v))
        if (v.scope == STET_SCOPE_SUSPENDED && v.kind == STET_VALUE_FUNCTION && is_head(v.path))
            out[n++] = (struct suspended){v, holder_in(v.path), variable_in(v.path)};
    return n;
}

/* The frame of the stack that holds a generator, + 1. */
static uint32_t holder_of(const struct stet_observed *o, const struct suspended *g)
{
    for (size_t i = 0; i < o->stack.count; i++)
        if (o->frames[i].is == g->holder)
            return (uint32_t)i + 1;
    return 0;
}

static void add_generators(struct stet_observed *o)
{
    struct suspended is[GENERATORS], was[GENERATORS];
    size_t n = generators_of(o->is, is), before = o->was ? generators_of(o->was, was) : 0;

    for (size_t i = 0; i < n && o->stack.count < STET_PYTHON_WATCHED; i++) {
        const struct stet_journal_value *now = &is[i].head, *then;
        struct stet_python_watched w = {
            .file = now->file, .line = now->line, .variable = is[i].variable};
        size_t at = o->stack.count;

        w.holder = holder_of(o, &is[i]);
        o->frames[at].is = UINT32_MAX - now->frame;
        for (size_t k = 0; k < before && !o->frames[at].both; k++) {
            then = &was[k].head;
            if (stet_view_eq(then->file, now->file) && stet_view_eq(then->text, now->text)) {
                w.before = then->line;
                o->frames[at].was = UINT32_MAX - then->frame;
                o->frames[at].both = true;
            }
        }
        o->stack.frames[o->stack.count++] = w;
    }
}

static bool is_same_function(const struct stet_frame *a, const struct stet_frame *b)
{
    return stet_view_eq(a->function, b->function) && stet_view_eq(a->file, b->file);
}

/* Adds a frame that waits, with the frame of the same function at the compile before. */
static void add_waiting(struct stet_observed *o, size_t number)
{
    const struct stet_frame *line = &o->is->lines.items[number];
    size_t at = o->stack.waits, same = 0;

    if (stet_view_ends(line->function, "comp>") || stet_view_ends(line->function, "<genexpr>"))
        return; /* a part of the statement that waits in the next frame */
    o->stack.waits++;
    o->stack.frames[at] =
        (struct stet_python_watched){.file = line->file,
                                     .line = (uint32_t)line->line,
                                     .lambda = stet_view_ends(line->function, "<lambda>")};
    o->frames[at].is = line->depth;
    for (size_t i = 0; i < number; i++) /* a function that calls itself has several */
        same += is_same_function(&o->is->lines.items[i], line);
    for (size_t i = 0; o->was && i < o->was->lines.count && !o->frames[at].both; i++)
        if (is_same_function(&o->was->lines.items[i], line) && same-- == 0) {
            o->frames[at].was = o->was->lines.items[i].depth;
            o->frames[at].both = true;
        }
}

bool stet_observed_frame(const struct stet_observed *o, enum stet_journal_value_scope scope,
                         uint32_t frame, size_t *out)
{
    uint32_t number = scope == STET_SCOPE_SUSPENDED ? UINT32_MAX - frame : frame;

    for (*out = 0; *out < o->stack.count; ++*out)
        if (o->frames[*out].is == number)
            return true;
    return false;
}

/* ---- variables ---- */

static bool number_value(const struct stet_journal_value *v, double *out)
{
    switch (v->kind) {
    case STET_VALUE_BOOL:
    case STET_VALUE_INT:
    case STET_VALUE_LENGTH:
        *out = (double)v->number;
        return true;
    case STET_VALUE_FLOAT:
        *out = v->real;
        return true;
    default:
        return false;
    }
}

static enum stet_python_seen compare_values(const struct stet_observed *o,
                                            const struct stet_journal_value *was,
                                            const struct stet_journal_value *is)
{
    double from, to;

    if (was->kind != is->kind)
        return was->kind == STET_VALUE_NONE || is->kind == STET_VALUE_NONE ? PY_SEEN_EXACT
                                                                           : PY_SEEN_MOVED;
    if (is->kind == STET_VALUE_NONE)
        return PY_SEEN_SAME;
    if (is->kind == STET_VALUE_WORD)
        return stet_view_eq(was->text, is->text) ? PY_SEEN_SAME : PY_SEEN_MOVED;
    if (is->kind == STET_VALUE_HIDDEN && o->was->process == o->is->process)
        return was->hash == is->hash ? PY_SEEN_SAME : PY_SEEN_MOVED;
    if (!number_value(was, &from) || !number_value(is, &to))
        return PY_UNSEEN;
    if (from == to)
        return PY_SEEN_SAME;
    return o->numbers && from == o->from && to == o->to ? PY_SEEN_EXACT : PY_SEEN_MOVED;
}

static enum stet_python_seen compare_sizes(const struct stet_observed *o,
                                           const struct stet_journal_value *was,
                                           const struct stet_journal_value *is)
{
    bool moved = false, exact = false;

    if (was->kind == STET_VALUE_LENGTH && is->kind == STET_VALUE_LENGTH)
        return compare_values(o, was, is);
    if (was->kind != STET_VALUE_ARRAY || is->kind != STET_VALUE_ARRAY || was->rank != is->rank)
        return PY_UNSEEN;
    for (uint32_t i = 0; i < is->rank; i++) {
        moved |= was->dims[i] != is->dims[i];
        exact |= o->numbers && (double)was->dims[i] == o->from && (double)is->dims[i] == o->to;
    }
    return exact ? PY_SEEN_EXACT : moved ? PY_SEEN_MOVED : PY_SEEN_SAME;
}

static enum stet_python_seen compare(const struct stet_observed *o,
                                     const struct stet_journal_value *was,
                                     const struct stet_journal_value *is,
                                     enum stet_python_aspect aspect)
{
    bool arrays = was->kind == STET_VALUE_ARRAY && is->kind == STET_VALUE_ARRAY;

    switch (aspect) {
    case PY_OF_VALUE:
        return arrays ? PY_UNSEEN : compare_values(o, was, is);
    case PY_OF_SIZE:
        return compare_sizes(o, was, is);
    case PY_OF_RANK:
        return !arrays ? PY_UNSEEN : was->rank == is->rank ? PY_SEEN_SAME : PY_SEEN_EXACT;
    case PY_OF_TYPE:
        return !arrays                                                      ? PY_UNSEEN
               : stet_view_eq(was->text, is->text) && was->weak == is->weak ? PY_SEEN_SAME
                                                                            : PY_SEEN_EXACT;
    case PY_OF_PLACE:
        if (!arrays)
            return PY_UNSEEN;
        if (!was->place.len && !is->place.len)
            return PY_SEEN_SAME; /* both are of the host */
        return stet_view_eq(was->place, is->place) ? PY_UNSEEN : PY_SEEN_EXACT;
    case PY_OF_GRADIENT:
        break;
    }
    return PY_UNSEEN;
}

static enum stet_python_seen watch(void *context, size_t frame, struct stet_view path,
                                   enum stet_python_aspect aspect)
{
    struct stet_observed *o = context;
    const struct stet_observed_values *v = values_of(o);
    const struct stet_journal_value *was, *is;

    if (!v || frame >= o->stack.count || !o->frames[frame].both)
        return PY_UNSEEN;
    is = find(&v->is, o->frames[frame].is, path);
    was = find(&v->was, o->frames[frame].was, path);
    return was && is ? compare(o, was, is, aspect) : PY_UNSEEN;
}

static struct stet_view type_of(void *context, size_t frame, struct stet_view path)
{
    struct stet_observed *o = context;
    const struct stet_observed_values *v = values_of(o);
    const struct stet_journal_value *is =
        v && frame < o->stack.count ? find(&v->is, o->frames[frame].is, path) : NULL;

    return is && is->kind == STET_VALUE_OBJECT ? is->type : (struct stet_view){0};
}

/* The value below an object of a class: its path is that of the object with this at its end. */
static const struct stet_journal_value *
below(const struct table *t, const struct stet_journal_value *object, struct stet_view path)
{
    char room[STET_VALUES_PATH_MAX];
    size_t n = object->path.len + path.len;

    if (n > sizeof room)
        return NULL;
    memcpy(room, object->path.ptr, object->path.len);
    memcpy(room + object->path.len, path.ptr, path.len);
    return find(t, key_of(object), stet_view_of(room, n));
}

/* The object of the other compile that is held in the same place. */
static const struct stet_journal_value *same_place(const struct stet_observed *o,
                                                   const struct stet_journal_value *object)
{
    size_t frame;

    return stet_observed_frame(o, object->scope, object->frame, &frame) && o->frames[frame].both
               ? find(&o->values->was, o->frames[frame].was, object->path)
               : NULL;
}

static enum stet_python_seen watch_field(void *context, struct stet_view class_name,
                                         struct stet_view path, enum stet_python_aspect aspect)
{
    struct stet_observed *o = context;
    const struct stet_observed_values *v = values_of(o);
    enum stet_python_seen seen = PY_UNSEEN;

    for (uint32_t i = 0; v && i < v->is.count; i++) {
        const struct stet_journal_value *object = &v->is.items[i], *then, *was, *is;
        enum stet_python_seen one;

        if (object->kind != STET_VALUE_OBJECT || !stet_view_eq(object->type, class_name) ||
            !(then = same_place(o, object)))
            continue;
        is = below(&v->is, object, path);
        was = below(&v->was, then, path);
        one = was && is ? compare(o, was, is, aspect) : PY_UNSEEN;
        if (one > seen)
            seen = one;
    }
    return seen;
}

static struct stet_view field_type(void *context, struct stet_view class_name,
                                   struct stet_view path)
{
    struct stet_observed *o = context;
    const struct stet_observed_values *v = values_of(o);

    for (uint32_t i = 0; v && i < v->is.count; i++) {
        const struct stet_journal_value *object = &v->is.items[i], *is;

        if (object->kind != STET_VALUE_OBJECT || !stet_view_eq(object->type, class_name))
            continue;
        is = below(&v->is, object, path);
        if (is && is->kind == STET_VALUE_OBJECT)
            return is->type;
    }
    return (struct stet_view){0};
}

/* The only object that a loop of the frame takes items of. */
static struct stet_view loop_type(void *context, size_t frame)
{
    struct stet_observed *o = context;
    const struct stet_observed_values *v = values_of(o);
    struct stet_view found = {0};

    for (uint32_t i = 0; v && frame < o->stack.count && i < v->is.count; i++) {
        const struct stet_journal_value *is = &v->is.items[i];

        if (is->scope != STET_SCOPE_SUSPENDED || is->kind != STET_VALUE_OBJECT ||
            !is_head(is->path) || holder_in(is->path) != o->frames[frame].is)
            continue;
        if (found.len)
            return (struct stet_view){0};
        found = is->type;
    }
    return found;
}

bool stet_observed_number(struct stet_observed *o, double from, double to, uint32_t *at,
                          size_t *frame, struct stet_view *path)
{
    const struct stet_observed_values *v = values_of(o);

    for (; v && *at < v->is.count; ++*at) {
        const struct stet_journal_value *is = &v->is.items[*at], *was;
        double before, now;

        if ((is->kind != STET_VALUE_INT && is->kind != STET_VALUE_FLOAT) ||
            !number_value(is, &now) || now != to ||
            !stet_observed_frame(o, is->scope, is->frame, frame) || !o->frames[*frame].both)
            continue;
        was = find(&v->was, o->frames[*frame].was, is->path);
        if (!was || !number_value(was, &before) || before != from)
            continue;
        *path = is->path;
        ++*at;
        return true;
    }
    return false;
}

void stet_observed_init(struct stet_observed *o, const struct stet_history *h,
                        const struct stet_finding *f)
{
    const struct stet_sighting *s = &h->sightings[f->sighting];

    *o = (struct stet_observed){.is = s};
    if (f->against != STET_NONE && !h->sightings[f->against].past)
        o->was = &h->sightings[f->against];
    for (size_t i = 0; i < s->lines.count && i < WAITS_MOST; i++)
        add_waiting(o, i);
    if (!o->stack.waits && s->trigger.line)
        o->stack.frames[o->stack.waits++] =
            (struct stet_python_watched){.file = s->trigger.file, .line = s->trigger.line};
    o->stack.count = o->stack.waits;
    add_generators(o);
    o->stack.context = o;
    o->stack.variable = watch;
    o->stack.type = type_of;
    o->stack.field = watch_field;
    o->stack.field_type = field_type;
    o->stack.loop_type = loop_type;
}
