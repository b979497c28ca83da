/* Everything here is a small file of /proc, /sys or /etc; a missing file adds nothing. */
#include "bundle/system.h"

#include "base/fs.h"
#include "base/hash.h"
#include "journal/environment.h"
#include "journal/variables.h"

#include <dirent.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Different in every run or process, or set by Stet itself. */
static const char *const passing[] = {
    "STET_DIR=",     "STET_RUN=",     "TORCH_TRACE=", "MASTER_PORT=",  "LD_PRELOAD=",
    "JOB_ID=",       "SLURM_JOB_ID=", "PMI_",         "STET_STORE=",   "RANK=",
    "LOCAL_RANK=",   "GROUP_RANK=",   "ROLE_RANK=",   "SLURM_PROCID=", "SLURM_LOCALID=",
    "SLURM_NODEID=", "PROCESS_ID=",   "NODE_RANK=",   "TORCHELASTIC_", "STET_STATE_DIR="};

/* --xla_a=1 --xla_b: items xla_a = 1, xla_b = "" (the later of two counts, as for XLA). */
static void take_flags(struct stet_inventory *v, struct stet_view text)
{
    size_t at = 0;

    while (at < text.len) {
        size_t n = 0;
        struct stet_view flag;
        const char *equals;

        while (at < text.len && strchr(" \t\n", text.ptr[at]))
            at++;
        while (at + n < text.len && !strchr(" \t\n", text.ptr[at + n]))
            n++;
        flag = stet_view_of(text.ptr + at, n);
        at += n;
        while (flag.len && *flag.ptr == '-')
            flag = stet_view_of(flag.ptr + 1, flag.len - 1);
        if (!flag.len)
            continue;
        equals = memchr(flag.ptr, '=', flag.len);
        n = equals ? (size_t)(equals - flag.ptr) : flag.len;
        stet_inventory_put(v, STET_GROUP_flag, stet_view_of(flag.ptr, n),
                           equals ? stet_view_of(equals + 1, flag.len - n - 1) : STET_VIEW(""));
    }
}

static bool passes(struct stet_view variable)
{
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (stet_view_starts(variable, passing[i]))
            return true;
    return false;
}

void stet_system_environment(struct stet_inventory *v, char *const *environment)
{
    struct stet_list list = stet_env_list(&v->arena, environment);

    for (size_t i = 0; i < list.count; i++) {
        struct stet_view one = list.items[i];
        const struct stet_variable *known;
        const char *equals = one.len ? memchr(one.ptr, '=', one.len) : NULL;
        size_t n = equals ? (size_t)(equals - one.ptr) : 0;

        if (!n || passes(one))
            continue;
        stet_inventory_put(v, STET_GROUP_env, stet_view_of(one.ptr, n),
                           stet_view_of(equals + 1, one.len - n - 1));
        known = stet_variable_find(stet_view_of(one.ptr, n));
        if (known && known->form != STET_FORM_VALUE)
            take_flags(v, stet_view_of(equals + 1, one.len - n - 1));
    }
}

/* The first bytes of a small file; empty if it does not exist. */
static struct stet_view small(const char *path, char *room, size_t size)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(room, 1, size, f) : 0;

    if (f)
        fclose(f);
    while (n && strchr(" \t\r\n", room[n - 1]))
        n--;
    return stet_view_of(room, n);
}

/* The rest of the line that begins with `key`, past blanks, ':' and '='. */
static struct stet_view after(struct stet_view text, const char *key)
{
    const char *at = text.len ? memmem(text.ptr, text.len, key, strlen(key)) : NULL;
    struct stet_view rest = {0};

    if (!at)
        return rest;
    at += strlen(key);
    while (at < text.ptr + text.len && strchr(" \t:=\"", *at))
        at++;
    rest.ptr = at;
    while (at + rest.len < text.ptr + text.len && !strchr("\n\"", at[rest.len]))
        rest.len++;
    return rest;
}

static void put_file(struct stet_inventory *v, enum stet_group g, const char *name,
                     const char *path, const char *key)
{
    char room[8192];
    struct stet_view text = small(path, room, sizeof room), value = text;

    if (key)
        value = after(text, key);
    else if (text.len && memchr(text.ptr, '\n', text.len))
        value.len = (size_t)((const char *)memchr(text.ptr, '\n', text.len) - text.ptr);
    if (value.len)
        stet_inventory_put(v, g, stet_view_str(name), value);
}

static unsigned long pci_word(const char *device, const char *name)
{
    char path[PATH_MAX], room[32] = "";

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.64s/%s", device, name);
    small(path, room, sizeof room - 1);
    return strtoul(room, NULL, 16);
}

struct stet_bus stet_system_bus(void)
{
    enum { GOOGLE = 0x1ae0, NVIDIA = 0x10de, AMD = 0x1002, DISPLAY = 0x03, ACCELERATOR = 0x12 };
    struct stet_bus bus = {0};
    DIR *dir = opendir("/sys/bus/pci/devices");

