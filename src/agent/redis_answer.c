/* hiredis parses the protocol; this file decides which replies are valid answers for us. */
#include "agent/redis.h"

#include <hiredis/hiredis.h>

enum { ITEMS_MAX = 4 };

static const redisReplyObjectFunctions *usual;

#if HIREDIS_MAJOR >= 1
static void *small_array(const redisReadTask *task, size_t items)
#else
static void *small_array(const redisReadTask *task, int items)
#endif
{
    return items > ITEMS_MAX ? NULL : usual->createArray(task, items);
}

struct redisReader *stet_agent_redis_reader_new(void)
{
    static redisReplyObjectFunctions own;
    redisReader *r = redisReaderCreate();

    if (!r)
        return NULL;
    if (!usual) { /* called once before there are threads */
        usual = r->fn;
        own = *r->fn;
        own.createArray = small_array;
    }
    r->fn = &own;
    return r;
}

void stet_agent_redis_reader_free(struct redisReader *r)
{
    if (r)
        redisReaderFree(r);
}

static enum stet_rc take_text(const redisReply *reply, struct stet_redis_answer *out,
                              struct stet_err *err)
{
    out->text->len = 0;
    stet_buf_add(out->text, reply->str, reply->len);
    if (out->text->failed)
        return stet_fail(err, STET_LIMIT, "redis: an answer of %zu bytes is too large",
                         (size_t)reply->len);
    return STET_OK;
}

static enum stet_rc understand(const redisReply *reply, struct stet_redis_answer *out,
                               struct stet_err *err)
{
    const redisReply *first;

    *out = (struct stet_redis_answer){.text = out->text};
    switch (reply->type) {
    case REDIS_REPLY_NIL:
        return STET_OK;
    case REDIS_REPLY_INTEGER:
        out->kind = STET_REDIS_NUMBER;
        out->number = reply->integer;
        return STET_OK;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        out->kind = STET_REDIS_TEXT;
        return take_text(reply, out, err);
    case REDIS_REPLY_ERROR: /* the server's own text, cleaned before it is shown */
        return stet_fail(err, STET_IO, "redis: %s", reply->str);
    case REDIS_REPLY_ARRAY:
        if (reply->elements != 3 || reply->element[1]->type != REDIS_REPLY_INTEGER ||
            reply->element[2]->type != REDIS_REPLY_INTEGER)
            break;
        first = reply->element[0];
        out->kind = STET_REDIS_TRIPLE;
        out->number = reply->element[1]->integer;
        out->second = reply->element[2]->integer;
        out->text->len = 0;
        if (first->type == REDIS_REPLY_NIL)
            return STET_OK;
        if (first->type == REDIS_REPLY_STRING)
            return take_text(first, out, err);
        break;
    default:
        break;
    }
    return stet_fail(err, STET_BAD_INPUT, "redis: the server's answer does not fit the command");
}

enum stet_rc stet_agent_redis_take(struct redisReader *r, struct stet_view bytes,
                                   struct stet_redis_answer *out, struct stet_err *err)
{
    void *reply = NULL;
    enum stet_rc rc;

    if (redisReaderFeed(r, bytes.ptr, bytes.len) != REDIS_OK ||
        redisReaderGetReply(r, &reply) != REDIS_OK)
        return stet_fail(err, STET_BAD_INPUT,
                         "redis: the answer is not of Redis's protocol: %.100s", r->errstr);
    if (!reply)
        return STET_NOT_FOUND;
    rc = understand(reply, out, err);
    freeReplyObject(reply);
    return rc;
}

void stet_agent_redis_clean(const char *text, const char *const *secrets, char *out, size_t room)
{
    size_t n = 0;

    while (*text && n + 4 < room) {
        size_t skip = 0, left = strlen(text);

        for (const char *const *s = secrets; *s; s++) {
            size_t length = strlen(*s);

            if (left >= 4 && left < length)
                length = left; /* it may have been cut */
            if (length > skip && !strncmp(text, *s, length))
                skip = length;
        }
        if (skip) {
            memcpy(out + n, "***", 3);
            n += 3;
            text += skip;
            continue;
        }
        out[n++] = *text >= ' ' && *text <= '~' ? *text : '?';
        text++;
    }
    out[n] = '\0';
}

void stet_agent_redis_login_error(const char *text, struct stet_err *err)
{
    static const char *const codes[] = {"WRONGPASS", "NOAUTH", "NOPERM", "ERR"};
    const char *code = "no code";

    if (!strncmp(text, "redis: ", 7))
        text += 7;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (!strncmp(text, codes[i], strlen(codes[i])))
            code = codes[i];
    }
    *err = (struct stet_err)STET_ERR_INIT;
    stet_fail(err, STET_IO, "redis: the server did not accept user and password (%s)", code);
}
