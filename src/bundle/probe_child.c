/* Load, table, client, devices. If this process dies, the last step begun names the reason. */
#include "bundle/probe_child.h"

#include "base/fs.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TEXT_MAX = 1500, TABLE_MAX = 64 << 10, LINKS_MAX = 64, ATTRIBUTES_MAX = 48 };

static const char *const code_names[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

/* Prints one line, whatever the text contains. */
static void say(const struct stet_prober *p, const char *fmt, ...)
{
    char line[TEXT_MAX + 256];
    va_list list;
    int n;

    va_start(list, fmt);
    n = vsnprintf(line, sizeof line - 1, fmt, list);
    va_end(list);
    if (n < 0)
        return;
    if ((size_t)n > sizeof line - 2)
        n = (int)sizeof line - 2;
    for (int i = 0; i < n; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    line[n] = '\n';
    stet_fs_write_all(p->fd, line, (size_t)n + 1);
}

void stet_bundle_prober_begin(const struct stet_prober *p, enum stet_probe_step s)
{
    say(p, "B%d", (int)s);
}

void stet_bundle_prober_end(const struct stet_prober *p, char how, enum stet_probe_step s,
                            const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list list;

    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    say(p, "%c%d %s", how, (int)s, text);
}

bool stet_bundle_prober_ok(const struct stet_prober *p, enum stet_probe_step s, const char *entry,
                           PJRT_Error *error)
{
    STET_PROBE_ARGS(PJRT_Error_Message, m, .error = error);
    STET_PROBE_ARGS(PJRT_Error_GetCode, c, .error = error);
    STET_PROBE_ARGS(PJRT_Error_Destroy, d, .error = error);

    if (!error)
        return true;
    p->api->PJRT_Error_Message(&m);
    if (p->api->PJRT_Error_GetCode(&c))
        c.code = PJRT_Error_Code_UNKNOWN;
    stet_bundle_prober_end(
        p, c.code == PJRT_Error_Code_UNIMPLEMENTED && s == STET_STEP_MEMORY ? 'M' : 'X', s,
        "%s: %s: %.*s", entry,
        (size_t)c.code < sizeof code_names / sizeof *code_names ? code_names[c.code]
                                                                : "unknown code",
        (int)(m.message_size < TEXT_MAX ? m.message_size : TEXT_MAX), m.message ? m.message : "");
    p->api->PJRT_Error_Destroy(&d);
    return false;
}

static bool load(struct stet_prober *p)
{
    void *library;
    union {
        void *symbol;
        stet_get_pjrt_api *get;
    } entry;

    stet_bundle_prober_begin(p, STET_STEP_LOAD);
    library = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        stet_bundle_prober_end(p, 'X', STET_STEP_LOAD, "%s", dlerror());
        return false;
    }
    entry.symbol = dlsym(library, STET_GET_PJRT_API);
    if (!entry.symbol) {
        stet_bundle_prober_end(p, 'X', STET_STEP_LOAD,
                               "no symbol GetPjrtApi: a shared object, but not a PJRT plugin");
        return false;
    }
    stet_bundle_prober_end(p, 'F', STET_STEP_LOAD, "GetPjrtApi found");
    stet_bundle_prober_begin(p, STET_STEP_API);
    p->api = entry.get();
    return true;
}

static void say_extensions(const struct stet_prober *p)
{
    const PJRT_Extension_Base *x = p->api->extension_start;
    char text[TEXT_MAX] = "";
    size_t n = 0, count = 0;

    if (p->api->pjrt_api_version.minor_version < 45) /* the links had another shape */
        return;
    for (; x && count < LINKS_MAX && n < sizeof text; x = x->next, count++) {
        const char *name = stet_api_extension_name((size_t)x->type);

        if (name)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", count ? " " : "", name);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s#%d", count ? " " : "",
                                  (int)x->type);
    }
    say(p, "Vextensions\t%s", text);
}

