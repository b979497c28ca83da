/* The agent that `stet run` starts when there are tiers. */
#ifndef STET_LAUNCH_AGENT_START_H
#define STET_LAUNCH_AGENT_START_H

#include "launch/child_env.h"

/* Sees that an agent listens and tells the layer where; nothing when no tier is configured. What
 * goes wrong is told, and the run goes on without. */
void stet_launch_agent(struct stet_launch_env *env);

/* What went wrong for this run with tiers and agent, a line each on standard error; nothing when
 * all went well. Waits a second at most. */
void stet_launch_agent_report(const char *run);

/* Starts one in the background, and waits a moment until it listens. */
enum stet_rc stet_launch_agent_start(const char *socket, struct stet_err *err);

#endif
