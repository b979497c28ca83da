/* Starts when the first plugin's table is requested, never before; stops at exit. */
#include "intercept/layer.h"
#include "intercept/memo.h"
#include "intercept/ranks.h"

#include "base/fs.h"
#include "base/mem.h"
#include "intercept/ahead.h"
#include "intercept/ask.h"
#include "intercept/copysites.h"
#include "intercept/drain.h"
#include "intercept/enforce.h"
#include "intercept/executable_memory.h"
#include "intercept/guard.h"
#include "intercept/layer_number.h"
#include "intercept/lifting.h"
#include "intercept/plugin.h"
#include "intercept/pod.h"
#include "intercept/pystack.h"
#include "intercept/reload.h"
#include "intercept/remote.h"
#include "intercept/threads.h"
#include "intercept/writer.h"
#include "journal/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* How long the end of a process may wait for a stuck disk. */
enum { EXIT_MS = 2000 };
/* After each of this many calls of a plugin, the exit handler is registered again; then only after
 * the 128th, 256th, … */
enum { EXIT_HANDLERS = 64 };

struct stet_layer stet_layer;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool started;
static pid_t starter; /* the process that started; not its children */
/* The thread that holds everything for its fork; 0 for none. A thread whose fork could not be
 * prepared reads it without any lock, so owner and "there is one" have to be one word: from two, it
 * could take itself for the owner, by its own earlier fork, and release another thread's locks. */
static _Atomic(pthread_t) fork_owner;

bool stet_layer_wanted(void)
{
    const char *stet = getenv("STET");

    return !stet || (strcmp(stet, "off") != 0 && strcmp(stet, "0") != 0);
}

void stet_layer_log(const char *fmt, ...)
{
    const char *to = getenv("STET_LOG");
    char line[1024];
    int n, saved = errno, fd;
    va_list ap;

    if (!to || !*to)
        return;
    n = snprintf(line, sizeof line, "stet[%ld]: ", (long)getpid());
    va_start(ap, fmt);
    n += vsnprintf(line + n, sizeof line - (size_t)n, fmt, ap);
    va_end(ap);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    fd = strcmp(to, "stderr") ? open(to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)
                              : STDERR_FILENO;
    if (fd >= 0)
        stet_fs_write_all(fd, line, (size_t)n);
    if (fd > STDERR_FILENO)
        close(fd);
    errno = saved;
}

/* Creates a run folder if there is no `stet run`: plugin mode without a parent. */
static bool own_folder(char *out, size_t room)
{
    const char *setting = getenv("STET_STATE_DIR"), *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    unsigned random = (unsigned)getpid();
    struct timespec now;
    struct tm utc;
    char when[32];
    int n;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", &utc);
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random ^= (unsigned)now.tv_nsec;
    random &= 0xffffff;
    if (setting && *setting == '/')
        n = snprintf(out, room, "%s/runs/%s-%06x", setting, when, random);
    else if (state && *state == '/')
        n = snprintf(out, room, "%s/stet/runs/%s-%06x", state, when, random);
    else if (home && *home == '/')
        n = snprintf(out, room, "%s/.local/state/stet/runs/%s-%06x", home, when, random);
    else
        return false;
    return n > 0 && (size_t)n < room;
}

static bool read_settings(void)
{
    const char *dir = getenv("STET_DIR"), *capture = getenv("STET_CAPTURE");
    const char *store = getenv("STET_STORE"), *values = getenv("STET_VALUES");
    uint64_t bytes;

    stet_layer.values = !values || strcmp(values, "off") != 0;
    if (capture && !strcmp(capture, "full"))
        stet_layer.capture = STET_CAPTURE_FULL;
    if (capture && !strcmp(capture, "hash"))
        stet_layer.capture = STET_CAPTURE_HASH;
    /* a path turns the store on; `stet run` sets one */
    if (store && *store == '/') {
        enum stet_rc rc = stet_store_open(&stet_layer.store, store, &stet_layer.no_store_why);

        stet_layer.store.unpacker = &stet_layer.unpacker;
        stet_layer.storing = rc == STET_OK;
        stet_layer.no_store = rc == STET_REFUSED ? STET_OUTCOME_UNSAFE_FOLDER : STET_OUTCOME_NONE;
    }
    stet_remote_init();
    stet_intercept_lift_init();
    if (stet_layer_number("STET_STORE_MEMORY", &bytes))
        stet_intercept_memory_limit(bytes);
    if (stet_layer_number("STET_STORE_PENDING", &bytes))
        stet_intercept_pending_limit(bytes);
    if (!dir || !*dir)
        return own_folder(stet_layer.dir, sizeof stet_layer.dir);
    return snprintf(stet_layer.dir, sizeof stet_layer.dir, "%s", dir) < (int)sizeof stet_layer.dir;
}

