/* The plugin's description of itself, its clients and topologies, as lists of text. The texts are
 * in the caller's arena. */
#ifndef STET_INTERCEPT_DESCRIBE_H
#define STET_INTERCEPT_DESCRIBE_H

#include "base/arena.h"
#include "intercept/plugin.h"
#include "journal/format.h"

/* name=value for each; values of names that indicate secrets are masked. */
struct stet_list stet_describe_values(struct stet_arena *a, const PJRT_NamedValue *values,
                                      size_t n);
struct stet_list stet_describe_attributes(struct stet_plugin *p, struct stet_arena *a);
/* Names of the extensions in chain order; numbers for those newer than our list. */
struct stet_list stet_describe_extensions(struct stet_plugin *p, struct stet_arena *a);

struct stet_topology {
    struct stet_hash hash; /* zero when the plugin tells nothing */
    struct stet_view platform, version;
    uint64_t devices;
    struct stet_view kind; /* of its first device */
    struct stet_list attributes;
    /* For a key, in which nothing is truncated or masked: long or secret text is replaced by its
     * hash. */
    struct stet_view kinds;             /* of all devices: "8 x A, 1 x B" */
    struct stet_list identity;          /* the attributes, sorted */
    struct stet_hash device_attributes; /* of all devices; zero when they have none */
    struct stet_hash serialized;        /* zero if the plugin cannot, or if it differs each time */
    bool tells_runtime, tells_driver; /* an attribute has the version of a GPU's runtime, driver */
};

void stet_describe_topology(struct stet_plugin *p, const PJRT_TopologyDescription *topology,
                            struct stet_arena *a, struct stet_topology *out);
/* The client's own; zeroed if there is none. */
void stet_describe_client_topology(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                                   struct stet_topology *out);
/* The kind of a device from its description; empty if the plugin has none. */
struct stet_view stet_describe_kind(struct stet_plugin *p, PJRT_DeviceDescription *d,
                                    struct stet_arena *a);

#endif
