/* Writes a set of buckets in the form that other systems read. */
#ifndef STET_BUCKETS_BUCKET_EMIT_H
#define STET_BUCKETS_BUCKET_EMIT_H

#include "base/buf.h"
#include "buckets/buckets.h"

enum stet_buckets_target {
#define TARGET(id, name, about) STET_BUCKETS_##id,
#include "buckets/targets.def"
#undef TARGET
    STET_BUCKETS_TARGETS
};

/* False if there is no target of this name. */
bool stet_buckets_target_find(const char *name, enum stet_buckets_target *out);

/* `what` names the dimension in a comment. STET_UNSUPPORTED if the system has no place for as many
 * dimensions. */
enum stet_rc stet_buckets_emit(struct stet_buf *out, struct stet_buckets_curve *c,
                               enum stet_buckets_target target, const char *what,
                               struct stet_err *err);

#endif
