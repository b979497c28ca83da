/* Asked once a client, when it is made, and kept; but for the environment. */
#include "intercept/identity.h"

#include "base/mem.h"
#include "intercept/describe.h"
#include "intercept/layer.h"
#include "intercept/object.h"
#include "intercept/ranks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Flags that reach a compiler through the environment. Those that only say where to dump are left
 * out: they change nothing that is compiled. */
static const char *const flag_variables[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "TF_XLA_FLAGS",
                                             "NVIDIA_TF32_OVERRIDE"};
static const char *const dump_flags[] = {"--xla_dump_", "--xla_gpu_dump_"};
enum { FLAGS_MAX = 512 };

struct identity {
    struct identity *next;
    uint32_t client;
    const char *why;
    struct stet_arena arena;
    struct stet_key_parts parts;
    struct stet_view path; /* of the plugin's file */
    _Atomic(struct environment *) environment;
};

/* The flags as the first compile finds them: a plugin may read them as late as that. */
struct environment {
    struct stet_arena arena;
    struct stet_view text;
};

/* Only ever grows, and without a lock: a child of fork finds it whole. */
static _Atomic(struct identity *) list;

/* A value on one line. */
static struct stet_view one_line(struct stet_arena *a, struct stet_view v)
{
    struct stet_view copy = stet_arena_copy(a, v);
    char *at = (char *)(uintptr_t)copy.ptr;

    for (size_t i = 0; at && i < copy.len; i++) {
        if ((unsigned char)at[i] < ' ')
            at[i] = ' ';
    }
    return copy;
}

static struct stet_view file_hash(struct stet_arena *a, const char *path)
{
    char text[STET_HASH_TEXT];
    struct stet_hash hash;

    if (stet_store_file_hash(&stet_layer.store, path, &hash, NULL) != STET_OK)
        return STET_VIEW("none");
    stet_hash_format(hash, text);
    return stet_arena_copy(a, stet_view_str(text));
}

static struct stet_view plugin_part(struct stet_plugin *p, struct stet_arena *a,
                                    struct stet_object *object)
{
    union {
        stet_get_pjrt_api *function;
        const void *code;
    } get = {atomic_load(&p->get)};

    if (!stet_object_at(get.code, object))
        return (struct stet_view){0};
    if (object->build_id[0])
        return stet_arena_printf(a, "build id %s", object->build_id);
    return stet_arena_printf(a, "content %.*s", STET_FMT(file_hash(a, object->path)));
}

/* As the topology tells it: a compiler without a device has nothing else, and what it makes should
 * be found by the launch that has one. */
static struct stet_view platform_text(struct stet_arena *a, const struct stet_topology *t)
{
    return one_line(a,
                    stet_arena_printf(a, "%.*s %.*s", STET_FMT(t->platform), STET_FMT(t->version)));
}

/* A GPU's runtime is not a part of its plugin: its version is in the topology, or the client has
 * it. */
static bool tells_all(const struct stet_topology *t, struct stet_view text)
{
    return t->platform.len && t->version.len &&
           ((!stet_view_is(t->platform, "cuda") && !stet_view_is(t->platform, "rocm")) ||
            stet_view_contains(text, "runtime_version"));
}

/* Of a client without a topology, or with one that tells too little. */
static struct stet_view platform_part(struct stet_plugin *p, PJRT_Client *client,
                                      struct stet_arena *a)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_PlatformName_Args name = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = client};
    PJRT_Client_PlatformVersion_Args version = {
        .struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE, .client = client};

    if (!stet_api_has(real, PJRT_Client_PlatformName) ||
        stet_plugin_drop(p, real->PJRT_Client_PlatformName(&name)) ||
        !stet_api_has(real, PJRT_Client_PlatformVersion) ||
        stet_plugin_drop(p, real->PJRT_Client_PlatformVersion(&version)))
        return (struct stet_view){0};
    return one_line(
        a,
        stet_arena_printf(
            a, "%.*s %.*s", STET_FMT(stet_plugin_text(name.platform_name, name.platform_name_size)),
            STET_FMT(stet_plugin_text(version.platform_version, version.platform_version_size))));
}

static struct stet_view topology_text(struct stet_arena *a, const struct stet_topology *t)
{
    struct stet_view text =
        stet_arena_printf(a, "%llu x %.*s", (unsigned long long)t->devices, STET_FMT(t->kind));

    for (size_t i = 0; i < t->attributes.count; i++)
        text = stet_arena_printf(a, "%.*s; %.*s", STET_FMT(text), STET_FMT(t->attributes.items[i]));
    return one_line(a, text);
}

/* The first executable of this name on PATH. */
static struct stet_view on_path(struct stet_arena *a, const char *name)
{
    const char *path = getenv("PATH");
    char whole[PATH_MAX];

