/* What lifting compiles while nothing waits for it: the lifted programs of families that are
 * expected to drift, and plain programs that lifted ones are compared with. */
#include "lift_client.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 30000 };

extern char **environ;

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000},
              NULL);
}

/* Until the plugin has had so many compiles. */
static bool compiled(bool lifted, int n)
{
    for (int i = 0; i < WAIT_MS && odd.compiles(lifted) < n; i++)
        pause_ms(1);
    return odd.compiles(lifted) == n;
}

static bool inside(int n)
{
    for (int i = 0; i < WAIT_MS && odd.held() < n; i++)
        pause_ms(1);
    return odd.held() == n;
}

/* Compiles, runs twice and destroys it. */
static void use(struct harness *h, int size, double value)
{
    PJRT_LoadedExecutable *x = compile_sized(h, "negate", size, value);

    EXPECT(runs_sized(h, x, size, value, false) && runs_sized(h, x, size, value, false));
    if (x)
        harness_loaded_destroy(h, x);
}

TEST(a_program_of_another_shape_is_lifted_before_it_drifts)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    use(&h, 4, 1.5);
    use(&h, 4, 2.5); /* the family drifts */
    EXPECT_INT(1, odd.compiles(true));
    use(&h, 6, 1.5); /* the first of another shape */
    EXPECT(compiled(true, 2));
    use(&h, 6, 2.5);
    use(&h, 6, 3.5);
    EXPECT_INT(2, odd.compiles(false));
    EXPECT_INT(2, odd.compiles(true));
    harness_client_destroy(&h);
}

TEST(shapes_that_came_before_the_drift_are_lifted_too)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    use(&h, 4, 1.5);
    use(&h, 6, 1.5);
    use(&h, 8, 1.5);
    EXPECT_INT(0, odd.compiles(true));
    use(&h, 4, 2.5);
    EXPECT(compiled(true, 3));
    use(&h, 8, 2.5);
    use(&h, 6, 3.5);
    EXPECT_INT(3, odd.compiles(false));
    EXPECT_INT(3, odd.compiles(true));
    harness_client_destroy(&h);
}

/* Each background compile is for nothing here, so there are only a few. */
TEST(shapes_that_never_drift_end_the_expectation)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    use(&h, 4, 1.5);
    use(&h, 4, 2.5);
    for (int size = 5; size < 25; size++)
        use(&h, size, 1.5);
    EXPECT(compiled(true, 5));
    pause_ms(20);
    EXPECT_INT(5, odd.compiles(true)); /* the first, and four in vain */
    harness_client_destroy(&h);
}

/* ---- while a compile is in progress ---- */

static struct harness shared;

static void *use_a_third_value(void *size)
{
    struct harness h = shared; /* its text is this thread's own */

    use(&h, (int)(intptr_t)size, 3.5);
    return NULL;
}

static void *use_a_second_value(void *size)
{
    struct harness h = shared;

    use(&h, (int)(intptr_t)size, 2.5);
    return NULL;
}

TEST(a_second_value_waits_for_the_compile_in_progress)
{
    pthread_t thread;

    if (!begin(&shared, NULL))
        return;
    use(&shared, 4, 1.5);
    use(&shared, 4, 2.5);
    odd.hold(true);
    use(&shared, 6, 1.5);
    EXPECT(inside(1));
    pthread_create(&thread, NULL, use_a_second_value, (void *)6);
    pause_ms(20);
    EXPECT_INT(2, odd.compiles(false)); /* it is not compiled meanwhile */
    odd.hold(false);
    pthread_join(thread, NULL);
    EXPECT_INT(2, odd.compiles(false));
    EXPECT_INT(2, odd.compiles(true));
    harness_client_destroy(&shared);
}

TEST(two_threads_share_one_compile_of_a_lifted_program)
{
    pthread_t threads[2];

    if (!begin(&shared, NULL))
        return;
    use(&shared, 4, 1.5);
    odd.hold(true);
    pthread_create(&threads[0], NULL, use_a_second_value, (void *)4);
    EXPECT(inside(1));
    pthread_create(&threads[1], NULL, use_a_third_value, (void *)4);
    pause_ms(20);
    odd.hold(false);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    EXPECT_INT(1, odd.compiles(false));
    EXPECT_INT(1, odd.compiles(true));
    harness_client_destroy(&shared);
}

