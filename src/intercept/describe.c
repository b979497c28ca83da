/* Questions to the plugin; every answer may be missing, and every error is dropped. */
#include "intercept/describe.h"

#include "journal/environment.h"

#include <stdlib.h>

/* a GPU describes itself in some 1500 bytes */
enum { VALUE_MAX = 16384, LIST_MAX = 256, EXTENSIONS_MAX = 64 };

static struct stet_view numbers(struct stet_arena *a, const PJRT_NamedValue *v)
{
    struct stet_view text = STET_VIEW("[");

    for (size_t i = 0; i < v->value_size && i < 64; i++)
        text = stet_arena_printf(a, "%.*s%s%lld", STET_FMT(text), i ? "," : "",
                                 (long long)v->int64_array_value[i]);
    return stet_arena_printf(a, "%.*s%s]", STET_FMT(text), v->value_size > 64 ? ",..." : "");
}

static struct stet_view value(struct stet_arena *a, const PJRT_NamedValue *v)
{
    switch (v->type) {
    case PJRT_NamedValue_kString:
        return v->string_value ? stet_view_of(v->string_value,
                                              v->value_size < VALUE_MAX ? v->value_size : VALUE_MAX)
                               : STET_VIEW("");
    case PJRT_NamedValue_kInt64:
        return stet_arena_printf(a, "%lld", (long long)v->int64_value);
    case PJRT_NamedValue_kInt64List:
        return v->int64_array_value ? numbers(a, v) : STET_VIEW("[]");
    case PJRT_NamedValue_kFloat:
        return stet_arena_printf(a, "%.9g", (double)v->float_value);
    case PJRT_NamedValue_kBool:
        return v->bool_value ? STET_VIEW("true") : STET_VIEW("false");
    }
    return STET_VIEW("?");
}

struct stet_list stet_describe_values(struct stet_arena *a, const PJRT_NamedValue *values, size_t n)
{
    struct stet_view *items;

    if (!values || n > LIST_MAX)
        n = values ? LIST_MAX : 0;
    items = STET_NEW_ARRAY(a, struct stet_view, n);
    for (size_t i = 0; items && i < n; i++) {
        struct stet_view name = stet_plugin_text(values[i].name, values[i].name_size);
        struct stet_view text = stet_env_is_secret(name) ? STET_VIEW("***") : value(a, &values[i]);

        items[i] = stet_arena_printf(a, "%.*s=%.*s", STET_FMT(name), STET_FMT(text));
    }
    return (struct stet_list){items, items ? n : 0};
}

struct stet_list stet_describe_attributes(struct stet_plugin *p, struct stet_arena *a)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Plugin_Attributes_Args args = {.struct_size = PJRT_Plugin_Attributes_Args_STRUCT_SIZE};

    if (!stet_api_has(real, PJRT_Plugin_Attributes) ||
        stet_plugin_drop(p, real->PJRT_Plugin_Attributes(&args)))
        return (struct stet_list){0};
    return stet_describe_values(a, args.attributes, args.num_attributes);
}

struct stet_list stet_describe_extensions(struct stet_plugin *p, struct stet_arena *a)
{
    const PJRT_Api *real = stet_plugin_real(p);
    const PJRT_Extension_Base *x = real->extension_start;
    struct stet_view *items;
    size_t n = 0;

    if (real->pjrt_api_version.minor_version < 45) /* the links had another shape */
        return (struct stet_list){0};
    items = STET_NEW_ARRAY(a, struct stet_view, EXTENSIONS_MAX);
    for (; items && x && n < EXTENSIONS_MAX; x = x->next) {
        const char *name = stet_api_extension_name((size_t)x->type);

        items[n++] = name ? stet_view_str(name) : stet_arena_printf(a, "%zu", (size_t)x->type);
    }
    return (struct stet_list){items, n};
}

struct stet_view stet_describe_kind(struct stet_plugin *p, PJRT_DeviceDescription *d,
                                    struct stet_arena *a)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_DeviceDescription_Kind_Args args = {
        .struct_size = PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE, .device_description = d};

    if (!d || !stet_api_has(real, PJRT_DeviceDescription_Kind) ||
        stet_plugin_drop(p, real->PJRT_DeviceDescription_Kind(&args)) || !args.device_kind)
        return (struct stet_view){0};
    return stet_arena_copy(a, stet_plugin_text(args.device_kind, args.device_kind_size));
}

