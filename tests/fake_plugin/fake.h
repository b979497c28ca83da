/* The objects of the fake plugin: a PJRT plugin that compiles anything and computes a mix of its
 * inputs, built many ways from the same source (see README.md). It links nothing of Stet's. */
#ifndef FAKE_PLUGIN_FAKE_H
#define FAKE_PLUGIN_FAKE_H

#include "abi/api.h"

#include <pthread.h>
#include <stdatomic.h>

#ifndef FAKE_MAJOR
#define FAKE_MAJOR 0
#endif
#ifndef FAKE_MINOR
#define FAKE_MINOR 116
#endif
#ifndef FAKE_ERROR_VTABLE
#define FAKE_ERROR_VTABLE (FAKE_MINOR >= 107)
#endif

/* A field is written only when this build's version has it and the caller made room for it. */
#define KNOWS(args, field, since) (FAKE_MINOR >= (since) && STET_HAS(args, field))

enum { FAKE_DEVICES_MAX = 8, FAKE_DEVICES_MOST = 1024, FAKE_RANK_MAX = 8, FAKE_SHAPES_MAX = 256 };

/* Kinds of things handed out, counted while alive. */
#define FAKE_KINDS(X)                                                                              \
    X(client)                                                                                      \
    X(error)                                                                                       \
    X(event)                                                                                       \
    X(buffer)                                                                                      \
    X(executable)                                                                                  \
    X(loaded)                                                                                      \
    X(topology)                                                                                    \
    X(serialized)                                                                                  \
    X(context)                                                                                     \
    X(manager)                                                                                     \
    X(layout)
enum fake_kind {
#define X(kind) FAKE_##kind,
    FAKE_KINDS(X)
#undef X
        FAKE_KIND_COUNT
};

void *fake_new(enum fake_kind kind, size_t size); /* zeroed, never NULL */
void fake_free(enum fake_kind kind, void *object);
int64_t fake_live(enum fake_kind kind);

