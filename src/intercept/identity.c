/* Computed once per client, when it is created, and kept; except for the environment. */
#include "intercept/identity.h"

#include "base/mem.h"
#include "intercept/compiler_env.h"
#include "intercept/describe.h"
#include "intercept/host_code.h"
#include "intercept/layer.h"
#include "intercept/object.h"
#include "intercept/toolkit.h"

#include <stdlib.h>

struct identity {
    struct identity *next;
    uint32_t client;
    enum stet_outcome why;
    struct stet_arena arena;
    struct stet_key_parts parts;
    struct stet_view path;        /* of the plugin's file */
    struct stet_file_watch files; /* files whose content is in the parts */
    atomic_bool moved;            /* one of them has changed */
    unsigned states;              /* of the environment, before the client was made */
};

/* The plugin has compiled something. */
static atomic_bool compiled[STET_PLUGINS];

/* For executables with code for the device alone, unless the program requests otherwise. */
static const struct stet_view device_code = {"device code", sizeof "device code" - 1};

/* Only grows, and without a lock: a forked child finds it complete. */
static _Atomic(struct identity *) list;

/* The state of the file of a plugin without a build id, when its table was requested. */
static _Atomic(struct stet_file_watch *) first_seen[STET_PLUGINS];

/* A text on one line. */
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

/* What a buffer holds, in the arena; releases the buffer. */
static struct stet_view taken(struct stet_arena *a, struct stet_buf *b)
{
    struct stet_view text =
        b->failed ? (struct stet_view){0} : stet_arena_copy(a, stet_buf_as_view(b));

    a->failed |= b->failed;
    stet_buf_release(b);
    return text;
}

static bool object_of(const struct stet_plugin *p, struct stet_object *out)
{
    union {
        stet_get_pjrt_api *function;
        const void *code;
    } get = {atomic_load(&p->get)};

    return stet_object_at(get.code, out);
}

void stet_identity_first(const struct stet_plugin *p)
{
    struct stet_file_watch *w, *none = NULL;
    struct stet_object object;

    stet_compiler_env_first(p);
    if (atomic_load(&first_seen[p->id - 1]) || !object_of(p, &object) || object.build_id[0])
        return;
    w = stet_mem_calloc(1, sizeof *w);
    if (!w)
        return;
    stet_intercept_file_watch_add(w, object.path);
    if (!atomic_compare_exchange_strong(&first_seen[p->id - 1], &none, w)) {
        stet_intercept_file_watch_release(w);
        stet_mem_free(w);
    }
}

/* A build id is read in memory. Without one the file counts by its content, which has to be the
 * file that was loaded: not one that was put in its place since. */
static enum stet_outcome plugin_part(const struct stet_plugin *p, struct stet_arena *a,
                                     struct stet_object *object, struct stet_file_watch *w,
                                     struct stet_view *out)
{
    const struct stet_file_watch *first = atomic_load(&first_seen[p->id - 1]);
    char text[STET_HASH_TEXT];
    struct stet_hash hash;

    if (!object_of(p, object))
        return STET_OUTCOME_PLUGIN_UNKNOWN;
    if (object->build_id[0]) {
        *out = stet_arena_printf(a, "build id %s", object->build_id);
        return STET_OUTCOME_NONE;
    }
    if (stet_named_hash(object->path, &hash, w) != STET_NAMED_FILE)
        return STET_OUTCOME_PLUGIN_UNKNOWN;
    if (!first || !first->count || stet_intercept_file_watch_moved(first) ||
        !stet_object_is_file(object))
        return STET_OUTCOME_PLUGIN_CHANGED;
    stet_hash_format(hash, text);
    *out = stet_arena_printf(a, "content %s", text);
    return STET_OUTCOME_NONE;
}

/* A GPU's runtime is not part of its plugin: its version is in the topology, or the client has
 * it. */
static bool tells_all(const struct stet_topology *t, enum stet_tools tools)
{
    return t->platform.len && t->version.len && (tools == STET_TOOLS_NONE || t->tells_runtime);
}

/* For a client without a topology, or with one that is incomplete. */
static bool client_platform(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                            struct stet_view *name_out, struct stet_view *version_out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_PlatformName_Args name = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = client};
    PJRT_Client_PlatformVersion_Args version = {
        .struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE, .client = client};

    if (!stet_api_has(real, PJRT_Client_PlatformName) ||
        stet_plugin_drop(p, real->PJRT_Client_PlatformName(&name)) ||
        !stet_api_has(real, PJRT_Client_PlatformVersion) ||
        stet_plugin_drop(p, real->PJRT_Client_PlatformVersion(&version)) || !name.platform_name ||
        !version.platform_version)
        return false;
    *name_out = stet_arena_copy(a, stet_plugin_text(name.platform_name, name.platform_name_size));
    *version_out = stet_arena_copy(
        a, stet_plugin_text(version.platform_version, version.platform_version_size));
    return true;
}

