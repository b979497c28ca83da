/* Facts about the parts of src/intercept that need no host. */
#include "test.h"

#include "base/mem.h"
#include "intercept/guard.h"
#include "intercept/handles.h"
#include "intercept/layer.h"
#include "intercept/object.h"
#include "intercept/pywalk.h"
#include "intercept/ring.h"
#include "intercept/threads.h"
#include "intercept/wait.h"
#include "journal/environment.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char stet_entry_name[] = "test"; /* the shared objects have their own */

static struct stet_ring ring;

TEST(executions_come_out_in_the_order_they_went_in)
{
    for (uint32_t i = 1; i <= 100; i++)
        EXPECT_INT(i == 1 ? STET_PUSHED_FIRST : STET_PUSHED, stet_ring_push(&ring, i));
    for (uint32_t i = 1; i <= 100; i++) {
        uint64_t word = stet_ring_take(&ring, stet_ring_head(&ring));

        EXPECT_INT(i, word % STET_RING_IDS);
        EXPECT(word >> 20 != 0); /* its time */
    }
    EXPECT_INT(0, stet_ring_take(&ring, stet_ring_head(&ring)));
}

TEST(a_full_ring_refuses_and_an_emptied_one_takes_again)
{
    uint32_t taken = 0, pushed = 0, quarters = 0;
    enum stet_pushed result;

    stet_ring_reset(&ring);
    while ((result = stet_ring_push(&ring, 7)) != STET_RING_FULL) {
        pushed++;
        quarters += result == STET_PUSHED_QUARTER;
    }
    EXPECT_INT(STET_RING_SIZE - STET_RING_SLACK, pushed);
    EXPECT(quarters >= 3);
    while (stet_ring_take(&ring, stet_ring_head(&ring)))
        taken++;
    EXPECT_INT(pushed, taken);
    EXPECT_INT(STET_PUSHED_FIRST, stet_ring_push(&ring, 7));
    stet_ring_reset(&ring);
    EXPECT_INT(0, stet_ring_take(&ring, stet_ring_head(&ring)));
    EXPECT_INT(STET_PUSHED_FIRST, stet_ring_push(&ring, STET_RING_IDS + 5));
    EXPECT_INT(STET_RING_OTHER, stet_ring_take(&ring, stet_ring_head(&ring)) % STET_RING_IDS);
}

static atomic_ullong accepted;

static void *push_many(void *id)
{
    for (int i = 0; i < 50000; i++)
        if (stet_ring_push(&ring, (uint32_t)(uintptr_t)id) != STET_RING_FULL)
            atomic_fetch_add(&accepted, 1);
    return NULL;
}

TEST(many_threads_push_while_one_drains_and_none_is_lost)
{
    pthread_t threads[4];
    uint64_t taken = 0, misses = 0;

    stet_ring_reset(&ring);
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, push_many, (void *)(i + 1));
    while (misses < 1000) {
        uint64_t word = stet_ring_take(&ring, stet_ring_head(&ring));

        misses = word ? 0 : misses + 1;
        taken += word != 0;
        if (word)
            EXPECT(word % STET_RING_IDS >= 1 && word % STET_RING_IDS <= 4);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    while (stet_ring_take(&ring, stet_ring_head(&ring)))
        taken++;
    EXPECT_INT(atomic_load(&accepted), taken);
}

static atomic_bool second_is_through;

static void *push_a_thousand(void *id)
{
    for (int i = 0; i < 1000; i++)
        stet_ring_push(&ring, (uint32_t)(uintptr_t)id);
    atomic_store(&second_is_through, true);
    return NULL;
}

/* The moment in which the second thread comes is the one that could lose something. */
TEST(a_thread_that_pushes_alone_loses_nothing_when_others_come)
{
    for (int round = 0; round < 100; round++) {
        pthread_t threads[2];
        uint64_t counts[4] = {0}, pushed = 0, word;

        stet_ring_reset(&ring);
        stet_ring_init(&ring);
        atomic_store(&second_is_through, false);
        for (; pushed < 100; pushed++)
            stet_ring_push(&ring, 1);
        EXPECT(atomic_load(&ring.owner) == stet_ring_self() || atomic_load(&ring.owner) == 0);
        for (uintptr_t i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, push_a_thousand, (void *)(i + 2));
        for (; pushed < 50000 && !atomic_load(&second_is_through); pushed++)
            stet_ring_push(&ring, 1);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        EXPECT_INT(STET_RING_MANY, atomic_load(&ring.owner));
        while ((word = stet_ring_take(&ring, stet_ring_head(&ring))))
            counts[word % STET_RING_IDS]++;
        EXPECT_INT(pushed, counts[1]);
        EXPECT(counts[2] == 1000 && counts[3] == 1000);
    }
}

