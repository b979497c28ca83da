/* Finds the Python thread that waits, under the GIL, and copies its frames and values. A separate
 * thread requests the GIL, and the caller waits for it only briefly, so a compile whose caller
 * never releases the GIL is not delayed. References to frames are dropped before the GIL is
 * released: a frame kept alive would keep the user's tensors alive.
 *
 * The GIL is held twice for a short time instead of once for a longer one: for the stack and the
 * framework's call, and for the values of the user's frames. */
#include "intercept/pystack.h"

#include "base/mem.h"
#include "intercept/copysites.h"
#include "intercept/counters.h"
#include "intercept/layer.h"
#include "intercept/phases.h"
#include "intercept/pod.h"
#include "intercept/pyvalues.h"
#include "intercept/pywalk.h"
#include "intercept/threads.h"
#include "intercept/wait.h"
#include "intercept/writer.h"

/* When a call has ended, it waits GRACE_MS for a walk in progress, and only SHORT_GRACE_MS after a
 * walk that failed, so that a host whose GIL is never free pays the longer wait once. On a busy
 * machine the walking thread may not have run at all. It needs a core and no lock of the host, so
 * the call waits for it first, as long as a starved thread may take: without the stack the compile
 * could not be explained. The call also waits for a GIL whose holder may only lack a core: as long
 * as another thread of the process is able to run, and STARVED_MS at most. LOOKS_MAX limits the
 * threads that a host which never releases the GIL makes wait; programs that compile in a pool of
 * threads need one for each of these. */
enum { GRACE_MS = 10, SHORT_GRACE_MS = 1, BEGIN_MS = 5000, STARVED_MS = 500, LOOKS_MAX = 32 };

/* How far the walk is. */
enum part {
    PART_FIRST,
    PART_BETWEEN, /* it waits for the GIL to read the values of the frames */
    PART_SECOND,
    PART_ENOUGH, /* the call has ended: what there is was sent */
};

struct stet_pystack {
    atomic_int holders;
    atomic_bool claimed; /* set by the walk when it begins, or by the caller that gives up */
    atomic_int part;
    atomic_bool first; /* of a load: the walk is done, or the call has ended; the later one sends */
    bool mine;         /* the walk claimed it */
    struct stet_flag begun, done;
    const struct stet_intercept_python *py;
    const char *missing; /* why there are no frames; a literal */
    uint64_t index, walk_ns, values_ns, held_ns;
    uint64_t thread; /* kernel's id of the compiling thread */
    bool load;
    struct stet_pywalk walk;
    struct stet_pyline_place place; /* of the thread that waits */
    struct stet_pyvalues values;
    size_t copy_count;
    struct stet_copysite copies[STET_COPIES_MOST];
};

static atomic_int looks; /* capture threads that are working or stuck */
static atomic_bool last_failed;
static atomic_bool contended; /* the GIL was not free again soon enough: it is held once */

const char *stet_pystack_version(void)
{
    const struct stet_intercept_python *py = stet_intercept_python();

    return py ? py->Py_GetVersion() : NULL;
}

static void let_go(void *p)
{
    struct stet_pystack *s = p;

    if (!s || atomic_fetch_sub(&s->holders, 1) != 1)
        return;
    stet_mem_free(s);
}

static void write_stack(struct stet_journal *j, const struct stet_pystack *s)
{
    static struct stet_frame frames[STET_PYFRAMES_MAX];
    const struct stet_pywalk *w = &s->walk;
    struct stet_rec_compile_stack record = {
        .index = s->index,
        .load = s->load,
        .python_thread = w->ident,
        .thread = w->thread,
        .thread_name = stet_view_str(w->text + w->name),
        .waits = w->waits,
        .walk_ns = s->walk_ns,
        .state = (uintptr_t)s->place.thread,
        .code_type = (uintptr_t)s->place.code_type,
    };

    for (size_t i = 0; i < w->frame_count; i++) {
        const struct stet_pyframe *f = &w->frames[i];

        frames[i] = (struct stet_frame){.file = stet_view_str(w->text + f->file),
                                        .function = stet_view_str(w->text + f->function),
                                        .line = f->line};
    }
    record.stack = stet_journal_write_stack(j, (struct stet_frames){frames, w->frame_count});
    stet_journal_write(j, STET_REC_compile_stack, &record);
}

