/* See fit_topology.h. */
#include "fit/fit_topology.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/job.h"
#include "warm/topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 300000, REASON = 512 };

/* ---- names ---- */

void stet_fit_topology_name(const char *asked, char *out, size_t room)
{
    static const char *const names[][2] = {
        {"v7x", "tpu7x"}, {"ironwood", "tpu7x"}, {"v5litepod", "v5e"}, {"trillium", "v6e"}};
    const char *colon = strchr(asked, ':');
    size_t n = colon ? (size_t)(colon - asked) : 0;

    for (size_t i = 0; colon && i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i][0]) == n && !strncmp(asked, names[i][0], n)) {
            snprintf(out, room, "%s%s", names[i][1], colon);
            return;
        }
    }
    snprintf(out, room, "%s", asked);
}

static const struct chip {
    const char *kind, *name;
    double flops, memory_rate, link_rate;
    const char *source;
} chips[] = {
#define CHIP(kind, name, flops, memory, links, source) {kind, name, flops, memory, links, source},
#include "fit/chips.def"
#undef CHIP
};

static void look_up(struct stet_fit_topology *t)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        if (strcmp(t->kind, chips[i].kind) != 0)
            continue;
        t->flops = chips[i].flops;
        t->memory_rate = chips[i].memory_rate;
        t->link_rate = chips[i].link_rate;
        t->source = chips[i].source;
    }
}

static void list_names(struct stet_buf *out)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        if (chips[i].name[0])
            stet_buf_printf(out, "%s%s", out->len ? ", " : "", chips[i].name);
    }
}

/* The chips of "v6e:2x4": 8. */
static uint32_t chips_of(const char *name, uint32_t devices)
{
    const char *at = strchr(name, ':');
    unsigned long n = 1;

    if (!at)
        return devices;
    for (at++; *at; at += *at == 'x') {
        char *end;
        unsigned long k = strtoul(at, &end, 10);

        if (end == at || k == 0 || k > 65536)
            return devices;
        n *= k;
        at = end;
    }
    return n && n <= devices ? (uint32_t)n : devices;
}

/* ---- in the child ---- */

static int64_t int_of(const PJRT_NamedValue *v, size_t count, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < count; i++) {
        if (v[i].name_size == strlen(name) && !memcmp(v[i].name, name, v[i].name_size) &&
            v[i].type == PJRT_NamedValue_kInt64)
            return v[i].int64_value;
    }
    return otherwise;
}

static const PJRT_NamedValue *list_of(const PJRT_NamedValue *v, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (v[i].name_size == strlen(name) && !memcmp(v[i].name, name, v[i].name_size) &&
            v[i].type == PJRT_NamedValue_kInt64List)
            return &v[i];
    }
    return NULL;
}

/* What a process may use of a device. A client of XLA for GPUs takes three quarters of the memory
 * unless its environment says otherwise (docs.jax.dev, "GPU memory allocation"). The compiler is
 * told this number, and schedules for it. */
static uint64_t usable(uint64_t memory, bool gpu)
{
    const char *allocator = getenv("XLA_PYTHON_CLIENT_ALLOCATOR");
    const char *fraction = getenv("XLA_CLIENT_MEM_FRACTION");
    double part;

    if (!fraction || !*fraction)
        fraction = getenv("XLA_PYTHON_CLIENT_MEM_FRACTION");
    part = fraction && *fraction ? strtod(fraction, NULL) : 0.75;
    if (!gpu || (allocator && !strcasecmp(allocator, "platform")) || !(part > 0 && part <= 1))
        return memory;
    return (uint64_t)((double)memory * part);
}

