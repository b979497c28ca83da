/* Walks the frames of a location from the inside out. */
#include "explain/place.h"

struct frames {
    struct stet_place first, own; /* innermost; innermost of the user's */
    struct stet_view callee;      /* looking for the frame after this function's */
    bool inside;
    struct stet_place caller;
};

bool stet_place_installed(struct stet_view file)
{
    return memmem(file.ptr, file.len, "/site-packages/", 15) ||
           memmem(file.ptr, file.len, "/dist-packages/", 15) ||
           memmem(file.ptr, file.len, "/lib/python3", 12) || stet_view_starts(file, "<");
}

/* Names around a frame are its function, or the operation's path ("jit(f)/add"). */
static bool is_path(struct stet_view name)
{
    return !name.len || memchr(name.ptr, '/', name.len) || memchr(name.ptr, '(', name.len);
}

static void meet(struct frames *f, const struct stet_loc *file, struct stet_view function)
{
    struct stet_place here = {.file = file->text, .line = file->line};

    if (file->function.len)
        here.function = file->function;
    else if (!is_path(function))
        here.function = function;
    if (!here.line)
        return;
    if (!f->first.line)
        f->first = here;
    if (!f->own.line && here.file.len && !stet_place_installed(here.file))
        f->own = here;
    if (f->callee.len && !f->caller.line) {
        bool match = stet_view_eq(here.function, f->callee);

        if (f->inside && !match)
            f->caller = here;
        f->inside = match;
    }
}

static void walk(struct frames *f, const struct stet_loc *loc, struct stet_view name, int depth)
{
    if (!loc || depth > STET_MAX_DEPTH)
        return;
    switch (loc->kind) {
    case STET_LOC_FILE:
        meet(f, loc, name);
        break;
    case STET_LOC_NAME:
        if (loc->count)
            walk(f, loc->parts[0], loc->text, depth + 1);
        break;
    case STET_LOC_CALLSITE:
        if (loc->count > 1) {
            walk(f, loc->parts[0], name, depth + 1);
            walk(f, loc->parts[1], name, depth + 1);
        }
        break;
    case STET_LOC_FUSED:
        for (uint32_t i = 0; i < loc->count && !f->first.line; i++)
            walk(f, loc->parts[i], name, depth + 1);
        break;
    default:
        break;
    }
}

struct stet_place stet_place_of(const struct stet_loc *loc)
{
    struct frames f = {0};

    walk(&f, loc, (struct stet_view){0}, 0);
    return f.own.line ? f.own : f.first;
}

struct stet_place stet_place_caller(const struct stet_loc *loc, struct stet_view function)
{
    struct frames f = {.callee = function};

    walk(&f, loc, (struct stet_view){0}, 0);
    return f.caller;
}
