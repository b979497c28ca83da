/* Walks the frames of a location, innermost first. */
#include "fingerprint/source_place.h"

#include "base/path.h"

struct frames {
    struct stet_place first, own; /* innermost; innermost of the user's */
    struct stet_view callee;      /* looks for this function's frame and the one after it */
    struct stet_place called, caller;
    bool shifted, backward;
};

bool stet_place_installed(struct stet_view file)
{
    return stet_path_is_installed(file) || file.ptr[0] == '<';
}

/* The name around a frame is its function, or the operation's path ("jit(f)/add"). */
static bool is_path(struct stet_view name)
{
    return !name.len || memchr(name.ptr, '/', name.len) || memchr(name.ptr, '(', name.len);
}

/* "a.<locals>.<lambda>" is the function of the module "jit__lambda". */
static bool is_named(struct stet_view qualified, struct stet_view module)
{
    const char *dot = qualified.len ? memrchr(qualified.ptr, '.', qualified.len) : NULL;
    struct stet_view tail = qualified;

    if (!qualified.len)
        return false;
    if (dot)
        tail = stet_view_of(dot + 1, (size_t)(qualified.ptr + qualified.len - dot) - 1);
    while (tail.len && tail.ptr[tail.len - 1] == '>')
        tail.len--;
    while (module.len && module.ptr[module.len - 1] == '_')
        module.len--;
    if (tail.len && *tail.ptr == '<')
        return tail.len == module.len && *module.ptr == '_' &&
               !memcmp(tail.ptr + 1, module.ptr + 1, tail.len - 1);
    while (tail.len && tail.ptr[tail.len - 1] == '_')
        tail.len--;
    return tail.len && stet_view_eq(tail, module);
}

static void meet(struct frames *f, const struct stet_loc *file, struct stet_view function)
{
    struct stet_place here = {.file = file->text, .line = file->line};

    if (!here.line)
        return;
    /* AOTAutograd passes a backward graph to its backend through this function, lazily or at
     * once. */
    f->backward |=
        stet_view_is(file->called ? stet_loc_frame(file) : function, "_wrapped_bw_compiler");
    /* TorchTPU 0.2 gives operations of a compiled function a line that is one too high. Its own
     * frames, and those of operations outside, are right. */
    if (!f->shifted && stet_view_ends(here.file, "/torch_tpu/_internal/export/export.py")) {
        f->shifted = true;
        f->own.line -= f->own.line > 1;
    }
    if (f->own.line && !f->callee.len)
        return;
    if (file->called)
        here.function = stet_loc_frame(file);
    else if (!is_path(function))
        here.function = function;
    if (!f->first.line)
        f->first = here;
    if (!f->own.line && here.file.len && !stet_place_installed(here.file))
        f->own = here;
    if (!f->callee.len || f->caller.line)
        return;
    if (is_named(here.function, f->callee))
        f->called = here;
    else if (f->called.line && !stet_place_installed(here.file))
        f->caller = here;
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

const struct stet_loc *stet_place_same(const struct stet_loc *loc)
{
    return loc && loc->kind == STET_LOC_NAME && loc->count && is_path(loc->text) ? loc->parts[0]
                                                                                 : loc;
}

struct stet_place stet_place_of(const struct stet_loc *loc)
{
    struct frames f = {0};

    walk(&f, loc, (struct stet_view){0}, 0);
    return f.own.line ? f.own : f.first;
}

struct stet_view stet_place_inside(const struct stet_loc *loc)
{
    struct frames f = {0};

    walk(&f, loc, (struct stet_view){0}, 0);
    return f.first.file;
}

void stet_place_of_function(const struct stet_loc *loc, struct stet_view function,
                            struct stet_place *own, struct stet_place *caller)
{
    struct frames f = {.callee = function};

    walk(&f, loc, (struct stet_view){0}, 0);
    *own = f.called;
    *caller = f.caller;
}

bool stet_place_is_compiled(const struct stet_loc *loc)
{
    struct frames f = {.first = {.line = 0}};

    walk(&f, loc, (struct stet_view){0}, 0);
    return f.shifted;
}

bool stet_place_is_backward(const struct stet_loc *loc)
{
    struct frames f = {.first = {.line = 0}};

    walk(&f, loc, (struct stet_view){0}, 0);
    return f.backward;
}
