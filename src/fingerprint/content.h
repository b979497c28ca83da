/* Types and attributes as bytes to hash: the same content from any reader gives the same bytes. */
#ifndef STET_FINGERPRINT_CONTENT_H
#define STET_FINGERPRINT_CONTENT_H

#include "fingerprint/canon.h"
#include "fingerprint/sink.h"

/* How a symbol is written, since its name must not matter. Returns false to have the text written.
 */
struct stet_symbol_writer {
    bool (*write)(struct stet_sink *s, struct stet_view name, void *context);
    void *context;
};

void stet_content_type(struct stet_sink *s, const struct stet_type *t);
void stet_content_attr(struct stet_sink *s, const struct stet_attr *a,
                       const struct stet_symbol_writer *symbols);
/* What the elements of a constant mean, whatever their dtype: short lists number by number, long
 * ones by their bytes. */
void stet_content_number(struct stet_sink *s, const struct stet_attr *a);
/* Explicit layouts that say what no layout says count as none. */
bool stet_layout_is_plain(const struct stet_type *t);

#endif
