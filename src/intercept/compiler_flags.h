/* The flags that an environment variable hands to a compiler, in canonical form. */
#ifndef STET_INTERCEPT_COMPILER_FLAGS_H
#define STET_INTERCEPT_COMPILER_FLAGS_H

#include "intercept/named_files.h"
#include "journal/variables.h"

/* Appends NAME=value, on one line: equal texts mean that a compiler reads equal flags.
 *
 * - Flags are sorted by name. Of one that is given several times the last counts when its values
 * are numbers or booleans; other values may add up (xla_disable_hlo_passes) and are kept in order.
 * - Flags that only say where to dump and the like (canon_options.def) are left out.
 * - --flagfile= and a file in place of flags are replaced by what they hold; a flag that names a
 *   file the compiler reads (option_files.def) counts by its content.
 * - Where the syntax is not known (quotes, words that are no flags) the order stays.
 *
 * Appends nothing when no flag is left. NULL, or a fixed word: why there can be no key. */
enum stet_outcome stet_compiler_flags(struct stet_buf *out, const struct stet_variable *variable,
                                      struct stet_view value, struct stet_file_watch *w);

#endif
