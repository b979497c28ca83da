/* The channels of a job that live in the layer (pod/channel.h): the key-value store that the
 * framework gave to the plugin, JAX's coordination service, and the agent. */
#ifndef STET_INTERCEPT_POD_KV_H
#define STET_INTERCEPT_POD_KV_H

#include "abi/api.h"
#include "pod/channel.h"

/* The callbacks of one client; valid until the client is destroyed. */
struct stet_pod_kv {
    PJRT_KeyValueGetCallback get;
    PJRT_KeyValuePutCallback put;
    PJRT_KeyValueTryGetCallback try_get; /* may be NULL */
    void *get_arg, *put_arg, *try_get_arg;
};

extern const struct stet_pod_channel_kind stet_pod_kv_kind; /* self: a struct stet_pod_kv */
/* False if the framework gave none. */
bool stet_intercept_pod_kv_init(struct stet_pod_kv *kv, const PJRT_Client_Create_Args *args);

/* The client object of `jax.distributed`, which Python holds. No self. */
extern const struct stet_pod_channel_kind stet_pod_jax_kind;
/* Is `jax.distributed` up? Fills in this process's number and how many there are. */
bool stet_intercept_pod_jax_find(int64_t *rank, int64_t *world);

/* The agent's socket. No self. */
extern const struct stet_pod_channel_kind stet_pod_agent_kind;

#endif
