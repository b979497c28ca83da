/* Finds in nested locations the one source position to show to a person. */
#include "program/program.h"

static const struct stet_loc *innermost_file(const struct stet_loc *loc,
                                             const struct stet_loc **around, unsigned depth)
{
    if (!loc || depth == STET_MAX_DEPTH)
        return NULL;
    if (loc->kind == STET_LOC_FILE)
        return loc;
    for (uint32_t i = 0; i < loc->count; i++) {
        const struct stet_loc *found = innermost_file(loc->parts[i], around, depth + 1);

        if (!found)
            continue;
        if (found == loc->parts[i])
            *around = loc;
        return found;
    }
    return NULL;
}

const struct stet_loc *stet_loc_file(const struct stet_loc *loc)
{
    const struct stet_loc *around = NULL;

    return innermost_file(loc, &around, 0);
}

/* Frameworks put the Python function directly around the file location. Further out is the
 * operation's path ("jit(f)/jit(main)/add"), which is not a function. */
static bool is_function_name(struct stet_view name)
{
    return name.len && !memchr(name.ptr, '/', name.len) && !memchr(name.ptr, '(', name.len);
}

struct stet_view stet_loc_function(const struct stet_loc *loc)
{
    const struct stet_loc *around = NULL;
    const struct stet_loc *file = innermost_file(loc, &around, 0);

    if (file && file->called)
        return stet_loc_frame(file);
    if (file && around && around->kind == STET_LOC_NAME && is_function_name(around->text))
        return around->text;
    return (struct stet_view){0};
}
