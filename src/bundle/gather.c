/* Combines the parts under names that runs, probes and records share. */
#include "bundle/gather.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "bundle/system.h"

#include <stdio.h>
#include <time.h>

void stet_gather_detail(struct stet_inventory *v, enum stet_group g, const char *path,
                        const char *what, struct stet_view value)
{
    char name[512];

    snprintf(name, sizeof name, "%s%s%s", stet_path_base_str(path), *what ? " " : "", what);
    stet_inventory_put(v, g, stet_view_str(name), value);
}

void stet_gather_plugin(struct stet_inventory *v, const char *path, const char *build_id)
{
    char text[160], hash[STET_HASH_TEXT];
    struct stet_hash content;

    if (*build_id) {
        snprintf(text, sizeof text, "build id %.129s", build_id);
    } else if (stet_file_hash(path, &content, NULL) == STET_OK) {
        stet_hash_format(content, hash);
        snprintf(text, sizeof text, "content %s", hash);
    } else {
        snprintf(text, sizeof text, "no such file");
    }
    stet_gather_detail(v, STET_GROUP_plugin, path, "", stet_view_str(text));
    stet_gather_detail(v, STET_GROUP_plugin, path, "path", stet_view_str(path));
}

void stet_gather_attribute(struct stet_inventory *v, const char *path, struct stet_view name,
                           struct stet_view value)
{
    char text[300];

    if (stet_view_is(name, "stablehlo_current_version"))
        snprintf(text, sizeof text, "stablehlo");
    else if (stet_view_is(name, "stablehlo_minimum_version"))
        snprintf(text, sizeof text, "stablehlo minimum");
    else if (stet_view_is(name, "xla_version"))
        snprintf(text, sizeof text, "xla");
    else
        snprintf(text, sizeof text, "attribute %.*s", (int)(name.len < 200 ? name.len : 200),
                 name.ptr);
    stet_gather_detail(v, STET_GROUP_plugin, path, text, value);
}

void stet_gather(struct stet_inventory *v, const struct stet_python *p,
                 const struct stet_found_list *plugins, char *const *environment)
{
    v->recorded_ns = stet_clock_wall_ns();
    stet_system_machine(v, environment);
    stet_system_environment(v, environment);
    stet_python_packages(p, v);
    for (size_t i = 0; i < plugins->count; i++) {
        const struct stet_found *f = &plugins->items[i];

        stet_gather_plugin(v, f->path, f->elf.build_id);
        stet_gather_detail(v, STET_GROUP_plugin, f->path, "found by", stet_view_str(f->by));
    }
}

static void put_devices(struct stet_inventory *v, const struct stet_found *plugin,
                        const struct stet_probe *probe)
{
    char text[256];

    if (!probe->device_count)
        return;
    snprintf(text, sizeof text, "%s x %s", stet_probe_value(probe, "devices"),
             probe->devices[0].kind);
    stet_gather_detail(v, STET_GROUP_topology, plugin->path, "devices", stet_view_str(text));
}

void stet_gather_probe(struct stet_inventory *v, const struct stet_found *plugin,
                       const struct stet_probe *probe)
{
    static const char *const plain[] = {"api", "extensions", "platform", "platform version"};

    for (size_t i = 0; i < probe->value_count; i++) {
        struct stet_view name = stet_view_str(probe->values[i].name);
        struct stet_view value = stet_view_str(probe->values[i].value);

        if (stet_view_starts(name, "attribute "))
            stet_gather_attribute(v, plugin->path, stet_view_of(name.ptr + 10, name.len - 10),
                                  value);
        for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
            if (stet_view_is(name, plain[k]))
                stet_gather_detail(v, STET_GROUP_plugin, plugin->path, plain[k], value);
    }
    put_devices(v, plugin, probe);
}
