/* The table: every entry counts its calls, may be told to fail, and then does or declines its work.
 */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#ifndef FAKE_NULL_API
#define FAKE_NULL_API 0
#endif

enum { UNKNOWN_ENTRIES = 16 };

static struct {
    atomic_ulong calls;
    unsigned long fail_from; /* 1 is the first call; 0: never */
    bool fail_on;            /* and every later one */
    PJRT_Error_Code code;
    char trap; /* 'h' never comes back, 'c' takes the process down */
} entries[STET_ENTRY_COUNT];

static bool some_fail;
static PJRT_Api *table;

/* Counts the call; an error when FAKE_FAIL asks for one. */
static PJRT_Error *enter(enum stet_entry entry)
{
    unsigned long n;

#ifdef FAKE_BARE
    if (!some_fail)
        return NULL;
#endif
    while (some_fail && entries[entry].trap == 'h')
        pause();
    if (some_fail && entries[entry].trap == 'c') {
        fprintf(stderr, "F0000 fake.cc:1] Check failed: %s\n", stet_api_entry_name(entry));
        abort();
    }
    n = atomic_fetch_add_explicit(&entries[entry].calls, 1, memory_order_relaxed) + 1;
    if (!some_fail || entries[entry].fail_from == 0 || n < entries[entry].fail_from ||
        (n > entries[entry].fail_from && !entries[entry].fail_on))
        return NULL;
    return fake_settings()->message
               ? fake_error(entries[entry].code, "%s", fake_settings()->message)
               : fake_error(entries[entry].code, "%s told to fail (call %lu)",
                            stet_api_entry_name(entry), n);
}

#ifdef FAKE_BARE
#define SPOIL(entry, args)
#else
#define SPOIL(entry, args) fake_spoil(entry, args)
#endif

