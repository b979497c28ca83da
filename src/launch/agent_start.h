/* Starts the agent for `stet run` when tiers are configured. It is called before the command
 * starts, and reports the agent's problems after the command has ended. The agent is a process of
 * its own and outlives the run. */
#ifndef STET_LAUNCH_AGENT_START_H
#define STET_LAUNCH_AGENT_START_H

#include "launch/child_env.h"

/* Makes sure that an agent listens, and sets its socket in the layer's environment. Does nothing
 * when no tier is configured. A failure is printed, and the run continues without an agent. */
void stet_launch_agent(struct stet_launch_env *env);

/* Prints the problems of this run with tiers and agent on standard error, one per line, or nothing.
 * Waits a second at most. */
void stet_launch_agent_report(const char *run);

/* Starts an agent in the background, and waits a moment until it listens. */
enum stet_rc stet_launch_agent_start(const char *socket, struct stet_err *err);

#endif
