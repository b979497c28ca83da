/* Queries the plugin; every answer may be missing, and every error is dropped. */
#include "intercept/describe.h"

#include "intercept/named_files.h"
#include "journal/environment.h"

#include <stdlib.h>

/* a GPU describes itself in some 1500 bytes */
enum {
    VALUE_MAX = 16384,
    LIST_MAX = 256,
    EXTENSIONS_MAX = 64,
    NUMBERS_SHOWN = 64,
    TEXT_SHOWN = 4096
};

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
        struct stet_view text =
            stet_journal_env_is_secret(name) ? STET_VIEW("***") : value(a, &values[i]);

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

/* The plugin's own text; empty if it has none. */
static struct stet_view kind_of(struct stet_plugin *p, PJRT_DeviceDescription *d)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_DeviceDescription_Kind_Args args = {
        .struct_size = PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE, .device_description = d};

    if (!d || !stet_api_has(real, PJRT_DeviceDescription_Kind) ||
        stet_plugin_drop(p, real->PJRT_DeviceDescription_Kind(&args)) || !args.device_kind)
        return (struct stet_view){0};
    return stet_plugin_text(args.device_kind, args.device_kind_size);
}

struct stet_view stet_describe_kind(struct stet_plugin *p, PJRT_DeviceDescription *d,
                                    struct stet_arena *a)
{
    struct stet_view kind = kind_of(p, d);

    return kind.ptr ? stet_arena_copy(a, kind) : kind;
}

/* ---- for a key ---- */

/* A plugin's text, which may be missing; in full, because two that differ only at the end are two
 * keys. */
static struct stet_view text_of(const char *text, size_t size)
{
    return stet_view_of(text, text && size <= (size_t)1 << 30 ? size : 0);
}

/* Text for people, on one line; also its hash, if the text is not complete. */
static void put_text(struct stet_buf *out, struct stet_view name, struct stet_view text)
{
    bool exact = text.len <= TEXT_SHOWN;

    if (!exact || stet_journal_env_is_secret(name)) {
        stet_named_digest(out, text);
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        bool plain = (unsigned char)text.ptr[i] >= ' ' && text.ptr[i] != ';' && text.ptr[i] != '#';

        exact &= plain;
        stet_buf_char(out, plain ? text.ptr[i] : ' ');
    }
    if (!exact) {
        stet_buf_char(out, ' ');
        stet_named_digest(out, text);
    }
}

/* Every value in full. */
static void put_value(struct stet_buf *out, const PJRT_NamedValue *v)
{
    struct stet_view name = text_of(v->name, v->name_size);

    switch (v->type) {
    case PJRT_NamedValue_kString:
        put_text(out, name, text_of(v->string_value, v->value_size));
        break;
    case PJRT_NamedValue_kInt64:
        stet_buf_int(out, v->int64_value);
        break;
    case PJRT_NamedValue_kInt64List:
        stet_buf_char(out, '[');
        for (size_t i = 0; v->int64_array_value && i < v->value_size && i < NUMBERS_SHOWN; i++) {
            stet_buf_str(out, i ? "," : "");
            stet_buf_int(out, v->int64_array_value[i]);
        }
        if (v->int64_array_value && v->value_size > NUMBERS_SHOWN)
            stet_named_digest(out, stet_view_of(v->int64_array_value,
                                                v->value_size * sizeof *v->int64_array_value));
        stet_buf_char(out, ']');
        break;
    case PJRT_NamedValue_kFloat:
        stet_buf_printf(out, "%.9g", (double)v->float_value);
        break;
    case PJRT_NamedValue_kBool:
        stet_buf_str(out, v->bool_value ? "true" : "false");
        break;
    default:
        stet_buf_printf(out, "type%d", (int)v->type);
    }
}

/* name=value for all of them, sorted, because the CUDA plugin's come from a map, in any order. */
static struct stet_list identity_of(struct stet_arena *a, const PJRT_NamedValue *values, size_t n)
{
    struct stet_view *items = values ? STET_NEW_ARRAY(a, struct stet_view, n) : NULL;
    struct stet_buf text = STET_BUF_INIT;

    for (size_t i = 0; items && i < n; i++) {
        text.len = 0;
        stet_named_text(&text, text_of(values[i].name, values[i].name_size));
        stet_buf_char(&text, '=');
        put_value(&text, &values[i]);
        items[i] = stet_arena_copy(a, stet_buf_as_view(&text));
    }
    a->failed |= text.failed;
    stet_buf_release(&text);
    if (items && n)
        qsort(items, n, sizeof *items, stet_view_sort);
    return (struct stet_list){items, items ? n : 0};
}

static bool tells(const PJRT_NamedValue *values, size_t n, const char *what)
{
    for (size_t i = 0; values && i < n; i++) {
        if (stet_view_contains(text_of(values[i].name, values[i].name_size), what) ||
            (values[i].type == PJRT_NamedValue_kString &&
             stet_view_contains(text_of(values[i].string_value, values[i].value_size), what)))
            return true;
    }
    return false;
}