    while (path && *path) {
        size_t n = strcspn(path, ":");

        if (n && snprintf(whole, sizeof whole, "%.*s/%s", (int)n, path, name) < PATH_MAX &&
            stet_fs_exists(whole))
            return file_hash(a, whole);
        path += n + (path[n] == ':');
    }
    return STET_VIEW("none");
}

/* /proc has no times to remember by. */
static struct stet_view driver_hash(struct stet_arena *a)
{
    char text[STET_HASH_TEXT];
    struct stet_file file;

    if (stet_file_open(&file, "/proc/driver/nvidia/version", NULL) != STET_OK)
        return STET_VIEW("none");
    stet_hash_format(stet_hash_bytes(file.bytes), text);
    stet_file_close(&file);
    return stet_arena_copy(a, stet_view_str(text));
}

/* XLA's CUDA compiler looks in several places for its tools, the working folder first; any of them
 * may decide what it makes. The driver's version is a part of the topology, or else looked up: a
 * machine without the device has none. */
static struct stet_view cuda_part(struct stet_arena *a, const char *plugin,
                                  struct stet_view topology)
{
    static const char *const files[] = {"nvvm/libdevice/libdevice.10.bc", "bin/ptxas",
                                        "bin/nvlink"};
    char beside[PATH_MAX + 64], whole[2 * PATH_MAX];
    const char *const roots[] = {"cuda_sdk_lib", "/usr/local/cuda", beside};
    static const char *const names[] = {"here", "system", "beside"};
    struct stet_view text =
        stet_arena_printf(a, "path ptxas=%.*s nvlink=%.*s", STET_FMT(on_path(a, "ptxas")),
                          STET_FMT(on_path(a, "nvlink")));

    snprintf(beside, sizeof beside, "%s/../../../nvidia/cu13", plugin);
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        text = stet_arena_printf(a, "%.*s; %s", STET_FMT(text), names[r]);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(whole, sizeof whole, "%s/%s", roots[r], files[i]);
            text = stet_arena_printf(a, "%.*s %s=%.*s", STET_FMT(text), strrchr(files[i], '/') + 1,
                                     STET_FMT(file_hash(a, whole)));
        }
    }
    if (stet_view_contains(topology, "driver_version"))
        return text;
    return stet_arena_printf(a, "%.*s; driver=%.*s", STET_FMT(text), STET_FMT(driver_hash(a)));
}

static struct stet_view toolkit_part(struct stet_arena *a, const char *plugin,
                                     struct stet_view topology)
{
    return stet_view_contains(stet_view_str(plugin), "cuda") ? cuda_part(a, plugin, topology)
                                                             : STET_VIEW("none");
}

/* Flags in sorted order: their order means nothing. */
static struct stet_view flags_of(struct stet_arena *a, const char *value)
{
    struct stet_view *flags = STET_NEW_ARRAY(a, struct stet_view, FLAGS_MAX), text = {0};
    size_t n = 0;

    while (flags && n < FLAGS_MAX && *(value += strspn(value, " \t\n"))) {
        struct stet_view flag = stet_view_of(value, strcspn(value, " \t\n"));
        bool dumps = false;

        for (size_t i = 0; i < sizeof dump_flags / sizeof *dump_flags; i++)
            dumps |= stet_view_starts(flag, dump_flags[i]);
        if (!dumps)
            flags[n++] = flag;
        value += flag.len;
    }
    if (n)
        qsort(flags, n, sizeof *flags, stet_view_sort);
    for (size_t i = 0; i < n; i++)
        text = stet_arena_printf(a, "%.*s%s%.*s", STET_FMT(text), i ? " " : "", STET_FMT(flags[i]));
    return text;
}

static struct stet_view environment_part(struct stet_arena *a)
{
    struct stet_view text = {0};

    for (size_t i = 0; i < sizeof flag_variables / sizeof *flag_variables; i++) {
        const char *value = getenv(flag_variables[i]);
        struct stet_view flags = value ? flags_of(a, value) : (struct stet_view){0};

        if (flags.len)
            text = stet_arena_printf(a, "%.*s%s%s=%.*s", STET_FMT(text), text.len ? "; " : "",
                                     flag_variables[i], STET_FMT(flags));
    }
    return text;
}

