/* Parses the address of a tier: scheme://[user[:password]@]host[:port][/path][?name=value&…]. Its
 * texts are in the caller's arena. */
#ifndef STET_AGENT_URL_H
#define STET_AGENT_URL_H

#include "base/arena.h"
#include "base/err.h"

/* Terminated texts, percent-decoded, in the caller's arena; "" when absent. */
struct stet_url {
    const char *scheme, *user, *password, *host, *port, *path, *query;
};

enum stet_rc stet_url_parse(struct stet_url *u, struct stet_view text, struct stet_arena *a,
                            struct stet_err *err);
/* The value of a parameter, decoded; NULL if it is absent. */
const char *stet_url_get(const struct stet_url *u, const char *name, struct stet_arena *a);
/* A number of milliseconds (500, 500ms, 2s), or `otherwise`; STET_USAGE if it is neither. */
enum stet_rc stet_url_ms(const struct stet_url *u, const char *name, uint32_t otherwise,
                         struct stet_arena *a, uint32_t *out, struct stet_err *err);
/* For logs and status: without user, password and parameters. */
struct stet_view stet_url_shown(const struct stet_url *u, struct stet_arena *a);

#endif
