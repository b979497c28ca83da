/* The objects behind the CPU plugin's handles. All files of api/ share them; nothing outside
 * includes this header. */
#ifndef STET_BACKEND_API_CPU_API_H
#define STET_BACKEND_API_CPU_API_H

#include "abi/api.h"
#include "abi/error.h"
#include "backend/api/peers.h"
#include "backend/plan.h"
#include "backend/pool.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- readiness: what events and buffers wait for ---- */

/* Shared by a task and everything that waits for it. NULL means "ready, no error". */
struct stet_signal;

struct stet_signal *stet_backend_signal_new(void); /* one reference; NULL when out of memory */
struct stet_signal *stet_backend_signal_ref(struct stet_signal *s);
void stet_backend_signal_unref(struct stet_signal *s);
/* Called once; wakes all waiters. `text` is copied. */
void stet_backend_signal_set(struct stet_signal *s, PJRT_Error_Code code, const char *text);
bool stet_backend_signal_ready(const struct stet_signal *s);
void stet_backend_signal_wait(struct stet_signal *s);
/* Of a ready signal; NULL for success. */
PJRT_Error *stet_backend_signal_error(const struct stet_signal *s);
PJRT_Error_Code stet_backend_signal_code(const struct stet_signal *s, const char **text);
/* A new event that follows `s` (NULL: ready already). */
PJRT_Event *stet_cpu_api_event_of(struct stet_signal *s);

/* ---- memory ---- */

struct stet_memory;
struct stet_cpu_code;

/* Reference-counted memory; also views of memory that is not ours. */
struct stet_cpu_block {
    atomic_int refs;
    atomic_int pins; /* external references: never reused in place while there are any */
    /* 64-byte aligned unless a view. A program's result has none before the program runs, so that
     * launches that wait take no memory. Read it when the buffer is ready. */
    void *data;
    uint64_t size;
    struct stet_memory *memory;
    void (*on_release)(void *data, void *arg); /* views only */
    void *on_release_arg;
    bool view;
    atomic_int handles; /* the framework's buffers */
    atomic_bool filled, orphan;
    bool shared; /* the memory belongs to all blocks of zeros */
};

/* NULL when out of memory; `later` has no memory until it is filled, for a result. */
struct stet_cpu_block *stet_cpu_block_new(struct stet_memory *memory, uint64_t size);
struct stet_cpu_block *stet_cpu_block_later(struct stet_memory *memory, uint64_t size);
bool stet_cpu_block_fill(struct stet_cpu_block *b);
struct stet_cpu_block *stet_cpu_block_view(struct stet_memory *memory, void *data, uint64_t size,
                                           void (*on_release)(void *, void *), void *arg);
/* A block whose memory outlives it; counted as if it were its own. */
struct stet_cpu_block *stet_cpu_block_shared(struct stet_memory *memory, void *data, uint64_t size);
/* Counts `temporary` bytes in use in addition to all blocks. */
void stet_cpu_api_note_peak(PJRT_Device *device, uint64_t temporary);
struct stet_cpu_block *stet_cpu_block_ref(struct stet_cpu_block *b);
void stet_cpu_block_unref(struct stet_cpu_block *b);
/* A buffer of the framework begins to have it; no longer has it, and gives its reference back. */
void stet_cpu_block_hold(struct stet_cpu_block *b);
void stet_cpu_block_drop(struct stet_cpu_block *b);

/* Pieces of memory that are kept for the next use of their size; any thread may call. */
struct stet_cpu_piece;
enum { STET_CPU_CLASSES = 256 };
struct stet_cpu_cache {
    pthread_mutex_t lock;
    struct stet_cpu_piece *kept[STET_CPU_CLASSES], *oldest, *newest;
    uint64_t kept_bytes, taken;
    uint64_t most, most_before; /* bytes taken at once, in this window of runs and the one before */
    uint32_t runs;
};

void stet_cpu_cache_init(struct stet_cpu_cache *c);
void stet_cpu_cache_release(struct stet_cpu_cache *c);
/* 64-byte aligned; NULL when out of memory. `give` gets the same size. */
void *stet_cpu_cache_take(struct stet_cpu_cache *c, uint64_t size);
void stet_cpu_cache_give(struct stet_cpu_cache *c, void *data, uint64_t size);
void stet_cpu_cache_note_run(struct stet_cpu_cache *c);
/* Nothing has run for a while: gives memory back to the system. */
void stet_cpu_cache_idle(struct stet_cpu_cache *c);
uint64_t stet_cpu_cache_bytes(struct stet_cpu_cache *c);

/* ---- zeros instead of results ---- */

