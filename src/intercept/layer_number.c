/* See layer_number.h. */
#include "intercept/layer_number.h"

#include "intercept/layer.h"

#include <stdlib.h>
#include <string.h>

bool stet_layer_number(const char *name, uint64_t *out)
{
    const char *text = getenv(name);
    unsigned long long n = 0;
    char *end;

    if (!text || !*text)
        return false;
    if (strcmp(text, "off") != 0) {
        n = strtoull(text, &end, 10);
        if (*text < '0' || *text > '9' || *end) { /* strtoull would take a sign and spaces */
            stet_layer_log("%s=%s is not a number: the default is used", name, text);
            return false;
        }
    }
    *out = n;
    return true;
}