/* Devices by kind, the attributes of the topology and of the devices, and the topology's own
 * bytes. */
static struct stet_view topology_text(struct stet_arena *a, const struct stet_topology *t,
                                      enum stet_topology_is is)
{
    struct stet_buf out = STET_BUF_INIT;
    char hash[STET_HASH_TEXT];

    stet_buf_view(&out, t->kinds);
    for (size_t i = 0; i < t->identity.count; i++)
        stet_buf_printf(&out, "; %.*s", STET_FMT(t->identity.items[i]));
    if (is == STET_TOPOLOGY_SERIALIZED && !stet_hash_is_zero(t->device_attributes)) {
        stet_hash_format(t->device_attributes, hash);
        stet_buf_printf(&out, "; devices #%s", hash);
    }
    if (is == STET_TOPOLOGY_SERIALIZED && !stet_hash_is_zero(t->serialized)) {
        stet_hash_format(t->serialized, hash);
        stet_buf_printf(&out, "; serialized #%s", hash);
    }
    return taken(a, &out);
}

/* All but the environment and the plugin: of a topology and, when there is one, a client. */
static enum stet_outcome describe(struct stet_plugin *p, PJRT_Client *client,
                                  const struct stet_topology *t, const char *plugin_path,
                                  struct stet_arena *a, struct stet_file_watch *w,
                                  struct stet_view *part)
{
    struct stet_view name = t->platform, version = t->version;
    const struct stet_platform *platform = stet_platform_find(name);
    struct stet_buf tools = STET_BUF_INIT;
    enum stet_outcome why;

    if (client && !tells_all(t, platform->tools)) {
        if (!client_platform(p, client, a, &name, &version))
            return STET_OUTCOME_PLUGIN_UNKNOWN;
        platform = stet_platform_find(name);
    }
    if (!name.len)
        return STET_OUTCOME_PLUGIN_UNKNOWN;
    part[STET_COMPONENT_PLATFORM] =
        one_line(a, stet_arena_printf(a, "%.*s %.*s", STET_FMT(name), STET_FMT(version)));
    part[STET_COMPONENT_TOPOLOGY] = topology_text(a, t, platform->topology);
    part[STET_COMPONENT_HOST] = platform->code == STET_CODE_HOST     ? stet_host_code_features()
                                : platform->code == STET_CODE_DEVICE ? device_code
                                                                     : STET_VIEW("none");
    why = stet_toolkit_text(&tools, platform->tools, plugin_path, !t->tells_driver, w);
    part[STET_COMPONENT_TOOLKIT] = taken(a, &tools);
    if (!why && (a->failed || w->failed))
        why = STET_OUTCOME_NO_MEMORY;
    return why;
}

static enum stet_outcome describe_client(struct identity *id, struct stet_plugin *p,
                                         PJRT_Client *client)
{
    const PJRT_Api *real = stet_plugin_real(p);
    struct stet_object object = {0};
    struct stet_arena *a = &id->arena;
    struct stet_topology t;
    enum stet_outcome why;

    if (!stet_api_has(real, PJRT_Executable_Serialize) ||
        !stet_api_has(real, PJRT_Executable_DeserializeAndLoad))
        return STET_OUTCOME_PLUGIN_CANNOT;
    why = plugin_part(p, a, &object, &id->files, &id->parts.part[STET_COMPONENT_PLUGIN]);
    if (why)
        return why;
    id->path = stet_arena_copy(a, stet_view_str(object.path));
    stet_describe_client_topology(p, client, a, &t);
    return describe(p, client, &t, object.path, a, &id->files, id->parts.part);
}

static struct identity *identity_of(struct stet_plugin *p, PJRT_Client *client)
{
    uint32_t number = stet_plugin_client(p, client);
    struct stet_view unused;
    struct identity *id;
    enum stet_outcome unseen;

    for (id = atomic_load(&list); id && id->client != number; id = id->next)
        continue;
    if (!id) {
        id = number ? stet_mem_calloc(1, sizeof *id) : NULL;
        if (!id)
            return NULL;
        id->client = number;
        stet_arena_init(&id->arena, (size_t)4 << 20);
        id->why = describe_client(id, p, client);
        unseen = stet_compiler_env_see(p, STET_MOMENT_MADE, &unused, &id->states);
        if (!id->why)
            id->why = unseen;
        id->next = atomic_load(&list); /* two threads may each add one; they are equal */
        while (!atomic_compare_exchange_weak(&list, &id->next, id))
            continue;
    }
    return id;
}

