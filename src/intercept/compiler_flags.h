/* Writes the flags that an environment variable passes to a compiler in canonical form, as a part
 * of the store's key. compiler_env.c calls it for each state of the environment. It appends to the
 * caller's buffer. */
#ifndef STET_INTERCEPT_COMPILER_FLAGS_H
#define STET_INTERCEPT_COMPILER_FLAGS_H

#include "intercept/named_files.h"
#include "journal/variables.h"

/* Appends NAME=value, on one line: equal texts mean that a compiler reads equal flags.
 *
 * - Flags are sorted by name. If one is given several times, the last counts if its values are
 *   numbers or booleans; other values may add up (xla_disable_hlo_passes) and are kept in order.
 * - Flags without effect on the result, such as dump folders (canon_options.def), are left out.
 * - --flagfile= and a file in place of flags are replaced by their content; a flag that names a
 *   file the compiler reads (option_files.def) counts by the content of that file.
 * - If the syntax is not known (quotes, words that are not flags) the order stays.
 *
 * Appends nothing when no flag is left. Returns STET_OUTCOME_NONE, or the reason why
 * there can be no key. */
enum stet_outcome stet_compiler_flags(struct stet_buf *out, const struct stet_variable *variable,
                                      struct stet_view value, struct stet_file_watch *w);

#endif
