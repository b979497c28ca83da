/* Runs in one child. It loads the layer over the plugin as the launch will, so that the stored
 * entries have the keys that the launch will look up. */
#include "abi/api.h"
#include "base/mem.h"
#include "journal/variables.h"
#include "ledger/captured.h"
#include "warm/warm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct alive {
    const PJRT_Api *api;
    PJRT_Client *client;
    PJRT_TopologyDescription *topology;
};

static bool failed(const struct alive *a, PJRT_Error *error, struct stet_warm_item *i)
{
    PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                 .error = error};
    PJRT_Error_Destroy_Args d = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                 .error = error};

    if (!error)
        return false;
    a->api->PJRT_Error_Message(&m);
    snprintf(i->detail, sizeof i->detail, "%.*s",
             (int)(m.message_size < sizeof i->detail ? m.message_size : sizeof i->detail - 1),
             m.message);
    a->api->PJRT_Error_Destroy(&d);
    return true;
}

/* Returns the value of a variable when the program ran; .ptr is NULL if it was unset. */
static struct stet_view value_of(const struct stet_warm_item *i, const char *name)
{
    size_t n = strlen(name);

    for (size_t e = 0; e < i->env_count; e++) {
        if (i->env[e].len > n && i->env[e].ptr[n] == '=' && !memcmp(i->env[e].ptr, name, n))
            return stet_view_of(i->env[e].ptr + n + 1, i->env[e].len - n - 1);
    }
    return (struct stet_view){0};
}

/* Sets the variables that are part of a key to their values when the program ran. */
static void set_variables(const struct stet_warm_item *i)
{
    for (size_t v = 0; v < STET_VARIABLES; v++) {
        struct stet_view value = value_of(i, stet_variables[v].name);
        char *copy;

        if (stet_variables[v].reach != STET_REACH_COMPILER)
            continue;
        copy = value.ptr ? strndup(value.ptr, value.len) : NULL;
        if (copy)
            setenv(stet_variables[v].name, copy, 1);
        else
            unsetenv(stet_variables[v].name);
        free(copy);
    }
}

/* Sets what libtpu needs to compile without a TPU. Variables that the user set stay. */
static void set_tpu(const char *topology)
{
    char type[64];
    const char *at = strchr(topology, ':');
    long chips = 1;

    setenv("TPU_SKIP_MDS_QUERY", "1", 0);
    setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
    setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
    if (!at)
        return;
    snprintf(type, sizeof type, "%.*s", (int)(at - topology < 48 ? at - topology : 48), topology);
    for (at++; *at; at += *at == 'x') {
        char *end;
        long n = strtol(at, &end, 10);

        if (end == at)
            break;
        chips *= n > 0 && n < 4096 ? n : 1;
        at = end;
    }
    snprintf(type + strlen(type), sizeof type - strlen(type), "-%ld", chips);
    setenv("TPU_ACCELERATOR_TYPE", type, 0);
}

static PJRT_NamedValue text_option(const char *name, struct stet_view value)
{
    return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = name,
                             .name_size = strlen(name),
                             .type = PJRT_NamedValue_kString,
                             .string_value = value.ptr,
                             .value_size = value.len};
}

static bool make_topology(struct alive *a, const struct stet_warm_plan *plan,
                          struct stet_warm_item *i)
{
    PJRT_NamedValue options[3];
    PJRT_TopologyDescription_Create_Args create = {
        .struct_size = PJRT_TopologyDescription_Create_Args_STRUCT_SIZE,
        .topology_name = plan->topology,
        .topology_name_size = strlen(plan->topology),
        .create_options = options,
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_file target = {0};

    if (plan->target) {
        if (stet_file_open(&target, plan->target, &err) != STET_OK) {
            snprintf(i->detail, sizeof i->detail, "%.180s", err.text);
            return false;
        }
    }
    if (plan->target || plan->described.len) {
        options[create.num_options++] =
            text_option("target_config", plan->target ? target.bytes : plan->described);
        options[create.num_options++] = text_option("topology", stet_view_str(plan->topology));
    }
    if (plan->host_described.len)
        options[create.num_options++] =
            text_option("host_target_machine_options", plan->host_described);
    if (!stet_api_has(a->api, PJRT_TopologyDescription_Create) ||
        failed(a, a->api->PJRT_TopologyDescription_Create(&create), i))
        return false;
    a->topology = create.topology;
    return true;
}

static bool bring_up(struct alive *a, const struct stet_warm_plan *plan, struct stet_warm_item *i)
{
    PJRT_Plugin_Initialize_Args init = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    union {
        void *symbol;
        stet_get_pjrt_api *get;
    } entry;
    void *library;

    setenv("STET_PLUGIN", i->plugin, 1);
    set_variables(i);
    if (plan->topology && strstr(i->plugin, "libtpu"))
        set_tpu(plan->topology);
    library = dlopen(plan->layer, RTLD_NOW | RTLD_LOCAL);
    entry.symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    a->api = entry.symbol ? entry.get() : NULL;
    if (!a->api) {
        snprintf(i->detail, sizeof i->detail, "%.160s: cannot be loaded", i->plugin);
        return false;
    }
    if (stet_api_has(a->api, PJRT_Plugin_Initialize) &&
        failed(a, a->api->PJRT_Plugin_Initialize(&init), i))
        return false;
    if (plan->topology)
        return make_topology(a, plan, i);
    if (failed(a, a->api->PJRT_Client_Create(&create), i))
        return false;
    a->client = create.client;
    return true;
}

/* Opens the program if it is complete. A capture may hold less than was compiled, and its hash
 * shows that. */
static bool open_whole(struct stet_file *f, const char *folder, struct stet_hash hash,
                       const char *const *kinds)
{
    char name[STET_HASH_TEXT], path[4200];

    stet_hash_format(hash, name);
    for (; *kinds; kinds++) {
        snprintf(path, sizeof path, "%s/programs/%s.%s.zst", folder, name, *kinds);
        if (!stet_fs_is_plain(path) || stet_ledger_captured_open(f, path, 0, NULL) != STET_OK)
            continue;
        if (stet_hash_eq(stet_hash_bytes(f->bytes), hash))
            return true;
        stet_file_close(f);
    }
    return false;
}

static bool compile_here(const struct alive *a, PJRT_Program *program, struct stet_view options,
                         struct stet_warm_item *i)
{
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = a->client,
                                     .program = program,
                                     .compile_options = options.ptr,
                                     .compile_options_size = options.len};
    PJRT_LoadedExecutable_Destroy_Args destroy = {
        .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE};

