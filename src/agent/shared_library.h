/* A shared library that is opened when it is first needed, so that Stet runs without it. */
#ifndef STET_AGENT_SHARED_LIBRARY_H
#define STET_AGENT_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct stet_agent_library {
    const char *name, *other; /* files: the usual one, and one that serves as well */
    const char *title;        /* for messages */
    void *handle;
    char why[200]; /* the first thing that is missing; "" when nothing is */
};

/* False if neither file is installed. */
bool stet_agent_library_open(struct stet_agent_library *l);
/* Puts the address of a function into *function, a pointer to a function; NULL if it is missing. */
void stet_agent_library_find(struct stet_agent_library *l, const char *name, void *function);

#endif
