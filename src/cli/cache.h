/* The parts of `stet cache`, one function for each. cmd_cache.c chooses the part. The function of a
 * part prints its result and returns the exit code. */
#ifndef STET_CLI_CACHE_H
#define STET_CLI_CACHE_H

#include "cli/command.h"
#include "store/store.h"

struct stet_cache_wishes {
    const char *folder, *max_bytes, *max_age, *key;
    bool unsigned_too, cpu;
};

extern struct stet_cache_wishes stet_cache_wishes;

int stet_cli_cache_ls(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_show(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_stats(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_path(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_rm(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_gc(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_verify(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_prove(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_export(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_import(const struct stet_store *s, const struct stet_args *args);
int stet_cli_cache_key(const struct stet_store *s, const struct stet_args *args);

/* Called after a run. Applies the limits of STET_STORE_MAX_BYTES (or the default) and of
 * STET_STORE_MAX_AGE, and removes what dead writers left. */
void stet_cli_cache_tidy(const char *folder);

/* Finds the only key with this prefix; STET_NOT_FOUND, or STET_USAGE when there are several. */
enum stet_rc stet_cli_cache_find(const struct stet_store *s, const char *prefix,
                                 struct stet_hash *key, struct stet_err *err);

#endif
