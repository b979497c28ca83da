/* Names of the classes. */
#include "explain/reasons.h"

static const struct {
    const char *name, *about;
} reasons[STET_REASONS] = {
#define REASON(id, name, about) {name, about},
#include "explain/reasons.def"
#undef REASON
};

const char *stet_reason_name(enum stet_reason r)
{
    return reasons[r].name;
}

const char *stet_reason_about(enum stet_reason r)
{
    return reasons[r].about;
}

enum stet_reason stet_reason_find(struct stet_view name)
{
    int r = 0;

    while (r < STET_REASONS && !stet_view_is(name, reasons[r].name))
        r++;
    return (enum stet_reason)r;
}