TEST(handles_are_found_until_they_are_removed)
{
    static char objects[1000][48];
    struct stet_handles t = {0};
    uint32_t missed;

    EXPECT(stet_handles_init(&t));
    EXPECT(!stet_handles_find(&t, objects[0]) && !stet_handles_find(&t, NULL));
    EXPECT(!stet_handles_put(&t, NULL, 1));
    for (int round = 0; round < 100; round++) {
        for (uint32_t i = 0; i < 1000; i++)
            EXPECT(stet_handles_put(&t, objects[i], i + 1) != NULL);
        for (uint32_t i = 0; i < 1000; i++)
            EXPECT_INT(i + 1, atomic_load(&stet_handles_find(&t, objects[i])->id));
        for (uint32_t i = 0; i < 1000; i++) {
            atomic_store(&stet_handles_find(&t, objects[i])->missed, i);
            EXPECT_INT(i + 1, stet_handles_remove(&t, objects[i], &missed));
            EXPECT_INT(i, missed);
        }
        EXPECT_INT(0, stet_handles_remove(&t, objects[5], &missed));
    }
    /* Churn leaves no trail: the table is as it was. */
    for (size_t i = 0; i < STET_HANDLES_SIZE; i++)
        EXPECT_INT(0, atomic_load(&t.entries[i].key));
    stet_mem_free(t.entries);
}

TEST(a_full_table_refuses_new_handles)
{
    struct stet_handles t = {0};
    size_t kept = 0;

    EXPECT(stet_handles_init(&t));
    for (uintptr_t i = 1; i <= STET_HANDLES_SIZE; i++)
        kept += stet_handles_put(&t, (void *)(i * 64), 1) != NULL;
    EXPECT(kept > STET_HANDLES_SIZE / 2 && kept <= STET_HANDLES_SIZE);
    stet_mem_free(t.entries);
}

TEST(variables_that_matter_are_kept_and_secrets_masked)
{
    char *environment[] = {"XLA_FLAGS=--a=b",
                           "HOME=/home/me",
                           "JAX_API_KEY=hush",
                           "RANK=3",
                           "RANKLE=4",
                           "NCCL_SOCKET=x",
                           "TPU_NAME=grpc://u:p@h:1/x,http://me@there",
                           "=odd",
                           "odd",
                           NULL};
    struct stet_arena a;
    struct stet_list list;

    stet_arena_init(&a, 1 << 20);
    list = stet_journal_env_list(&a, environment);
    EXPECT_INT(5, list.count);
    EXPECT_STR("XLA_FLAGS=--a=b", list.items[0].ptr);
    EXPECT_STR("JAX_API_KEY=***", list.items[1].ptr);
    EXPECT_STR("RANK=3", list.items[2].ptr);
    EXPECT_STR("TPU_NAME=grpc://***@h:1/x,http://***@there", list.items[4].ptr);
    EXPECT_INT(0, stet_journal_env_list(&a, NULL).count);
    stet_arena_release(&a);
}

TEST(an_object_is_recognised_by_its_notes)
{
    struct stet_object object;

    /* This program has the layer's object code in it, and with it the layer's note. */
    EXPECT(stet_object_at((const void *)&stet_entry_name, &object));
    EXPECT(object.is_stet && strlen(object.build_id) >= 32);
    EXPECT(stet_object_at((const void *)stdout, &object)); /* libc's */
    EXPECT(!object.is_stet);
    EXPECT(!stet_object_at(NULL, &object));
    EXPECT(!stet_object_at(&object, &object)); /* the stack is in no object */
}

static int yes(void)
{
    return 1;
}

static int no(void)
{
    return 0;
}

static const char *version(void)
{
    return "3.12.1 (main)";
}

static int pauses, visits;

static void pause_threads(void *interpreter)
{
    (void)interpreter;
    pauses++;
}

/* As CPython visits: until the visitor returns 0. */
static void visit_objects(int (*visitor)(PyObject *, void *), void *data)
{
    for (int i = 0; i < 3; i++) {
        visits++;
        if (!visitor(NULL, data))
            break;
    }
}

static void count_work(void *data)
{
    ++*(int *)data;
}

static PyObject *no_frame(void *thread)
{
    (void)thread;
    return NULL;
}

static void *one(void)
{
    return &ring;
}

static void *none(void)
{
    return NULL;
}

static void *no_next(void *p)
{
    (void)p;
    return NULL;
}