/* A tool was replaced while the process runs: what is compiled now does not match the key. */
static bool has_moved(struct identity *id)
{
    if (!atomic_load_explicit(&id->moved, memory_order_relaxed) &&
        stet_intercept_file_watch_moved(&id->files))
        atomic_store(&id->moved, true);
    return atomic_load_explicit(&id->moved, memory_order_relaxed);
}

/* The environment before a compile. */
static enum stet_outcome see_compile(const struct stet_plugin *p, struct stet_view *text,
                                     unsigned *states)
{
    bool first = !atomic_load_explicit(&compiled[p->id - 1], memory_order_relaxed);
    enum stet_outcome why =
        stet_compiler_env_see(p, first ? STET_MOMENT_COMPILE : STET_MOMENT_LATER, text, states);

    if (first)
        atomic_store_explicit(&compiled[p->id - 1], true, memory_order_relaxed);
    return why;
}

/* Parts of a client with the environment as it was seen. */
static enum stet_outcome fill(const struct identity *id, struct stet_view environment,
                              unsigned states, struct stet_arena *a, struct stet_key_parts *out)
{
    *out = id->parts;
    if (states && id->states) /* each of several clients may have read something else */
        environment =
            stet_arena_printf(a, "%.*s; client after %u", STET_FMT(environment), id->states);
    out->part[STET_COMPONENT_ENVIRONMENT] = environment;
    return id->why;
}

enum stet_outcome stet_identity_of(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                                   struct stet_key_parts *out, struct stet_view *plugin_path)
{
    struct identity *id = identity_of(p, client);
    struct stet_view environment = {0};
    enum stet_outcome unseen, why;
    unsigned states = 0;

    if (!id)
        return stet_plugin_client(p, client) ? STET_OUTCOME_NO_MEMORY : STET_OUTCOME_CLIENT_UNKNOWN;
    unseen = see_compile(p, &environment, &states);
    why = fill(id, environment, states, a, out);
    *plugin_path = id->path;
    if (why || unseen)
        return why ? why : unseen;
    return has_moved(id) ? STET_OUTCOME_FILES_CHANGED : STET_OUTCOME_NONE;
}

enum stet_outcome stet_identity_now(struct stet_plugin *p, PJRT_Client *client,
                                    struct stet_arena *a, struct stet_key_parts *out)
{
    struct identity *id = identity_of(p, client);
    struct stet_view environment = {0};
    enum stet_outcome unseen, why;
    unsigned states = 0;

    if (!id)
        return STET_OUTCOME_CLIENT_UNKNOWN;
    unseen = stet_compiler_env_see(p, STET_MOMENT_MADE, &environment, &states);
    why = fill(id, environment, states, a, out);
    return why ? why : unseen;
}

void stet_identity_prepare(struct stet_plugin *p, PJRT_Client *client)
{
    if (stet_layer.storing)
        identity_of(p, client);
}

void stet_identity_see(const struct stet_plugin *p, enum stet_moment moment)
{
    struct stet_view text;
    unsigned states;

    if (stet_layer.storing)
        stet_compiler_env_see(p, moment, &text, &states);
}

enum stet_outcome stet_identity_ahead(struct stet_plugin *p,
                                      const PJRT_TopologyDescription *topology,
                                      struct stet_arena *a, struct stet_key_parts *out,
                                      struct stet_view *plugin_path)
{
    struct stet_object object = {0};
    struct stet_file_watch files = {0};
    struct stet_topology t;
    unsigned states;
    enum stet_outcome why;

    if (!stet_api_has(stet_plugin_real(p), PJRT_Executable_Serialize))
        return STET_OUTCOME_PLUGIN_CANNOT;
    if (!topology)
        return STET_OUTCOME_TOPOLOGY_UNKNOWN;
    why = plugin_part(p, a, &object, &files, &out->part[STET_COMPONENT_PLUGIN]);
    if (!why) {
        *plugin_path = stet_arena_copy(a, stet_view_str(object.path));
        stet_describe_topology(p, topology, a, &t);
        why = describe(p, NULL, &t, object.path, a, &files, out->part);
    }
    if (!why)
        why = see_compile(p, &out->part[STET_COMPONENT_ENVIRONMENT], &states);
    stet_intercept_file_watch_release(&files);
    return why;
}

void stet_identity_program(struct stet_key_parts *parts, struct stet_view program)
{
    if (parts->part[STET_COMPONENT_HOST].ptr == device_code.ptr && stet_host_code_wanted(program))
        parts->part[STET_COMPONENT_HOST] = stet_host_code_features();
}
