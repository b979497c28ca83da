/* Prints the parts of `stet torch`, a function for each. The functions append to the caller's
 * buffer. */
#ifndef STET_CLI_TORCH_PRINT_H
#define STET_CLI_TORCH_PRINT_H

#include "session/torch_lane.h"

void stet_cli_torch_ingest_text(const struct stet_torch *t, struct stet_buf *out);
void stet_cli_torch_frames_text(const struct stet_torch *t, struct stet_buf *out);
void stet_cli_torch_breaks_text(const struct stet_torch *t, struct stet_buf *out);

#endif
