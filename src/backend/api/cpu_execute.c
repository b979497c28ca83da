/* Execute: takes donated inputs, places the outputs, and then runs the program, here if that is
 * short, otherwise on the device's thread.
 *
 * Everything that a run needs is one allocation, made in the call: `struct launch` with its lists
 * after it. A program of several devices is one run, on the thread of its first device; its lists
 * have the buffers of the first device, then those of the second, and so on.
 *
 * A queue is first in first out, and a run waits only for buffers of earlier launches. The earliest
 * launch that is not done can therefore always run: queues cannot wait for each other forever.
 *
 * If devices of other processes take part, the lists have their buffers too: each process gives its
 * inputs to the others when its turn comes (peers.h), runs the whole plan, and keeps the outputs of
 * its own devices. */
#include "backend/api/cpu_launch.h"

#include "base/mem.h"

#include <stdlib.h>

static struct stet_cpu_launch *launch_new(const PJRT_LoadedExecutable *e,
                                          PJRT_Device *const *devices)
{
    struct stet_cpu_code *code = e->code;
    size_t n = code->info->input_count, m = code->info->output_count;
    struct stet_cpu_launch *l = stet_mem_calloc(1, sizeof *l + (3 * n + 2 * m) * sizeof(void *));
    void **list = (void **)(l + 1);

    if (!l)
        return NULL;
    l->in = (struct stet_cpu_block **)list;
    l->after = (struct stet_signal **)(list + n);
    l->in_data = (const void **)(list + 2 * n);
    l->out = (struct stet_cpu_block **)(list + 3 * n);
    l->out_data = list + 3 * n + m;
    l->inputs = (uint32_t)n;
    l->outputs = (uint32_t)m;
    l->code = stet_cpu_code_ref(code);
    l->device = devices[0];
    l->devices = devices;
    l->joint = stet_cpu_joint_ref(e->joint);
    return l;
}

static void launch_free(struct stet_cpu_launch *l)
{
    for (uint32_t i = 0; i < l->inputs; i++) {
        stet_cpu_block_unref(l->in[i]);
        stet_backend_signal_unref(l->after[i]);
    }
    for (uint32_t i = 0; i < l->outputs; i++)
        stet_cpu_block_unref(l->out[i]);
    free(l->foreign);
    stet_cpu_joint_unref(l->joint);
    stet_backend_callbacks_release(&l->callbacks);
    stet_backend_signal_unref(l->done);
    stet_cpu_code_unref(l->code);
    stet_mem_free(l);
}

/* Memory for temporaries; run_lock is held. A small program has the device's own. */
enum { SMALL_SCRATCH = 1 << 16 };

static void *scratch(PJRT_Device *d, uint64_t need)
{
    if (need > SMALL_SCRATCH)
        return stet_cpu_cache_take(&d->cache, need);
    if (!d->scratch)
        d->scratch = aligned_alloc(64, SMALL_SCRATCH);
    return d->scratch;
}

static void scratch_done(PJRT_Device *d, void *memory, uint64_t need)
{
    if (need > SMALL_SCRATCH)
        stet_cpu_cache_give(&d->cache, memory, need);
}

/* If an input failed, the outputs fail with the same error. */
static PJRT_Error_Code inputs_failed(const struct stet_cpu_launch *l, const char **text)
{
    for (uint32_t i = 0; i < l->inputs; i++) {
        PJRT_Error_Code code;

        stet_backend_signal_wait(l->after[i]);
        code = stet_backend_signal_code(l->after[i], text);
        if (code != PJRT_Error_Code_OK)
            return code;
    }
    return PJRT_Error_Code_OK;
}

/* Set while this thread is in a callback of that device's program. */
static _Thread_local const PJRT_Device *talking;

static bool inputs_ready(const struct stet_cpu_launch *l)
{
    for (uint32_t i = 0; i < l->inputs; i++) {
        if (!stet_backend_signal_ready(l->after[i]))
            return false;
    }
    return true;
}