/* Number and attributes of one device. */
static struct stet_hash device_hash(struct stet_plugin *p, PJRT_DeviceDescription *d,
                                    struct stet_hash so_far)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_DeviceDescription_Id_Args id = {.struct_size = PJRT_DeviceDescription_Id_Args_STRUCT_SIZE,
                                         .device_description = d};
    PJRT_DeviceDescription_Attributes_Args args = {
        .struct_size = PJRT_DeviceDescription_Attributes_Args_STRUCT_SIZE, .device_description = d};
    struct stet_arena scratch;
    struct stet_list list;

    if (!stet_api_has(real, PJRT_DeviceDescription_Attributes) ||
        stet_plugin_drop(p, real->PJRT_DeviceDescription_Attributes(&args)) ||
        !args.num_attributes || !args.attributes)
        return so_far;
    if (stet_api_has(real, PJRT_DeviceDescription_Id) &&
        !stet_plugin_drop(p, real->PJRT_DeviceDescription_Id(&id)))
        so_far = stet_hash_mix_u64(so_far, (uint64_t)id.id);
    stet_arena_init(&scratch, (size_t)1 << 20);
    list = identity_of(&scratch, args.attributes, args.num_attributes);
    for (size_t i = 0; i < list.count; i++)
        so_far = stet_hash_mix(so_far, stet_hash_bytes(list.items[i]));
    stet_arena_release(&scratch);
    return so_far;
}

/* A kind's name may contain spaces, which are for people, but no control characters. */
static void put_run(struct stet_buf *out, size_t count, struct stet_view kind)
{
    stet_buf_printf(out, "%s%zu x ", out->len ? ", " : "", count);
    for (size_t i = 0; i < kind.len; i++)
        stet_buf_char(out, (unsigned char)kind.ptr[i] < ' ' ? ' ' : kind.ptr[i]);
}

/* Describes all devices: their attributes, and their kinds, where equal neighbours are counted. */
static void ask_all(struct stet_plugin *p, PJRT_DeviceDescription *const *devices, size_t n,
                    struct stet_arena *a, struct stet_topology *out)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_view last = {0};
    size_t run = 0;

    for (size_t i = 0; i < n; i++) {
        struct stet_view kind = kind_of(p, devices[i]);

        if (i && !stet_view_eq(kind, last)) {
            put_run(&text, run, last);
            run = 0;
        }
        if (!i || !stet_view_eq(kind, last))
            last = stet_arena_copy(a, kind); /* copied, because the next answer may overwrite the
                                              * text */
        run++;
        out->device_attributes = device_hash(p, devices[i], out->device_attributes);
    }
    put_run(&text, run, last);
    a->failed |= text.failed;
    out->kinds = stet_arena_copy(a, stet_buf_as_view(&text));
    stet_buf_release(&text);
}

/* False if the plugin cannot. */
static bool serialize_once(struct stet_plugin *p, const PJRT_TopologyDescription *t,
                           struct stet_hash *out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_TopologyDescription_Serialize_Args args = {
        .struct_size = PJRT_TopologyDescription_Serialize_Args_STRUCT_SIZE,
        .topology = (PJRT_TopologyDescription *)(uintptr_t)t};

    if (!stet_api_has(real, PJRT_TopologyDescription_Serialize) ||
        stet_plugin_drop(p, real->PJRT_TopologyDescription_Serialize(&args)))
        return false;
    *out = stet_hash_bytes(text_of(args.serialized_bytes, args.serialized_bytes_size));
    if (args.serialized_topology_deleter)
        args.serialized_topology_deleter(args.serialized_topology);
    return true;
}

/* Some plugins write maps in any order: bytes that differ between two calls are not usable. */
static struct stet_hash serialized(struct stet_plugin *p, const PJRT_TopologyDescription *t)
{
    struct stet_hash once, again;

    if (serialize_once(p, t, &once) && serialize_once(p, t, &again) && stet_hash_eq(once, again))
        return once;
    return (struct stet_hash){0};
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
        out->platform = stet_arena_copy(a, text_of(name.platform_name, name.platform_name_size));
    if (stet_api_has(real, PJRT_TopologyDescription_PlatformVersion) &&
        !stet_plugin_drop(p, real->PJRT_TopologyDescription_PlatformVersion(&version)) &&
        version.platform_version)
        out->version =
            stet_arena_copy(a, text_of(version.platform_version, version.platform_version_size));
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
        ask_all(p, devices.descriptions, devices.descriptions ? devices.num_descriptions : 0, a,
                out);
    }
    if (stet_api_has(real, PJRT_TopologyDescription_Attributes) &&
        !stet_plugin_drop(p, real->PJRT_TopologyDescription_Attributes(&attributes))) {
        const PJRT_NamedValue *values = attributes.attributes;
        size_t n = attributes.num_attributes;

        out->attributes = stet_describe_values(a, values, n);
        out->identity = identity_of(a, values, n);
        out->tells_runtime = tells(values, n, "runtime_version");
        out->tells_driver = tells(values, n, "driver_version");
    }
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
    out->serialized = serialized(p, topology);
    out->hash = stet_hash_mix_u64(stet_hash_bytes(out->platform), out->devices);
    out->hash = stet_hash_mix(out->hash, stet_hash_bytes(out->version));
    out->hash = stet_hash_mix(out->hash, stet_hash_bytes(out->kinds));
    for (size_t i = 0; i < out->identity.count; i++)
        out->hash = stet_hash_mix(out->hash, stet_hash_bytes(out->identity.items[i]));
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
