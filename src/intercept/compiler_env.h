/* What a plugin may have read in the environment: the variables of variables.def, at every moment
 * at which it could have read them.
 *
 * A plugin reads its flags when it is loaded, when it creates a client, or at the first compile,
 * and the layer cannot know which. So the environment is read each time, and if it changed in
 * between, the key contains every value and when it applied. A script that sets flags too late has
 * its own entries, which it finds again at its next launch and which no other launch is served. */
#ifndef STET_INTERCEPT_COMPILER_ENV_H
#define STET_INTERCEPT_COMPILER_ENV_H

#include "intercept/plugin.h"

/* When a plugin may read its flags. The key marks a change with the moment at which it was seen. */
enum stet_moment {
    STET_MOMENT_LOAD,       /* it is asked for its table */
    STET_MOMENT_INITIALIZE, /* before it is initialised */
    STET_MOMENT_CLIENT,     /* before it makes a client */
    STET_MOMENT_MADE,       /* it has made one */
    STET_MOMENT_COMPILE,    /* before its first compile */
    STET_MOMENT_LATER,      /* before any other */
};

/* Before the plugin is asked for its table. Copies the values; nothing else is ready yet. */
void stet_compiler_env_first(const struct stet_plugin *p);
/* Reads the environment again. `text` is the text for the key, valid as long as the process, and
 * `states` counts the changes. NULL, or a fixed word: why there can be no key. From any thread;
 * takes a few microseconds if nothing changed. */
const char *stet_compiler_env_see(const struct stet_plugin *p, enum stet_moment moment,
                                  struct stet_view *text, unsigned *states);

#endif
