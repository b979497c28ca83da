/* Lookup in props.def, which is sorted by operation. */
#include "program/props.h"

#define VIEW(literal) {literal, sizeof(literal) - 1}

/* clang-format off */
static const struct stet_props all[] = {
#define REQUIRED(name) {VIEW(name), false, false, 0},
#define OPTIONAL(name) {VIEW(name), true, false, 0},
#define LATER(name)    {VIEW(name), true, true, 0},
#define SEGMENTS(name, n) {VIEW(name), false, false, n},
#define PROPS(op, names) {VIEW(op), {names}},
#include "program/props.def"
#undef PROPS
};
/* clang-format on */

const struct stet_props *stet_props_find(struct stet_view op)
{
    size_t low = 0, high = sizeof all / sizeof *all;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = stet_view_cmp(op, all[middle].op);

        if (order == 0)
            return &all[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

bool stet_props_has(const struct stet_props *p, struct stet_view name)
{
    for (unsigned i = 0; p && i < STET_PROPS_NAMES && p->names[i].name.len; i++)
        if (stet_view_eq(p->names[i].name, name))
            return true;
    return false;
}
