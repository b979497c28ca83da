/* Masks secrets in text that is about to be written or printed: passwords, tokens, keys. The same
 * text always gives the same masked text, and masking twice changes nothing more, so masked command
 * lines can be compared. Masking errs on the side of hiding too much. */
#ifndef STET_BASE_MASK_H
#define STET_BASE_MASK_H

#include "base/buf.h"

/* What stands in place of a secret, whatever its length. */
#define STET_MASK "***"

/* Does the name of a variable, an option or a field say that its value is a secret? */
bool stet_mask_is_secret(struct stet_view name);

/* Appends `text` with every secret in it masked: name=value, name: value, "name": "value" and
 * --name value where the name says so; user:password@ of addresses; tokens of well-known makers;
 * private keys. */
void stet_mask_text(struct stet_buf *out, struct stet_view text);

/* The same for a line of source code, where `key = split(key)` is no secret: behind a name only a
 * text in quotes is one. */
void stet_mask_source(struct stet_buf *out, struct stet_view line);

/* Appends one word of a command line. `before` is the word in front of it, empty for the first:
 * after `--password` all of the next word is a secret. */
void stet_mask_argument(struct stet_buf *out, struct stet_view before, struct stet_view word);

/* The same for all words of a command line, each with a NUL behind it, as /proc/PID/cmdline has
 * them; what is appended has the same form. */
void stet_mask_command(struct stet_buf *out, struct stet_view command);

#endif
