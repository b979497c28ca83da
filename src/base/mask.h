/* Masks secrets (passwords, tokens, keys) in text before it is written or printed. Masking is
 * deterministic and idempotent, so masked command lines can be compared. In doubt it hides too much
 * rather than too little. */
#ifndef STET_BASE_MASK_H
#define STET_BASE_MASK_H

#include "base/buf.h"

/* The replacement for a secret of any length. */
#define STET_MASK "***"

/* Does the name of a variable, an option or a field indicate that its value is a secret? */
bool stet_mask_is_secret(struct stet_view name);

/* Appends `text` with every secret in it masked: name=value, name: value, "name": "value" and
 * --name value if the name indicates a secret; user:password@ in addresses; well-known kinds of
 * tokens; private keys. */
void stet_mask_text(struct stet_buf *out, struct stet_view text);

/* The same for a line of source code, where `key = split(key)` is not a secret: after a name, only
 * a quoted text counts. */
void stet_mask_source(struct stet_buf *out, struct stet_view line);

/* Appends one word of a command line. `before` is the previous word, empty for the first: after
 * `--password` the whole next word is a secret. */
void stet_mask_argument(struct stet_buf *out, struct stet_view before, struct stet_view word);

/* The same for all words of a command line, each followed by a NUL, as in /proc/PID/cmdline. The
 * output has the same form. */
void stet_mask_command(struct stet_buf *out, struct stet_view command);

#endif
