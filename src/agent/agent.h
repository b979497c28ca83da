/* The agent: a process of its own that knows the tiers, so that the layer need not. It fetches
 * entries into the store of this host, shares what was compiled here, and lets one compile what
 * many need. */
#ifndef STET_AGENT_AGENT_H
#define STET_AGENT_AGENT_H

#include "base/err.h"
#include "base/view.h"

#include <limits.h>

struct stet_agent_options {
    const char *socket;     /* where to listen */
    struct stet_view tiers; /* addresses, as STET_TIERS has them */
    uint32_t idle_s;        /* ends after so long without a client; 0: never */
    const char *log;        /* a file to log to, kept below a megabyte; NULL: standard error */
};

/* Serves until it is idle or told to stop. STET_LIMIT when another agent listens there already. */
enum stet_rc stet_agent_serve(const struct stet_agent_options *o, struct stet_err *err);

/* Waits until no agent holds the place at `socket`. For one that has closed its connections: the
 * kernel may release its lock a moment later. */
void stet_agent_await_end(const char *socket, uint64_t until_ms);

/* The tiers this user has configured: $STET_TIERS, else the file $XDG_CONFIG_HOME/stet/tiers. To be
 * freed with stet_mem_free; NULL when there are none. */
char *stet_agent_tiers(void);
/* Where the agent for these tiers listens: $STET_AGENT when it is a path, else a name in
 * $XDG_RUNTIME_DIR/stet (or /tmp/stet-<uid>) that differs for other tiers, credentials,
 * certificates and trust (settings.def). It tells nothing of them. The folder is made, and is this
 * user's alone. Calls stet_agent_absolute. */
enum stet_rc stet_agent_socket(struct stet_view tiers, char out[PATH_MAX], struct stet_err *err);
/* Makes paths in the environment that the agent will read absolute: it works in another folder. */
void stet_agent_absolute(void);

/* Are these addresses that an agent understands? STET_USAGE, and why, when not. */
enum stet_rc stet_agent_tiers_check(struct stet_view tiers, struct stet_err *err);

#endif
