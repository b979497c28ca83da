/* Programs that cannot be planned, run by another client in this process: XLA's own CPU client,
 * through Stet's Python package. The plan of such a program is its border alone. */
#include "backend/api/cpu_api.h"

#include "abi/stet_ext.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { ERROR_ROOM = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_ext_fallback client; /* zero: none */

void stet_cpu_fallback_set(const struct stet_ext_fallback *fallback)
{
    pthread_mutex_lock(&lock);
    client = fallback ? *fallback : (struct stet_ext_fallback){0};
    pthread_mutex_unlock(&lock);
}

static struct stet_ext_fallback current(void)
{
    struct stet_ext_fallback f;

    pthread_mutex_lock(&lock);
    f = client;
    pthread_mutex_unlock(&lock);
    return f;
}

bool stet_cpu_fallback_exists(void)
{
    const char *strict = getenv("STET_CPU_STRICT");

    return !(strict && *strict && strcmp(strict, "0") != 0) && current().compile;
}

static void describe(struct stet_ext_array *out, const struct stet_shape *shapes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (struct stet_ext_array){stet_dtype_number(shapes[i].dtype),
                                         (int32_t)shapes[i].rank, shapes[i].dims};
}

PJRT_Error *stet_cpu_fallback_compile(struct stet_cpu_code *c, const char *why)
{
    struct stet_ext_fallback f = current();
    uint32_t devices = c->assignment.count, ins = c->info->input_count / devices,
             outs = c->info->output_count / devices;
    struct stet_ext_array *arrays = stet_mem_calloc((size_t)ins + outs + 1, sizeof *arrays);
    char *error = stet_mem_calloc(1, ERROR_ROOM);
    struct stet_ext_program p = {.code = c->bytes,
                                 .format = c->format,
                                 .options = c->options,
                                 .code_size = c->size,
                                 .format_size = strlen(c->format),
                                 .options_size = c->options_size,
                                 .name = c->name,
                                 .why = why,
                                 .devices = c->assignment.ids,
                                 .device_count = devices,
                                 .input_count = ins,
                                 .output_count = outs,
                                 .inputs = arrays,
                                 .outputs = arrays ? arrays + ins : NULL};
    PJRT_Error *failure = NULL;

    if (!arrays || !error) {
        failure = stet_cpu_api_no_memory();
    } else {
        describe(arrays, c->info->inputs, ins);
        describe(arrays + ins, c->info->outputs, outs);
        snprintf(c->why, sizeof c->why, "%s", why);
        if (!f.compile || f.compile(&p, &c->handle, error, ERROR_ROOM) != 0)
            failure = stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                                      "stet cpu: %s: %s (XLA's CPU client, asked instead: %s)",
                                      c->name, why, error[0] ? error : "it is not there");
        else
            c->fallback = true;
    }
    stet_mem_free(arrays);
    stet_mem_free(error);
    return failure;
}

enum stet_rc stet_cpu_fallback_run(const struct stet_cpu_code *c, const void *const *inputs,
                                   void *const *outputs, const struct stet_host *host,
                                   struct stet_err *err)
{
    struct stet_ext_fallback f = current();
    char *error = stet_mem_calloc(1, ERROR_ROOM);
    enum stet_rc rc = STET_OK;

    if (!error)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (!f.run) {
        rc = stet_fail(err, STET_REFUSED, "%s runs on XLA's CPU client, which is gone", c->name);
    } else if (f.run(c->handle, inputs, outputs, error, ERROR_ROOM) != 0) {
        host->failed(host->context, PJRT_Error_Code_INTERNAL, error);
        rc = stet_fail(err, STET_REFUSED, "%s", error);
    }
    stet_mem_free(error);
    return rc;
}

void stet_cpu_fallback_release(const struct stet_cpu_code *c)
{
    struct stet_ext_fallback f = current();

    if (c->fallback && f.release)
        f.release(c->handle);
}
