/* What Google's credentials files and token servers write, and what a token server is asked. Reads
 * untrusted bytes; opens nothing. */
#ifndef STET_AGENT_GS_CREDENTIALS_H
#define STET_AGENT_GS_CREDENTIALS_H

#include "base/buf.h"
#include "base/err.h"

enum {
    STET_GS_TOKEN_MAX = 16384,   /* bytes of an access token, with its terminator */
    STET_GS_FILE_MAX = 1 << 16,  /* bytes of a credentials file */
    STET_GS_ANSWER_MAX = 1 << 16 /* bytes of a token server's answer */
};

/* Texts are borrowed from `json`. A file has either the fields of a service account or the fields
 * of a user; those of the other are NULL. */
struct stet_gs_credentials {
    void *json;
    const char *token_uri;
    const char *email, *key_id, *private_key; /* service account; key_id may be NULL */
    const char *client_id, *client_secret, *refresh_token;
};

/* `path` is for messages. They never quote the file. */
enum stet_rc stet_agent_credentials_read(struct stet_gs_credentials *c, struct stet_view json,
                                         const char *path, struct stet_err *err);
void stet_agent_credentials_release(struct stet_gs_credentials *c);
/* The body of the POST to token_uri: a signed JWT that is valid for an hour from `now_s`, or the
 * refresh token of a user. */
enum stet_rc stet_agent_credentials_request(const struct stet_gs_credentials *c, int64_t now_s,
                                            struct stet_buf *out, struct stet_err *err);

struct stet_gs_answer {
    char token[STET_GS_TOKEN_MAX];
    uint32_t lives_s; /* at most a day */
};

/* Only a bearer token that is safe in a header is accepted. */
enum stet_rc stet_agent_credentials_answer(struct stet_gs_answer *a, struct stet_view json,
                                           struct stet_err *err);
/* The code of a token server's error, such as invalid_grant; "" if the answer has none that can be
 * shown. */
void stet_agent_credentials_error(struct stet_view json, char out[40]);

#endif
