/* Executions: the only hook on the fast path. */
#include "intercept/ask.h"
#include "intercept/drain.h"
#include "intercept/executables.h"
#include "intercept/finished.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/lifting.h"
#include "intercept/threads.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static const char function[] = "PJRT_LoadedExecutable_Execute";

__attribute__((noinline)) static void rarely(struct stet_handle *h, enum stet_pushed pushed)
{
    switch (pushed) {
    case STET_PUSHED:
        break;
    case STET_PUSHED_FIRST:
        stet_intercept_writer_ensure();
        break;
    case STET_PUSHED_QUARTER:
        stet_intercept_writer_poke();
        break;
    case STET_RING_FULL:
        if (h)
            atomic_fetch_add_explicit(&h->missed, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&stet_layer.missed, 1, memory_order_relaxed);
        break;
    }
}

/* `h` is NULL if there was no room for it. */
__attribute__((always_inline)) static inline void count(struct stet_handle *h)
{
    uint32_t id = h ? atomic_load_explicit(&h->id, memory_order_relaxed) : STET_RING_OTHER;
    enum stet_pushed pushed = stet_ring_push(&stet_layer.ring, id);

    if (UNLIKELY(pushed != STET_PUSHED))
        rarely(h, pushed);
}

/* On the writer thread: the executions before this one are drained. */
static bool add_last_run(struct stet_event *e, struct stet_journal *j)
{
    struct stet_rec_first_run *r = &e->record.first_run;

    (void)j;
    r->last_run_ns = stet_drain_last_run(&r->last_executable);
    return true;
}

/* Records the first execution of a program: until then its user waited for it. STET_HANDLE_FRESH, a
 * bit of the id, marks a program that has not run; later executions find it cleared and pay
 * nothing. */
__attribute__((noinline)) static void first_run(struct stet_handle *h)
{
    uint32_t id = atomic_fetch_and(&h->id, ~STET_HANDLE_FRESH);
    struct stet_event *e;

    if (!(id & STET_HANDLE_FRESH) || !(e = stet_event_new(STET_REC_first_run)))
        return;
    e->record.first_run = (struct stet_rec_first_run){.executable = id & ~STET_HANDLE_FRESH,
                                                      .thread = stet_threads_id()};
    e->prepare = add_last_run;
    stet_event_send(e);
}

/* Records which results this execution used and produced; the first device represents all. */
__attribute__((noinline)) static void follow(const struct stet_handle *h,
                                             const PJRT_LoadedExecutable_Execute_Args *args)
{
    uint64_t number = stet_ring_head(&stet_layer.ring) - 1;

    if (args->num_devices && args->output_lists && (args->argument_lists || !args->num_args))
        stet_journal_flow_executed(
            &stet_layer.flow, number, atomic_load_explicit(&h->id, memory_order_relaxed),
            (const void *const *)(args->num_args ? args->argument_lists[0] : NULL), args->num_args,
            (const void *const *)args->output_lists[0]);
}

__attribute__((always_inline)) static inline PJRT_Error *
run(struct stet_plugin *p, PJRT_LoadedExecutable_Execute_Args *args)
{
    if (UNLIKELY(stet_intercept_lifted_is(args->executable)))
        return stet_intercept_lifted_execute(p, args);
    return stet_plugin_real(p)->PJRT_LoadedExecutable_Execute(args);
}

__attribute__((noinline)) static PJRT_Error *failed(struct stet_plugin *p,
                                                    const struct stet_handle *h, PJRT_Error *error)
{
    uint32_t id = h ? atomic_load_explicit(&h->id, memory_order_relaxed) : 0;

    return stet_plugin_failed_in(
        p,
        &(struct stet_plugin_failure){.function = function, .executable = id & ~STET_HANDLE_FRESH},
        error);
}

/* An executable that was created elsewhere (by an extension, for example) gets an id now. If this
 * call comes from inside another watched plugin, that one counts it. */
