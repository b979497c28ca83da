/* Caches the canonical hash of compile options by their bytes, because a process sends the same few
 * repeatedly. reload.c and enforce.c call it for each compile. The cache copies the bytes. */
#ifndef STET_INTERCEPT_MEMO_H
#define STET_INTERCEPT_MEMO_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

/* Like stet_options_hash, with the files that they name. From any thread. */
enum stet_rc stet_memo_options(struct stet_view bytes, struct stet_hash *out,
                               struct stet_buf *files);
/* Called around fork. */
void stet_memo_fork_prepare(void);
void stet_memo_fork_done(void);

#endif
