/* Runs in one child. It loads the layer over the plugin as the launch will, so that the stored
 * entries have the keys that the launch will look up. */
#include "base/clock.h"
#include "journal/variables.h"
#include "ledger/captured.h"
#include "warm/warm.h"

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
    if (error)
        i->code = stet_warm_topology_code(a->api, error);
    return stet_warm_topology_failed(a->api, error, i->detail, sizeof i->detail);
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

static bool bring_up(struct alive *a, const struct stet_warm_plan *plan, struct stet_warm_item *i)
{
    PJRT_NamedValue options[STET_WARM_IDENTITY_OPTIONS];
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                      .create_options = options,
                                      .num_options =
                                          stet_warm_identity_options(&i->identity, options)};
    struct stet_warm_topology topology = plan->topology;

    setenv("STET_PLUGIN", i->plugin, 1);
    set_variables(i);
    if (plan->topology.name && strstr(i->plugin, "libtpu"))
        stet_warm_topology_environment(plan->topology.name);
    a->api = stet_warm_topology_load(plan->layer, i->plugin, i->detail, sizeof i->detail);
    if (!a->api)
        return false;
    if (plan->topology.name) {
        topology.identity = i->identity;
        a->topology = stet_warm_topology_create(a->api, &topology, i->detail, sizeof i->detail);
        return a->topology != NULL;
    }
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
                          const struct stet_warm_plan *plan, struct stet_warm_item *i)
{
    PJRT_Compile_Args args = {.struct_size = PJRT_Compile_Args_STRUCT_SIZE,
                              .topology = a->topology,
                              .program = program,
                              .compile_options = options.ptr,
                              .compile_options_size = options.len};
    PJRT_Executable_Destroy_Args destroy = {.struct_size =
                                                PJRT_Executable_Destroy_Args_STRUCT_SIZE};
    struct stet_warm_subject s = {.item = i,
                                  .number = (size_t)(i - plan->items),
                                  .api = a->api,
                                  .topology = a->topology,
                                  .code = stet_view_of(program->code, program->code_size),
                                  .options = options};
    uint64_t cpu = stet_clock_cpu_ns(), wall = stet_clock_ns();

    if (failed(a, a->api->PJRT_Compile(&args), i))
        return false;
    s.wall_ns = stet_clock_ns() - wall;
    s.cpu_ns = stet_clock_cpu_ns() - cpu;
    s.executable = args.executable;
    if (plan->inspector && plan->inspector->after)
        plan->inspector->after(plan->inspector->context, &s);
    destroy.executable = args.executable;
    return !failed(a, a->api->PJRT_Executable_Destroy(&destroy), i);
}

static bool is_left(const struct alive *a, const struct stet_warm_plan *plan,
                    struct stet_warm_item *i, struct stet_view code, struct stet_view options)
{
    struct stet_warm_subject s = {.item = i,
                                  .number = (size_t)(i - plan->items),
                                  .api = a->api,
                                  .topology = a->topology,
                                  .code = code,
                                  .options = options};

    return plan->inspector && plan->inspector->before &&
           !plan->inspector->before(plan->inspector->context, &s);
}

/* `compiles` counts the compiles of this child, as its journal does. */
static enum stet_warm_verdict compile(const struct alive *a, const struct stet_warm_plan *plan,
                                      struct stet_warm_item *i, uint64_t *compiles)
{
    static const char *const codes[] = {"mlirbc", "mlir", "hlo.pb", "hlo_with_config.pb",
                                        "bin",    NULL};
    static const char *const options_kind[] = {"options", NULL};
    struct stet_file code, options = {0};
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .format = i->format,
                            .format_size = strlen(i->format)};
    enum stet_warm_verdict verdict;

    if (!open_whole(&code, i->folder, i->program, codes))
        return STET_WARM_NOT_CAPTURED;
    if (!stet_hash_is_zero(i->options) &&
        !open_whole(&options, i->folder, i->options, options_kind)) {
        stet_file_close(&code);
        return STET_WARM_NOT_CAPTURED;
    }
    program.code = (char *)(uintptr_t)code.bytes.ptr;
    program.code_size = code.bytes.len;
    if (is_left(a, plan, i, code.bytes, options.bytes)) {
        verdict = STET_WARM_LEFT;
    } else {
        i->order = (*compiles)++;
        verdict = (a->topology ? compile_ahead(a, &program, options.bytes, plan, i)
                               : compile_here(a, &program, options.bytes, i))
                      ? STET_WARM_DONE
                      : STET_WARM_FAILED;
    }
    stet_file_close(&code);
    stet_file_close(&options);
    return verdict;
}

static bool same_world(const struct stet_warm_item *a, const struct stet_warm_item *b)
{
    for (size_t v = 0; a->env != b->env && v < STET_VARIABLES; v++) {
        const char *name = stet_variables[v].name;

        if (stet_variables[v].reach == STET_REACH_COMPILER &&
            !stet_view_eq(value_of(a, name), value_of(b, name)))
            return false;
    }
    return !strcmp(a->plugin, b->plugin) && !strcmp(a->identity.platform, b->identity.platform) &&
           a->identity.devices == b->identity.devices;
}

_Noreturn void stet_warm_child(const struct stet_warm_plan *plan)
{
    struct stet_warm_item *first = NULL;
    struct alive alive = {0};
    uint64_t compiles = 0;
    bool up = false;

    for (size_t n = 0; n < plan->count; n++) {
        struct stet_warm_item *i = &plan->items[n];
        int waits = STET_WARM_WAITS;

        if (first && !same_world(first, i))
            continue;
        if (!atomic_compare_exchange_strong(&i->verdict, &waits, STET_WARM_AT_WORK))
            continue;
        i->begun_ns = stet_clock_ns();
        i->by = getpid(); /* before anything that may end this process */
        if (!first) {
            first = i;
            up = bring_up(&alive, plan, i);
        }
        if (!up) {
            if (i != first)
                memcpy(i->detail, first->detail, sizeof i->detail);
            atomic_store(&i->verdict, STET_WARM_NO_PLUGIN);
            continue;
        }
        atomic_store(&i->verdict, compile(&alive, plan, i, &compiles));
    }
    exit(0); /* ends as a framework does, so that the layer writes the rest */
}