__attribute__((noinline)) static PJRT_Error *
execute_unknown(struct stet_plugin *p, PJRT_LoadedExecutable_Execute_Args *args)
{
    bool outermost = stet_intercept_guard_enter();
    struct stet_handle *h;
    PJRT_Error *error;

    stet_executables_add(p, args->executable, outermost ? 0 : STET_HANDLE_SILENT);
    h = stet_handles_find(&p->handles, args->executable);
    if (outermost && h)
        first_run(h);
    if (outermost)
        count(h);
    error = run(p, args);
    if (!outermost)
        return error;
    stet_intercept_guard_leave();
    return failed(p, h, error);
}

PJRT_Error *on_PJRT_LoadedExecutable_Execute(struct stet_plugin *p,
                                             PJRT_LoadedExecutable_Execute_Args *args)
{
    struct stet_handle *h = stet_handles_find(&p->handles, args->executable);
    PJRT_Error *error;
    uint32_t id;

    if (UNLIKELY(!h))
        return execute_unknown(p, args);
    id = atomic_load_explicit(&h->id, memory_order_relaxed);
    if (UNLIKELY(id & STET_HANDLE_FRESH)) {
        if (id == STET_HANDLE_SILENT)
            return run(p, args);
        first_run(h);
    }
    count(h);
    error = UNLIKELY(stet_finished_is_on())
                ? stet_finished_execute(p, args, id & ~STET_HANDLE_FRESH, run)
                : run(p, args);
    if (UNLIKELY(error))
        return failed(p, h, error);
    if (UNLIKELY(stet_journal_flow_on(&stet_layer.flow)))
        follow(h, args);
    return NULL;
}

PJRT_Error *on_PJRT_Buffer_Destroy(struct stet_plugin *p, PJRT_Buffer_Destroy_Args *args)
{
    PJRT_Error *error;

    if (UNLIKELY(stet_journal_flow_on(&stet_layer.flow)))
        stet_journal_flow_gone(&stet_layer.flow, args->buffer);
    error = stet_plugin_real(p)->PJRT_Buffer_Destroy(args);
    return UNLIKELY(error) ? stet_plugin_failed(p, "PJRT_Buffer_Destroy", error) : NULL;
}

/* Removed before the plugin frees it, because another executable may get the address at once. */
PJRT_Error *on_PJRT_LoadedExecutable_Destroy(struct stet_plugin *p,
                                             PJRT_LoadedExecutable_Destroy_Args *args)
{
    stet_ask_finish(p, args->executable);
    stet_executables_gone(p, args->executable);
    if (stet_intercept_lifted_is(args->executable)) {
        stet_intercept_lifted_destroy(p, args->executable);
        return NULL;
    }
    if (stet_intercept_lift_keeps(p, args->executable, true))
        return NULL;
    return stet_plugin_failed(p, "PJRT_LoadedExecutable_Destroy",
                              stet_plugin_real(p)->PJRT_LoadedExecutable_Destroy(args));
}

/* The executable's content is deleted, its handle stays. */
PJRT_Error *on_PJRT_LoadedExecutable_Delete(struct stet_plugin *p,
                                            PJRT_LoadedExecutable_Delete_Args *args)
{
    stet_ask_finish(p, args->executable);
    if (stet_intercept_lifted_is(args->executable)) {
        stet_intercept_lifted_delete(args->executable);
        return NULL;
    }
    if (stet_intercept_lift_keeps(p, args->executable, false))
        return NULL;
    return stet_plugin_failed(p, "PJRT_LoadedExecutable_Delete",
                              stet_plugin_real(p)->PJRT_LoadedExecutable_Delete(args));
}

PJRT_Error *on_PJRT_Executable_Destroy(struct stet_plugin *p, PJRT_Executable_Destroy_Args *args)
{
    PJRT_Executable *executable = args->executable;
    PJRT_Error *error;

    stet_ask_finish(p, executable);
    stet_executables_gone(p, executable);
    error = stet_plugin_real(p)->PJRT_Executable_Destroy(args);
    stet_intercept_lifted_executable_gone(executable);
    return stet_plugin_failed(p, "PJRT_Executable_Destroy", error);
}
