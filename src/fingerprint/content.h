/* Writes types and attributes as bytes to hash. The same content gives the same bytes, whichever
 * reader decoded it. */
#ifndef STET_FINGERPRINT_CONTENT_H
#define STET_FINGERPRINT_CONTENT_H

#include "fingerprint/canon.h"
#include "fingerprint/sink.h"

/* Writes a symbol, whose name must not matter. Returns false if the text should be written
 * instead. */
struct stet_symbol_writer {
    bool (*write)(struct stet_sink *s, struct stet_view name, void *context);
    void *context;
};

void stet_content_type(struct stet_sink *s, const struct stet_type *t);
void stet_content_attr(struct stet_sink *s, const struct stet_attr *a,
                       const struct stet_symbol_writer *symbols);
/* The values of a constant without their dtype: short lists number by number, long ones by their
 * bytes. */
void stet_content_number(struct stet_sink *s, const struct stet_attr *a);
/* An explicit layout that equals the default counts as none. */
bool stet_content_layout_is_plain(const struct stet_type *t);

#endif
