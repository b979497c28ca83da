/* See finished.h. A plugin calls back on threads of its own, possibly after the layer has ended:
 * the callback touches only the memory below. */
#include "intercept/finished.h"

#include "intercept/layer.h"
#include "intercept/pod.h"

/* Executions that may be pending at once; further ones are not watched. */
enum { SLOTS = 64 };
#define EVERY_NS UINT64_C(900000000) /* the idle writer comes every second */

atomic_bool stet_finished_on;

static struct slot {
    atomic_bool used;
    const PJRT_Api *api;
    _Atomic uint32_t executable;
    _Atomic uint64_t begin_ns; /* 0: nothing is pending; the writer reads it at any time */
} slots[SLOTS];

static _Atomic uint64_t begun, finished, unwatched;
static _Atomic uint32_t last; /* to finish */

static struct slot *take_slot(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (!atomic_exchange(&slots[i].used, true))
            return &slots[i];
    }
    return NULL;
}

static void give_back(struct slot *s)
{
    atomic_store(&s->begin_ns, 0);
    atomic_store(&s->used, false);
}

static void on_finished(PJRT_Error *error, void *context)
{
    struct slot *s = context;

    if (error)
        s->api->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
            .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error});
    atomic_store(&last, atomic_load(&s->executable));
    atomic_fetch_add(&finished, 1);
    give_back(s);
}

/* The first device represents all. False if it cannot be watched. */
static bool watch(struct stet_plugin *p, const PJRT_LoadedExecutable_Execute_Args *args,
                  struct slot *s)
{
    PJRT_Event_OnReady_Args ready = {
        .struct_size = PJRT_Event_OnReady_Args_STRUCT_SIZE, .callback = on_finished, .user_arg = s};

    if (!args->device_complete_events || !args->num_devices || !args->device_complete_events[0] ||
        !stet_api_has(s->api, PJRT_Event_OnReady))
        return false;
    ready.event = args->device_complete_events[0];
    return !stet_plugin_drop(p, s->api->PJRT_Event_OnReady(&ready));
}

PJRT_Error *stet_finished_execute(struct stet_plugin *p, PJRT_LoadedExecutable_Execute_Args *args,
                                  uint32_t id,
                                  PJRT_Error *(*run)(struct stet_plugin *p,
                                                     PJRT_LoadedExecutable_Execute_Args *args))
{
    struct slot *s = stet_intercept_pod_is_joint(id) ? take_slot() : NULL;
    PJRT_Error *error;

    if (!s)
        return run(p, args);
    s->api = stet_plugin_real(p);
    atomic_store(&s->executable, id);
    atomic_store(&s->begin_ns, stet_journal_now());
    atomic_fetch_add(&begun, 1);
    error = run(p, args);
    if (error || !watch(p, args, s)) { /* it is not known when it finishes */
        atomic_fetch_add(&unwatched, 1);
        give_back(s);
    }
    return error;
}

/* The execution that has been pending longest. False if there is none. */
static bool oldest(uint64_t *executable, uint64_t *begin_ns)
{
    *begin_ns = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        uint64_t begin = atomic_load(&slots[i].begin_ns);

        if (begin && (!*begin_ns || begin < *begin_ns)) {
            *begin_ns = begin;
            *executable = atomic_load(&slots[i].executable);
        }
    }
    return *begin_ns;
}

bool stet_finished_write(struct stet_journal *j)
{
    static uint64_t written_begun, written_finished, written_ns;
    uint64_t now = stet_journal_now();
    uint64_t over = atomic_load(&finished), all = atomic_load(&begun) - atomic_load(&unwatched);
    uint64_t begin_ns;
    struct stet_rec_finished record = {
        .executable = atomic_load(&last), .count = over, .pending = all > over ? all - over : 0};

    if (!all || (all == written_begun && over == written_finished) || now < written_ns + EVERY_NS)
        return false;
    if (record.pending && oldest(&record.oldest, &begin_ns) && now > begin_ns)
        record.age_ns = now - begin_ns;
    if (!stet_journal_write(j, STET_REC_finished, &record))
        return false;
    written_begun = all;
    written_finished = over;
    written_ns = now;
    return true;
}
