/* Looks up what to do. */
#include "explain/history.h"

static const struct {
    enum stet_reason reason;
    unsigned framework;
    const char *text;
} fixes[] = {
#define FIX(reason, framework, text) {STET_REASON_##reason, framework, text},
#include "explain/fixes.def"
#undef FIX
};

const char *stet_fix_of(enum stet_reason reason, enum stet_framework framework)
{
    const char *any = "";

    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        if (fixes[i].reason != reason)
            continue;
        if (fixes[i].framework == (unsigned)framework)
            return fixes[i].text;
        if (fixes[i].framework == STET_FRAMEWORKS)
            any = fixes[i].text;
    }
    return any;
}
