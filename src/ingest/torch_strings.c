/* Strings that a trace defines once and refers to by number, and the stacks made of them. */
#include "ingest/torch_internal.h"

#include "base/vec.h"

enum { STRINGS = 1 << 20 };

void stet_torch_take_string(struct stet_torch_log *log, struct stet_view body)
{
    struct stet_torch *t = log->t;
    struct stet_view text;
    struct stet_jscan j;
    int64_t id = -1;

    stet_ingest_jscan_init(&j, body);
    if (!stet_ingest_jscan_array(&j) || !stet_ingest_jscan_element(&j))
        return;
    text = stet_ingest_jscan_string(&j);
    if (stet_ingest_jscan_element(&j))
        id = stet_ingest_jscan_int(&j);
    if (j.bad || id < 0 || id >= STRINGS)
        return;
    if ((size_t)id >= log->string_room) {
        size_t old = log->string_room;

        if (!stet_vec_grow(&log->strings, &log->string_room, old, (size_t)id + 1 - old,
                           sizeof *log->strings, STRINGS)) {
            t->failed = true;
            return;
        }
        memset(log->strings + old, 0, (log->string_room - old) * sizeof *log->strings);
    }
    log->strings[id] = stet_torch_keep_raw(t, text);
}

/* A forked child's log begins in the middle: its parent's log defines the ids. No record names the
 * parent's log. If several of the group are possible and disagree, no name is better than a wrong
 * one. */
struct stet_view stet_torch_string(const struct stet_torch_log *log, int64_t id)
{
    const struct stet_torch *t = log->t;
    struct stet_view found = {"", 0};

    if (id < 0)
        return found;
    if ((size_t)id < log->string_room && log->strings[id].ptr)
        return log->strings[id];
    for (size_t i = 0; i < t->log_count; i++) {
        const struct stet_torch_log *other = t->logs[i];

        if (other == log || !stet_view_eq(other->group, log->group) ||
            (size_t)id >= other->string_room || !other->strings[id].ptr)
            continue;
        if (found.len && found.ptr != other->strings[id].ptr)
            return stet_view_of("", 0);
        found = other->strings[id];
    }
    return found;
}

static void stack_frame(struct stet_torch_log *log, struct stet_jscan *j,
                        struct stet_torch_place *out)
{
    struct stet_view key;

    *out = (struct stet_torch_place){{"", 0}, {"", 0}, 0};
    if (!stet_ingest_jscan_object(j))
        return;
    while (stet_ingest_jscan_key(j, &key)) {
        if (stet_view_is(key, "line"))
            out->line = (uint64_t)stet_ingest_jscan_int(j);
        else if (stet_view_is(key, "name"))
            out->function = stet_torch_keep_raw(log->t, stet_ingest_jscan_string(j));
        else if (stet_view_is(key, "filename") && stet_ingest_jscan_kind(j) == STET_J_STRING)
            out->file = stet_torch_keep_raw(log->t, stet_ingest_jscan_string(j));
        else if (stet_view_is(key, "filename"))
            out->file = stet_torch_string(log, stet_ingest_jscan_int(j));
        else
            stet_ingest_jscan_skip(j);
    }
}

void stet_torch_stack(struct stet_torch_log *log, struct stet_jscan *j,
                      struct stet_torch_place *last, struct stet_torch_caller *caller)
{
    struct stet_torch_place now, before = {{"", 0}, {"", 0}, 0};
    bool called = false; /* only torch so far since the call */

    *last = before;
    *caller = (struct stet_torch_caller){.call = before, .near = before};
    if (!stet_ingest_jscan_array(j))
        return;
    while (stet_ingest_jscan_element(j)) {
        stack_frame(log, j, &now);
        if (before.line && !stet_ingest_guard_is_library(before.file)) {
            caller->near = before;
            if (caller->wait_count == STET_TORCH_WAITS)
                memmove(caller->waits, caller->waits + 1,
                        --caller->wait_count * sizeof *caller->waits);
            caller->waits[caller->wait_count++] = before;
            /* Torch leaves the direct caller out of some stacks: a line of the user's is the call
             * only if torch's own wrapper is right below it. */
            if (stet_ingest_guard_is_torch(now.file)) {
                caller->call = before;
                called = true;
            }
        }
        caller->passes = called;
        called = called && stet_ingest_guard_is_torch(now.file);
        *last = before = now;
    }
}
