/* Programs for tests, written as StableHLO text. */
#ifndef STET_PROGRAM_HELP_H
#define STET_PROGRAM_HELP_H

#include "test.h"

#include "base/buf.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"

/* Reads `text`, which must stay; says why when it can't. */
static inline bool read_program(struct stet_program *p, struct stet_view text)
{
    struct stet_err err = STET_ERR_INIT;

    if (stet_decode_mlir_text(p, text, &err) == STET_OK)
        return true;
    stet_test_failures++;
    fprintf(stderr, "cannot read a test's program: %s\n%.*s\n", err.text, STET_FMT(text));
    return false;
}

static inline struct stet_fingerprint fingerprint_of(struct stet_view text)
{
    struct stet_fingerprint f = {0};
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;

    if (!read_program(&p, text))
        return f;
    if (stet_fingerprint_make(&f, &p, (struct stet_view){0}, &err) != STET_OK) {
        stet_test_failures++;
        fprintf(stderr, "cannot fingerprint a test's program: %s\n", err.text);
    }
    stet_program_release(&p);
    return f;
}

#endif
