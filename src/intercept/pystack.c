/* Walks the frames of every Python thread under the GIL and copies them out. The GIL is asked for
 * on a thread of our own that nobody waits for beyond a moment, so a compile whose caller never
 * gives the GIL away is not held up. References to frames are dropped before the GIL is: a frame
 * kept alive would keep the user's tensors alive. */
#include "intercept/pystack.h"

#include "base/mem.h"
#include "intercept/layer.h"
#include "intercept/pywalk.h"
#include "intercept/writer.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

enum { GRACE_MS = 2, LOOKS_MAX = 4 };

struct stet_pystack {
    atomic_int holders;
    atomic_bool claimed; /* by the walk when it begins, or by the caller who gives up */
    sem_t done;
    const struct stet_python *py;
    const char *missing; /* why there are no frames; a literal */
    uint64_t index, walk_ns;
    uint64_t thread; /* kernel's id of the compiling thread */
    bool load;
    struct stet_pywalk walk;
};

static atomic_int looks; /* capture threads at work or stuck */

const char *stet_pystack_version(void)
{
    const struct stet_python *py = stet_python();

    return py ? py->Py_GetVersion() : NULL;
}

static void let_go(void *p)
{
    struct stet_pystack *s = p;

    if (!s || atomic_fetch_sub(&s->holders, 1) != 1)
        return;
    sem_destroy(&s->done);
    stet_mem_free(s);
}

static void write_thread(struct stet_journal *j, const struct stet_pystack *s,
                         const struct stet_pythread *t)
{
    static struct stet_frame frames[STET_PYFRAMES_MAX];
    struct stet_rec_compile_stack record = {
        .index = s->index,
        .load = s->load,
        .python_thread = t->ident,
        .thread = t->native,
        .thread_name = stet_view_str(s->walk.text + t->name),
        .waits = t->waits,
        .walk_ns = s->walk_ns,
    };

    for (size_t i = 0; i < t->count; i++) {
        const struct stet_pyframe *f = &s->walk.frames[t->first + i];

        frames[i] = (struct stet_frame){.file = stet_view_str(s->walk.text + f->file),
                                        .function = stet_view_str(s->walk.text + f->function),
                                        .line = f->line};
    }
    record.stack = stet_journal_write_stack(j, (struct stet_frames){frames, t->count});
    stet_journal_write(j, STET_REC_compile_stack, &record);
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
    for (size_t i = 0; i < s->walk.thread_count; i++)
        write_thread(j, s, &s->walk.threads[i]);
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

/* With the GIL held. */
static void walk(struct stet_pystack *s)
{
    uint64_t before = stet_journal_now();

    s->missing = stet_pywalk(s->py, &s->walk);
    s->walk_ns = stet_journal_now() - before;
    send(s);
}

static void *look(void *p)
{
    struct stet_pystack *s = p;
    const char *unfit = stet_python_unfit(s->py);
    int gil;

    if (unfit) {
        if (!atomic_exchange(&s->claimed, true)) {
            s->missing = unfit;
            send(s);
        }
    } else {
        gil = s->py->PyGILState_Ensure(); /* may never come back, when Python ends */
        if (!atomic_exchange(&s->claimed, true))
            walk(s);
        s->py->PyGILState_Release(gil);
    }
    sem_post(&s->done);
    let_go(s);
    atomic_fetch_sub(&looks, 1);
    return NULL;
}

static struct stet_pystack *new_look(const struct stet_python *py, uint64_t index, bool load)
{
    struct stet_pystack *s = stet_mem_alloc(sizeof *s);

    if (!s) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return NULL;
    }
    memset(s, 0, offsetof(struct stet_pystack, walk));
    atomic_init(&s->holders, 1);
    sem_init(&s->done, 0, 0);
    s->py = py;
    s->index = index;
    s->load = load;
    s->thread = stet_thread_id();
    stet_pywalk_init(&s->walk, (unsigned long)pthread_self());
    return s;
}

struct stet_pystack *stet_pystack_begin(uint64_t index, bool load)
{
    const struct stet_python *py = stet_python();
    struct stet_pystack *s = py ? new_look(py, index, load) : NULL;

    if (!s)
        return NULL;
    if (!stet_python_unfit(py) && stet_python_held(py)) {
        if (!py->PyErr_Occurred())
            walk(s);
        let_go(s);
        return NULL;
    }
    atomic_fetch_add(&s->holders, 1);
    if (atomic_fetch_add(&looks, 1) < LOOKS_MAX && stet_thread_start(look, s))
        return s;
    atomic_fetch_sub(&looks, 1);
    let_go(s);
    s->missing = "too many threads look already";
    send(s);
    let_go(s);
    return NULL;
}

void stet_pystack_end(struct stet_pystack *s)
{
    struct timespec until;

    if (!s)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += GRACE_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_timedwait(&s->done, &until) != 0) {
        if (errno == EINTR)
            continue;
        if (!atomic_exchange(&s->claimed, true)) {
            stet_fault(STET_FAULT_STACK_DEADLINE);
            s->missing = "the call was over before Python let us look";
            send(s);
        }
        break;
    }
    let_go(s);
}
