/* An access token for Google Cloud Storage, kept until shortly before it expires. */
#ifndef STET_AGENT_GS_TOKEN_H
#define STET_AGENT_GS_TOKEN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct stet_gs_token;

/* `file`: a credentials file, which is read each time a token is needed; NULL: tokens come from the
 * metadata server at `host`. Both are borrowed. In the arena; NULL if memory runs out. */
struct stet_gs_token *stet_agent_token_new(struct stet_arena *a, const char *file, const char *host,
                                           uint32_t connect_ms);
/* Appends the token. If there is none that is fresh, one thread fetches it and the others wait, all
 * until `until_ms`. */
enum stet_rc stet_agent_token_take(struct stet_gs_token *t, struct stet_buf *out, uint64_t until_ms,
                                   struct stet_err *err);
/* The server did not accept this token: the next call fetches another. */
void stet_agent_token_drop(struct stet_gs_token *t, struct stet_view token);

#endif
