/* FAKE_ODD: answers as no honest plugin gives them, for the layer's own questions alone. A
 * framework that asks the same gets the true answer, so what it computes must not change. */
#include "fake.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100000 };

bool fake_is_odd(const char *word)
{
    const char *all = getenv("FAKE_ODD");

    return all && strstr(all, word);
}

/* A framework's call passes one function of the layer on its way here; a question of the layer's
 * own has two of them on the stack, or nothing else below. */
static bool asked_by_layer(void)
{
    void *frames[8];
    int n = backtrace(frames, 8), ours = 0;

    for (int i = 0; i < n; i++) {
        Dl_info info;

        if (!dladdr(frames[i], &info) || !info.dli_fname)
            continue;
        if (strstr(info.dli_fname, "libstet"))
            ours++;
        else if (ours)
            break;
    }
    return ours > 1;
}

static void spoil_text(const char **text, size_t *size)
{
    static const char control[] = "a\x1b]0;PWNED\x07\x1b[2J\xe2\x80\xae\n::error::x\0y";

    if (fake_is_odd("control-text")) {
        *text = control;
        *size = sizeof(control) - 1;
    }
    if (fake_is_odd("null-text")) {
        *text = NULL;
        *size = 7;
    }
    if (fake_is_odd("wild-text"))
        *size = SIZE_MAX;
    if (fake_is_odd("long-text"))
        *size = (size_t)1 << 40;
}

static void spoil_values(const PJRT_NamedValue **values, size_t *count)
{
    static PJRT_NamedValue many[MANY];

    if (fake_is_odd("null-list")) {
        *values = NULL;
        *count = 5;
        return;
    }
    for (size_t i = 0; i < MANY; i++) {
        many[i] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                    .name = "odd",
                                    .name_size = 3,
                                    .type = PJRT_NamedValue_kString,
                                    .string_value = "value",
                                    .value_size = 5};
        spoil_text(&many[i].name, &many[i].name_size);
        spoil_text(&many[i].string_value, &many[i].value_size);
        if (i % 3 == 1)
            many[i].type = (PJRT_NamedValue_Type)77;
    }
    *values = many;
    *count = MANY;
}

static void spoil_bytes(PJRT_Executable_Serialize_Args *args)
{
    if (fake_is_odd("garbage-bytes"))
        memset((char *)(uintptr_t)args->serialized_bytes, 0x5a, args->serialized_bytes_size);
    if (fake_is_odd("no-bytes"))
        args->serialized_bytes_size = 0;
    if (fake_is_odd("null-bytes"))
        args->serialized_bytes = NULL;
    if (fake_is_odd("wild-bytes"))
        args->serialized_bytes_size = (size_t)1 << 50;
}

#define TEXT_OF(type, field)                                                                       \
    case STET_ENTRY_##type:                                                                        \
        spoil_text(&((type##_Args *)args)->field, &((type##_Args *)args)->field##_size);           \
        break;
#define LIST_OF(type, list, count)                                                                 \
    case STET_ENTRY_##type:                                                                        \
        if (fake_is_odd("null-list")) {                                                            \
            ((type##_Args *)args)->list = NULL;                                                    \
            ((type##_Args *)args)->count = fake_is_odd("wild-count") ? SIZE_MAX / 8 : 5;           \
        }                                                                                          \
        break;
#define VALUES_OF(type)                                                                            \
    case STET_ENTRY_##type:                                                                        \
        spoil_values(&((type##_Args *)args)->attributes, &((type##_Args *)args)->num_attributes);  \
        break;

void fake_spoil(enum stet_entry entry, void *args)
{
    if (!getenv("FAKE_ODD") || !asked_by_layer())
        return;
    switch (entry) {
        TEXT_OF(PJRT_Executable_Name, executable_name)
        TEXT_OF(PJRT_Executable_Fingerprint, executable_fingerprint)
        TEXT_OF(PJRT_Client_PlatformName, platform_name)
        TEXT_OF(PJRT_Client_PlatformVersion, platform_version)
        TEXT_OF(PJRT_TopologyDescription_PlatformName, platform_name)
        TEXT_OF(PJRT_TopologyDescription_PlatformVersion, platform_version)
        TEXT_OF(PJRT_DeviceDescription_Kind, device_kind)
        LIST_OF(PJRT_Client_Devices, devices, num_devices)
        LIST_OF(PJRT_Client_AddressableDevices, addressable_devices, num_addressable_devices)
        LIST_OF(PJRT_TopologyDescription_GetDeviceDescriptions, descriptions, num_descriptions)
        VALUES_OF(PJRT_Plugin_Attributes)
        VALUES_OF(PJRT_TopologyDescription_Attributes)
    case STET_ENTRY_PJRT_Executable_Serialize:
        spoil_bytes(args);
        break;
    case STET_ENTRY_PJRT_Executable_NumOutputs:
        if (fake_is_odd("wild-count"))
            ((PJRT_Executable_NumOutputs_Args *)args)->num_outputs = SIZE_MAX;
        break;
    case STET_ENTRY_PJRT_Executable_GetCompiledMemoryStats:
        if (fake_is_odd("wild-count")) {
            PJRT_Executable_GetCompiledMemoryStats_Args *s = args;

            s->generated_code_size_in_bytes = INT64_MIN;
            s->argument_size_in_bytes = s->output_size_in_bytes = INT64_MAX;
            s->temp_size_in_bytes = -1;
        }
        break;
    default:
        break;
    }
}