    if (failed(a, a->api->PJRT_Client_Compile(&args), i))
        return false;
    destroy.executable = args.executable; /* returns when the entry is stored */
    return !failed(a, a->api->PJRT_LoadedExecutable_Destroy(&destroy), i);
}

static bool compile_ahead(const struct alive *a, PJRT_Program *program, struct stet_view options,
                          struct stet_warm_item *i)
{
    PJRT_Compile_Args args = {.struct_size = PJRT_Compile_Args_STRUCT_SIZE,
                              .topology = a->topology,
                              .program = program,
                              .compile_options = options.ptr,
                              .compile_options_size = options.len};
    PJRT_Executable_Destroy_Args destroy = {.struct_size =
                                                PJRT_Executable_Destroy_Args_STRUCT_SIZE};

    if (failed(a, a->api->PJRT_Compile(&args), i))
        return false;
    destroy.executable = args.executable;
    return !failed(a, a->api->PJRT_Executable_Destroy(&destroy), i);
}

static enum stet_warm_verdict compile(const struct alive *a, struct stet_warm_item *i)
{
    static const char *const codes[] = {"mlirbc", "mlir", "hlo.pb", "hlo_with_config.pb",
                                        "bin",    NULL};
    static const char *const options_kind[] = {"options", NULL};
    struct stet_file code, options = {0};
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .format = i->format,
                            .format_size = strlen(i->format)};
    bool done;

    if (!open_whole(&code, i->folder, i->program, codes))
        return STET_WARM_NOT_CAPTURED;
    if (!stet_hash_is_zero(i->options) &&
        !open_whole(&options, i->folder, i->options, options_kind)) {
        stet_file_close(&code);
        return STET_WARM_NOT_CAPTURED;
    }
    program.code = (char *)(uintptr_t)code.bytes.ptr;
    program.code_size = code.bytes.len;
    done = a->topology ? compile_ahead(a, &program, options.bytes, i)
                       : compile_here(a, &program, options.bytes, i);
    stet_file_close(&code);
    stet_file_close(&options);
    return done ? STET_WARM_DONE : STET_WARM_FAILED;
}

static bool same_world(const struct stet_warm_item *a, const struct stet_warm_item *b)
{
    for (size_t v = 0; a->env != b->env && v < STET_VARIABLES; v++) {
        const char *name = stet_variables[v].name;

        if (stet_variables[v].reach == STET_REACH_COMPILER &&
            !stet_view_eq(value_of(a, name), value_of(b, name)))
            return false;
    }
    return !strcmp(a->plugin, b->plugin);
}

_Noreturn void stet_warm_child(const struct stet_warm_plan *plan)
{
    struct stet_warm_item *first = NULL;
    struct alive alive = {0};
    uint64_t order = 0;
    bool up = false;

    for (size_t n = 0; n < plan->count; n++) {
        struct stet_warm_item *i = &plan->items[n];
        int waits = STET_WARM_WAITS;

        if (first && !same_world(first, i))
            continue;
        if (!atomic_compare_exchange_strong(&i->verdict, &waits, STET_WARM_AT_WORK))
            continue;
        if (!first) {
            first = i;
            up = bring_up(&alive, plan, i);
        }
        i->by = getpid();
        if (!up) {
            if (i != first)
                memcpy(i->detail, first->detail, sizeof i->detail);
            atomic_store(&i->verdict, STET_WARM_NO_PLUGIN);
            continue;
        }
        i->order = order++;
        atomic_store(&i->verdict, compile(&alive, i));
    }
    exit(0); /* ends as a framework does, so that the layer writes the rest */
}
