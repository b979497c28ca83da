/* The lines of a run that copied results to the host, and what each decided. `stet run --zeros` and
 * `stet fit` print them: where zeros were read instead of results, another value may have run other
 * programs. Texts are borrowed from the digest. */
#ifndef STET_SESSION_READBACKS_H
#define STET_SESSION_READBACKS_H

#include "base/err.h"
#include "base/text.h"
#include "ledger/run_load.h"

struct stet_readback {
    struct stet_view file;
    uint32_t line;
    uint64_t count;                /* how often, in all processes */
    struct stet_view decides_file; /* of the condition or loop that depends on it; empty: none */
    uint32_t decides;
};

struct stet_readbacks {
    struct stet_readback *items; /* in the order of the run */
    size_t count, room;
    uint64_t unplaced; /* copies of which no line is known */
};

/* Values that are not zero were put there by the host, and are left out. Release it even after a
 * failure. */
enum stet_rc stet_session_readbacks(struct stet_readbacks *r, const struct stet_run_digest *d,
                                    struct stet_err *err);
void stet_session_readbacks_release(struct stet_readbacks *r);
/* Appends a line for each, after `prefix`, those that decide first; at most `most` of those that
 * decide nothing. */
void stet_session_readbacks_text(struct stet_buf *out, const struct stet_readbacks *r,
                                 const char *prefix, size_t most);

#endif