/* Everything has memory now: inputs, because what they wait for is done, and outputs. What other
 * processes' devices use has some since stet_cpu_joint_memory. */
static bool take_memory(struct stet_cpu_launch *l)
{
    for (uint32_t i = 0; i < l->inputs; i++) {
        if (l->in[i])
            l->in_data[i] = l->in[i]->data;
    }
    for (uint32_t i = 0; i < l->outputs; i++) {
        if (!l->out[i])
            continue;
        if (!stet_cpu_block_fill(l->out[i]))
            return false;
        l->out_data[i] = l->out[i]->data;
    }
    stet_cpu_api_note_peak(l->device, l->code->info->scratch_bytes);
    return true;
}

static enum stet_rc compute(struct stet_cpu_launch *l, void *memory, struct stet_err *err)
{
    const struct stet_cpu_code *c = l->code;

    if (c->fallback)
        return stet_cpu_fallback_run(c, l->in_data, l->out_data, &l->callbacks.host, err);
    return stet_plan_run_with(c->plan, l->in_data, l->out_data, memory, l->device->client->pool,
                              &l->callbacks.host, err);
}

/* False if the program itself failed. `memory` is for temporaries, and the device's if `lent`;
 * run_lock is held, by this thread's outer run if it is in a callback. */
static bool run(struct stet_cpu_launch *l, void *memory, bool lent)
{
    const PJRT_Device *before = talking;
    struct stet_err err = STET_ERR_INIT;
    const char *text = "";
    PJRT_Error_Code before_it = inputs_failed(l, &text), code = before_it;
    uint64_t need = l->code->info->scratch_bytes;
    size_t size;

    talking = l->device;
    if (code == PJRT_Error_Code_OK && ((need && !memory) || !take_memory(l))) {
        code = PJRT_Error_Code_RESOURCE_EXHAUSTED;
        text = need && !memory ? "stet cpu: out of memory for temporaries"
                               : "stet cpu: out of memory for results";
    } else if (code == PJRT_Error_Code_OK &&
               ((l->joint && stet_cpu_joint_meet(l, &err) != STET_OK) ||
                compute(l, memory, &err) != STET_OK)) {
        code = PJRT_Error_Code_INTERNAL;
        text = err.text;
        if (l->callbacks.failure) {
            code = stet_pjrt_error_code(l->callbacks.failure);
            stet_pjrt_error_message(l->callbacks.failure, &text, &size);
        }
    }
    talking = before;
    if (lent) /* before anybody can ask how much memory the device has */
        scratch_done(l->device, memory, need);
    stet_backend_signal_set(l->done, code, text);
    return code == before_it;
}

/* The whole of it; run_lock is held, and is released before what it held is given back. */
static bool run_and_free(struct stet_cpu_launch *l)
{
    PJRT_Device *d = l->device;
    bool ok = run(l, scratch(d, l->code->info->scratch_bytes), true);

    stet_cpu_cache_note_run(&d->cache);
    pthread_mutex_unlock(&d->run_lock);
    launch_free(l);
    return ok;
}

static void run_task(struct stet_task *task)
{
    struct stet_cpu_launch *l = (struct stet_cpu_launch *)task;
    PJRT_Device *d = l->device;
    unsigned talks = l->talks;

    pthread_mutex_lock(&d->run_lock);
    run_and_free(l);
    atomic_fetch_sub(&d->talkers, talks);
}

/* ---- arguments ---- */

/* The caller's buffer of an input; NULL if its device is another process's. */
static PJRT_Buffer *argument(const struct stet_cpu_launch *l, PJRT_Buffer *const *const *lists,
                             uint32_t i)
{
    int place = stet_cpu_joint_place(l, i / l->code->inputs);

    return place >= 0 ? lists[place][i % l->code->inputs] : NULL;
}