/* Entries that a framework calls and the table lacks. */
static size_t missing_entries(const PJRT_Api *api, char *text, size_t room)
{
    size_t n = 0, count = 0;

#define NEED(entry)                                                                                \
    if (!stet_api_has(api, entry)) {                                                               \
        if (n < room)                                                                              \
            n += (size_t)snprintf(text + n, room - n, "%s%s", count ? ", " : "", #entry);          \
        count++;                                                                                   \
    }
#include "bundle/needs.def"
#undef NEED
    return count;
}

static bool table(struct stet_prober *p)
{
    const PJRT_Api *api = p->api;
    char missing[512] = "";
    size_t count;

    if (!api) {
        stet_bundle_prober_end(p, 'X', STET_STEP_API, "GetPjrtApi returned NULL");
        return false;
    }
    if (api->struct_size < offsetof(PJRT_Api, PJRT_Error_Destroy) || api->struct_size > TABLE_MAX ||
        api->pjrt_api_version.major_version < 0 || api->pjrt_api_version.minor_version < 0 ||
        api->pjrt_api_version.minor_version > 100000) {
        stet_bundle_prober_end(p, 'X', STET_STEP_API,
                               "the table is not valid: its size is %zu bytes, its version %d.%d",
                               api->struct_size, api->pjrt_api_version.major_version,
                               api->pjrt_api_version.minor_version);
        return false;
    }
    say(p, "Vapi\t%d.%d", api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version);
    say(p, "Vfunctions\t%zu", stet_api_entries(api));
    if (!stet_api_usable(api)) {
        stet_bundle_prober_end(
            p, 'X', STET_STEP_API,
            "API %d.%d cannot be used: Stet and the frameworks need major version 0, "
            "0.29 or newer (0.56 has another order)",
            api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version);
        return false;
    }
    say_extensions(p);
    count = missing_entries(api, missing, sizeof missing);
    if (count)
        stet_bundle_prober_end(p, 'X', STET_STEP_API,
                               "API %d.%d without %zu function%s that frameworks "
                               "call: %s",
                               api->pjrt_api_version.major_version,
                               api->pjrt_api_version.minor_version, count, count == 1 ? "" : "s",
                               missing);
    else
        stet_bundle_prober_end(p, 'F', STET_STEP_API, "API %d.%d, %zu functions%s",
                               api->pjrt_api_version.major_version,
                               api->pjrt_api_version.minor_version, stet_api_entries(api),
                               api->pjrt_api_version.minor_version > PJRT_API_MINOR
                                   ? ", newer than this Stet knows"
                                   : "");
    return !count;
}

static void say_attribute(const struct stet_prober *p, const PJRT_NamedValue *v)
{
    char text[TEXT_MAX] = "";
    size_t n = 0;

    if (v->type == PJRT_NamedValue_kString && v->string_value)
        snprintf(text, sizeof text, "%.*s", (int)(v->value_size < 1000 ? v->value_size : 1000),
                 v->string_value);
    else if (v->type == PJRT_NamedValue_kInt64)
        snprintf(text, sizeof text, "%lld", (long long)v->int64_value);
    else if (v->type == PJRT_NamedValue_kFloat)
        snprintf(text, sizeof text, "%.9g", (double)v->float_value);
    else if (v->type == PJRT_NamedValue_kBool)
        snprintf(text, sizeof text, "%s", v->bool_value ? "true" : "false");
    for (size_t i = 0; v->type == PJRT_NamedValue_kInt64List && i < v->value_size && i < 16; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", i ? "." : "",
                              (long long)v->int64_array_value[i]);
    say(p, "Vattribute %.*s\t%s", (int)(v->name_size < 200 ? v->name_size : 200), v->name, text);
}

static bool initialize(struct stet_prober *p)
{
    STET_PROBE_ASK(PJRT_Plugin_Initialize, init);
    STET_PROBE_ASK(PJRT_Plugin_Attributes, attributes);

    stet_bundle_prober_begin(p, STET_STEP_INIT);
    if (!stet_bundle_prober_ok(p, STET_STEP_INIT, "PJRT_Plugin_Initialize",
                               p->api->PJRT_Plugin_Initialize(&init)) ||
        !stet_bundle_prober_ok(p, STET_STEP_INIT, "PJRT_Plugin_Attributes",
                               p->api->PJRT_Plugin_Attributes(&attributes)))
        return false;
    for (size_t i = 0; i < attributes.num_attributes && i < ATTRIBUTES_MAX; i++)
        say_attribute(p, &attributes.attributes[i]);
    stet_bundle_prober_end(p, 'F', STET_STEP_INIT, "%zu attribute%s", attributes.num_attributes,
                           attributes.num_attributes == 1 ? "" : "s");
    return true;
}

/* A probe must not take the memory that another job uses: GPU plugins reserve three quarters of it
 * by default. If a plugin does not know the option, the client is created without it. */
static bool create(struct stet_prober *p)
{
    static const char name[] = "preallocate";
    PJRT_NamedValue no = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                          .name = name,
                          .name_size = sizeof name - 1,
                          .type = PJRT_NamedValue_kBool,
                          .bool_value = false,
                          .value_size = 1};
    bool gpu = strstr(p->path, "cuda") || strstr(p->path, "rocm");
    STET_PROBE_ARGS(PJRT_Client_Create, args, .create_options = gpu ? &no : NULL,
                    .num_options = gpu);
    STET_PROBE_ASK(PJRT_Client_PlatformName, platform);
    STET_PROBE_ASK(PJRT_Client_PlatformVersion, version);
    PJRT_Error *error;

    stet_bundle_prober_begin(p, STET_STEP_CLIENT);
    error = p->api->PJRT_Client_Create(&args);
    if (error && gpu) {
        STET_PROBE_ARGS(PJRT_Error_GetCode, c, .error = error);
        STET_PROBE_ARGS(PJRT_Error_Destroy, d, .error = error);

        if (!p->api->PJRT_Error_GetCode(&c) && c.code == PJRT_Error_Code_INVALID_ARGUMENT) {
            p->api->PJRT_Error_Destroy(&d);
            args.num_options = 0;
            error = p->api->PJRT_Client_Create(&args);
        }
    }
    if (!stet_bundle_prober_ok(p, STET_STEP_CLIENT, "PJRT_Client_Create", error))
        return false;
    p->client = platform.client = version.client = args.client;
    if (!p->client) {
        stet_bundle_prober_end(p, 'X', STET_STEP_CLIENT,
                               "PJRT_Client_Create gave no client and no error");
        return false;
    }
    if (!stet_bundle_prober_ok(p, STET_STEP_CLIENT, "PJRT_Client_PlatformName",
                               p->api->PJRT_Client_PlatformName(&platform)) ||
        !stet_bundle_prober_ok(p, STET_STEP_CLIENT, "PJRT_Client_PlatformVersion",
                               p->api->PJRT_Client_PlatformVersion(&version)))
        return false;
    say(p, "Vplatform\t%.*s", (int)platform.platform_name_size, platform.platform_name);
    say(p, "Vplatform version\t%.*s",
        (int)(version.platform_version_size < 1000 ? version.platform_version_size : 1000),
        version.platform_version);
    stet_bundle_prober_end(p, 'F', STET_STEP_CLIENT, "platform %.*s",
                           (int)platform.platform_name_size, platform.platform_name);
    return true;
}

