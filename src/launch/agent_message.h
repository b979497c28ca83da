/* Messages of a job through the agent of these settings, for `stet run` and `stet ranks`. An agent
 * that does not listen is not started. Every call ends by its deadline. */
#ifndef STET_LAUNCH_AGENT_MESSAGE_H
#define STET_LAUNCH_AGENT_MESSAGE_H

#include "base/hash.h"
#include "wire/client.h"

/* STET_NOT_FOUND if there is no agent. Close the connection with stet_wire_close. */
enum stet_rc stet_launch_message_open(struct stet_wire *l, struct stet_err *err);
/* Written once: STET_REFUSED if the key is taken. */
enum stet_rc stet_launch_message_put(struct stet_wire *l, struct stet_hash key,
                                     struct stet_view text, uint64_t until_ms,
                                     struct stet_err *err);
/* STET_NOT_FOUND if there is none. The text is valid until the next call. */
enum stet_rc stet_launch_message_get(struct stet_wire *l, struct stet_hash key,
                                     struct stet_view *text, uint64_t until_ms,
                                     struct stet_err *err);

#endif