    for (struct dirent *e; dir && (e = readdir(dir));) {
        unsigned long vendor, class;

        if (e->d_name[0] == '.')
            continue;
        vendor = pci_word(e->d_name, "vendor");
        class = pci_word(e->d_name, "class") >> 16;
        bus.nvidia += vendor == NVIDIA && class == DISPLAY;
        bus.amd += vendor == AMD && (class == DISPLAY || class == ACCELERATOR);
        /* Google's virtual network card has the same vendor id, as a network device. */
        bus.tpus += vendor == GOOGLE && class != 0x02 && class != 0x01;
    }
    if (dir)
        closedir(dir);
    return bus;
}

static void put_gpus(struct stet_inventory *v)
{
    DIR *dir = opendir("/proc/driver/nvidia/gpus");
    unsigned n = 0;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[PATH_MAX], name[32];

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%.64s/information", e->d_name);
        snprintf(name, sizeof name, "gpu %u", n++);
        put_file(v, STET_GROUP_topology, name, path, "Model:");
    }
    if (dir)
        closedir(dir);
}

static void put_hash(struct stet_inventory *v, const char *name, const char *path)
{
    char text[STET_HASH_TEXT];
    struct stet_file f;

    if (stet_file_open(&f, path, NULL) != STET_OK)
        return;
    stet_hash_format(stet_hash_bytes(f.bytes), text);
    stet_file_close(&f);
    stet_inventory_put(v, STET_GROUP_toolkit, stet_view_str(name), stet_view_str(text));
}

static void put_on_path(struct stet_inventory *v, char *const *environment, const char *tool)
{
    const char *path = NULL;
    char whole[PATH_MAX];

    for (; environment && *environment; environment++)
        if (!strncmp(*environment, "PATH=", 5))
            path = *environment + 5;
    while (path && *path) {
        size_t n = strcspn(path, ":");

        if (n && snprintf(whole, sizeof whole, "%.*s/%s", (int)n, path, tool) < PATH_MAX &&
            access(whole, X_OK) == 0) {
            put_hash(v, tool, whole);
            return;
        }
        path += n + (path[n] == ':');
    }
}

static void put_tools(struct stet_inventory *v, char *const *environment)
{
    put_file(v, STET_GROUP_driver, "nvidia", "/sys/module/nvidia/version", NULL);
    put_file(v, STET_GROUP_driver, "amdgpu", "/sys/module/amdgpu/version", NULL);
    put_file(v, STET_GROUP_driver, "gasket", "/sys/module/gasket/version", NULL);
    put_file(v, STET_GROUP_toolkit, "cuda", "/usr/local/cuda/version.json", "\"version\"");
    put_file(v, STET_GROUP_toolkit, "rocm", "/opt/rocm/.info/version", NULL);
    put_hash(v, "libdevice", "/usr/local/cuda/nvvm/libdevice/libdevice.10.bc");
    /* XLA looks for a toolkit in the working folder first. */
    put_hash(v, "libdevice here", "cuda_sdk_lib/nvvm/libdevice/libdevice.10.bc");
    put_on_path(v, environment, "ptxas");
    put_on_path(v, environment, "nvlink");
}

void stet_system_machine(struct stet_inventory *v, char *const *environment)
{
    struct stet_bus bus = stet_system_bus();
    struct utsname u;
    char host[256] = "";
    cpu_set_t set;

    gethostname(host, sizeof host - 1);
    v->host = stet_arena_copy(&v->arena, stet_view_str(host));
    if (uname(&u) == 0) {
        stet_inventory_putf(v, STET_GROUP_system, "kernel", "%s %s", u.sysname, u.release);
        stet_inventory_putf(v, STET_GROUP_system, "machine", "%s", u.machine);
    }
    stet_inventory_putf(v, STET_GROUP_system, "glibc", "%s", gnu_get_libc_version());
    put_file(v, STET_GROUP_system, "os", "/etc/os-release", "PRETTY_NAME");
    put_file(v, STET_GROUP_system, "cpu", "/proc/cpuinfo", "model name");
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        stet_inventory_putf(v, STET_GROUP_system, "cpus", "%d", CPU_COUNT(&set));
    put_tools(v, environment);
    if (bus.tpus)
        stet_inventory_putf(v, STET_GROUP_topology, "tpu chips on the bus", "%u", bus.tpus);
    if (bus.nvidia)
        stet_inventory_putf(v, STET_GROUP_topology, "nvidia gpus on the bus", "%u", bus.nvidia);
    if (bus.amd)
        stet_inventory_putf(v, STET_GROUP_topology, "amd gpus on the bus", "%u", bus.amd);
    put_gpus(v);
}