static PJRT_Error *take_inputs(struct stet_cpu_launch *l, PJRT_Buffer *const *const *lists)
{
    const struct stet_plan_info *info = l->code->info;

    for (uint32_t i = 0; i < l->inputs; i++) {
        PJRT_Buffer *from = argument(l, lists, i);
        const struct stet_shape *got, *want = &info->inputs[i];
        uint32_t number = i % l->code->inputs;

        if (!from)
            continue;
        got = &from->shape;

        /* Only the size must match: TorchTPU passes f32[1] for f32[], and XLA compares only sizes
         * too. JAX passes pred[0] for a token. */
        if (want->dtype == STET_DT_TOKEN
                ? got->bytes != 0
                : got->dtype != want->dtype || got->elements != want->elements)
            return stet_pjrt_error(
                PJRT_Error_Code_INVALID_ARGUMENT,
                "stet cpu: argument %u of %s is %s, but the program was compiled for %s", number,
                l->code->name, stet_shape_text(got).text, stet_shape_text(want).text);
        if (!stet_backend_buffer_borrow(from, &l->in[i], &l->after[i]))
            return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                   "stet cpu: argument %u of %s was deleted or donated", number,
                                   l->code->name);
    }
    return NULL;
}

static bool may_donate(const PJRT_ExecuteOptions *options, uint32_t input)
{
    if (!options || !STET_HAS(options, num_non_donatable_input_indices))
        return true;
    for (size_t i = 0; i < options->num_non_donatable_input_indices; i++) {
        if (options->non_donatable_input_indices[i] == (int64_t)input)
            return false;
    }
    return true;
}

/* Takes the memory from the caller's buffer. False if another thread took it first. */
static bool donate(PJRT_Buffer *b, struct stet_cpu_block *expected)
{
    struct stet_cpu_block *block;

    pthread_mutex_lock(&b->lock);
    block = b->block;
    if (block == expected)
        b->block = NULL;
    pthread_mutex_unlock(&b->lock);
    if (block != expected)
        return false;
    stet_cpu_block_drop(block);
    return true;
}

/* The block of a donated input can become the output's if it has no other holder: one reference is
 * this launch's own. */
static bool reusable(const struct stet_cpu_launch *l, uint32_t input)
{
    struct stet_cpu_block *b = l->in[input];

    if (b->view || atomic_load(&b->pins) > 0 || atomic_load(&b->refs) != 1)
        return false;
    return ((uintptr_t)b->data & 63) == 0;
}

static struct stet_memory *output_memory(const struct stet_cpu_launch *l, uint32_t output)
{
    uint32_t n = l->code->outputs;

    return &l->devices[stet_cpu_joint_place(l, output / n)]
                ->memories[l->code->memories[output % n]];
}

static PJRT_Error *place_outputs(struct stet_cpu_launch *l, PJRT_Buffer *const *const *lists,
                                 const PJRT_ExecuteOptions *options)
{
    const struct stet_plan_info *info = l->code->info;

    for (uint32_t i = 0; i < l->inputs; i++) {
        uint32_t number = i % l->code->inputs;

        if (l->in[i] && info->donatable[i] && may_donate(options, number) &&
            !donate(argument(l, lists, i), l->in[i]))
            return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                   "stet cpu: argument %u of %s is donated twice", number,
                                   l->code->name);
    }
    for (uint32_t i = 0; i < l->outputs; i++) {
        int32_t from = info->output_alias[i];

        if (stet_cpu_joint_place(l, i / l->code->outputs) < 0)
            continue;
        if (from >= 0 && l->in[from] && reusable(l, (uint32_t)from) &&
            l->in[from]->memory == output_memory(l, i))
            l->out[i] = stet_cpu_block_ref(l->in[from]);
        else
            l->out[i] = (l->code->zeros ? stet_zeros_block : stet_cpu_block_later)(
                output_memory(l, i), info->outputs[i].bytes);
        if (!l->out[i])
            return stet_cpu_api_no_memory();
    }
    return NULL;
}

