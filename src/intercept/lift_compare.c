/* Compares an execution of a lifted program with one of a plain program. Both get the framework's
 * own arguments, which neither may overwrite, and the values of the plain program. */
#include "base/mem.h"
#include "intercept/executables.h"
#include "intercept/layer.h"
#include "intercept/lift_family.h"

#include <stdio.h>

/* Results that differ more than this many units in the last place are other results, and above the
 * second number it does not help to know by how many. */
enum { ULP_MAX = 4, ULP_SAID = 1000000 };

struct run {
    PJRT_Buffer **outputs; /* `count` of them, those of the first device first */
    size_t count;
};

/* ---- executing ---- */

/* `arguments` has `stride` of them for each device, of which the program reads `n`. */
static PJRT_Error *execute(struct stet_plugin *p, PJRT_LoadedExecutable *loaded,
                           const PJRT_LoadedExecutable_Execute_Args *like,
                           PJRT_ExecuteOptions *options, PJRT_Buffer *const *arguments,
                           size_t stride, size_t n, struct run *r)
{
    PJRT_Buffer *const *lists[STET_LIFT_DEVICES];
    PJRT_Buffer **outputs[STET_LIFT_DEVICES];
    size_t devices = like->num_devices;
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = loaded,
                                               .options = options,
                                               .argument_lists = lists,
                                               .num_devices = devices,
                                               .num_args = n,
                                               .output_lists = outputs,
                                               .execute_device = like->execute_device};

    for (size_t d = 0; d < devices; d++) {
        lists[d] = arguments + d * stride;
        outputs[d] = r->outputs + d * (r->count / devices);
    }
    return stet_plugin_real(p)->PJRT_LoadedExecutable_Execute(&args);
}

static void release_run(struct stet_plugin *p, struct run *r)
{
    for (size_t i = 0; r->outputs && i < r->count; i++)
        stet_intercept_lifted_buffer_free(p, r->outputs[i]);
    stet_mem_free((void *)r->outputs);
}

/* The framework's options, but no argument may be donated. False if the program donates
 * one and the plugin is too old to accept such an option. */
static bool keep_arguments(PJRT_ExecuteOptions *out, const PJRT_ExecuteOptions *theirs,
                           const struct stet_program *base, int64_t *indices, size_t n)
{
    bool donates = false;
    size_t size = theirs && theirs->struct_size < sizeof *out ? theirs->struct_size : sizeof *out;

    *out = (PJRT_ExecuteOptions){.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    if (theirs) {
        memcpy(out, theirs, size);
        out->struct_size = size;
    }
    for (uint32_t i = 0; i < base->argument_count; i++)
        donates |= base->arguments[i].alias >= 0 || base->arguments[i].donor;
    if (!STET_HAS(out, num_non_donatable_input_indices))
        return !donates;
    for (size_t i = 0; i < n; i++)
        indices[i] = (int64_t)i;
    out->non_donatable_input_indices = indices;
    out->num_non_donatable_input_indices = n;
    return true;
}

/* ---- reading results ---- */

static bool await_event(struct stet_plugin *p, PJRT_Event *event)
{
    PJRT_Event_Await_Args await = {.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE,
                                   .event = event};
    PJRT_Event_Destroy_Args destroy = {.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                       .event = event};
    bool failed;

    if (!event)
        return true;
    failed = stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Event_Await(&await));
    stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Event_Destroy(&destroy));
    return !failed;
}

/* The bytes of a result; the caller frees them. */
static char *read_back(struct stet_plugin *p, PJRT_Buffer *buffer, size_t *size)
{
    PJRT_Buffer_ToHostBuffer_Args args = {.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                          .src = buffer};
    char *bytes;

    if (!buffer || stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Buffer_ToHostBuffer(&args)))
        return NULL;
    bytes = stet_mem_alloc(args.dst_size ? args.dst_size : 1);
    args.dst = bytes;
    *size = args.dst_size;
    if (!bytes || stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Buffer_ToHostBuffer(&args)) ||
        !await_event(p, args.event)) {
        stet_mem_free(bytes);
        return NULL;
    }
    return bytes;
}

/* ---- comparing ---- */

struct format {
    unsigned bytes, mantissa; /* 0 for a type without rounding */
};

static struct format format_of(struct stet_plugin *p, PJRT_Buffer *buffer)
{
    PJRT_Buffer_ElementType_Args args = {.struct_size = PJRT_Buffer_ElementType_Args_STRUCT_SIZE,
                                         .buffer = buffer};