static void write_values(struct stet_journal *j, const struct stet_pystack *s)
{
    struct stet_rec_compile_values record = {
        .index = s->index,
        .load = s->load,
        .packed = stet_view_of(s->values.out.bytes, s->values.out.used),
        .dropped = s->values.out.dropped,
        .read_ns = s->values_ns,
        .held_ns = s->held_ns,
    };

    stet_journal_write(j, STET_REC_compile_values, &record);
}

/* On the writer thread. */
static bool write_stacks(struct stet_event *e, struct stet_journal *j)
{
    const struct stet_pystack *s = e->extra;

    if (s->missing) {
        e->record.compile_stack = (struct stet_rec_compile_stack){
            .index = s->index,
            .load = s->load,
            .thread = s->thread,
            .missing = stet_view_str(s->missing),
        };
        return true;
    }
    if (s->values.out.used || s->values.out.dropped)
        write_values(j, s); /* before the stack: a reader that sees the stack has all */
    for (size_t i = 0; i < s->copy_count; i++)
        stet_intercept_copysite_write(j, s->index, s->load, &s->copies[i]);
    write_stack(j, s);
    return false;
}

static void send(struct stet_pystack *s)
{
    struct stet_event *e = stet_event_new(STET_REC_compile_stack);

    if (!e)
        return;
    atomic_fetch_add(&s->holders, 1);
    e->extra = s;
    e->drop = let_go;
    e->prepare = write_stacks;
    stet_event_send(e);
}

/* The record of a load is written when it has ended, and its stacks after it. The record of a
 * compile is written when it begins, so its stacks are sent at once: the compile may never return.
 * */
static void send_in_turn(struct stet_pystack *s)
{
    if (!s->load || atomic_exchange(&s->first, true))
        send(s);
}

static void read_call(void *data, PyObject *frame, unsigned long thread)
{
    struct stet_pystack *s = data;
    uint64_t before = stet_journal_now();

    if (stet_layer.values) {
        stet_intercept_pyvalues_call(s->py, frame, &s->values);
        stet_intercept_pyline_prove(s->py, frame);
        stet_intercept_pyline_place(s->py, frame, &s->place);
        stet_intercept_pod_thread(s->place.thread, s->place.code_type);
        s->copy_count = stet_intercept_copysites_take(thread, s->copies);
    }
    s->values_ns = stet_journal_now() - before;
}

static void read_frames(void *data, PyObject *frame, unsigned long thread)
{
    struct stet_pystack *s = data;

    (void)thread;
    stet_intercept_pyvalues_frames(s->py, frame, &s->values);
}

/* Takes the walk only when other threads are paused, because that may take until the call has
 * ended. */
static void walk_alone(void *p)
{
    struct stet_pystack *s = p;
    uint64_t before = stet_journal_now();

    if (atomic_exchange(&s->claimed, true))
        return;
    s->mine = true;
    s->missing = stet_pywalk(s->py, &s->walk, read_call, s);
    s->held_ns = stet_journal_now() - before;
    s->walk_ns = s->held_ns - s->values_ns;
}

/* The same for the second part. While the lock is held, the thread that waits cannot run, even if
 * its call returns now. */
static void walk_again(void *p)
{
    struct stet_pystack *s = p;
    uint64_t before = stet_journal_now(), took;
    int between = PART_BETWEEN;

    if (!atomic_compare_exchange_strong(&s->part, &between, PART_SECOND))
        return;
    stet_pywalk_again(s->py, &s->walk, read_frames, s);
    took = stet_journal_now() - before;
    s->values_ns += took;
    if (took > s->held_ns)
        s->held_ns = took;
}

/* With the GIL held. It is released in between if `release`. */
static void walk_now(struct stet_pystack *s, bool release)
{
    void *state;

    stet_intercept_python_alone(s->py, walk_alone, s);
    if (!s->mine)
        return;
    stet_counters_watch(s->py);
    stet_intercept_phases_watch(s->py);
    if (!s->missing && stet_layer.values) {
        atomic_store(&s->part, PART_BETWEEN);
        if (release) {
            state = s->py->PyEval_SaveThread();
            stet_threads_be_late("STET_TEST_LATE_VALUES"); /* as if another thread kept it */
            s->py->PyEval_RestoreThread(state);            /* may never return, if Python ends */
        }
        stet_intercept_python_alone(s->py, walk_again, s);
    }
    if (atomic_load(&s->part) != PART_ENOUGH)
        send_in_turn(s);
}

