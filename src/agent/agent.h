/* The agent: a separate process that talks to the tiers, so that the layer need not. It fetches
 * entries into the store of this host, shares what was compiled here, and lets one process compile
 * what many need. */
#ifndef STET_AGENT_AGENT_H
#define STET_AGENT_AGENT_H

#include "base/err.h"
#include "base/view.h"

#include <limits.h>

struct stet_agent_options {
    const char *socket;     /* where to listen */
    struct stet_view tiers; /* addresses, as STET_TIERS has them */
    uint32_t idle_s;        /* exits after this long without a client; 0: never */
    const char *log;        /* a log file, kept below a megabyte; NULL: standard error */
};

/* Serves until it is idle or receives STOP. STET_LIMIT if another agent already listens there. */
enum stet_rc stet_agent_serve(const struct stet_agent_options *o, struct stet_err *err);

/* Waits until no agent holds the lock at `socket`. For an agent that has closed its connections:
 * the kernel may release its lock a moment later. */
void stet_agent_await_end(const char *socket, uint64_t until_ms);

/* The tiers that this user has configured: $STET_TIERS, else the file $XDG_CONFIG_HOME/stet/tiers.
 * Free with stet_mem_free; NULL if there are none. */
char *stet_agent_tiers(void);
/* The socket of the agent for these tiers: $STET_AGENT if it is a path, else a name in
 * $XDG_RUNTIME_DIR/stet (or /tmp/stet-<uid>) that depends on tiers, credentials, certificates and
 * trust (settings.def) without revealing them. Creates the folder, for this user alone. Calls
 * stet_agent_absolute. */
enum stet_rc stet_agent_socket(struct stet_view tiers, char out[PATH_MAX], struct stet_err *err);
/* Makes paths in the environment that the agent will read absolute, because it runs in another
 * folder. */
void stet_agent_absolute(void);

/* Are these addresses valid? STET_USAGE, with the reason, if not. */
enum stet_rc stet_agent_tiers_check(struct stet_view tiers, struct stet_err *err);

#endif