/* Does the environment ask for zeros (STET_CPU_ZEROS)? It is read once. */
bool stet_zeros_wanted(void);
/* Is an array of this size from the host dropped, and zeros kept in its place? Small ones are kept,
 * because programs read numbers back that they put there. */
bool stet_zeros_instead(uint64_t size);
struct stet_cpu_block *stet_zeros_block(struct stet_memory *memory, uint64_t size);

/* ---- shardings that the real compiler chooses ---- */

/* One text for each result of the program, in the arena; NULL if nothing answers. */
const struct stet_view *stet_oracle_shardings(const struct stet_cpu_code *code,
                                              struct stet_arena *a);

/* ---- an account of memory ---- */

/* Writes down how much memory of a device was in use beside the arguments when a program was
 * executed: the most of all times, in the folder STET_CPU_ACCOUNT. `stet fit` adds what the real
 * compiler says about the program. Fails silently. */
void stet_memory_log_execution(struct stet_cpu_code *code, PJRT_Device *const *devices,
                               struct stet_cpu_block *const *inputs);

/* ---- the queue: one thread per device, first in first out ---- */

struct stet_task {
    struct stet_task *next;
    void (*run)(struct stet_task *task); /* frees the task */
};

struct stet_queue {
    pthread_mutex_t lock;
    pthread_cond_t wake, room;
    struct stet_task *first, **last;
    pthread_t thread;
    atomic_uint pending; /* submitted and not finished */
    bool started, stop;
    uint32_t waiting;                      /* for room */
    void (*on_idle)(struct stet_queue *q); /* nothing was submitted for a while */
};

void stet_backend_queue_init(struct stet_queue *q, void (*on_idle)(struct stet_queue *q));
/* Waits until `full` says no, but not forever: a task may wait for what the caller does next. */
void stet_backend_queue_wait(struct stet_queue *q, bool (*full)(const void *context),
                             const void *context);
/* Runs the remaining tasks, then ends the thread. */
void stet_backend_queue_release(struct stet_queue *q);
/* False if no thread could be started; the caller then runs the task itself. */
bool stet_backend_queue_submit(struct stet_queue *q, struct stet_task *task);

/* ---- handles ---- */

struct PJRT_Event {
    struct stet_signal *signal;
};

struct PJRT_DeviceDescription {
    int id, process;
    char text[64];
    char brief[16];   /* another text; empty: the same */
    const char *kind; /* NULL: as the environment says */
    PJRT_NamedValue attributes[3];
    size_t attribute_count;
    int64_t coords[3];
};

/* The largest pods have 9,216 chips of two devices each. */
enum { STET_MAX_DEVICES = 32768 };

/* The devices of another machine, as STET_CPU_POSE describes them. */
struct stet_cpu_pose {
    char version[512], kind[64];
    long long memory, cores; /* of each device; 0 if not known */
    struct stet_cpu_posed {
        long coords[3], core;
    } *devices;
    uint32_t count;
};

/* NULL if there is none. *why, if not NULL, is why it could not be read; NULL if it could. */
const struct stet_cpu_pose *stet_pose_known(const struct stet_err **why);

struct PJRT_TopologyDescription {
    uint32_t count, processes; /* each process has the same number of devices */
    PJRT_DeviceDescription *descriptions;
    PJRT_DeviceDescription **list;
    char text[64];     /* its serialised form */
    char platform[32]; /* empty: as the environment says */
};

/* What PJRT_Client_Create was asked to be. */
struct stet_cpu_identity {
    char platform[32]; /* empty: not said */
    uint32_t devices;  /* 0: not said */
};

PJRT_Error *stet_cpu_identity_read(const PJRT_NamedValue *options, size_t count,
                                   struct stet_cpu_identity *out);
void stet_cpu_identity_apply(const struct stet_cpu_identity *identity, PJRT_TopologyDescription *t);
const char *stet_cpu_identity_platform(const PJRT_TopologyDescription *t);

/* Programs may keep results in the host's memory. Here both are the same, but only the device's
 * counts as its memory in use. */
enum { STET_DEVICE_MEMORY, STET_HOST_MEMORY, STET_MEMORIES };

struct stet_memory {
    PJRT_Memory base; /* first: callers follow its vtable */
    PJRT_Device *device;
    int kind; /* one of those above */
    int id;   /* unique in the client */
    pthread_mutex_t lock;
    struct {
        const void *key;
        void *data;
        void (*dtor)(void *);
    } user[8];
};

