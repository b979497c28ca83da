/* Reads facts about a loaded shared object from its headers in memory. The results point into the
 * object, or are in the caller's buffers. */
#ifndef STET_INTERCEPT_OBJECT_H
#define STET_INTERCEPT_OBJECT_H

#include "base/view.h"

struct stet_object {
    char path[1024];
    char build_id[129];  /* hex, "" when it has none */
    bool is_stet;        /* one of our own layers, of whatever version */
    const void *address; /* its address in memory */
};

/* The object that contains `address`, in any link namespace. False if there is none. */
bool stet_object_at(const void *address, struct stet_object *out);

/* Is the file at its path still the one that was loaded, and not a replacement? */
bool stet_object_is_file(const struct stet_object *o);

/* Brings its code and constants into memory before they are needed. */
void stet_object_populate(const void *address);

/* The dynamic symbols of an object from dl_iterate_phdr. */
struct stet_object_symbols {
    const void *symbols;
    const char *names;
    const uint32_t *hash; /* the System V hash table */
    uintptr_t bias;
};

struct dl_phdr_info;
/* False for the object that contains the address `but`, and for one without a table that we can
 * search. */
bool stet_object_symbols(const struct dl_phdr_info *object, const void *but,
                         struct stet_object_symbols *out);
/* The address of a function it defines, or 0. */
uintptr_t stet_object_symbol(const struct stet_object_symbols *table, const char *name);

#endif
