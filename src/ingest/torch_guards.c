/* Why an old torch (2.4, 2.5) compiled again: its traces have the guards of every entry but not
 * which of them failed. It is the guard of an earlier entry that the new entry contradicts. */
#include "base/known.h"
#include "ingest/torch_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { HELD_MAX = 512 }; /* guards of one entry that are looked at */

static struct stet_view from(struct stet_view v, size_t n)
{
    return n < v.len ? stet_view_of(v.ptr + n, v.len - n) : (struct stet_view){0};
}

static struct stet_view upto(struct stet_view v, const char *end)
{
    return stet_view_of(v.ptr, stet_view_find(v, end));
}

/* The text between `name` and `end`. */
static struct stet_view part(struct stet_view v, const char *name, const char *end)
{
    size_t at = stet_view_find(v, name);

    return at == v.len ? (struct stet_view){0} : upto(from(v, at + strlen(name)), end);
}

static struct stet_torch_held split(struct stet_view text)
{
    static const char *const calls[] = {"___check_obj_id(", "___check_type_id("};
    struct stet_view bare = stet_view_trim(upto(text, "  # "));
    size_t equals = stet_view_find(bare, " == "), comma = stet_view_find(bare, ", ");
    struct stet_torch_held h = {.text = text, .subject = bare};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (stet_view_starts(bare, calls[i]) && comma < bare.len)
            equals = comma;
    }
    if (stet_view_starts(bare, "check_tensor(")) {
        h.tensor = true;
        h.subject = part(bare, "check_tensor(", ", ");
        h.value = bare;
    } else if (equals < bare.len) {
        h.subject = stet_view_of(bare.ptr, equals);
        h.value = from(bare, equals);
    } else if (stet_view_starts(bare, "not ")) {
        h.subject = from(bare, 4);
        h.value = stet_view_of(bare.ptr, 3);
    } else {
        h.bound = stet_view_find(bare, " <= ") < bare.len;
    }
    return h;
}

/* The next item of a list, "3" of "3, 4"; moves the list on. */
static struct stet_view item(struct stet_view *list)
{
    struct stet_view first = stet_view_trim(upto(*list, ","));

    *list = from(*list, stet_view_find(*list, ",") + 1);
    return first;
}

static size_t items(struct stet_view list)
{
    size_t n = 0;

    for (; list.len; n++)
        item(&list);
    return n;
}

/* The first place where two lists of equal length differ: "at index 1. expected 3, actual 4". A
 * dimension that has become dynamic is None; `seen` has its size. */
static bool list_differs(char *out, size_t room, struct stet_view source, const char *what,
                         struct stet_view was, struct stet_view is, struct stet_view seen)
{
    for (int i = 0; was.len && is.len; i++) {
        struct stet_view a = item(&was), b = item(&is), real = item(&seen);

        if (stet_view_is(b, "None"))
            b = real;
        if (stet_view_is(a, "None") || !b.len || stet_view_eq(a, b))
            continue;
        return snprintf(out, room,
                        "tensor '%.*s' %s mismatch at index %d. expected %.*s, actual %.*s",
                        STET_FMT(source), what, i, STET_FMT(a), STET_FMT(b)) > 0;
    }
    return false;
}

/* In the order in which torch itself checks, and in its words. */
static bool tensor_differs(char *out, size_t room, const struct stet_torch_held *was,
                           const struct stet_torch_held *is, struct stet_view seen)
{
    struct stet_view a = part(was->value, "), ", ", "), b = part(is->value, "), ", ", ");
    struct stet_view s = was->subject, size_a, size_b;

    if (!stet_view_eq(a, b))
        return snprintf(out, room, "tensor '%.*s' dtype mismatch. expected %.*s, actual %.*s",
                        STET_FMT(s), STET_FMT(a), STET_FMT(b)) > 0;
    a = part(was->value, "requires_grad=", ",");
    b = part(is->value, "requires_grad=", ",");
    if (!stet_view_eq(a, b))
        return snprintf(out, room,
                        "tensor '%.*s' requires_grad mismatch. expected requires_grad=%d",
                        STET_FMT(s), stet_view_is(a, "True")) > 0;
    size_a = part(was->value, "size=[", "]");
    size_b = part(is->value, "size=[", "]");
    if (items(size_a) != items(size_b))
        return snprintf(out, room, "tensor '%.*s' rank mismatch. expected %zu, actual %zu",
                        STET_FMT(s), items(size_a), items(size_b)) > 0;
    return list_differs(out, room, s, "size", size_a, size_b, seen) ||
           list_differs(out, room, s, "stride", part(was->value, "stride=[", "]"),
                        part(is->value, "stride=[", "]"), (struct stet_view){0});
}

/* A number that became symbolic is no longer compared, but bounds still name it. */
static bool bounds(const struct stet_torch_held *h, struct stet_view subject)
{
    size_t at = h->bound ? stet_view_find(h->subject, subject.ptr) : h->subject.len;

    return at < h->subject.len && at + subject.len <= h->subject.len &&
           h->subject.ptr[at + subject.len] != '.';
}

static struct stet_view size_seen(const struct stet_torch *t, uint32_t compile,
                                  struct stet_view source)
{
    STET_KNOWN(source.ptr || !source.len);
    for (size_t i = t->size_count; i-- > 0;) {
        if (t->sizes[i].compile == compile && stet_view_eq(t->sizes[i].source, source))
            return t->sizes[i].size;
    }
    return (struct stet_view){0};
}