static PJRT_Error *make_buffers(struct stet_cpu_launch *l, PJRT_Buffer **const *lists)
{
    uint32_t n = l->code->outputs;

    for (uint32_t i = 0; i < l->outputs; i++) {
        int place = stet_cpu_joint_place(l, i / n);
        PJRT_Buffer *made;

        if (place < 0)
            continue;
        made = stet_backend_buffer_adopt(output_memory(l, i), &l->code->info->outputs[i],
                                         stet_cpu_block_ref(l->out[i]),
                                         stet_backend_signal_ref(l->done));
        lists[place][i % n] = made;
        if (!made) {
            while (i-- > 0) {
                if (stet_cpu_joint_place(l, i / n) >= 0)
                    stet_backend_buffer_free(lists[stet_cpu_joint_place(l, i / n)][i % n]);
            }
            return stet_cpu_api_no_memory();
        }
    }
    return NULL;
}

/* Passing a small program to another thread costs more than running it. */
enum { QUICK_BYTES = 1 << 16, QUICK_CODE = 1 << 17 };

static bool is_quick(const struct stet_cpu_launch *l)
{
    const struct stet_plan_info *info = l->code->info;
    uint64_t bytes = info->scratch_bytes;

    for (uint32_t i = 0; i < info->output_count; i++)
        bytes += info->outputs[i].bytes;
    for (uint32_t i = 0; i < info->input_count; i++)
        bytes += info->inputs[i].bytes;
    return bytes <= QUICK_BYTES && info->code_bytes <= QUICK_CODE && !l->code->fallback;
}

/* A callback that runs a program waits for it, and the device waits for the callback; the program
 * must therefore run here. */
static bool run_nested(struct stet_cpu_launch *l)
{
    uint64_t need = l->code->info->scratch_bytes;
    void *memory = aligned_alloc(64, (need + 63) & ~(uint64_t)63);
    bool ok = run(l, memory, false);

    free(memory);
    launch_free(l);
    return ok;
}

/* The results are zeros already. */
static bool finish_zeros(struct stet_cpu_launch *l)
{
    const char *text = "";
    PJRT_Error_Code code = inputs_failed(l, &text);

    stet_backend_signal_set(l->done, code, text);
    launch_free(l);
    return true;
}

/* Launches that wait have no results yet, but they keep what the framework has given up: the
 * batches of steps to come. */
enum { MOST_PENDING = 32, LEAST_PENDING = 2, MOST_ORPHANS = 256 << 20 };

static bool device_full(const void *context)
{
    const PJRT_Device *d = context;
    unsigned pending = atomic_load(&d->queue.pending);

    /* A program that calls the host may wait for a lock that the caller of Execute has. */
    if (atomic_load(&d->talkers) > 0)
        return false;
    return pending >= MOST_PENDING ||
           (pending >= LEAST_PENDING && atomic_load(&d->orphans) > MOST_ORPHANS);
}

static bool device_busy(const void *context)
{
    const PJRT_Device *d = context;

    return atomic_load(&d->talkers) == 0 && atomic_load(&d->queue.pending) > 0;
}

/* Python callbacks with effects have happened when the call returns, as on XLA's CPU: tests read
 * what they printed. */
static bool runs_here(struct stet_cpu_launch *l)
{
    PJRT_Device *d = l->device;
    const struct stet_plan_info *info = l->code->info;
    bool called = info->calls && info->talks && !l->talks;

    if (l->joint || !(called || is_quick(l)))
        return false;
    if (called)
        stet_backend_queue_wait(&d->queue, device_busy, d);
    return atomic_load(&d->queue.pending) == 0 && inputs_ready(l) &&
           pthread_mutex_trylock(&d->run_lock) == 0;
}

