/* Finds the compiler: libtpu, or JAX's CUDA plugin, as the command's own Python has it. */
#ifndef STET_FIT_FIT_PLUGIN_H
#define STET_FIT_FIT_PLUGIN_H

#include "base/err.h"
#include "base/view.h"

#include <stddef.h>

/* `asked` is a file that the user named, or NULL. `argv` is the command whose Python is searched,
 * or NULL: the one that `python3` is. STET_NOT_FOUND says where it was searched and what to do. */
enum stet_rc stet_fit_plugin_find(char *out, size_t room, const char *asked, char *const *argv,
                                  bool gpu, struct stet_err *err);

#endif
