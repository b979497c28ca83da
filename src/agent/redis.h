/* What Redis answers, as it reaches us. */
#ifndef STET_AGENT_REDIS_H
#define STET_AGENT_REDIS_H

#include "base/buf.h"
#include "base/err.h"

struct redisReader;

/* A reader that refuses lists longer than any answer to what Stet asks. NULL without memory. */
struct redisReader *stet_agent_redis_reader_new(void);
void stet_agent_redis_reader_free(struct redisReader *r);

enum stet_redis_kind { STET_REDIS_NIL, STET_REDIS_TEXT, STET_REDIS_NUMBER, STET_REDIS_TRIPLE };

/* One answer: a text, a number, nothing, or three of (text or nothing, number, number). */
struct stet_redis_answer {
    enum stet_redis_kind kind;
    int64_t number, second;
    struct stet_buf *text; /* the caller's; filled when there is one */
};

/* Takes more bytes. STET_OK when an answer is whole, STET_NOT_FOUND when more bytes are needed,
 * STET_BAD_INPUT when it is no Redis, STET_IO with the server's words when it says no. */
enum stet_rc stet_agent_redis_take(struct redisReader *r, struct stet_view bytes,
                                   struct stet_redis_answer *out, struct stet_err *err);
/* A server's words as they may be shown: `secrets` (ends with NULL) masked, whatever they stand in,
 * and nothing that a terminal or a log would obey. */
void stet_agent_redis_clean(const char *text, const char *const *secrets, char *out, size_t room);
/* What is shown when the server did not accept the login: never more of its words than one of its
 * known error codes, since Redis repeats the arguments of a command it does not know. */
void stet_agent_redis_login_error(const char *text, struct stet_err *err);

#endif