static bool put_device(struct stet_buf *out, const PJRT_Api *api, PJRT_DeviceDescription *d,
                       size_t number, bool gpu, char *why)
{
    PJRT_DeviceDescription_Attributes_Args a = {
        .struct_size = PJRT_DeviceDescription_Attributes_Args_STRUCT_SIZE, .device_description = d};
    PJRT_DeviceDescription_Kind_Args k = {
        .struct_size = PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE, .device_description = d};
    const PJRT_NamedValue *coords;
    int64_t at[3] = {(int64_t)number, 0, 0};

    if (stet_warm_topology_failed(api, api->PJRT_DeviceDescription_Attributes(&a), why, REASON) ||
        stet_warm_topology_failed(api, api->PJRT_DeviceDescription_Kind(&k), why, REASON))
        return false;
    coords = list_of(a.attributes, a.num_attributes, "coords");
    for (size_t i = 0; coords && i < 3 && i < coords->value_size; i++)
        at[i] = coords->int64_array_value[i];
    if (number == 0) {
        int64_t memory = int_of(a.attributes, a.num_attributes, "device_memory_bytes_limit", 0);

        stet_buf_printf(out, "kind %.*s\ncores %lld\nmemory %" PRIu64 "\n", (int)k.device_kind_size,
                        k.device_kind,
                        (long long)int_of(a.attributes, a.num_attributes, "num_cores", 1),
                        memory > 0 ? usable((uint64_t)memory, gpu) : 0);
    }
    stet_buf_printf(out, "device %zu %lld %lld %lld %lld\n", number, (long long)at[0],
                    (long long)at[1], (long long)at[2],
                    (long long)int_of(a.attributes, a.num_attributes, "core_on_chip", 0));
    return true;
}

/* One line: the backend puts the line ends back. */
static void put_line(struct stet_buf *out, const char *word, const char *text, size_t len)
{
    stet_buf_printf(out, "%s ", word);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n')
            stet_buf_str(out, "\\n");
        else if ((unsigned char)text[i] >= ' ')
            stet_buf_char(out, text[i]);
    }
    stet_buf_char(out, '\n');
}

static bool describe(struct stet_buf *out, const PJRT_Api *api, PJRT_TopologyDescription *t,
                     bool gpu, char *why)
{
    PJRT_TopologyDescription_PlatformName_Args name = {
        .struct_size = PJRT_TopologyDescription_PlatformName_Args_STRUCT_SIZE, .topology = t};
    PJRT_TopologyDescription_PlatformVersion_Args version = {
        .struct_size = PJRT_TopologyDescription_PlatformVersion_Args_STRUCT_SIZE, .topology = t};
    PJRT_TopologyDescription_GetDeviceDescriptions_Args devices = {
        .struct_size = PJRT_TopologyDescription_GetDeviceDescriptions_Args_STRUCT_SIZE,
        .topology = t};

    if (stet_warm_topology_failed(api, api->PJRT_TopologyDescription_PlatformName(&name), why,
                                  REASON) ||
        stet_warm_topology_failed(api, api->PJRT_TopologyDescription_PlatformVersion(&version), why,
                                  REASON) ||
        stet_warm_topology_failed(
            api, api->PJRT_TopologyDescription_GetDeviceDescriptions(&devices), why, REASON))
        return false;
    stet_buf_str(out, "stet-pose 1\n");
    put_line(out, "platform", name.platform_name, name.platform_name_size);
    put_line(out, "platform_version", version.platform_version, version.platform_version_size);
    for (size_t i = 0; i < devices.num_descriptions; i++) {
        if (!put_device(out, api, devices.descriptions[i], i, gpu, why))
            return false;
    }
    return true;
}

enum { DESCRIBED, NO_TOPOLOGY, NO_PLUGIN }; /* exit codes of the child */

struct question {
    const char *plugin;
    const struct stet_warm_topology *topology;
};

/* Answers with the description, or with the reason why there is none. */
static void ask(void *arg, int fd)
{
    const struct question *q = arg;
    struct stet_buf out = STET_BUF_INIT;
    PJRT_TopologyDescription *topology = NULL;
    char why[REASON] = "";
    const PJRT_Api *api;
    bool fine;

    if (strstr(q->plugin, "libtpu"))
        stet_warm_topology_environment(q->topology->name);
    api = stet_warm_topology_load(q->plugin, q->plugin, why, sizeof why);
    if (api)
        topology = stet_warm_topology_create(api, q->topology, why, sizeof why);
    fine = topology && describe(&out, api, topology, q->topology->target != NULL, why);
    if (!fine) {
        out.len = 0;
        stet_buf_str(&out, why);
    }
    stet_fs_write_all(fd, out.ptr, out.len);
    _exit(fine ? DESCRIBED : api ? NO_TOPOLOGY : NO_PLUGIN);
}

/* ---- in the parent ---- */