static void *a_next(void *p)
{
    return p;
}

TEST(python_is_not_called_when_it_cannot_answer)
{
    struct stet_intercept_python py = {.Py_IsInitialized = yes,
                                       .Py_GetVersion = version,
                                       .PyInterpreterState_Head = one,
                                       .PyInterpreterState_Next = no_next,
                                       .Py_IsFinalizing = no,
                                       .PyGILState_GetThisThreadState = one,
                                       .PyThreadState_GetUnchecked = one};

    EXPECT(!stet_intercept_python_unfit(&py));
    EXPECT(stet_intercept_python_held(&py));
    py.PyThreadState_GetUnchecked = none;
    EXPECT(!stet_intercept_python_held(&py));
    py.PyInterpreterState_Next = a_next;
    EXPECT_STR("Python has subinterpreters", stet_intercept_python_unfit(&py));
    py.free_threaded = true;
    EXPECT_STR("this free-threaded Python cannot pause its threads",
               stet_intercept_python_unfit(&py));
    py._PyEval_StopTheWorld = py._PyEval_StartTheWorld = pause_threads;
    py.PyThreadState_GetFrame = no_frame;
    py.PyInterpreterState_ThreadHead = py.PyThreadState_Next = no_next;
    EXPECT_STR("Python has subinterpreters", stet_intercept_python_unfit(&py));
    py._PyEval_StopTheWorld = NULL; /* as in 3.13 */
    EXPECT_STR("this free-threaded Python cannot pause its threads",
               stet_intercept_python_unfit(&py));
    py.PyUnstable_GC_VisitObjects = visit_objects;
    EXPECT_STR("Python has subinterpreters", stet_intercept_python_unfit(&py));
    py.Py_IsFinalizing = yes;
    EXPECT_STR("Python is finalising", stet_intercept_python_unfit(&py));
    py.Py_IsInitialized = no;
    EXPECT_STR("Python is not running", stet_intercept_python_unfit(&py));
}

/* Once, whichever way this Python pauses its threads. */
TEST(work_is_done_while_other_threads_are_paused)
{
    struct stet_intercept_python py = {.PyInterpreterState_Head = one,
                                       .PyUnstable_GC_VisitObjects = visit_objects};
    int work = 0;

    pauses = visits = 0;
    stet_intercept_python_alone(&py, count_work, &work);
    EXPECT(work == 1 && pauses == 0 && visits == 0); /* the lock is enough */
    py.free_threaded = true;
    stet_intercept_python_alone(&py, count_work, &work);
    EXPECT(work == 2 && pauses == 0 && visits == 1);
    py._PyEval_StopTheWorld = py._PyEval_StartTheWorld = pause_threads;
    stet_intercept_python_alone(&py, count_work, &work);
    EXPECT(work == 3 && pauses == 2 && visits == 1);
}

struct errand {
    struct stet_flag begun, may_end, over;
    uint64_t thread;
    bool outside;
};

static void *run_errand(void *p)
{
    struct errand *e = p;

    e->thread = stet_threads_id();
    e->outside = stet_intercept_guard_enter();
    stet_flag_set(&e->begun);
    stet_flag_wait(&e->may_end, 10000);
    stet_flag_set(&e->over);
    return NULL;
}

static bool start(struct errand *e)
{
    *e = (struct errand){0};
    return stet_threads_start(run_errand, e) && stet_flag_wait(&e->begun, 10000);
}

static void end(struct errand *e)
{
    stet_flag_set(&e->may_end);
    EXPECT(stet_flag_wait(&e->over, 10000));
}

TEST(idle_threads_take_the_next_task)
{
    static struct errand e[4];
    bool again = false;

    EXPECT(stet_intercept_guard_init());
    EXPECT(start(&e[0]) && start(&e[1]) && start(&e[2])); /* each its own while all are busy */
    EXPECT(e[0].thread != e[1].thread && e[1].thread != e[2].thread && e[0].thread != e[2].thread);
    for (size_t i = 0; i < 3; i++)
        end(&e[i]);
    for (int i = 0; i < 1000 && !again; i++) { /* they may need a moment to get there */
        EXPECT(start(&e[3]));
        EXPECT(e[3].outside); /* what one left behind is not the next one's */
        for (size_t k = 0; k < 3; k++)
            again |= e[3].thread == e[k].thread;
        end(&e[3]);
    }
    EXPECT(again);
}

TEST(a_child_has_threads_of_its_own)
{
    static struct errand e;
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        stet_threads_fork_child();
        _exit(start(&e) ? 0 : 1);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}
