/* Stores summaries between runs, by the hash of the file's content. lint.c opens the cache before
 * the walk and writes it afterwards. Summaries found in it are borrowed from the pack. */
#ifndef STET_LINT_SUMMARY_CACHE_H
#define STET_LINT_SUMMARY_CACHE_H

#include "base/fs.h"
#include "base/hash.h"
#include "lint/candidates.h"

/* One pack file per set of paths; read and replaced as a whole. */
struct lint_cache {
    struct stet_file file;
    char *path; /* NULL: no cache */
    uint64_t count;
};

/* A pack that is absent, damaged or from another build counts as empty. */
void lint_cache_open(struct lint_cache *c, const char *folder, struct stet_hash paths);
void lint_cache_close(struct lint_cache *c);
/* The bytes of a summary, borrowed from the pack; .ptr is NULL if there is none. */
struct stet_view lint_cache_find(const struct lint_cache *c, struct stet_hash key);

struct lint_cache_entry {
    struct stet_hash key;
    struct stet_view bytes;
};

/* Sorts the entries. A failed write does not fail the run. */
void lint_cache_write(const struct lint_cache *c, struct lint_cache_entry *entries, size_t count);
/* Identifies this build, because another one may find other things. */
struct stet_hash lint_cache_build(void);

#endif
