/* A program's identity at three levels of detail.
 *
 *  skeleton  operations and dataflow without everything variable; equal skeletons form a family
 *  facets    one digest for each kind of thing that may vary inside a family
 *  key       the whole program except names, numbers and locations
 *
 * docs/fingerprints.md lists exactly what each level ignores. Values are the same in all processes,
 * machines and releases with the same STET_FINGERPRINT_VERSION. */
#ifndef STET_FINGERPRINT_FINGERPRINT_H
#define STET_FINGERPRINT_FINGERPRINT_H

#include "program/program.h"

/* Raised when any program's fingerprint changes; stored beside every fingerprint. */
#define STET_FINGERPRINT_VERSION 4

enum stet_facet {
#define FACET(id, name, what) STET_FACET_##id,
#include "fingerprint/facets.def"
#undef FACET
    STET_FACETS
};

struct stet_fingerprint {
    struct stet_hash skeleton, key;
    struct stet_hash facets[STET_FACETS];
};

/* `options` is the canonical form of the compile options (stet_options_canonical), empty for none.
 * It affects only the options facet. */
enum stet_rc stet_fingerprint_make(struct stet_fingerprint *out, const struct stet_program *p,
                                   struct stet_view options, struct stet_err *err);

const char *stet_facet_name(enum stet_facet f);
/* Bit f is set if facet f differs. */
uint32_t stet_fingerprint_moved(const struct stet_fingerprint *a, const struct stet_fingerprint *b);

#endif
