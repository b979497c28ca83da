/* Parses answers of a Redis server. An answer borrows from the reader; its text goes to the
 * caller's buffer. */
#ifndef STET_AGENT_REDIS_H
#define STET_AGENT_REDIS_H

#include "base/buf.h"
#include "base/err.h"

struct redisReader;

/* A reader that rejects lists longer than any answer to Stet's commands. NULL if memory runs
 * out. */
struct redisReader *stet_redis_reader_new(void);
void stet_redis_reader_free(struct redisReader *r);

enum stet_redis_kind { STET_REDIS_NIL, STET_REDIS_TEXT, STET_REDIS_NUMBER, STET_REDIS_TRIPLE };

/* One answer: a text, a number, nothing, or three of (text or nothing, number, number). */
struct stet_redis_answer {
    enum stet_redis_kind kind;
    int64_t number, second;
    struct stet_buf *text; /* the caller's; filled when there is one */
};

/* Takes more bytes. STET_OK if an answer is complete, STET_NOT_FOUND if more bytes are needed,
 * STET_BAD_INPUT if it is not Redis, STET_IO with the server's text for an error. */
enum stet_rc stet_redis_take(struct redisReader *r, struct stet_view bytes,
                             struct stet_redis_answer *out, struct stet_err *err);
/* A server's text in a form that may be shown: `secrets` (ends with NULL) masked wherever they
 * occur, and control characters made visible. */
void stet_redis_clean(const char *text, const char *const *secrets, char *out, size_t room);
/* What is shown if the server did not accept the login: at most one of its known error codes,
 * because Redis repeats the arguments of a command that it does not know. */
void stet_redis_login_error(const char *text, struct stet_err *err);

#endif