    if (stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Buffer_ElementType(&args)))
        return (struct format){0};
    switch (args.type) {
    case PJRT_Buffer_Type_F16:
        return (struct format){2, 10};
    case PJRT_Buffer_Type_BF16:
        return (struct format){2, 7};
    case PJRT_Buffer_Type_F32:
        return (struct format){4, 23};
    case PJRT_Buffer_Type_F64:
        return (struct format){8, 52};
    default:
        return (struct format){0};
    }
}

/* The place of a float among all floats in order; both zeros have one place. */
static int64_t place(uint64_t bits, unsigned width, bool *nan, unsigned mantissa)
{
    uint64_t sign = UINT64_C(1) << (width - 1), magnitude = bits & (sign - 1);
    uint64_t infinity = (sign - 1) >> mantissa << mantissa;

    *nan = magnitude > infinity;
    return bits & sign ? -(int64_t)magnitude : (int64_t)magnitude;
}

static uint64_t distance(uint64_t a, uint64_t b, struct format f)
{
    bool x_nan, y_nan;
    int64_t x = place(a, 8 * f.bytes, &x_nan, f.mantissa);
    int64_t y = place(b, 8 * f.bytes, &y_nan, f.mantissa);

    if (x_nan || y_nan)
        return x_nan && y_nan ? 0 : UINT64_MAX;
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static void compare_bytes(const char *a, const char *b, size_t size, struct format f,
                          struct stet_lift_difference *out)
{
    if (!memcmp(a, b, size))
        return;
    if (!f.bytes) {
        out->ulp = UINT64_MAX;
        return;
    }
    for (size_t i = 0; i + f.bytes <= size; i += f.bytes) {
        uint64_t x = 0, y = 0, d;

        memcpy(&x, a + i, f.bytes);
        memcpy(&y, b + i, f.bytes);
        d = x == y ? 0 : distance(x, y, f);
        out->elements += x != y;
        out->ulp = d > out->ulp ? d : out->ulp;
    }
}

static bool compare_output(struct stet_plugin *p, PJRT_Buffer *a, PJRT_Buffer *b,
                           struct stet_lift_difference *out)
{
    size_t n = 0, m = 0;
    char *x = read_back(p, a, &n), *y = read_back(p, b, &m);
    bool read = x && y && n == m;

    if (read)
        compare_bytes(x, y, n, format_of(p, a), out);
    stet_mem_free(x);
    stet_mem_free(y);
    return read;
}

static enum stet_lift_verdict compare_runs(struct stet_plugin *p, const struct run *plain,
                                           const struct run *lifted,
                                           struct stet_lift_difference *found, char *why,
                                           size_t room)
{
    for (size_t i = 0; i < plain->count; i++) {
        if (!compare_output(p, plain->outputs[i], lifted->outputs[i], found)) {
            snprintf(why, room, "result %zu cannot be read or has another size", i);
            return STET_LIFT_NOT_COMPARED;
        }
    }
    if (found->ulp > ULP_SAID)
        snprintf(why, room, "results differ from the plain program's, by more than rounding");
    else if (found->ulp > ULP_MAX)
        snprintf(why, room,
                 "results differ from the plain program's: %zu elements, by up to %llu ulp",
                 found->elements, (unsigned long long)found->ulp);
    else if (found->ulp)
        snprintf(why, room, "%zu elements differ, by at most %llu ulp", found->elements,
                 (unsigned long long)found->ulp);
    return found->ulp <= ULP_MAX ? STET_LIFT_SAME : STET_LIFT_DIFFERENT;
}

/* ---- one comparison ---- */

struct trial {
    struct stet_lift_code *code;
    const struct stet_lift_trial *of;
    const PJRT_LoadedExecutable_Execute_Args *args;
    PJRT_ExecuteOptions options;
    PJRT_Buffer **arguments; /* of each device: the framework's, then the values */
    int64_t *indices;
    struct run plain, lifted;
};

static bool prepare_device(struct trial *t, size_t d)
{
    struct stet_lift_code *c = t->code;
    size_t n = t->args->num_args, more = c->plan.argument_count;
    PJRT_Device *device = t->args->execute_device ? t->args->execute_device : c->devices[d];
    PJRT_Buffer **to = t->arguments + d * (n + more);

    if (n)
        memcpy((void *)to, (const void *)t->args->argument_lists[d], n * sizeof *to);
    for (size_t i = 0; i < more; i++) {
        to[n + i] = stet_intercept_lifted_buffer(c, (uint32_t)i, t->of->values[i].bytes, device);
        if (!to[n + i])
            return false;
    }
    return true;
}

static bool prepare(struct trial *t)
{
    struct stet_lift_code *c = t->code;
    size_t n = t->args->num_args, more = c->plan.argument_count, devices = t->args->num_devices;

    t->arguments = stet_mem_calloc((n + more) * devices, sizeof(PJRT_Buffer *));
    t->indices = stet_mem_calloc(n + more, sizeof *t->indices);
    t->plain.count = t->lifted.count = c->family->base.output_count * devices;
    t->plain.outputs = stet_mem_calloc(t->plain.count + 1, sizeof(PJRT_Buffer *));
    t->lifted.outputs = stet_mem_calloc(t->plain.count + 1, sizeof(PJRT_Buffer *));
    if (!t->arguments || !t->indices || !t->plain.outputs || !t->lifted.outputs)
        return false;
    for (size_t d = 0; d < devices; d++) {
        if (!prepare_device(t, d))
            return false;
    }
    return keep_arguments(&t->options, t->args->options, &c->family->base, t->indices, n + more);
}

/* Runs one of both programs, which reads `n` of the arguments. */
static PJRT_Error *run_one(struct trial *t, PJRT_LoadedExecutable *loaded, size_t n, struct run *r)
{
    size_t stride = t->args->num_args + t->code->plan.argument_count;

    if (STET_HAS(&t->options, num_non_donatable_input_indices))
        t->options.num_non_donatable_input_indices = n;
    return execute(t->code->family->plugin, loaded, t->args, &t->options, t->arguments, stride, n,
                   r);
}

static PJRT_Error *run_both(struct trial *t)
{
    size_t n = t->args->num_args;
    PJRT_Error *error = run_one(t, t->of->plain, n, &t->plain);

    return error ? error
                 : run_one(t, t->code->loaded, n + t->code->plan.argument_count, &t->lifted);
}

/* Are the plain program's own results not the same twice? Then the difference says nothing about
 * the lifted one. */
static bool is_random(struct trial *t)
{
    struct stet_plugin *p = t->code->family->plugin;
    struct stet_lift_difference found = {0};
    char why[64];

    for (size_t i = 0; i < t->lifted.count; i++) {
        stet_intercept_lifted_buffer_free(p, t->lifted.outputs[i]);
        t->lifted.outputs[i] = NULL;
    }
    return !stet_plugin_drop(p, run_one(t, t->of->plain, t->args->num_args, &t->lifted)) &&
           compare_runs(p, &t->plain, &t->lifted, &found, why, sizeof why) == STET_LIFT_DIFFERENT;
}

static void free_values(struct trial *t)
{
    size_t n = t->args->num_args, more = t->code->plan.argument_count;

    for (size_t d = 0; t->arguments && d < t->args->num_devices; d++) {
        for (size_t i = 0; i < more; i++)
            stet_intercept_lifted_buffer_free(t->code->family->plugin,
                                              t->arguments[d * (n + more) + n + i]);
    }
}

enum stet_lift_verdict stet_intercept_lift_compare(struct stet_lift_code *code,
                                                   const struct stet_lift_trial *trial,
                                                   const PJRT_LoadedExecutable_Execute_Args *args,
                                                   struct stet_lift_difference *found, char *why,
                                                   size_t room)
{
    struct trial t = {.code = code, .of = trial, .args = args};
    struct stet_plugin *p = code->family->plugin;
    enum stet_lift_verdict verdict = STET_LIFT_NOT_COMPARED;

    *found = (struct stet_lift_difference){0};
    if (args->num_args != code->family->base.argument_count)
        snprintf(why, room, "the framework passes another number of arguments");
    else if (!prepare(&t))
        snprintf(why, room, "no memory, or a donated argument that cannot be kept");
    else if (stet_plugin_drop(p, run_both(&t)))
        snprintf(why, room, "the plugin cannot run both programs");
    else
        verdict = compare_runs(p, &t.plain, &t.lifted, found, why, room);
    if (verdict == STET_LIFT_DIFFERENT && is_random(&t))
        snprintf(why, room,
                 "the plain program's own results differ from one execution to the next");
    free_values(&t);
    release_run(p, &t.plain);
    release_run(p, &t.lifted);
    stet_mem_free((void *)t.arguments);
    stet_mem_free(t.indices);
    return verdict;
}
