/* See agent_message.h. */
#include "launch/agent_message.h"

#include "agent/agent.h"
#include "base/mem.h"

enum stet_rc stet_launch_message_open(struct stet_wire *l, struct stet_err *err)
{
    char *tiers = stet_agent_tiers(), socket[PATH_MAX];
    enum stet_rc rc = tiers ? stet_agent_socket(stet_view_str(tiers), socket, err) : STET_NOT_FOUND;

    stet_mem_free(tiers);
    return rc == STET_OK ? stet_wire_open(l, socket, err) : rc;
}

static enum stet_rc ask(struct stet_wire *l, const struct stet_message *question,
                        struct stet_message *answer, uint64_t until_ms, struct stet_err *err)
{
    enum stet_rc rc = stet_wire_send(l, question, until_ms, err);

    if (rc == STET_OK)
        rc = stet_wire_receive(l, answer, until_ms, err);
    return rc == STET_OK ? STET_OK : STET_IO;
}

enum stet_rc stet_launch_message_put(struct stet_wire *l, struct stet_hash key,
                                     struct stet_view text, uint64_t until_ms, struct stet_err *err)
{
    const struct stet_message question = {.kind = STET_MESSAGE_JOB_PUT, .key = key, .text = text};
    struct stet_message answer;
    enum stet_rc rc = ask(l, &question, &answer, until_ms, err);

    if (rc != STET_OK || answer.kind == STET_MESSAGE_OKAY)
        return rc;
    if (answer.kind == STET_MESSAGE_TAKEN)
        return STET_REFUSED;
    return stet_fail(err, STET_IO, "the agent: %.*s", STET_FMT(answer.text));
}

enum stet_rc stet_launch_message_get(struct stet_wire *l, struct stet_hash key,
                                     struct stet_view *text, uint64_t until_ms,
                                     struct stet_err *err)
{
    const struct stet_message question = {.kind = STET_MESSAGE_JOB_GET, .key = key};
    struct stet_message answer;
    enum stet_rc rc = ask(l, &question, &answer, until_ms, err);

    if (rc != STET_OK)
        return rc;
    if (answer.kind == STET_MESSAGE_NOTHING)
        return STET_NOT_FOUND;
    *text = answer.text;
    return answer.kind == STET_MESSAGE_TEXT
               ? STET_OK
               : stet_fail(err, STET_IO, "the agent: %.*s", STET_FMT(answer.text));
}