static void say_device(const struct stet_prober *p, PJRT_Device *device,
                       const PJRT_Device_MemoryStats_Args *m)
{
    STET_PROBE_ARGS(PJRT_Device_GetDescription, get, .device = device);
    STET_PROBE_ASK(PJRT_DeviceDescription_Id, id);
    STET_PROBE_ASK(PJRT_DeviceDescription_Kind, kind);
    STET_PROBE_ASK(PJRT_DeviceDescription_ToString, text);
    char figures[96] = "-\t-\t-";

    if (p->api->PJRT_Device_GetDescription(&get))
        return;
    id.device_description = kind.device_description = text.device_description =
        get.device_description;
    if (p->api->PJRT_DeviceDescription_Id(&id) || p->api->PJRT_DeviceDescription_Kind(&kind) ||
        p->api->PJRT_DeviceDescription_ToString(&text))
        return;
    if (m) {
        char limit[24] = "-", peak[24] = "-";

        if (m->bytes_limit_is_set)
            snprintf(limit, sizeof limit, "%lld", (long long)m->bytes_limit);
        if (m->peak_bytes_in_use_is_set)
            snprintf(peak, sizeof peak, "%lld", (long long)m->peak_bytes_in_use);
        snprintf(figures, sizeof figures, "%lld\t%s\t%s", (long long)m->bytes_in_use, limit, peak);
    }
    say(p, "D%d\t%s\t%.*s\t%.*s", id.id, figures, (int)kind.device_kind_size, kind.device_kind,
        (int)text.to_string_size, text.to_string);
}

