/* The other processes of a job, on the same machine. The processes of a `jax.distributed` job share
 * their devices: a program may run on devices of several of them. Before such a launch each process
 * gives its inputs to the others, and then runs the whole plan (docs/decisions/0074). */
#ifndef STET_BACKEND_API_PEERS_H
#define STET_BACKEND_API_PEERS_H

#include "abi/api.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#include <stdatomic.h>

enum { STET_PEERS_MOST = 256 };

struct stet_hub;

struct stet_peers {
    uint32_t node, nodes; /* this process; all of them */
    char address[64];     /* of the hub's socket */
    struct stet_hub *hub; /* in the first process; NULL in the others */
    atomic_bool leaving;
};

/* One launch that needs other processes. */
struct stet_meeting {
    uint64_t set;    /* which processes take part, as a hash */
    uint64_t number; /* of the launch among those of this set */
    uint32_t members;
    struct stet_hash program;
    const char *name; /* of the program, for messages */
};

/* The process and the number of processes that the framework names, and its key-value store. Sets
 * nodes to 1 if there is only this process. The first process opens a socket, and the others get
 * its address through that store. TorchTPU names them by variables and has no store: the address is
 * made of a list that it gives to all processes of a job. */
PJRT_Error *stet_peers_join(struct stet_peers *p, const PJRT_Client_Create_Args *args);
/* Ends waiting exchanges with an error. */
void stet_peers_stop(struct stet_peers *p);
/* After all exchanges have ended. */
void stet_peers_leave(struct stet_peers *p);

/* Gives `own` to all that take part, and waits for theirs: *out has a length (u64) and the bytes of
 * each, in the order of the processes. */
enum stet_rc stet_peers_exchange(struct stet_peers *p, const struct stet_meeting *m,
                                 const struct stet_buf *own, struct stet_buf *out,
                                 struct stet_err *err);

/* The hub: a thread of the first process that brings together what belongs to one launch. */
/* Chooses an address if it is empty. */
enum stet_rc stet_hub_new(struct stet_hub **out, char address[64], struct stet_err *err);
void stet_hub_free(struct stet_hub *h);

#define STET_PEERS_MAGIC "STETPEER"
/* Connects to a socket of this user, in the abstract namespace; -1 on failure. */
int stet_peers_connect(const char *address);
/* Does the process at the other end belong to this user? */
bool stet_peers_is_own(int fd);

#endif