static void describe(struct identity *id, struct stet_plugin *p, PJRT_Client *client)
{
    const PJRT_Api *real = stet_plugin_real(p);
    struct stet_object object = {0};
    struct stet_arena *a = &id->arena;
    struct stet_view *part = id->parts.part;
    struct stet_topology t;

    if (!stet_api_has(real, PJRT_Executable_Serialize) ||
        !stet_api_has(real, PJRT_Executable_DeserializeAndLoad)) {
        id->why = "plugin-cannot";
        return;
    }
    if (stet_ranks_span(p, client) && !stet_ranks_can(stet_plugin_client(p, client))) {
        id->why = "many-processes";
        return;
    }
    part[STET_COMPONENT_PLUGIN] = plugin_part(p, a, &object);
    id->path = stet_arena_copy(a, stet_view_str(object.path));
    stet_describe_client_topology(p, client, a, &t);
    part[STET_COMPONENT_TOPOLOGY] = topology_text(a, &t);
    part[STET_COMPONENT_PLATFORM] = tells_all(&t, part[STET_COMPONENT_TOPOLOGY])
                                        ? platform_text(a, &t)
                                        : platform_part(p, client, a);
    part[STET_COMPONENT_TOOLKIT] = toolkit_part(a, object.path, part[STET_COMPONENT_TOPOLOGY]);
    if (!part[STET_COMPONENT_PLUGIN].len || !part[STET_COMPONENT_PLATFORM].len)
        id->why = "plugin-unknown";
    if (a->failed)
        id->why = "no-memory";
}

/* NULL when memory is short. */
static const struct environment *environment_of(struct identity *id)
{
    struct environment *e = atomic_load(&id->environment), *other = NULL;

    if (e)
        return e;
    e = stet_mem_calloc(1, sizeof *e);
    if (!e)
        return NULL;
    stet_arena_init(&e->arena, (size_t)1 << 20);
    e->text = environment_part(&e->arena);
    if (!e->arena.failed && atomic_compare_exchange_strong(&id->environment, &other, e))
        return e;
    stet_arena_release(&e->arena);
    stet_mem_free(e);
    return other;
}

static struct identity *identity_of(struct stet_plugin *p, PJRT_Client *client)
{
    uint32_t number = stet_plugin_client(p, client);
    struct identity *id;

    for (id = atomic_load(&list); id && id->client != number; id = id->next)
        continue;
    if (!id) {
        id = number ? stet_mem_calloc(1, sizeof *id) : NULL;
        if (!id)
            return NULL;
        id->client = number;
        stet_arena_init(&id->arena, (size_t)4 << 20);
        describe(id, p, client);
        id->next = atomic_load(&list); /* two threads may each add one; they are equal */
        while (!atomic_compare_exchange_weak(&list, &id->next, id))
            continue;
    }
    return id;
}

const char *stet_identity_of(struct stet_plugin *p, PJRT_Client *client, struct stet_key_parts *out,
                             struct stet_view *plugin_path)
{
    struct identity *id = identity_of(p, client);
    const struct environment *e = id ? environment_of(id) : NULL;

    if (!e)
        return stet_plugin_client(p, client) ? "no-memory" : "client-unknown";
    *out = id->parts;
    out->part[STET_COMPONENT_ENVIRONMENT] = e->text;
    *plugin_path = id->path;
    return id->why;
}

const char *stet_identity_now(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                              struct stet_key_parts *out)
{
    struct identity *id = identity_of(p, client);

    if (!id)
        return "client-unknown";
    *out = id->parts;
    out->part[STET_COMPONENT_ENVIRONMENT] = environment_part(a);
    return a->failed ? "no-memory" : id->why;
}

void stet_identity_prepare(struct stet_plugin *p, PJRT_Client *client)
{
    if (stet_layer.storing)
        identity_of(p, client);
}

const char *stet_identity_ahead(struct stet_plugin *p, const PJRT_TopologyDescription *topology,
                                struct stet_arena *a, struct stet_key_parts *out,
                                struct stet_view *plugin_path)
{
    struct stet_object object = {0};
    struct stet_view *part = out->part;
    struct stet_topology t;

    if (!stet_api_has(stet_plugin_real(p), PJRT_Executable_Serialize))
        return "plugin-cannot";
    if (!topology)
        return "topology-unknown";
    stet_describe_topology(p, topology, a, &t);
    part[STET_COMPONENT_PLUGIN] = plugin_part(p, a, &object);
    *plugin_path = stet_arena_copy(a, stet_view_str(object.path));
    part[STET_COMPONENT_PLATFORM] = platform_text(a, &t);
    part[STET_COMPONENT_TOPOLOGY] = topology_text(a, &t);
    part[STET_COMPONENT_TOOLKIT] = toolkit_part(a, object.path, part[STET_COMPONENT_TOPOLOGY]);
    part[STET_COMPONENT_ENVIRONMENT] = environment_part(a);
    if (a->failed)
        return "no-memory";
    return part[STET_COMPONENT_PLUGIN].len && t.platform.len ? NULL : "plugin-unknown";
}