static bool list_devices(struct stet_prober *p, PJRT_Client_AddressableDevices_Args *own)
{
    STET_PROBE_ARGS(PJRT_Client_Devices, all, .client = p->client);

    stet_bundle_prober_begin(p, STET_STEP_DEVICES);
    if (!stet_bundle_prober_ok(p, STET_STEP_DEVICES, "PJRT_Client_Devices",
                               p->api->PJRT_Client_Devices(&all)) ||
        !stet_bundle_prober_ok(p, STET_STEP_DEVICES, "PJRT_Client_AddressableDevices",
                               p->api->PJRT_Client_AddressableDevices(own)))
        return false;
    say(p, "Vdevices\t%zu", all.num_devices);
    say(p, "Vaddressable\t%zu", own->num_addressable_devices);
    if (!own->num_addressable_devices) {
        stet_bundle_prober_end(p, 'X', STET_STEP_DEVICES,
                               "%zu device%s, none of this process's: nothing can run here",
                               all.num_devices, all.num_devices == 1 ? "" : "s");
        return false;
    }
    p->device = own->addressable_devices[0];
    stet_bundle_prober_end(p, 'F', STET_STEP_DEVICES, "%zu of %zu are this process's",
                           own->num_addressable_devices, all.num_devices);
    return true;
}

/* Queries every physical device, because an answer for one virtual device is not enough. */
static bool memory(struct stet_prober *p, const PJRT_Client_AddressableDevices_Args *own)
{
    bool has = stet_api_has(p->api, PJRT_Device_MemoryStats), fine = has;

    stet_bundle_prober_begin(p, STET_STEP_MEMORY);
    for (size_t i = 0; i < own->num_addressable_devices && i < STET_PROBE_DEVICES; i++) {
        STET_PROBE_ARGS(PJRT_Device_MemoryStats, m, .device = own->addressable_devices[i]);
        bool answered =
            fine && stet_bundle_prober_ok(p, STET_STEP_MEMORY, "PJRT_Device_MemoryStats",
                                          p->api->PJRT_Device_MemoryStats(&m));

        fine &= answered;
        say_device(p, own->addressable_devices[i], answered ? &m : NULL);
    }
    if (!has)
        stet_bundle_prober_end(
            p, 'M', STET_STEP_MEMORY,
            "the table has no PJRT_Device_MemoryStats: memory cannot be read from this "
            "plugin, whatever a framework shows");
    else if (fine)
        stet_bundle_prober_end(p, 'F', STET_STEP_MEMORY, "every device reports its memory");
    return true;
}

void stet_bundle_probe_child(void *arg, int fd)
{
    struct stet_prober *p = arg;
    STET_PROBE_ASK(PJRT_Client_AddressableDevices, own);
    struct rlimit no_core = {0, 0};

    p->fd = fd;
    setrlimit(RLIMIT_CORE, &no_core);
    /* On other machines libtpu queries the cloud's metadata server for minutes before it gives
     * up. */
    if (p->no_tpu)
        setenv("TPU_SKIP_MDS_QUERY", "1", 0);
    /* Reading its table uses no device, so another job's lock does not matter. */
    if (p->through < STET_STEP_CLIENT)
        setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
    if (!load(p) || !table(p) || p->through < STET_STEP_INIT || !initialize(p) ||
        p->through < STET_STEP_CLIENT || !create(p))
        return;
    own.client = p->client;
    if (list_devices(p, &own) && (p->warm || memory(p, &own)) && p->through >= STET_STEP_COMPILE)
        stet_bundle_prober_programs(p);
    /* Exits without destroying the client: a failing teardown is not what is tested here. */
    _exit(0);
}
