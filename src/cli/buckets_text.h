/* Prints what `stet buckets` found, as text. */
#ifndef STET_CLI_BUCKETS_TEXT_H
#define STET_CLI_BUCKETS_TEXT_H

#include "base/buf.h"
#include "session/size_curves.h"

/* "dimension 1 of tokens of train_step", or the file's name. */
void stet_cli_sizes_name(struct stet_buf *out, const struct stet_size_curve *s);
void stet_cli_sizes_text(struct stet_buf *out, struct stet_size_curve *s);

#endif
