/* The CPU backend (ODD_PLUGIN) with a bad habit at programs that the layer wrote: `refuse` fails to
 * compile them, `wrong` and `inverse` compile another program (`inverse` divides instead of
 * multiplying, which is the same for 1), `fail` fails when they run. With `random`, no three
 * executions in a row compute the same. odd_begin sets the habit and
 * the counts; odd_compiles returns how many compiles came through since. After odd_fail_buffer(n),
 * the n-th buffer made from host memory fails, counted from 0; it returns how many were made, or
 * were to be made, since it was called last. After odd_fail_compile(n), the n-th compile of a
 * program that the layer did not write fails, counted from 0. While odd_hold(true), compiles of
 * programs that the layer wrote wait inside the plugin; odd_held returns how many do. With
 * ODD_NEWER in the environment, the table is longer than any that this build knows; with ODD_JOB,
 * only the first device is this process's own. */
#include "abi/pjrt.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);
__attribute__((visibility("default"))) void odd_begin(const char *name);
__attribute__((visibility("default"))) int odd_compiles(bool lifted);
__attribute__((visibility("default"))) int odd_fail_buffer(int n);
__attribute__((visibility("default"))) void odd_fail_compile(int n);
__attribute__((visibility("default"))) void odd_hold(bool on);
__attribute__((visibility("default"))) int odd_held(void);

static const PJRT_Api *below;
static struct {
    PJRT_Api known;
    void (*newer)(void);
} table;
static const char *habit;
static _Atomic int compiles[2];
static PJRT_LoadedExecutable *_Atomic bad;
static _Atomic int buffers, bad_buffer = -1, bad_compile = -1, held;
static atomic_bool hold;

void odd_begin(const char *name)
{
    habit = name;
    atomic_store(&bad, NULL);
    atomic_store(&bad_compile, -1);
    atomic_store(&compiles[0], 0);
    atomic_store(&compiles[1], 0);
}

int odd_compiles(bool lifted)
{
    return atomic_load(&compiles[lifted]);
}

int odd_fail_buffer(int n)
{
    atomic_store(&bad_buffer, n);
    return atomic_exchange(&buffers, 0);
}

void odd_fail_compile(int n)
{
    atomic_store(&bad_compile, n);
}

void odd_hold(bool on)
{
    atomic_store(&hold, on);
}

int odd_held(void)
{
    return atomic_load(&held);
}

static void wait_while_held(void)
{
    atomic_fetch_add(&held, 1);
    while (atomic_load(&hold))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    atomic_fetch_sub(&held, 1);
}

static bool is(const char *name)
{
    return habit && !strcmp(habit, name);
}

/* Programs of the tests begin with "module". */
static bool is_lifted(const PJRT_Program *p)
{
    static const char generic[] = "\"builtin.module\"";

    return p->code_size > sizeof generic && !memcmp(p->code, generic, sizeof generic - 1);
}

static PJRT_Error *compile_other(PJRT_Client_Compile_Args *args)
{
    PJRT_Program program = *args->program;
    const PJRT_Program *theirs = args->program;
    char *copy = malloc(theirs->code_size + 1), *at;
    PJRT_Error *error;

    memcpy(copy, theirs->code, theirs->code_size);
    copy[theirs->code_size] = '\0';
    at = strstr(copy, "stablehlo.multiply\"");
    if (at)
        memcpy(at,
               is("wrong")     ? "stablehlo.subtract\""
               : is("inverse") ? "stablehlo.divide\"  "
                               : "stablehlo.nonsense\"",
               19);
    program.code = copy;
    args->program = &program;
    error = below->PJRT_Client_Compile(args);
    args->program = theirs;
    free(copy);
    return error;
}

static PJRT_Error *my_compile(PJRT_Client_Compile_Args *args)
{
    bool lifted = is_lifted(args->program);
    int number = atomic_fetch_add(&compiles[lifted], 1);
    PJRT_Program empty = *args->program;
    PJRT_Error *error;

    if (!lifted && number == atomic_load(&bad_compile)) {
        empty.code_size = 0; /* which the backend refuses */
        args->program = &empty;
        return below->PJRT_Client_Compile(args);
    }
    if (lifted)
        wait_while_held();
    if (lifted && (is("wrong") || is("inverse") || is("refuse")))
        return compile_other(args);
    error = below->PJRT_Client_Compile(args);
    if (lifted && !error && is("fail"))
        atomic_store(&bad, args->executable);
    return error;
}

/* Executes the program on its own result. */
static PJRT_Error *execute_again(PJRT_LoadedExecutable_Execute_Args *args)
{
    PJRT_Buffer *first = args->output_lists[0][0], *arguments[8];
    PJRT_Buffer *const *lists[] = {arguments};
    PJRT_LoadedExecutable_Execute_Args copy = *args;
    PJRT_Buffer_Destroy_Args destroy = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                        .buffer = first};
    PJRT_Error *error;

    for (size_t i = 0; i < args->num_args && i < 8; i++)
        arguments[i] = i ? args->argument_lists[0][i] : first;
    copy.argument_lists = lists;
    copy.device_complete_events = NULL;
    error = below->PJRT_LoadedExecutable_Execute(&copy);
    return error ? error : below->PJRT_Buffer_Destroy(&destroy);
}

static PJRT_Error *my_execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    static _Atomic unsigned turns;
    size_t n = args->num_args;
    PJRT_Error *error;

    if (args->executable == atomic_load(&bad))
        args->num_args = 0; /* which the backend refuses */
    error = below->PJRT_LoadedExecutable_Execute(args);
    args->num_args = n;
    for (unsigned more = is("random") ? atomic_fetch_add(&turns, 1) % 3 : 0; more && !error; more--)
        error = execute_again(args);
    return error;
}

static PJRT_Error *my_devices(PJRT_Client_AddressableDevices_Args *args)
{
    PJRT_Error *error = below->PJRT_Client_AddressableDevices(args);

    args->num_addressable_devices = 1;
    return error;
}

static PJRT_Error *my_buffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    PJRT_Client_BufferFromHostBuffer_Args refused = *args;

    if (atomic_fetch_add(&buffers, 1) != atomic_load(&bad_buffer))
        return below->PJRT_Client_BufferFromHostBuffer(args);
    refused.type = PJRT_Buffer_Type_INVALID; /* which the backend refuses */
    return below->PJRT_Client_BufferFromHostBuffer(&refused);
}

const PJRT_Api *GetPjrtApi(void)
{
    void *handle = dlopen(getenv("ODD_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    void *found = handle ? dlsym(handle, "GetPjrtApi") : NULL;
    const PJRT_Api *(*get)(void) = NULL;

    if (below || !found)
        return below ? &table.known : NULL;
    memcpy(&get, &found, sizeof get);
    below = get();
    memcpy(&table.known, below, sizeof table.known);
    if (getenv("ODD_NEWER"))
        table.known.struct_size = sizeof table;
    if (getenv("ODD_JOB"))
        table.known.PJRT_Client_AddressableDevices = my_devices;
    table.known.PJRT_Client_Compile = my_compile;
    table.known.PJRT_LoadedExecutable_Execute = my_execute;
    table.known.PJRT_Client_BufferFromHostBuffer = my_buffer;
    return &table.known;
}
