/* See duration.h. */
#include "base/duration.h"

#include <stdlib.h>
#include <string.h>

/* In milliseconds; 0 when there is no such unit. */
static uint32_t unit_of(const char *text, uint32_t otherwise)
{
    static const struct {
        const char *text;
        uint32_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}};

    if (!*text)
        return otherwise;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i].text))
            return units[i].ms;
    return 0;
}

bool stet_duration_read(const char *text, uint32_t unit, uint32_t most, uint32_t *ms)
{
    char *end;
    unsigned long long n;

    if (*text < '0' || *text > '9') /* strtoull would take a sign and spaces */
        return false;
    n = strtoull(text, &end, 10);
    unit = unit_of(end, unit);
    if (!unit || n > most / unit)
        return false;
    *ms = (uint32_t)n * unit;
    return true;
}
