/* Times, durations, sizes, counts and paths as people read them. Each function appends to `out`. */
#ifndef STET_BASE_HUMAN_H
#define STET_BASE_HUMAN_H

#include "base/buf.h"

/* "2026-11-15 06:12:33" in local time; "-" for 0. */
void stet_text_time(struct stet_buf *out, uint64_t wall_ns);
/* "831 ms", "12.4 s", "1 h 12 min". */
void stet_text_duration(struct stet_buf *out, uint64_t ns);
/* "35.2 KB". */
void stet_text_bytes(struct stet_buf *out, uint64_t bytes);
/* A path as one would type it: relative when the file is below the working folder. */
struct stet_view stet_text_path(struct stet_view path);
/* A function's name, or "an unknown function". */
struct stet_view stet_text_function(struct stet_view name);
/* "1 compile", "7 compiles". */
void stet_text_count(struct stet_buf *out, uint64_t n, const char *what);
/* Escapes text for GitHub's workflow commands: %, line ends and, in properties, : and , are written
 * as %XX. */
void stet_text_github(struct stet_buf *out, struct stet_view v, bool property);

#endif
