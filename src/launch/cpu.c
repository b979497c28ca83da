/* Sets the plugin for each framework. JAX finds it by name and path, TorchTPU by the path of
 * libtpu, PyTorch/XLA by a device that Python code registers; that code is
 * python/sitecustomize.py. */
#include "launch/cpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Puts `value` first in a list that a framework reads. It does so at most once, because a run may
 * start another run. */
static enum stet_rc prepend(struct stet_launch_env *env, const char *name, const char *value,
                            char sep, struct stet_err *err)
{
    const char *before = stet_launch_env_get(env, name);
    struct stet_view joined;

    if (!before || !*before)
        return stet_launch_env_set(env, name, value, err);
    if (!strncmp(before, value, strlen(value)))
        return STET_OK;
    joined = stet_arena_printf(&env->arena, "%s%c%s", value, sep, before);
    if (!joined.ptr)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the environment");
    return stet_launch_env_set(env, name, joined.ptr, err);
}

static enum stet_rc set_default(struct stet_launch_env *env, const char *name, const char *value,
                                struct stet_err *err)
{
    const char *chosen = stet_launch_env_get(env, name);

    return chosen && *chosen ? STET_OK : stet_launch_env_set(env, name, value, err);
}

/* Is `value` the variable's value, or the first of its list? */
static bool says(const struct stet_launch_env *env, const char *name, const char *value)
{
    const char *chosen = stet_launch_env_get(env, name);
    size_t n = strlen(value);

    return chosen && !strncmp(chosen, value, n) && (!chosen[n] || chosen[n] == ',');
}

/* Puts the folder of sitecustomize.py first on Python's path. */
static enum stet_rc inject(struct stet_launch_env *env, const char *folder, struct stet_err *err)
{
    char file[PATH_MAX];
    enum stet_rc rc =
        stet_launch_find_library("stet/python/sitecustomize.py", file, sizeof file, err);

    if (rc != STET_OK)
        return rc;
    *strrchr(file, '/') = '\0';
    rc = stet_launch_env_listable(file, sizeof file, folder, err);
    if (rc != STET_OK)
        return rc;
    return prepend(env, "PYTHONPATH", file, ':', err);
}

bool stet_launch_cpu_devices_ok(const char *devices)
{
    char *end;
    long n;

    if (!*devices)
        return true;
    n = strtol(devices, &end, 10);
    return !*end && devices[0] >= '1' && devices[0] <= '9' && n <= STET_LAUNCH_CPU_DEVICES;
}

enum stet_rc stet_launch_cpu(struct stet_launch_env *env, const char *folder,
                             const struct stet_launch_cpu_options *options, struct stet_err *err)
{
    const char *chosen = stet_launch_env_get(env, "JAX_PLATFORMS");
    char library[PATH_MAX], named[PATH_MAX + 8];
    enum stet_rc rc =
        stet_launch_find_library(STET_LAUNCH_CPU_LIBRARY, library, sizeof library, err);

    if (rc == STET_OK)
        rc = stet_launch_env_listable(library, sizeof library, folder, err);
    if (rc != STET_OK)
        return rc;
    snprintf(named, sizeof named, "stet:%s", library);
    /* A command that selects a TPU by name gets the backend under that name. */
    if (says(env, "JAX_PLATFORMS", "tpu") || says(env, "PJRT_DEVICE", "TPU"))
        rc = set_default(env, "STET_CPU_PLATFORM", "tpu", err);
    if (rc == STET_OK)
        rc = stet_launch_env_set(env, "STET_CPU_LIBRARY", library, err);
    if (rc == STET_OK && *options->devices)
        rc = stet_launch_env_set(env, "STET_CPU_DEVICES", options->devices, err);
    if (rc == STET_OK && options->zeros)
        rc = stet_launch_env_set(env, "STET_CPU_ZEROS", "1", err);
    if (rc == STET_OK && options->strict)
        rc = stet_launch_env_set(env, "STET_CPU_STRICT", "1", err);
    if (rc == STET_OK)
        rc = prepend(env, "PJRT_NAMES_AND_LIBRARY_PATHS", named, ',', err);
    if (rc == STET_OK)
        rc = set_default(env, "JAX_PLATFORMS", "stet,cpu", err);
    /* JAX gets the backend as its platform `cpu`; where the Python code of ours does not run, as
     * `stet`. A command that selects `stet` by name gets that. */
    if (rc == STET_OK && (!chosen || !*chosen || says(env, "JAX_PLATFORMS", "cpu")))
        rc = stet_launch_env_set(env, "STET_JAX_AS", "cpu", err);
    if (rc == STET_OK)
        rc = stet_launch_env_set(env, "TPU_LIBRARY_PATH", library, err);
    if (rc == STET_OK)
        rc = set_default(env, "PJRT_DEVICE", "STET", err);
    if (rc == STET_OK)
        rc = stet_launch_env_set(env, "PJRT_LIBRARY_PATH", library, err);
    return rc == STET_OK ? inject(env, folder, err) : rc;
}