#define IMPL(name)                                                                                 \
    static PJRT_Error *do_##name(name##_Args *args)                                                \
    {                                                                                              \
        PJRT_Error *error = enter(STET_ENTRY_##name);                                              \
        if (error || (error = fake_##name(args)))                                                  \
            return error;                                                                          \
        SPOIL(STET_ENTRY_##name, args);                                                            \
        return NULL;                                                                               \
    }
#include "implemented.def"

#define ENTRY(name, since, last)                                                                   \
    static PJRT_Error *decline_##name(name##_Args *args)                                           \
    {                                                                                              \
        (void)args;                                                                                \
        PJRT_Error *error = enter(STET_ENTRY_##name);                                              \
        return error ? error                                                                       \
                     : fake_error(PJRT_Error_Code_UNIMPLEMENTED, "%s is not implemented", #name);  \
    }
#define ENTRY_VOID(name, since, last)
#include "abi/entries.def"

/* FAKE_FAIL=entry[:n[+]][=code],…: the n-th call (the first unless said; with + every later one
 * too; without :n all) fails with the code, 13 (INTERNAL) unless said. */
static void read_failures(const char *text)
{
    while (text && *text) {
        size_t len = strcspn(text, ":=,");

        for (size_t i = 0; i < STET_ENTRY_COUNT; i++) {
            const char *name = stet_api_entry_name(i), *p = text + len;

            if (strlen(name) != len || memcmp(name, text, len) != 0)
                continue;
            entries[i].fail_from = 1;
            entries[i].fail_on = *p != ':';
            if (*p == ':') {
                entries[i].fail_from = strtoul(p + 1, (char **)&p, 10);
                entries[i].fail_on = *p == '+';
                p += *p == '+';
            }
            entries[i].code = *p == '=' ? (PJRT_Error_Code)atoi(p + 1) : PJRT_Error_Code_INTERNAL;
            some_fail = true;
        }
        text += strcspn(text, ",");
        text += *text == ',';
    }
}

/* FAKE_HANG=entry and FAKE_CRASH=entry. */
static void read_trap(const char *text, char trap)
{
    for (size_t i = 0; text && i < STET_ENTRY_COUNT; i++)
        if (!strcmp(stet_api_entry_name(i), text)) {
            entries[i].trap = trap;
            some_fail = true;
        }
}

static void fill(PJRT_Api *api)
{
#define ENTRY(name, since, last)      api->name = decline_##name;
#define ENTRY_VOID(name, since, last) api->name = fake_##name;
#include "abi/entries.def"
#define IMPL(name) api->name = do_##name;
#include "implemented.def"
#ifdef FAKE_NULL_ENTRIES /* what a minimal plugin leaves out */
    api->PJRT_Client_DefaultDeviceAssignment = NULL;
    api->PJRT_Client_TopologyDescription = NULL;
    api->PJRT_Device_MemoryStats = NULL;
    api->PJRT_Executable_GetCompiledMemoryStats = NULL;
    api->PJRT_Executable_GetCostAnalysis = NULL;
    api->PJRT_Executable_Fingerprint = NULL;
    api->PJRT_Executable_Serialize = NULL;
    api->PJRT_Executable_DeserializeAndLoad = NULL;
    api->PJRT_LoadedExecutable_Fingerprint = NULL;
    api->PJRT_Plugin_Attributes = NULL;
    api->PJRT_Compile = NULL;
    api->PJRT_Event_Await = NULL;
#endif
    api->pjrt_api_version = (PJRT_Api_Version){.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                                               .major_version = FAKE_MAJOR,
                                               .minor_version = FAKE_MINOR};
    api->extension_start = FAKE_MINOR >= 45 ? fake_extensions() : NULL;
}

#ifdef FAKE_LONGER
static PJRT_Error *unknown_entry(void *args)
{
    (void)args;
    return fake_error(PJRT_Error_Code_ALREADY_EXISTS, "an entry from the future");
}
#endif

/* The table is exactly as long as a plugin of this version has it, so that a sanitizer sees a
 * reader who takes it for longer. */
static void make_table(void)
{
    size_t known = 0, size;
    PJRT_Api full;

    read_failures(getenv("FAKE_FAIL"));
    read_trap(getenv("FAKE_HANG"), 'h');
    read_trap(getenv("FAKE_CRASH"), 'c');
    memset(&full, 0, sizeof(full));
    fill(&full);
    for (size_t i = 0; i < STET_ENTRY_COUNT; i++)
        known += stet_api_entry_since(i) <= FAKE_MINOR;
    size = offsetof(PJRT_Api, PJRT_Error_Destroy) + known * sizeof(void (*)(void));
    full.struct_size = size;
#ifdef FAKE_LONGER
    full.struct_size += UNKNOWN_ENTRIES * sizeof(void (*)(void));
#endif
    table = malloc(full.struct_size);
    memcpy(table, &full, size);
#ifdef FAKE_LONGER
    for (size_t i = 0; i < UNKNOWN_ENTRIES; i++)
        ((PJRT_Error * (**)(void *))((char *)table + size))[i] = unknown_entry;
#endif
#if FAKE_MINOR == 56 /* the one version with another order: see docs/abi.md */
    {
        char *from = (char *)&table->PJRT_Buffer_CopyRawToHost;
        char *to = (char *)&table->PJRT_Buffer_CopyToDevice;
        PJRT_Buffer_CopyRawToHost *moved = table->PJRT_Buffer_CopyRawToHost;

        memmove(to + sizeof(moved), to, (size_t)(from - to));
        memcpy(to, &moved, sizeof(moved));
    }
#endif
}

EXPORT const PJRT_Api *GetPjrtApi(void);
EXPORT const PJRT_Api *GetPjrtApi(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (FAKE_NULL_API)
        return NULL;
    pthread_once(&once, make_table);
#ifdef FAKE_GARBAGE
    memset(table, 0x5a, table->struct_size);
#endif
    return table;
}

/* For tests: how often an entry was called, how many things of a kind are alive (NULL: all). -1 for
 * an unknown name. */
EXPORT long FakePlugin_Calls(const char *entry);
EXPORT long FakePlugin_Calls(const char *entry)
{
    for (size_t i = 0; i < STET_ENTRY_COUNT; i++)
        if (strcmp(entry, stet_api_entry_name(i)) == 0)
            return (long)atomic_load(&entries[i].calls);
    return -1;
}

static const char *const kind_names[] = {
#define X(kind) #kind,
    FAKE_KINDS(X)
#undef X
};

EXPORT long FakePlugin_Live(const char *kind);
EXPORT long FakePlugin_Live(const char *kind)
{
    long all = 0;

    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        if (kind && strcmp(kind, kind_names[i]) == 0)
            return (long)fake_live((enum fake_kind)i);
        all += (long)fake_live((enum fake_kind)i);
    }
    return kind ? -1 : all;
}

PJRT_Error *fake_PJRT_Plugin_Initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return NULL;
}

/* The live counts are also attributes, for tests that only see the table. A snapshot per process:
 * ask while nothing else runs. */
PJRT_Error *fake_PJRT_Plugin_Attributes(PJRT_Plugin_Attributes_Args *args)
{
    static const int64_t minimum[] = {0, 9, 0}, current[] = {1, 13, 7};
    static PJRT_NamedValue values[FAKE_KIND_COUNT + 3];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    size_t n = 0;

    pthread_mutex_lock(&lock);
    values[n++] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                    .name = "xla_version",
                                    .name_size = strlen("xla_version"),
                                    .type = PJRT_NamedValue_kInt64,
                                    .int64_value = 2,
                                    .value_size = 1};
    values[n++] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                    .name = "stablehlo_current_version",
                                    .name_size = strlen("stablehlo_current_version"),
                                    .type = PJRT_NamedValue_kInt64List,
                                    .int64_array_value = current,
                                    .value_size = 3};
    values[n++] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                    .name = "stablehlo_minimum_version",
                                    .name_size = strlen("stablehlo_minimum_version"),
                                    .type = PJRT_NamedValue_kInt64List,
                                    .int64_array_value = minimum,
                                    .value_size = 3};
    for (int i = 0; i < FAKE_KIND_COUNT; i++)
        values[n++] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                        .name = kind_names[i],
                                        .name_size = strlen(kind_names[i]),
                                        .type = PJRT_NamedValue_kInt64,
                                        .int64_value = fake_live((enum fake_kind)i),
                                        .value_size = 1};
    args->attributes = values;
    args->num_attributes = n;
    pthread_mutex_unlock(&lock);
    return NULL;
}