static void *look(void *p)
{
    struct stet_pystack *s = p;
    const char *unfit = stet_intercept_python_unfit(s->py);
    int gil;

    stet_flag_set(&s->begun);
    if (unfit) {
        if (!atomic_exchange(&s->claimed, true)) {
            s->missing = unfit;
            send_in_turn(s);
        }
    } else {
        gil = s->py->PyGILState_Ensure(); /* may never return, if Python ends */
        walk_now(s, !atomic_load(&contended));
        s->py->PyGILState_Release(gil);
    }
    stet_flag_set(&s->done);
    let_go(s);
    atomic_fetch_sub(&looks, 1);
    return NULL;
}

static struct stet_pystack *new_look(const struct stet_intercept_python *py, uint64_t index,
                                     bool load)
{
    struct stet_pystack *s = stet_mem_alloc(sizeof *s);

    if (!s) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return NULL;
    }
    memset(s, 0, offsetof(struct stet_pystack, walk));
    stet_intercept_pyvalues_init(&s->values, stet_layer.capture == STET_CAPTURE_HASH);
    s->copy_count = 0;
    atomic_init(&s->holders, 1);
    s->py = py;
    s->index = index;
    s->load = load;
    s->thread = stet_threads_id();
    stet_pywalk_init(&s->walk, py, s->thread);
    return s;
}

struct stet_pystack *stet_pystack_begin(uint64_t index, bool load)
{
    const struct stet_intercept_python *py = stet_intercept_python();
    struct stet_pystack *s = py ? new_look(py, index, load) : NULL;

    if (!s)
        return NULL;
    if (!stet_intercept_python_unfit(py) && stet_intercept_python_held(py)) {
        if (!py->PyErr_Occurred())
            walk_now(s, false);
        atomic_store(&s->claimed, true);
        stet_flag_set(&s->done);
        return s;
    }
    atomic_fetch_add(&s->holders, 1);
    if (atomic_fetch_add(&looks, 1) < LOOKS_MAX && stet_threads_start(look, s))
        return s;
    atomic_fetch_sub(&looks, 1);
    let_go(s);
    atomic_store(&s->claimed, true);
    s->missing = "too many stacks are being read already";
    send_in_turn(s);
    stet_flag_set(&s->done);
    return s;
}

/* True when the walk has ended. */
static bool wait_for_look(struct stet_pystack *s)
{
    bool done;

    if (!atomic_load(&s->claimed))
        stet_flag_wait(&s->begun, BEGIN_MS);
    if (atomic_load(&last_failed))
        return stet_flag_wait(&s->done, SHORT_GRACE_MS);
    done = stet_flag_wait(&s->done, GRACE_MS);
    for (int ms = 0; !done && ms < STARVED_MS && !atomic_load(&s->claimed); ms += GRACE_MS) {
        if (!stet_threads_others_run())
            break;
        done = stet_flag_wait(&s->done, GRACE_MS);
    }
    return done;
}

void stet_pystack_end(struct stet_pystack *s)
{
    int between = PART_BETWEEN;
    bool over, gave_up;

    if (!s)
        return;
    over = wait_for_look(s);
    gave_up = !over && !atomic_exchange(&s->claimed, true);
    atomic_store(&last_failed, gave_up);
    if (gave_up) {
        stet_fault(STET_FAULT_STACK_DEADLINE);
        s->missing = "the call ended before its stack could be read";
        send(s);
    } else if (!over && atomic_compare_exchange_strong(&s->part, &between, PART_ENOUGH)) {
        atomic_store(&contended, true);
        send(s); /* without the values of the frames */
    } else if (s->load && atomic_exchange(&s->first, true)) {
        send(s);
    }
    let_go(s);
}

void stet_pystack_after_fork(void)
{
    atomic_store(&looks, 0);
}