/* /proc/self/cmdline with secrets masked; empty if there is no /proc. A word that is cut off at the
 * end of the room is left out, because half a secret is still a secret. */
static struct stet_list arguments(struct stet_arena *a)
{
    size_t room = 16384, len = 0;
    char *text = stet_arena_alloc(a, room, 1);
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;

    while (fd >= 0 && text && len < room && (got = read(fd, text + len, room - len)) > 0)
        len += (size_t)got;
    if (fd >= 0)
        close(fd);
    while (len == room && len && text[len - 1])
        len--;
    return stet_journal_env_arguments(a, stet_view_of(text, len));
}

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec
                                         : 0;
}

/* Returns when this process was started, CLOCK_REALTIME; 0 if /proc does not have it. The start is
 * the 22nd field of /proc/self/stat, in ticks since boot; the second, a name, ends with the last
 * ')'. */
static uint64_t process_started(void)
{
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    long hertz = sysconf(_SC_CLK_TCK);
    const char *at;
    uint64_t ns, age;

    if (fd >= 0)
        close(fd);
    if (n <= 0 || hertz <= 0)
        return 0;
    text[n] = '\0';
    at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return 0;
    ns = strtoull(at + 1, NULL, 10) * (UINT64_C(1000000000) / (uint64_t)hertz);
    age = nanoseconds(CLOCK_BOOTTIME) - ns;
    return age < nanoseconds(CLOCK_REALTIME) ? nanoseconds(CLOCK_REALTIME) - age : 0;
}

static void describe_process(struct stet_journal *j)
{
    struct stet_rec_process process = {.entry = stet_view_str(stet_entry_name)};
    char cwd[PATH_MAX], exe[PATH_MAX];
    struct stet_arena arena;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);

    stet_arena_init(&arena, (size_t)4 << 20);
    process.argv = arguments(&arena);
    process.env = stet_journal_env_list(&arena, environ);
    process.python = stet_view_str(stet_pystack_version());
    process.start_wall_ns = process_started();
    if (n > 0)
        process.exe = stet_view_of(exe, (size_t)n);
    if (getcwd(cwd, sizeof cwd))
        process.cwd = stet_view_str(cwd);
    if (arena.failed)
        stet_fault(STET_FAULT_NO_MEMORY);
    stet_journal_set_process(j, &process);
    stet_arena_release(&arena);
}

/* The folder, its owner, and what is wrong with it. */
static void note_no_store(void)
{
    struct stet_event *e = stet_layer.no_store ? stet_event_new(STET_REC_note) : NULL;

    if (!e)
        return;
    stet_layer_log("store: %s", stet_layer.no_store_why.text);
    e->record.note.name = stet_view_str(stet_journal_outcome_word(stet_layer.no_store));
    e->record.note.text = stet_view_str(stet_layer.no_store_why.text);
    stet_event_send(e);
}

static void before_fork(void)
{
    stet_ask_fork_wait();
    stet_ahead_fork_wait();
    stet_intercept_lift_fork_wait();
    if (stet_intercept_writer_fork_prepare()) {
        stet_plugin_fork_prepare();
        stet_journal_fork_prepare(stet_layer.journal);
        atomic_store(&fork_owner, pthread_self());
    }
    stet_ask_fork_prepare();
    stet_ahead_fork_prepare();
    stet_intercept_memory_fork_prepare();
    stet_memo_fork_prepare();
    stet_ranks_fork_prepare();
    stet_intercept_pod_fork_prepare();
    stet_intercept_contract_fork_prepare();
    stet_intercept_lift_fork_prepare();
}