/* One shape is being lifted in the background, and another one waits for its turn. */
static bool begin_two(struct harness *h)
{
    PJRT_LoadedExecutable *x;

    if (!begin(h, NULL))
        return false;
    use(h, 4, 1.5);
    use(h, 6, 1.5);
    use(h, 8, 1.5);
    x = compile_sized(h, "negate", 4, 2.5);
    odd.hold(true);
    EXPECT(runs_sized(h, x, 4, 2.5, false));
    EXPECT(inside(1));
    harness_loaded_destroy(h, x);
    return !stet_test_failures;
}

static void *release_later(void *unused)
{
    pause_ms(50);
    odd.hold(false);
    return unused;
}

TEST(a_client_is_destroyed_after_the_compile_in_progress)
{
    pthread_t thread;
    struct harness h;

    if (!begin_two(&h))
        return;
    pthread_create(&thread, NULL, release_later, NULL);
    harness_client_destroy(&h);
    EXPECT_INT(0, odd.held());
    EXPECT_INT(2, odd.compiles(true)); /* the job that waited was dropped */
    pthread_join(thread, NULL);
}

TEST(a_fork_during_a_compile_returns)
{
    struct harness h;
    int status = -1;
    pid_t pid;

    if (!begin_two(&h))
        return;
    pid = fork();
    if (!pid)
        _exit(7);
    waitpid(pid, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    odd.hold(false);
    EXPECT(compiled(true, 3)); /* what waited goes on in the parent */
    use(&h, 8, 2.5);
    harness_client_destroy(&h);
}

/* ---- a process of its own ends during a compile ---- */

/* The handler that was registered first runs last. */
static void expect_no_compile(void)
{
    if (odd.held())
        _exit(9);
}

TEST(a_process_of_its_own_ends_during_a_compile)
{
    static struct harness h;
    pthread_t thread;

    if (!getenv("LIFT_CHILD"))
        return;
    atexit(expect_no_compile);
    if (begin_two(&h)) {
        pthread_create(&thread, NULL, release_later, NULL);
        pthread_detach(thread);
    }
}

TEST(an_exit_waits_for_the_compile_in_progress)
{
    char *argv[] = {"lift_background", "a_process_of_its_own_ends_during_a_compile", NULL};
    int status = -1;
    pid_t pid;

    if (getenv("LIFT_CHILD"))
        return;
    setenv("LIFT_CHILD", "1", 1);
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0)
        waitpid(pid, &status, 0);
    unsetenv("LIFT_CHILD");
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- further values ---- */

/* Executes often enough that a comparison that is due is made. */
TEST(values_that_hide_rounding_are_followed_by_one_more_comparison)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    use(&h, 4, 1.0);
    use(&h, 4, 2.0);
    use(&h, 4, 0.5);
    EXPECT_INT(1, odd.compiles(false)); /* these tell no more than the first one */
    use(&h, 4, 3.5);
    EXPECT(compiled(false, 2));
    for (int i = 0; i < 20; i++)
        use(&h, 4, i + 4.5);
    EXPECT_INT(2, odd.compiles(false));
    EXPECT_INT(1, odd.compiles(true));
    harness_client_destroy(&h);
}

TEST(a_first_value_that_shows_rounding_is_enough)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int i = 0; i < 20; i++)
        use(&h, 4, i + 3.5);
    EXPECT_INT(1, odd.compiles(false));
    harness_client_destroy(&h);
}

/* The lifted program divides where it should multiply. The first value, 1, does not show it. */
TEST(a_difference_that_a_further_value_shows_ends_lifting)
{
    PJRT_LoadedExecutable *x;
    struct harness h;
    bool right = false;

    if (!begin(&h, "inverse"))
        return;
    use(&h, 4, 1.0);
    x = compile_sized(&h, "negate", 4, 3.5);
    EXPECT(!runs_sized(&h, x, 4, 3.5, false)); /* until the comparison */
    EXPECT(compiled(false, 2));
    for (int i = 0; i < WAIT_MS && !right; i++) {
        right = runs_sized(&h, x, 4, 3.5, false);
        pause_ms(1);
    }
    EXPECT(right);
    EXPECT(runs_sized(&h, x, 4, 3.5, false));
    harness_loaded_destroy(&h, x);
    use(&h, 4, 5.5);
    EXPECT_INT(1, odd.compiles(true));
    harness_client_destroy(&h);
}