static bool number(struct stet_view v, long *out)
{
    char text[24], *end;

    snprintf(text, sizeof text, "%.*s", STET_FMT(v));
    *out = strtol(text, &end, 10);
    return end != text && !*end;
}

/* "2 <= L['x'].size()[0]", and the tensor that came is smaller. */
static bool below(const struct stet_torch *t, const struct stet_torch_held *a, uint32_t is,
                  char *out, size_t room)
{
    struct stet_view source = part(a->subject, " <= ", ".size()["), list;
    long least, dim, size;

    if (!a->bound || !number(upto(a->subject, " <= "), &least) ||
        !number(part(a->subject, ".size()[", "]"), &dim))
        return false;
    list = size_seen(t, is, source);
    while (dim-- > 0)
        item(&list);
    return number(item(&list), &size) && size < least &&
           snprintf(out, room, "%.*s", STET_FMT(a->text)) > 0;
}

/* Can a guard of one entry and one of another not both hold? Then the first, in torch's words. */
static bool contradict(const struct stet_torch *t, const struct stet_torch_held *a, uint32_t is,
                       const struct stet_torch_held *b, char *out, size_t room)
{
    bool same = a->subject.ptr == b->subject.ptr; /* texts of the pool */

    if (a->tensor)
        return same && b->tensor && tensor_differs(out, room, a, b, size_seen(t, is, a->subject));
    if (!a->subject.len ||
        !((same && !stet_view_eq(a->value, b->value)) || (a->value.len && bounds(b, a->subject))))
        return false;
    return snprintf(out, room, "%.*s", STET_FMT(a->text)) > 0;
}

/* The first guard of `was` that the guards of `is` contradict. */
static bool contradicted(const struct stet_torch *t, uint32_t was, uint32_t is, char *out,
                         size_t room)
{
    const struct stet_torch_compile *w = &t->compiles[was], *c = &t->compiles[is];

    for (uint32_t i = 0; i < w->held_count; i++) {
        if (below(t, &t->held[w->held + i], is, out, room))
            return true;
        for (uint32_t k = 0; k < c->held_count; k++) {
            if (contradict(t, &t->held[w->held + i], is, &t->held[c->held + k], out, room))
                return true;
        }
    }
    return false;
}

void stet_torch_infer(struct stet_torch *t, uint32_t compile)
{
    const struct stet_torch_frame *f = &t->frames[t->compiles[compile].frame];
    uint32_t entries[64], n = 0;
    char why[2048], text[2304];

    if (t->tells_reasons || t->compiles[compile].failure_count)
        return;
    for (uint32_t c = f->first; c != STET_TORCH_NONE && c != compile && n < 64;
         c = t->compiles[c].next)
        entries[n++] = c;
    while (n-- > 0) { /* torch lists the newest first */
        if (!contradicted(t, entries[n], compile, why, sizeof why))
            continue;
        snprintf(text, sizeof text, "%lld/%u: %s", (long long)f->id, t->compiles[entries[n]].number,
                 why);
        stet_torch_add_failure(t, compile, stet_view_str(text));
        t->compiles[compile].inferred = true;
    }
}

static bool is_leaf(struct stet_view leaf)
{
    static const char *const others[] = {"GuardManager", "RootGuardManager", "DEFAULT_DEVICE",
                                         "GLOBAL_STATE", "NO_HASATTR"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (stet_view_starts(leaf, others[i]))
            return false;
    }
    return stet_view_find(leaf, ": ") < leaf.len;
}

/* The leaves of the tree: "| +- EQUALS_MATCH: L['lr'] == 0.1". */
void stet_torch_hold_guards(struct stet_torch *t, uint32_t compile, struct stet_view payload)
{
    struct stet_torch_compile *c = &t->compiles[compile];

    c->held = (uint32_t)t->held_count;
    c->held_count = 0;
    while (payload.len && c->held_count < HELD_MAX) {
        struct stet_view line = upto(payload, "\n"),
                         leaf = from(line, stet_view_find(line, "+- ") + 3);
        struct stet_torch_held h;
        uint32_t i;

        payload = from(payload, line.len + 1);
        if (!is_leaf(leaf))
            continue;
        h = split(stet_torch_keep(t, stet_view_trim(from(leaf, stet_view_find(leaf, ": ") + 2))));
        h.subject = stet_torch_keep(t, h.subject);
        i = stet_torch_grow(t, (void **)&t->held, &t->held_count, &t->held_room, sizeof *t->held);
        if (i == STET_TORCH_NONE)
            return;
        t->held[i] = h;
        c->held_count++;
    }
}

/* {"id": 0, …, "size": [3, 4], …, "describer_id": 2}: kept until its source is known. */
void stet_torch_describe(struct stet_torch_log *log, struct stet_view body)
{
    log->described_size = stet_torch_keep(log->t, part(body, "\"size\": [", "]"));
    log->described_id = stet_torch_keep(log->t, part(body, "\"id\": ", ","));
}

void stet_torch_described(struct stet_torch_log *log, uint32_t compile, struct stet_view body)
{
    struct stet_torch *t = log->t;
    struct stet_view source = part(body, "\"source\": \"", "\"");
    struct stet_view id = upto(part(body, "\"id\": ", "}"), ",");
    uint32_t i;

    STET_KNOWN(id.ptr || !id.len);
    if (!stet_view_eq(id, log->described_id))
        return;
    i = stet_torch_grow(t, (void **)&t->sizes, &t->size_count, &t->size_room, sizeof *t->sizes);
    if (i != STET_TORCH_NONE)
        t->sizes[i] =
            (struct stet_torch_size){compile, stet_torch_keep_raw(t, source), log->described_size};
}
