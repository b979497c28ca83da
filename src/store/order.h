/* The programs that a command needed from the store, in their order, so that its next launch can
 * load them ahead. <folder>/orders/<32 hex>; a hint, like everything beside the entries
 * (docs/formats.md). */
#ifndef STET_STORE_ORDER_H
#define STET_STORE_ORDER_H

#include "store/store.h"

#define STET_ORDER_VERSION 1
enum { STET_ORDER_MAX = 64 };

struct stet_order {
    size_t count;
    struct stet_hash keys[STET_ORDER_MAX];
};

/* The name of this process's list: from its command line and folder, and from the client's
 * components except program and options. False if the process cannot read its command line. */
bool stet_order_name(const struct stet_key_parts *parts, struct stet_hash *out);
bool stet_order_has(const struct stet_order *o, struct stet_hash key);
/* An empty list if there is none, or none that is valid. */
void stet_order_read(const struct stet_store *s, struct stet_hash name, struct stet_order *out);
/* Does nothing if the store is read-only. */
void stet_order_write(const struct stet_store *s, struct stet_hash name,
                      const struct stet_order *o);
/* Marks it as used now; as with entries, unused ones are removed. */
void stet_order_touch(const struct stet_store *s, struct stet_hash name);

#endif