struct PJRT_Device {
    PJRT_DeviceDescription *description;
    PJRT_Client *client;
    struct stet_memory memories[STET_MEMORIES];
    PJRT_Memory *memory_list[STET_MEMORIES];
    struct stet_queue queue;
    atomic_uint talkers;      /* launches in the queue that call the host */
    pthread_mutex_t run_lock; /* one program at a time; guards scratch */
    void *scratch;            /* temporaries of small programs */
    struct stet_cpu_cache cache;
    atomic_llong in_use, peak, largest, allocations;
    atomic_llong orphans; /* bytes that launches hold and the framework no longer has */
};

struct PJRT_Client {
    PJRT_TopologyDescription topology;
    uint32_t device_count; /* of all processes of the job */
    uint32_t first, own;   /* this process's: the number of the first one, and how many */
    PJRT_Device *device;   /* all of them */
    PJRT_Device **devices;
    PJRT_Memory **memories; /* of all devices */
    struct stet_pool *pool;
    struct stet_peers peers;
    pthread_mutex_t launch_lock;
    struct stet_map launches; /* set of processes -> how many launches it has had */
};

/* Where a program runs, from its compile options: replica r of partition p is number
 * r * partitions + p, on device ids[that]. */
struct stet_cpu_assignment {
    uint32_t replicas, partitions, count; /* count: of both together */
    int32_t *ids;                         /* of `count`; owned */
    bool assigned;      /* the ids are the options'; else they count this process's devices */
    const char *option; /* that the ids are from */
};

/* What an executable and its loaded copies share; immutable. */
struct stet_cpu_code {
    atomic_int refs;
    char *bytes; /* the program's bytes, kept because constants are read in place */
    size_t size;
    char *options;
    size_t options_size;
    char format[24];
    struct stet_program program;
    struct stet_cpu_assignment assignment;
    struct stet_buf assignment_proto; /* DeviceAssignmentProto */
    struct stet_plan *plan;
    const struct stet_plan_info *info;
    bool meets;                  /* its devices need each other's values */
    bool zeros;                  /* the plan is the border alone; nothing is computed */
    bool fallback;               /* likewise; another client computes (cpu_fallback.c) */
    uint64_t handle;             /* its name for the program */
    char why[256];               /* the backend cannot run it */
    struct stet_hash bytes_hash; /* of the program's bytes, as journals have it */
    uint64_t beside;             /* see stet_memory_log_execution; its lock guards both */
    unsigned slot;               /* of its record, + 1 */
    uint32_t inputs, outputs; /* of each device; the first ones of the plan are the first one's */
    char name[128], fingerprint[STET_HASH_TEXT];
    PJRT_Buffer_Type *output_types;
    int64_t *output_dims;
    size_t *output_ranks;
    uint8_t *memories; /* of the outputs, then of the inputs */
    const char **memory_kinds;
    size_t *memory_kind_sizes;
    /* Serialised OpShardings of the outputs, then of the inputs; none for one device. */
    struct stet_buf sharding_bytes;
    const char **shardings;
    size_t *sharding_sizes;
    PJRT_NamedValue cost[3];
    struct stet_buf optimized; /* HloModuleProtoWithConfig, created at the first request */
    pthread_mutex_t optimized_lock;
};

PJRT_Error *stet_cpu_code_new(struct stet_cpu_code **out, const char *bytes, size_t size,
                              const char *format, size_t format_size, const char *options,
                              size_t options_size);
struct stet_cpu_code *stet_cpu_code_ref(struct stet_cpu_code *c);
void stet_cpu_code_unref(struct stet_cpu_code *c);

/* A list of layouts that was returned to a caller. */
struct stet_layouts {
    struct stet_layouts *next;
    struct PJRT_Layouts_MemoryLayout *at[];
};

struct PJRT_Executable {
    struct stet_cpu_code *code;
    struct stet_layouts *_Atomic layouts; /* one more for each request */
};

/* Which processes take part in a program of several; shared by a loaded executable and its
 * launches. */
struct stet_cpu_joint {
    atomic_int refs;
    uint64_t set; /* a hash of which */
    uint32_t processes;
    struct stet_cpu_place {
        int32_t process;
        int32_t own; /* the place among this process's devices, or -1 */
    } places[];      /* by place in the assignment */
};

struct stet_cpu_joint *stet_cpu_joint_ref(struct stet_cpu_joint *j);
void stet_cpu_joint_unref(struct stet_cpu_joint *j);

struct PJRT_LoadedExecutable {
    struct stet_cpu_code *code;
    atomic_bool deleted;
    uint32_t own;          /* of the assignment's devices: those of this process */
    PJRT_Device **devices; /* these */
    PJRT_LogicalDeviceIds *logical;
    struct stet_cpu_joint *joint; /* NULL if only this process takes part */
};

/* Both take ownership of one reference of `code`, also when they fail. */
PJRT_Error *stet_cpu_code_executable(struct stet_cpu_code *code, PJRT_Executable **out);
PJRT_Error *stet_backend_loaded_adopt(struct stet_cpu_code *code, PJRT_Client *client,
                                      PJRT_LoadedExecutable **out);