/* False if the program ran in this thread and failed. */
static bool start(struct stet_cpu_launch *l)
{
    PJRT_Device *d = l->device;

    if (l->code->zeros || talking)
        return (l->code->zeros ? finish_zeros : run_nested)(l);
    l->talks = l->callbacks.send_count + l->callbacks.receive_count > 0;
    if (runs_here(l))
        return run_and_free(l);
    l->talks |= l->code->info->calls;
    stet_backend_queue_wait(&d->queue, device_full, d);
    atomic_fetch_add(&d->talkers, l->talks);
    if (!stet_backend_queue_submit(&d->queue, &l->task))
        run_task(&l->task);
    return true;
}

/* A callback belongs to one device, but each process runs all of them. */
static PJRT_Error *join_launch(struct stet_cpu_launch *l)
{
    if (l->callbacks.send_count || l->callbacks.receive_count)
        return stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                               "stet cpu: %s calls the host, and runs on devices of several "
                               "processes",
                               l->code->name);
    return stet_cpu_joint_memory(l) && stet_cpu_joint_count(l) ? NULL : stet_cpu_api_no_memory();
}

static void free_events(PJRT_Event **events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cpu_PJRT_Event_Destroy(&(PJRT_Event_Destroy_Args){.event = events[i]});
        events[i] = NULL;
    }
}

static PJRT_Error *make_events(const struct stet_cpu_launch *l, PJRT_Event **events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        events[i] = stet_cpu_api_event_of(l->done);
        if (!events[i]) {
            free_events(events, i);
            return stet_cpu_api_no_memory();
        }
    }
    return NULL;
}

/* Runs it. A failure in this thread is the call's, as on XLA's CPU: a caller that waits for no
 * result sees it, too. */
static PJRT_Error *start_and_check(struct stet_cpu_launch *l, uint32_t outputs,
                                   const PJRT_LoadedExecutable_Execute_Args *args)
{
    struct stet_signal *done = stet_backend_signal_ref(l->done);
    PJRT_Error *error = start(l) ? NULL : stet_backend_signal_error(done);

    stet_backend_signal_unref(done);
    if (!error)
        return NULL;
    for (size_t d = 0; d < args->num_devices; d++) {
        for (uint32_t i = 0; i < outputs; i++)
            stet_backend_buffer_free(args->output_lists[d][i]);
    }
    if (args->device_complete_events)
        free_events(args->device_complete_events, args->num_devices);
    return error;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    struct stet_cpu_code *code = args->executable->code;
    PJRT_Device *const *devices = args->executable->devices;
    PJRT_Error *error;
    struct stet_cpu_launch *l;

    if (atomic_load_explicit(&args->executable->deleted, memory_order_relaxed))
        return stet_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION, "stet cpu: %s was deleted",
                               code->name);
    if (args->num_devices != args->executable->own || args->num_args != code->inputs ||
        !args->executable->own)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: %s takes %u arguments on %u device%s, got %zu on %zu",
                               code->name, code->inputs, args->executable->own,
                               args->executable->own == 1 ? "" : "s", args->num_args,
                               args->num_devices);
    if (code->assignment.count == 1 && args->execute_device)
        devices = &args->execute_device->client->devices[args->execute_device->description->id];
    l = launch_new(args->executable, devices);
    if (!l)
        return stet_cpu_api_no_memory();
    l->task.run = run_task;
    l->done = stet_backend_signal_new();
    error = l->done && stet_backend_callbacks_init(&l->callbacks, args->options, args->num_devices)
                ? take_inputs(l, args->argument_lists)
                : stet_cpu_api_no_memory();
    if (!error && l->joint)
        error = join_launch(l);
    if (!error) {
        if (!l->joint)
            stet_memory_log_execution(code, devices, l->in);
        error = place_outputs(l, args->argument_lists, args->options);
    }
    if (!error && args->device_complete_events)
        error = make_events(l, args->device_complete_events, args->num_devices);
    if (!error) {
        error = make_buffers(l, args->output_lists);
        if (error && args->device_complete_events)
            free_events(args->device_complete_events, args->num_devices);
    }
    if (error) {
        launch_free(l);
        return error;
    }
    return start_and_check(l, code->outputs, args);
}