PJRT_Error *fake_error(PJRT_Error_Code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* FAKE_ODD: is the word in it? And: make an answer odd, when it is the layer that asked. */
bool fake_is_odd(const char *word);
void fake_spoil(enum stet_entry entry, void *args);

struct fake_shape {
    PJRT_Buffer_Type type;
    size_t rank;
    int64_t dims[FAKE_RANK_MAX];
};

size_t fake_shape_bytes(const struct fake_shape *shape);
/* Reads "f32[2,3] s32[]" into shapes; returns how many, or -1. */
int fake_shapes_parse(const char *text, size_t size, struct fake_shape *shapes, size_t max);

/* What an executable and its loaded twin share. Immutable once made. */
struct fake_program {
    atomic_int refs;
    uint64_t hash;
    char name[64];
    char fingerprint[17];
    size_t num_params, num_outputs, num_dims;
    struct fake_shape *params, *outputs;
    PJRT_Buffer_Type *output_types;
    int64_t *output_dims;
    size_t *output_ranks;
    const char **memory_kinds;
    size_t *memory_kind_sizes;
    char *code, *options;
    size_t code_size, options_size;
    int64_t temporaries;     /* bytes that the program itself says; 0: it does not */
    pthread_t maker;         /* the thread that compiled or loaded it */
    atomic_bool maker_asked; /* and asked for its memory statistics */
};

PJRT_Error *fake_program_new(const char *code, size_t code_size, const char *options,
                             size_t options_size, struct fake_program **out);
struct fake_program *fake_program_ref(struct fake_program *program);
void fake_program_unref(struct fake_program *program);
/* Fills output `index` of a run over the given inputs. The same inputs give the same bytes. */
void fake_program_run(const struct fake_program *program, size_t index, PJRT_Buffer *const *inputs,
                      size_t num_inputs, unsigned char *out, size_t size);

struct PJRT_DeviceDescription {
    int id;
    char text[48];
    size_t text_size;
    size_t num_attributes;
    const PJRT_NamedValue *attributes;
};

struct PJRT_Device {
    PJRT_DeviceDescription *description;
    PJRT_Client *client;
    struct fake_memory *memory;
    atomic_llong in_use, peak, allocations;
};

struct fake_memory {
    PJRT_Memory base; /* first: callers use its vtable from 0.105 on */
    PJRT_Device *device;
    int id;
    pthread_mutex_t lock;
    struct {
        const void *key;
        void *data;
        void (*dtor)(void *);
    } user[8];
};

struct PJRT_TopologyDescription {
    size_t num_devices;
    PJRT_DeviceDescription descriptions[FAKE_DEVICES_MOST];
    PJRT_DeviceDescription *list[FAKE_DEVICES_MOST];
};

struct PJRT_Client {
    PJRT_TopologyDescription topology;
    size_t num_devices;
    PJRT_Device devices[FAKE_DEVICES_MOST], *device_list[FAKE_DEVICES_MOST];
    struct fake_memory memories[FAKE_DEVICES_MOST];
    PJRT_Memory *memory_list[FAKE_DEVICES_MOST];
};

struct PJRT_Executable {
    struct fake_program *program;
    struct PJRT_Layouts_MemoryLayout **param_layouts, **output_layouts; /* lists last handed out */
};

struct PJRT_LoadedExecutable {
    struct fake_program *program;
    PJRT_Client *client;
    atomic_bool deleted;
    PJRT_LogicalDeviceIds logical[FAKE_DEVICES_MOST];
};

struct PJRT_Buffer {
    struct fake_shape shape;
    PJRT_Device *device;
    unsigned char *data;
    size_t size;
    int64_t strides[FAKE_RANK_MAX], minor_to_major[FAKE_RANK_MAX];
    atomic_bool deleted;
    atomic_int external;
    void (*on_delete)(void *data, void *arg); /* a view: the data is another's */
    void *on_delete_arg;
    bool view;
    bool failed; /* of an execution that ran out of memory after it was accepted */
};

PJRT_Buffer *fake_buffer_new(const struct fake_shape *shape, PJRT_Device *device);
void fake_buffer_free(PJRT_Buffer *buffer);

struct PJRT_Event {
    pthread_mutex_t lock;
    pthread_cond_t ready_cond;
    bool ready;
    PJRT_Error_Code code;
    char text[128];
    struct fake_waiter *waiters;
};

PJRT_Event *fake_event_ready(void);
PJRT_Event *fake_event_failed(PJRT_Error_Code code, const char *text);

/* The environment, read once: FAKE_DEVICES, FAKE_PLATFORM, FAKE_COMPILE_MS, FAKE_STATS_MS,
 * FAKE_LOAD_MS, FAKE_PARAMS, FAKE_OUTPUTS, FAKE_FAIL (see README.md). */
struct fake_settings {
    size_t num_devices, num_foreign; /* the latter are among the former: the last ones */
    size_t processes, process;       /* with several, each has the device of its number; else 0 */
    long compile_ms, stats_ms, load_ms, serialize_ms;
    bool stats_after_maker;
    int64_t memory, temp_times; /* of a device; temporaries per byte of the arguments; 0: unset */
    const char *compile_until;  /* a path; NULL: a compile waits for nothing */
    const char *message;        /* of injected errors; NULL: a default */
    const char *platform, *version, *params, *outputs, *topology;
    const char *kinds[FAKE_DEVICES_MOST];
    PJRT_NamedValue *attributes, *device_attributes; /* of topologies, of devices */
    size_t num_attributes, num_device_attributes;
};
const struct fake_settings *fake_settings(void);

/* Extension tables, linked in fake_ext.c; the head of the list. */
PJRT_Extension_Base *fake_extensions(void);

#define IMPL(name) PJRT_Error *fake_##name(name##_Args *args);
#include "implemented.def"
void fake_PJRT_Error_Destroy(PJRT_Error_Destroy_Args *args);
void fake_PJRT_Error_Message(PJRT_Error_Message_Args *args);

#endif
