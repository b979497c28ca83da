/* Reading another's PJRT table: which entries it has, what they are called, which extensions. */
#ifndef STET_ABI_API_H
#define STET_ABI_API_H

#include "abi/pjrt.h"

/* Entries by number, in table order: STET_ENTRY_PJRT_Client_Compile, … */
enum stet_entry {
#define ENTRY(name, since, last) STET_ENTRY_##name,
#include "abi/entries.def"
    STET_ENTRY_COUNT
};

/* The table has the entry and it is not NULL. */
#define stet_api_has(api, entry) (STET_HAS(api, entry) && (api)->entry != NULL)

/* Can this table be read with our struct? False for NULL, another major version, versions before
 * 0.29, a table too short to hold its first entries, and 0.56, which alone has another order. */
bool stet_api_usable(const PJRT_Api *api);

/* How many entries the table has, those unknown to us included. */
size_t stet_api_entries(const PJRT_Api *api);

/* The name of entry `index`, or NULL when it is newer than our list. */
const char *stet_api_entry_name(size_t index);
/* The minor version in which entry `index` came (29 for older ones), or -1. */
int stet_api_entry_since(size_t index);

/* The first extension of that type, or NULL. Looks at no more than 64 links, and at none of a table
 * older than 0.45, whose links have another shape. Cast only after STET_HAS on the extension. */
const PJRT_Extension_Base *stet_api_extension(const PJRT_Api *api, PJRT_Extension_Type type);
/* "Layouts", or NULL when the type is newer than our list. */
const char *stet_api_extension_name(size_t type);

#endif
