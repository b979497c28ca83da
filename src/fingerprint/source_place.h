/* Finds a line of the user's own source in a location of a program. Texts are borrowed from the
 * program. */
#ifndef STET_FINGERPRINT_SOURCE_PLACE_H
#define STET_FINGERPRINT_SOURCE_PLACE_H

#include "program/program.h"

struct stet_place {
    struct stet_view file, function;
    uint32_t line; /* 0 if unknown */
};

/* Is the file part of an installed package or of Python itself, or is it no file ("<string>"), so
 * that no line of it can be shown? */
bool stet_place_installed(struct stet_view file);

/* The innermost frame of the user's own code in a location, or the innermost of all if every frame
 * is an installed package's. line is 0 if there is no frame. Text is borrowed from the program. */
struct stet_place stet_place_of(const struct stet_loc *loc);
/* The file of the innermost frame, the user's or not; empty if there is none. */
struct stet_view stet_place_inside(const struct stet_loc *loc);
/* The frame of the function that a module is named after ("_lambda" for "<lambda>"), and the frame
 * that called it, where a jitted function was entered. */
void stet_place_of_function(const struct stet_loc *loc, struct stet_view function,
                            struct stet_place *own, struct stet_place *caller);

/* Is the operation part of a function that TorchTPU compiled, rather than an operation that ran by
 * itself? */
bool stet_place_is_compiled(const struct stet_loc *loc);
/* Of the gradient of such a function? */
bool stet_place_is_backward(const struct stet_loc *loc);

/* The part of a location that determines its place. The path of the operation around it does not
 * matter, and many operations share what is inside. */
const struct stet_loc *stet_place_same(const struct stet_loc *loc);

static inline bool stet_place_eq(const struct stet_place *a, const struct stet_place *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file);
}

#endif
