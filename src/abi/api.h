/* Reads a plugin's PJRT table: which entries it has, their names, its extensions. Tables differ in
 * length between versions, so callers check an entry here before they use it. Everything is
 * borrowed from the table. */
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
 * 0.29, a table too short for its first entries, and 0.56, whose order is different. */
bool stet_api_usable(const PJRT_Api *api);

/* The number of entries in the table, including those that are newer than our list. */
size_t stet_api_entries(const PJRT_Api *api);

/* The name of entry `index`, or NULL if it is newer than our list. */
const char *stet_api_entry_name(size_t index);
/* The minor version that added entry `index` (29 for older ones), or -1. */
int stet_api_entry_since(size_t index);

/* The first extension of that type, or NULL. Follows at most 64 links, and none of a table older
 * than 0.45, whose links have another layout. Cast only after STET_HAS on the extension. */
const PJRT_Extension_Base *stet_api_extension(const PJRT_Api *api, PJRT_Extension_Type type);
/* "Layouts", or NULL if the type is newer than our list. */
const char *stet_api_extension_name(size_t type);

#endif
