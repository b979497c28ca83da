/* The layer as a plugin: its GetPjrtApi loads the plugin named by STET_PLUGIN and wraps it. For
 * TPU_LIBRARY_PATH, PJRT_NAMES_AND_LIBRARY_PATHS, PJRT_LIBRARY_PATH. */
#include "abi/error.h"
#include "intercept/layer.h"
#include "intercept/object.h"
#include "intercept/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

const char stet_entry_name[] = "plugin";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static stet_get_pjrt_api *below;
static char trouble[PATH_MAX + 1024];

/* Without a plugin there is still a table, which reports the error; a NULL would crash the
 * framework. */
static PJRT_Api excuse;

static PJRT_Error *no_plugin(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return stet_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION, "stet: %s", trouble);
}

static PJRT_Error *no_client(PJRT_Client_Create_Args *args)
{
    (void)args;
    return stet_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION, "stet: %s", trouble);
}

/* Is the object of `handle` a copy of the layer? It would load what STET_PLUGIN names: itself. */
static bool is_layer(void *handle)
{
    struct stet_object object;
    struct link_map *map = NULL;

    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map &&
           stet_object_at(map->l_ld, &object) && object.is_stet;
}

/* Its GetPjrtApi, NULL if `path` cannot be used. */
static stet_get_pjrt_api *load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    union {
        void *object;
        stet_get_pjrt_api *function;
    } found = {NULL};
    const char *why = NULL;

    if (!handle)
        why = dlerror();
    else if (is_layer(handle))
        why = "it is the layer itself";
    else if (!(found.object = dlsym(handle, STET_GET_PJRT_API)))
        why = "it has no GetPjrtApi";
    if (why)
        snprintf(trouble, sizeof trouble, "cannot use %s, named by STET_PLUGIN: %.900s", path, why);
    return found.function;
}

/* STET_PLUGIN may be a list, like PATH: if two copies of the layer are stacked, each uses the first
 * entry that is not a layer. */
static void find_plugin(void)
{
    const char *list = getenv("STET_PLUGIN");
    char path[PATH_MAX];

    snprintf(trouble, sizeof trouble, "STET_PLUGIN must name the plugin to load");
    while (list && *list && !below) {
        size_t n = strcspn(list, ":");

        if (n < sizeof path) {
            snprintf(path, sizeof path, "%.*s", (int)n, list);
            below = load(path);
        }
        list += n + (list[n] == ':');
    }
    if (below) {
        below = stet_plugin_adopt(below);
        return;
    }
    stet_pjrt_stubs(&excuse);
    excuse.PJRT_Plugin_Initialize = no_plugin;
    excuse.PJRT_Client_Create = no_client;
    stet_layer_log("%s", trouble);
}

const PJRT_Api *GetPjrtApi(void)
{
    pthread_once(&once, find_plugin);
    return below ? below() : &excuse;
}