static void take(struct stet_fit_topology *t, struct stet_view word, struct stet_view rest)
{
    char number[24];

    if (stet_view_is(word, "platform"))
        snprintf(t->platform, sizeof t->platform, "%.*s", STET_FMT(rest));
    else if (stet_view_is(word, "platform_version"))
        snprintf(t->version, sizeof t->version, "%.*s", STET_FMT(rest));
    else if (stet_view_is(word, "kind"))
        snprintf(t->kind, sizeof t->kind, "%.*s", STET_FMT(rest));
    else if (stet_view_is(word, "device"))
        t->count++;
    else if (stet_view_is(word, "memory")) {
        snprintf(number, sizeof number, "%.*s", STET_FMT(rest));
        t->memory = strtoull(number, NULL, 10);
    }
}

static void read_pose(struct stet_fit_topology *t, struct stet_view text)
{
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t)(end - text.ptr) : text.len;
        const char *blank = memchr(text.ptr, ' ', n);

        if (blank)
            take(t, stet_view_of(text.ptr, (size_t)(blank - text.ptr)),
                 stet_view_of(blank + 1, n - (size_t)(blank - text.ptr) - 1));
        n += end != NULL;
        text = stet_view_of(text.ptr + n, text.len - n);
    }
}

/* A number of the target's own description: "device_memory_size: 150000000000". */
static double target_number(const char *target, const char *name)
{
    struct stet_file f = {0};
    double n = 0;
    const char *at;

    if (!target || stet_file_open_small(&f, target, 1 << 20, NULL) != STET_OK)
        return 0;
    at = f.bytes.len ? memmem(f.bytes.ptr, f.bytes.len, name, strlen(name)) : NULL;
    if (at) {
        char text[64];

        snprintf(text, sizeof text, "%.*s", (int)(f.bytes.ptr + f.bytes.len - at), at);
        at = strchr(text, ':');
        n = at ? strtod(at + 1, NULL) : 0;
    }
    stet_file_close(&f);
    return n;
}

static enum stet_rc explain(const struct stet_job *job, const char *asked, const char *plugin,
                            struct stet_err *err)
{
    struct stet_view why = stet_buf_as_view(&job->answer);
    struct stet_buf known = STET_BUF_INIT;
    char how[64];
    enum stet_rc rc;

    stet_job_how(job, how, sizeof how);
    if (!WIFEXITED(job->status) || job->late || WEXITSTATUS(job->status) > NO_PLUGIN)
        return stet_fail(err, STET_IO, "%s %s when it was asked for %s", plugin, how, asked);
    if (WEXITSTATUS(job->status) == NO_PLUGIN)
        return stet_fail(err, STET_IO, "%.*s", STET_FMT(why));
    list_names(&known);
    rc = stet_fail(err, STET_NOT_FOUND,
                   "the plugin has no topology %s (%.*s); TPUs are named NAME:SHAPE with %.*s",
                   asked, (int)(why.len < 120 ? why.len : 120), why.ptr, (int)known.len, known.ptr);
    stet_buf_release(&known);
    return rc;
}

static void complete(struct stet_fit_topology *t, const char *target)
{
    t->chips = chips_of(t->name, t->count);
    look_up(t);
    if (target && !t->memory)
        t->memory = usable((uint64_t)target_number(target, "device_memory_size"), true);
    if (target && t->memory_rate <= 0)
        t->memory_rate = target_number(target, "memory_bandwidth");
}

enum stet_rc stet_fit_topology_ask(struct stet_fit_topology *t, const char *plugin,
                                   const char *asked, const char *target, const char *pose,
                                   struct stet_err *err)
{
    struct stet_warm_topology w = {.name = t->name, .target = target};
    struct question q = {plugin, &w};
    struct stet_job job = {.deadline_ms = PATIENCE_MS};
    enum stet_rc rc;

    *t = (struct stet_fit_topology){0};
    stet_fit_topology_name(asked, t->name, sizeof t->name);
    rc = stet_job_run(&job, ask, &q, err);
    if (rc == STET_OK && !stet_job_fine(&job))
        rc = explain(&job, asked, plugin, err);
    if (rc == STET_OK)
        rc = stet_fs_write_unsynced(pose, stet_buf_as_view(&job.answer), err);
    if (rc == STET_OK) {
        read_pose(t, stet_buf_as_view(&job.answer));
        complete(t, target);
        if (!t->count)
            rc = stet_fail(err, STET_IO, "%s has no devices", t->name);
    }
    stet_job_release(&job);
    return rc;
}