static void ask_names(struct stet_plugin *p, const PJRT_TopologyDescription *t,
                      struct stet_arena *a, struct stet_topology *out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_TopologyDescription_PlatformName_Args name = {
        .struct_size = PJRT_TopologyDescription_PlatformName_Args_STRUCT_SIZE, .topology = t};
    PJRT_TopologyDescription_PlatformVersion_Args version = {
        .struct_size = PJRT_TopologyDescription_PlatformVersion_Args_STRUCT_SIZE,
        .topology = (PJRT_TopologyDescription *)(uintptr_t)t};

    if (stet_api_has(real, PJRT_TopologyDescription_PlatformName) &&
        !stet_plugin_drop(p, real->PJRT_TopologyDescription_PlatformName(&name)) &&
        name.platform_name)
        out->platform =
            stet_arena_copy(a, stet_plugin_text(name.platform_name, name.platform_name_size));
    if (stet_api_has(real, PJRT_TopologyDescription_PlatformVersion) &&
        !stet_plugin_drop(p, real->PJRT_TopologyDescription_PlatformVersion(&version)) &&
        version.platform_version)
        out->version = stet_arena_copy(
            a, stet_plugin_text(version.platform_version, version.platform_version_size));
}

static void ask_devices(struct stet_plugin *p, const PJRT_TopologyDescription *t,
                        struct stet_arena *a, struct stet_topology *out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_TopologyDescription_GetDeviceDescriptions_Args devices = {
        .struct_size = PJRT_TopologyDescription_GetDeviceDescriptions_Args_STRUCT_SIZE,
        .topology = t};
    PJRT_TopologyDescription_Attributes_Args attributes = {
        .struct_size = PJRT_TopologyDescription_Attributes_Args_STRUCT_SIZE,
        .topology = (PJRT_TopologyDescription *)(uintptr_t)t};

    if (stet_api_has(real, PJRT_TopologyDescription_GetDeviceDescriptions) &&
        !stet_plugin_drop(p, real->PJRT_TopologyDescription_GetDeviceDescriptions(&devices))) {
        out->devices = devices.num_descriptions;
        if (devices.descriptions && devices.num_descriptions)
            out->kind = stet_describe_kind(p, devices.descriptions[0], a);
    }
    if (stet_api_has(real, PJRT_TopologyDescription_Attributes) &&
        !stet_plugin_drop(p, real->PJRT_TopologyDescription_Attributes(&attributes)))
        out->attributes = stet_describe_values(a, attributes.attributes, attributes.num_attributes);
    if (out->attributes.count) /* the CUDA plugin's come from a map, in any order */
        qsort((void *)(uintptr_t)out->attributes.items, out->attributes.count,
              sizeof *out->attributes.items, stet_view_sort);
}

void stet_describe_topology(struct stet_plugin *p, const PJRT_TopologyDescription *topology,
                            struct stet_arena *a, struct stet_topology *out)
{
    *out = (struct stet_topology){0};
    if (!topology)
        return;
    ask_names(p, topology, a, out);
    ask_devices(p, topology, a, out);
    out->hash = stet_hash_mix_u64(stet_hash_bytes(out->platform), out->devices);
    out->hash = stet_hash_mix(out->hash, stet_hash_bytes(out->version));
    out->hash = stet_hash_mix(out->hash, stet_hash_bytes(out->kind));
    for (size_t i = 0; i < out->attributes.count; i++)
        out->hash = stet_hash_mix(out->hash, stet_hash_bytes(out->attributes.items[i]));
}

void stet_describe_client_topology(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                                   struct stet_topology *out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_TopologyDescription_Args args = {
        .struct_size = PJRT_Client_TopologyDescription_Args_STRUCT_SIZE, .client = client};

    *out = (struct stet_topology){0};
    if (stet_api_has(real, PJRT_Client_TopologyDescription) &&
        !stet_plugin_drop(p, real->PJRT_Client_TopologyDescription(&args)))
        stet_describe_topology(p, args.topology, a, out);
}