/* False if before_fork could not stop the writer: a disk that hangs must not hang forks. */
static bool fork_was_prepared(void)
{
    pthread_t self = pthread_self();

    return atomic_compare_exchange_strong(&fork_owner, &self, 0);
}

static void after_fork_in_parent(void)
{
    stet_intercept_lift_fork_parent();
    stet_intercept_contract_fork_done();
    stet_intercept_pod_fork_done();
    stet_ranks_fork_done();
    stet_memo_fork_done();
    stet_intercept_memory_fork_done();
    stet_ahead_fork_parent();
    stet_ask_fork_parent();
    if (!fork_was_prepared()) {
        stet_fault(STET_FAULT_FORK);
        return;
    }
    stet_journal_fork_parent(stet_layer.journal);
    stet_plugin_fork_done();
    stet_intercept_writer_fork_parent();
}

static void after_fork_in_child(void)
{
    bool prepared = fork_was_prepared();

    stet_intercept_lift_fork_child();
    stet_intercept_contract_fork_done();
    stet_intercept_pod_fork_done();
    stet_intercept_pod_fork_child();
    stet_ranks_fork_done();
    stet_memo_fork_done();
    stet_intercept_memory_fork_done();
    /* before questions are dropped, which would end their leases over the parent's connections */
    stet_remote_fork_child();
    stet_ahead_fork_child();
    stet_ask_fork_child();
    if (prepared) {
        stet_journal_fork_child(stet_layer.journal);
        stet_plugin_fork_done();
    } else {
        stet_plugin_fork_broken();
    }
    stet_ring_init(&stet_layer.ring);
    stet_intercept_writer_fork_child(prepared);
    stet_journal_flow_forked(&stet_layer.flow);
    stet_plugin_after_fork();
    stet_pystack_after_fork();
    stet_intercept_copysites_after_fork();
    stet_threads_fork_child();
}

/* No thread of ours calls the plugin from here on. */
static void leave_plugins(void)
{
    static atomic_bool left;

    if (atomic_exchange(&left, true))
        return;
    stet_intercept_pod_finish(EXIT_MS);
    stet_ask_end(EXIT_MS);
    stet_ahead_end(EXIT_MS);
    stet_intercept_lift_leave();
}

static void at_exit(void)
{
    leave_plugins();
    stet_intercept_copysites_end((unsigned long)pthread_self());
    stet_intercept_writer_flush(EXIT_MS);
}

void stet_layer_leave_first(void)
{
    static _Atomic uint32_t calls;
    uint32_t n = atomic_fetch_add(&calls, 1) + 1;

    if (n <= EXIT_HANDLERS || !(n & (n - 1)))
        atexit(leave_plugins);
}

/* Runs after every atexit handler, because frameworks destroy clients in theirs. */
__attribute__((destructor)) static void at_unload(void)
{
    if (!started)
        return;
    if (getpid() == starter)
        stet_plugin_announce_all();
    stet_intercept_writer_end(EXIT_MS);
    stet_layer_log("over; %lu allocations", stet_mem_count());
}

/* The journal needs two descriptors; a host with very few must not miss them. */
static bool descriptors_to_spare(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= STET_JOURNAL_DESCRIPTORS;
}

static void start(void)
{
    char journal[PATH_MAX + 16];
    struct stet_journal_options options = {.dir = journal};

    if (!stet_layer_wanted() || !descriptors_to_spare() || !read_settings() ||
        !stet_intercept_guard_init())
        return;
    snprintf(journal, sizeof journal, "%s/journal", stet_layer.dir);
    stet_layer.journal = stet_journal_new(&options);
    if (!stet_layer.journal ||
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0)
        return;
    atexit(at_exit);
    stet_ring_init(&stet_layer.ring);
    stet_drain_init();
    stet_journal_flow_init(&stet_layer.flow);
    stet_intercept_copysites_init();
    stet_intercept_contract_start();
    describe_process(stet_layer.journal);
    stet_layer_log("watching from %s, run folder %s", stet_entry_name, stet_layer.dir);
    starter = getpid();
    started = true;
    note_no_store();
}

bool stet_layer_start(void)
{
    int saved = errno;

    pthread_once(&once, start);
    errno = saved;
    return started;
}
