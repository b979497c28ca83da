/* See shared_library.h. */
#include "agent/shared_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool stet_agent_library_open(struct stet_agent_library *l)
{
    l->handle = dlopen(l->name, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        l->handle = dlopen(l->other, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        snprintf(l->why, sizeof l->why, "%s (%s) is not installed", l->name, l->title);
    return l->handle;
}

void stet_agent_library_find(struct stet_agent_library *l, const char *name, void *function)
{
    void *found = dlsym(l->handle, name);

    memcpy(function, &found, sizeof found); /* POSIX: a function's address fits a void * */
    if (!found && !l->why[0])
        snprintf(l->why, sizeof l->why, "%s has no %s", l->title, name);
}
