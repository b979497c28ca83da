/* What a client calls itself: options of PJRT_Client_Create that Stet's Python package sets. As
 * `cpu` it describes itself as XLA's own CPU client does, so that code which reads these texts
 * treats both alike. */
#include "backend/api/cpu_api.h"

#include <stdio.h>

PJRT_Error *stet_cpu_identity_read(const PJRT_NamedValue *options, size_t count,
                                   struct stet_cpu_identity *out)
{
    *out = (struct stet_cpu_identity){0};
    for (size_t i = 0; i < count; i++) {
        struct stet_view name = stet_view_of(options[i].name, options[i].name_size);

        if (stet_view_is(name, "platform_name") && options[i].type == PJRT_NamedValue_kString)
            snprintf(out->platform, sizeof out->platform, "%.*s", (int)options[i].value_size,
                     options[i].string_value);
        if (!stet_view_is(name, "device_count") || options[i].type != PJRT_NamedValue_kInt64)
            continue;
        if (options[i].int64_value < 1 || options[i].int64_value > STET_MAX_DEVICES)
            return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                   "stet cpu: %lld devices were asked for; 1 to %d are possible",
                                   (long long)options[i].int64_value, STET_MAX_DEVICES);
        out->devices = (uint32_t)options[i].int64_value;
    }
    return NULL;
}

void stet_cpu_identity_apply(const struct stet_cpu_identity *identity, PJRT_TopologyDescription *t)
{
    snprintf(t->platform, sizeof t->platform, "%s", identity->platform);
    for (uint32_t i = 0; i < t->count && strcmp(t->platform, "cpu") == 0; i++) {
        PJRT_DeviceDescription *d = t->list[i];

        snprintf(d->text, sizeof d->text, "CpuDevice(id=%d)", d->id);
        snprintf(d->brief, sizeof d->brief, "cpu:%d", d->id);
        d->kind = "cpu";
        d->attribute_count = 0;
    }
}

const char *stet_cpu_identity_platform(const PJRT_TopologyDescription *t)
{
    return t->platform[0] ? t->platform : stet_cpu_api_platform();
}