struct PJRT_Buffer {
    struct stet_shape shape;
    PJRT_Device *device;
    struct stet_memory *memory;
    pthread_mutex_t lock;         /* guards block */
    struct stet_cpu_block *block; /* NULL once deleted or donated */
    struct stet_signal *ready;    /* NULL: ready */
    int64_t minor_to_major[STET_MAX_RANK];
};

/* Takes ownership of one reference of `block` and of `ready`. NULL (references released) when out
 * of memory. */
PJRT_Buffer *stet_backend_buffer_adopt(struct stet_memory *memory, const struct stet_shape *shape,
                                       struct stet_cpu_block *block, struct stet_signal *ready);
void stet_backend_buffer_free(PJRT_Buffer *b);
/* Adds references to its memory and readiness; false if it was deleted. */
bool stet_backend_buffer_borrow(PJRT_Buffer *b, struct stet_cpu_block **block,
                                struct stet_signal **ready);

enum stet_dtype stet_dtype_of_pjrt(PJRT_Buffer_Type t);
PJRT_Buffer_Type stet_dtype_to_pjrt(enum stet_dtype t);

/* ---- programs that another client runs ---- */

struct stet_ext_fallback;

void stet_cpu_fallback_set(const struct stet_ext_fallback *fallback);
/* Is there such a client, and is it wanted (STET_CPU_STRICT)? */
bool stet_cpu_fallback_exists(void);
/* `why` is the reason that the backend gave. The error has both reasons. */
PJRT_Error *stet_cpu_fallback_compile(struct stet_cpu_code *c, const char *why);
enum stet_rc stet_cpu_fallback_run(const struct stet_cpu_code *c, const void *const *inputs,
                                   void *const *outputs, const struct stet_host *host,
                                   struct stet_err *err);
void stet_cpu_fallback_release(const struct stet_cpu_code *c);

/* ---- host transfers ---- */

/* A run's callbacks by channel. They are copied, because the lists are valid only during
 * Execute. */
struct stet_callbacks {
    struct stet_host host;        /* this struct is their context, so it must not move */
    PJRT_SendCallbackInfo *sends; /* of the first device, then of the second … */
    PJRT_RecvCallbackInfo *receives;
    size_t send_count, receive_count; /* of each device */
    PJRT_Error *failure;              /* of the send that ended the run, as the framework gave it */
};

/* False when out of memory; released either way. */
bool stet_backend_callbacks_init(struct stet_callbacks *c, const PJRT_ExecuteOptions *options,
                                 size_t devices);
void stet_backend_callbacks_release(struct stet_callbacks *c);

/* ---- shared ---- */

extern const char stet_cpu_version[], *const stet_cpu_memory_kinds[STET_MEMORIES];

/* cpu_topology.c */
const char *stet_cpu_topology_version(void);
/* False when memory runs out; release it in either case. */
bool stet_cpu_topology_init(PJRT_TopologyDescription *t, uint32_t count, uint32_t processes);
void stet_cpu_topology_release(PJRT_TopologyDescription *t);
/* How many devices the client has if its options do not say it: STET_CPU_DEVICES. */
PJRT_Error *stet_cpu_topology_devices(const struct stet_cpu_identity *identity, uint32_t *count);
const char *stet_cpu_api_platform(void);
/* `module` is the name of the compiled module; may be empty. */
PJRT_Error *stet_cpu_api_error(struct stet_view module, const struct stet_err *err)
    __attribute__((returns_nonnull));
PJRT_Error *stet_cpu_api_no_memory(void) __attribute__((returns_nonnull));
PJRT_Extension_Base *stet_cpu_api_extensions(void);
PJRT_Extension_Base *stet_cpu_api_own_extension(void);
/* Reads a CompileOptionsProto. Rejects impossible numbers of devices. The ids are the caller's to
 * free, also after an error. */
PJRT_Error *stet_cpu_options_read(struct stet_view bytes, struct stet_cpu_assignment *out);
/* Rejects devices that a client with that many does not have. */
PJRT_Error *stet_cpu_options_fit(const struct stet_cpu_assignment *a, uint32_t devices);
/* A minimal module with the program's parameters and results, for frameworks that read shapes from
 * it. */
void stet_cpu_api_write_hlo(struct stet_buf *out, const struct stet_cpu_code *code);

#define STET_TEXT(args, field, text) ((args)->field = (text), (args)->field##_size = strlen(text))

#define IMPL(name) PJRT_Error *cpu_##name(name##_Args *args);
#include "backend/api/implemented.def"

#endif
