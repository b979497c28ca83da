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

/* Called after a run. Applies the limits of the environment to the store, and prints what the
 * default limit removed. */
void stet_cli_cache_tidy(const char *folder);

#endif
