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
#include "journal/vocabulary.h"

/* When a plugin may read its flags. The key marks a change with the moment at which it was seen. */
enum stet_moment {
    STET_MOMENT_LOAD,       /* its table is requested */
    STET_MOMENT_INITIALIZE, /* before it is initialised */
    STET_MOMENT_CLIENT,     /* before it makes a client */
    STET_MOMENT_MADE,       /* it has made one */
    STET_MOMENT_COMPILE,    /* before its first compile */
    STET_MOMENT_LATER,      /* before any other */
};

/* Call it before the plugin's table is requested. It copies the values; nothing else is ready
 * yet. */
void stet_compiler_env_first(const struct stet_plugin *p);
/* Reads the environment again. `text` is its part of the key, valid for the life of the process,
 * and `states` how often something had changed. Returns STET_OUTCOME_NONE, or the reason why there
 * can be no key. Any thread; takes a few microseconds while nothing changes. */
enum stet_outcome stet_compiler_env_see(const struct stet_plugin *p, enum stet_moment moment,
                                        struct stet_view *text, unsigned *states);

#endif
