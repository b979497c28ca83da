/* A plugin before libstet_cpu.so, for runs under a sanitizer.
 *
 * A framework orders its own threads by locks that ThreadSanitizer can't see, because nothing of
 * the framework is instrumented. What the interface promises is told here instead, handle by
 * handle: making a handle comes before every call that is given it, and all those calls come before
 * the one that destroys it. Two calls with one handle stay unordered, so their races are found.
 *
 * STET_DOOR_OF is the plugin. With STET_DOOR_FAULT it commits a data race and a write out of
 * bounds: a test that must see them. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/api.h"
#include "abi/pjrt_ext.h"

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#else
#define __tsan_acquire(address) (void)(address)
#define __tsan_release(address) (void)(address)
#endif

enum { MOST_WORDS = 64 };

static const PJRT_Api *real;
static PJRT_Api table;
static PJRT_Layouts_Extension layouts;
static const PJRT_Layouts_Extension *real_layouts;
static char client; /* stands for the client and what is inside it */

/* Where the sanitizer's allocator keeps its blocks on x86-64: handles are among them. */
static bool is_block(uintptr_t word)
{
    return word >= 0x7b0000000000 && word < 0x7c0000000000;
}

static void made(uintptr_t word)
{
    if (is_block(word))
        __tsan_release((void *)word);
}

static void given(uintptr_t word)
{
    if (is_block(word))
        __tsan_acquire((void *)word);
}

static void used(uintptr_t word)
{
    if (is_block(word))
        __tsan_release((void *)(word + 1));
}

static void ends(uintptr_t word)
{
    if (is_block(word))
        __tsan_acquire((void *)(word + 1));
}

struct call {
    uintptr_t word[MOST_WORDS];
    size_t words;
    bool destroys;
};

static void before(struct call *c, const void *args, const char *name)
{
    size_t bytes, tail = strlen("_Destroy"), length = strlen(name);

    memcpy(&bytes, args, sizeof bytes);
    c->words = bytes / sizeof *c->word < MOST_WORDS ? bytes / sizeof *c->word : MOST_WORDS;
    c->destroys = length > tail && strcmp(name + length - tail, "_Destroy") == 0;
    memcpy(c->word, args, c->words * sizeof *c->word);
    __tsan_acquire(&client);
    for (size_t i = 1; i < c->words; i++) {
        given(c->word[i]);
        if (c->destroys)
            ends(c->word[i]);
    }
}

/* What the call changed in its arguments it handed out; the rest it used. */
static void after(const struct call *c, const void *args, const PJRT_Error *error)
{
    uintptr_t now[MOST_WORDS];

    memcpy(now, args, c->words * sizeof *now);
    for (size_t i = 1; i < c->words; i++) {
        if (now[i] != c->word[i])
            made(now[i]);
        else if (!c->destroys)
            used(now[i]);
    }
    made((uintptr_t)error);
}

static void each(PJRT_Buffer *const *list, size_t count, void (*tell)(uintptr_t))
{
    for (size_t i = 0; i < count; i++)
        tell((uintptr_t)list[i]);
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    PJRT_Executable_NumOutputs_Args outputs = {.struct_size =
                                                   PJRT_Executable_NumOutputs_Args_STRUCT_SIZE};
    PJRT_LoadedExecutable_GetExecutable_Args get = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
        .loaded_executable = args->executable};
    PJRT_Executable_Destroy_Args destroy = {.struct_size =
                                                PJRT_Executable_Destroy_Args_STRUCT_SIZE};
    PJRT_Error *error;

    if (args->num_args)
        each(args->argument_lists[0], args->num_args, given);
    error = real->PJRT_LoadedExecutable_GetExecutable(&get);
    if (!error) {
        outputs.executable = destroy.executable = get.executable;
        real->PJRT_Executable_NumOutputs(&outputs);
        real->PJRT_Executable_Destroy(&destroy);
        error = real->PJRT_LoadedExecutable_Execute(args);
    }
    if (!error) {
        each(args->output_lists[0], outputs.num_outputs, made);
        if (args->device_complete_events)
            made((uintptr_t)args->device_complete_events[0]);
    }
    if (args->num_args)
        each(args->argument_lists[0], args->num_args, used);
    return error;
}

static PJRT_Error *create(PJRT_Client_Create_Args *args)
{
    PJRT_Error *error = real->PJRT_Client_Create(args);

    __tsan_release(&client);
    return error;
}

static void fault(void)
{
    static int counter;
    static char *volatile block;

    if (!getenv("STET_DOOR_FAULT"))
        return;
    counter++;
    if (!block)
        block = malloc(7);
#ifdef __SANITIZE_ADDRESS__
    block[7] = 1;
#endif
}

/* The real functions, but for those with lists of handles among their arguments. */
static PJRT_Api below;

#define CALL(name, function)                                                                       \
    static PJRT_Error *door_##name(name##_Args *args)                                              \
    {                                                                                              \
        struct call c;                                                                             \
        PJRT_Error *error;                                                                         \
                                                                                                   \
        fault();                                                                                   \
        before(&c, args, #name);                                                                   \
        error = function(args);                                                                    \
        after(&c, args, error);                                                                    \
        return error;                                                                              \
    }
#define ENTRY(name, since, last) CALL(name, below.name)
#define ENTRY_VOID(name, since, last)                                                              \
    static void door_##name(name##_Args *args)                                                     \
    {                                                                                              \
        struct call c;                                                                             \
                                                                                                   \
        before(&c, args, #name);                                                                   \
        below.name(args);                                                                          \
        after(&c, args, NULL);                                                                     \
    }
#include "abi/entries.def"

#define LAYOUTS(X)                                                                                 \
    X(PJRT_Layouts_MemoryLayout_Destroy)                                                           \
    X(PJRT_Layouts_MemoryLayout_Serialize)                                                         \
    X(PJRT_Layouts_PJRT_Client_GetDefaultLayout)                                                   \
    X(PJRT_Layouts_PJRT_Buffer_MemoryLayout)                                                       \
    X(PJRT_Layouts_PJRT_Topology_GetDefaultLayout)                                                 \
    X(PJRT_Layouts_PJRT_Executable_GetOutputLayouts)                                               \
    X(PJRT_Layouts_PJRT_Executable_GetParameterLayouts)
#define LAYOUT(name) CALL(name, real_layouts->name)
LAYOUTS(LAYOUT)
#undef LAYOUT

static void open_door(void)
{
    const char *path = getenv("STET_DOOR_OF");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    const PJRT_Api *(*get)(void);

    if (!symbol) {
        fprintf(stderr, "door: no plugin in STET_DOOR_OF: %s\n", path ? dlerror() : "not set");
        abort();
    }
    memcpy(&get, &symbol, sizeof get);
    real = get();
    below = table = *real;
    below.PJRT_Client_Create = create;
    below.PJRT_LoadedExecutable_Execute = execute;
#define ENTRY(name, since, last) table.name = door_##name;
#include "abi/entries.def"
    /* First in the plugin's list. */
    real_layouts = (const PJRT_Layouts_Extension *)real->extension_start;
    if (real_layouts->base.type != PJRT_Extension_Type_Layouts)
        abort();
    layouts = *real_layouts;
#define LAYOUT(name) layouts.name = door_##name;
    LAYOUTS(LAYOUT)
    table.extension_start = &layouts.base;
}

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_door);
    return &table;
}
