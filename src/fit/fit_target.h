/* The GPUs that XLA's plugin for GPUs describes itself: it contains a GpuTargetConfigProto as text
 * for each. */
#ifndef STET_FIT_FIT_TARGET_H
#define STET_FIT_FIT_TARGET_H

#include "base/err.h"
#include "base/view.h"

/* The description in a plugin's bytes of the GPU `asked`: its whole name, the end of it ("b200" is
 * "NVIDIA B200"), or words that only one name has. Capital letters do not matter. STET_NOT_FOUND
 * names those that there are. */
enum stet_rc stet_fit_target_find(struct stet_view plugin, const char *asked, struct stet_view *out,
                                  struct stet_err *err);
/* The same for a file, written to `out`. */
enum stet_rc stet_fit_target_write(const char *plugin, const char *asked, const char *out,
                                   struct stet_err *err);

#endif
