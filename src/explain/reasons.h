/* The classes of recompiles, from the one list in reasons.def. */
#ifndef STET_EXPLAIN_REASONS_H
#define STET_EXPLAIN_REASONS_H

#include "base/view.h"

enum stet_reason {
#define REASON(id, name, about) STET_REASON_##id,
#include "explain/reasons.def"
#undef REASON
    STET_REASONS
};

const char *stet_reason_name(enum stet_reason r);
const char *stet_reason_about(enum stet_reason r);
/* STET_REASONS if there is no such id. */
enum stet_reason stet_reason_find(struct stet_view name);

#endif
