/* pod_rank: one light rank of a job, over the fake plugin; and the job's key-value store.
 *
 *   pod_rank serve SOCKET               a key-value store; prints what it did when it is ended
 *   pod_rank PLUGIN STORE COUNT [ODD]   compiles and runs COUNT programs on the devices of all
 *                                       processes (FAKE_PROCESSES, FAKE_PROCESS); ODD: this rank's
 *                                       program of that number is another
 *
 * POD_RUNS: runs each program so many more times, and prints what one run took.
 * POD_STAY_MS: how long it stays after that; POD_STAY_UNTIL: until this file exists.
 * POD_PAUSE=FILE: makes FILE before its last program, and goes on when FILE is gone.
 * POD_DONE=FILE: adds a line to FILE when its programs have run.
 *
 * STORE: a socket; none; dead (every call fails), slow (takes 3 s), hang (never returns), lie
 * (other values than were written, and values for keys that were not), huge (every value has 64
 * MB). POD_DIE=RANK:NUMBER: this rank kills itself before that program. Prints the time of each
 * compile. */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- the store ---- */

/* A request: 'P' or 'G', length of the key, length of the value or milliseconds to wait; then both.
 * An answer: 'O' written, 'E' it exists, 'N' none, 'V' and a value. */
struct head {
    char kind;
    unsigned key, value;
};

enum { GUESTS = 4096, ITEMS = 1 << 20 };

struct item {
    char *key, *value;
    unsigned key_size, value_size;
};

static struct item *items;
static unsigned *slots; /* by hash: number + 1 */
static size_t item_count;

struct guest {
    int fd;
    struct head head;
    char *bytes;
    size_t got;
    double until; /* a request that waits; 0: it is still being read */
};

static struct guest guests[GUESTS];
static struct pollfd polls[GUESTS + 1];
static size_t guest_count;
static unsigned long puts_seen, gets_seen, bytes_seen;
static volatile sig_atomic_t over;

static void on_signal(int number)
{
    (void)number;
    over = 1;
}

static unsigned hash_of(const char *key, unsigned size)
{
    unsigned h = 2166136261u;

    for (unsigned i = 0; i < size; i++)
        h = (h ^ (unsigned char)key[i]) * 16777619u;
    return h % ITEMS;
}

static struct item *find(const char *key, unsigned size, unsigned *slot)
{
    for (*slot = hash_of(key, size); slots[*slot]; *slot = (*slot + 1) % ITEMS) {
        struct item *i = &items[slots[*slot] - 1];

        if (i->key_size == size && !memcmp(i->key, key, size))
            return i;
    }
    return NULL;
}

static void reply(int fd, char kind, const char *value, unsigned size)
{
    struct head h = {.kind = kind, .value = size};
    struct iovec parts[2] = {{&h, sizeof h}, {(void *)(size_t)value, size}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};

    (void)!sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* True when it was answered. */
static bool answer(struct guest *g, bool last)
{
    unsigned slot;
    struct item *i = find(g->bytes, g->head.key, &slot);

    if (g->head.kind == 'G') {
        if (i)
            reply(g->fd, 'V', i->value, i->value_size);
        else if (last)
            reply(g->fd, 'N', "", 0);
        return i || last;
    }
    if (i) {
        reply(g->fd, 'E', "", 0);
        return true;
    }
    items[item_count] = (struct item){.key = g->bytes,
                                      .value = g->bytes + g->head.key,
                                      .key_size = g->head.key,
                                      .value_size = g->head.value};
    slots[slot] = (unsigned)++item_count;
    g->bytes = NULL; /* kept */
    reply(g->fd, 'O', "", 0);
    return true;
}

/* True when the guest is done. */
static bool read_more(struct guest *g)
{
    size_t head = sizeof g->head, whole;
    ssize_t n;

    if (g->got < head) {
        n = recv(g->fd, (char *)&g->head + g->got, head - g->got, MSG_DONTWAIT);
        if (n <= 0)
            return n == 0 || errno != EAGAIN;
        g->got += (size_t)n;
        if (g->got < head)
            return false;
        g->bytes = malloc((size_t)g->head.key + (g->head.kind == 'P' ? g->head.value : 0) + 1);
    }
    whole = head + g->head.key + (g->head.kind == 'P' ? g->head.value : 0);
    n = recv(g->fd, g->bytes + (g->got - head), whole - g->got, MSG_DONTWAIT);
    if (n <= 0)
        return n == 0 || errno != EAGAIN;
    g->got += (size_t)n;
    if (g->got < whole)
        return false;
    *(g->head.kind == 'P' ? &puts_seen : &gets_seen) += 1;
    bytes_seen += whole;
    g->until = now_ms() + (g->head.kind == 'G' ? g->head.value : 0);
    return answer(g, g->head.kind == 'P' || !g->head.value);
}

static void turn(int listener)
{
    double now = now_ms(), soonest = now + 1000;
    size_t n = guest_count, kept = 0;
    bool written = false;

    polls[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (size_t i = 0; i < n; i++) {
        polls[i + 1] =
            (struct pollfd){.fd = guests[i].fd, .events = guests[i].until > 0 ? 0 : POLLIN};
        if (guests[i].until > 0 && guests[i].until < soonest)
            soonest = guests[i].until;
    }
    if (poll(polls, n + 1, soonest > now ? (int)(soonest - now) + 1 : 0) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        if (guests[i].until > 0 || !polls[i + 1].revents)
            continue;
        if (read_more(&guests[i])) {
            written |= guests[i].head.kind == 'P';
            close(guests[i].fd);
            guests[i].fd = -1;
        }
    }
    now = now_ms();
    for (size_t i = 0; i < n; i++) {
        if (guests[i].fd >= 0 && guests[i].until > 0 &&
            (written || guests[i].until <= now || (polls[i + 1].revents & POLLHUP)) &&
            answer(&guests[i], guests[i].until <= now)) {
            close(guests[i].fd);
            guests[i].fd = -1;
        }
        if (guests[i].fd < 0)
            free(guests[i].bytes);
        else
            guests[kept++] = guests[i];
    }
    guest_count = kept;
    while (polls[0].revents && guest_count < GUESTS) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
            break;
        guests[guest_count++] = (struct guest){.fd = fd};
    }
}

static struct sockaddr_un address(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    return a;
}

static int serve(const char *path)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un a = address(path);
    struct rusage used;

    items = calloc(ITEMS, sizeof *items);
    slots = calloc(ITEMS, sizeof *slots);
    signal(SIGTERM, on_signal);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 4096) != 0) {
        perror(path);
        return 1;
    }
    while (!over)
        turn(listener);
    getrusage(RUSAGE_SELF, &used);
    printf("{\"puts\":%lu,\"gets\":%lu,\"bytes\":%lu,\"cpu_ms\":%.1f}\n", puts_seen, gets_seen,
           bytes_seen,
           (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3);
    return 0;
}

/* ---- the callbacks ---- */

static const char *store;

static bool store_is(const char *word)
{
    return !strcmp(store, word);
}

static PJRT_Error *fail(PJRT_CallbackError *make, PJRT_Error_Code code)
{
    return (*make)(code, "no", 2);
}

/* The client is destroyed: nobody may call the store any more. */
static atomic_bool gone;

/* True for a store that does what it should. */
static bool is_sound(void)
{
    if (atomic_load(&gone)) {
        fprintf(stderr, "pod_rank: the store was used after its end\n");
        _exit(70);
    }
    if (store_is("hang"))
        for (;;)
            pause();
    if (store_is("slow"))
        sleep(3);
    return store[0] == '/';
}

static bool ask(const struct head *h, const char *key, const char *value, struct head *out,
                char **bytes)
{
    struct sockaddr_un a = address(store);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct iovec parts[3] = {{(void *)(size_t)h, sizeof *h},
                             {(void *)(size_t)key, h->key},
                             {(void *)(size_t)value, h->kind == 'P' ? h->value : 0}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 3};
    bool fine = connect(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
                sendmsg(fd, &m, MSG_NOSIGNAL) > 0 &&
                recv(fd, out, sizeof *out, MSG_WAITALL) == sizeof *out;

    if (fine && out->kind == 'V') {
        *bytes = malloc(out->value + 1);
        fine = !out->value || recv(fd, *bytes, out->value, MSG_WAITALL) == (ssize_t)out->value;
    }
    close(fd);
    return fine;
}

static PJRT_Error *put(PJRT_KeyValuePutCallback_Args *args)
{
    struct head h = {'P', (unsigned)args->key_size, (unsigned)args->value_size}, out;
    char *unused;

    if (!is_sound())
        return store_is("dead") ? fail(args->callback_error, PJRT_Error_Code_UNAVAILABLE) : NULL;
    if (!ask(&h, args->key, args->value, &out, &unused))
        return fail(args->callback_error, PJRT_Error_Code_UNAVAILABLE);
    return out.kind == 'O' ? NULL : fail(args->callback_error, PJRT_Error_Code_ALREADY_EXISTS);
}

static void drop(char *value)
{
    free(value);
}

static PJRT_Error *get_within(const char *key, size_t key_size, int ms, PJRT_CallbackError *make,
                              char **value, size_t *size)
{
    struct head h = {'G', (unsigned)key_size, (unsigned)ms}, out;

    if (!is_sound()) {
        if (store_is("dead"))
            return fail(make, PJRT_Error_Code_UNAVAILABLE);
        if (!store_is("lie") && !store_is("huge"))
            return fail(make, PJRT_Error_Code_NOT_FOUND);
        if (store_is("huge")) {
            *size = (size_t)64 << 20;
            *value = calloc(1, *size);
            return NULL;
        }
        *value = malloc(200);
        *size = 200;
        for (int i = 0; i < 200; i++)
            (*value)[i] = (char)rand();
        memcpy(*value, "STETPOD\2\1", 9);
        return NULL;
    }
    if (!ask(&h, key, "", &out, value))
        return fail(make, PJRT_Error_Code_UNAVAILABLE);
    if (out.kind != 'V')
        return fail(make, PJRT_Error_Code_NOT_FOUND);
    *size = out.value;
    return NULL;
}

static PJRT_Error *get(PJRT_KeyValueGetCallback_Args *args)
{
    args->value_deleter_callback = drop;
    return get_within(args->key, args->key_size, args->timeout_in_ms, args->callback_error,
                      &args->value, &args->value_size);
}

static PJRT_Error *try_get(PJRT_KeyValueTryGetCallback_Args *args)
{
    args->value_deleter_callback = drop;
    return get_within(args->key, args->key_size, 0, args->callback_error, &args->value,
                      &args->value_size);
}

/* ---- a rank ---- */

static size_t varint(char *out, unsigned v)
{
    size_t n = 0;

    do {
        out[n++] = (char)((v & 127) | (v > 127 ? 128 : 0));
        v >>= 7;
    } while (v);
    return n;
}

/* CompileOptionsProto: executable_build_options (3) { device_assignment (9) { computation_devices
 * (3) { replica_device_ids (1): all of them } } }. */
static size_t make_options(char *out, unsigned devices)
{
    static char ids[8192], inner[8256], middle[8320];
    size_t n = 0, m = 0, k = 0, all = 0;

    for (unsigned i = 0; i < devices; i++)
        n += varint(ids + n, i);
    inner[m++] = 0x0a;
    m += varint(inner + m, (unsigned)n);
    memcpy(inner + m, ids, n);
    m += n;
    middle[k++] = 0x1a;
    k += varint(middle + k, (unsigned)m);
    memcpy(middle + k, inner, m);
    k += m;
    inner[0] = 0x4a;
    m = 1 + varint(inner + 1, (unsigned)k);
    memcpy(inner + m, middle, k);
    m += k;
    out[all++] = 0x1a;
    all += varint(out + all, (unsigned)m);
    memcpy(out + all, inner, m);
    return all + m;
}

static size_t make_program(char *out, size_t room, long number, bool odd)
{
    return (size_t)snprintf(
        out, room,
        "// fake program step%ld\n// in f32[2]\n// out f32[2]\n"
        "module @jit_step {\n"
        "  func.func public @main(%%a: tensor<2xf32> {mhlo.sharding = \"{replicated}\"}) "
        "-> tensor<2xf32> {\n"
        "    %%c = stablehlo.constant dense<%ld.%s> : tensor<2xf32>\n"
        "    %%b = stablehlo.multiply %%a, %%c : tensor<2xf32>\n"
        "    return %%b : tensor<2xf32>\n  }\n}\n",
        number, number, odd ? "75" : "5");
}

/* POD_RUNS: so many times, and then how many nanoseconds of processor time one took. */
static double run_ns;

static bool run_again(struct harness *h, PJRT_LoadedExecutable *loaded, PJRT_Buffer *in)
{
    long runs = getenv("POD_RUNS") ? atol(getenv("POD_RUNS")) : 0;
    struct timespec begin, end;
    PJRT_Buffer *out;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (long i = 0; i < runs; i++) {
        if (!harness_execute(h, loaded, &in, 1, &out))
            return false;
        harness_buffer_destroy(h, out);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    if (runs)
        run_ns =
            ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
            (double)runs;
    return true;
}

static bool compile_and_run(struct harness *h, long number, bool odd, double *ms)
{
    static char options[8400], program[1024];
    unsigned devices = (unsigned)atoi(getenv("FAKE_PROCESSES") ? getenv("FAKE_PROCESSES") : "1");
    size_t options_size = make_options(options, devices);
    size_t size = make_program(program, sizeof program, number, odd);
    const int64_t dims[1] = {2};
    double begin = now_ms();
    PJRT_LoadedExecutable *loaded =
        harness_compile(h, program, size, "mlir", options, options_size);
    PJRT_Buffer *in, *out;

    *ms = now_ms() - begin;
    if (!loaded)
        return false;
    in = harness_buffer(h, PJRT_Buffer_Type_F32, dims, 1, 8, 1);
    return in && harness_execute(h, loaded, &in, 1, &out) && run_again(h, loaded, in);
}

static void pause_at(const char *path)
{
    FILE *f = fopen(path, "we");

    if (f)
        fclose(f);
    while (access(path, F_OK) == 0)
        poll(NULL, 0, 20);
}

static void add_line(const char *path)
{
    FILE *f = fopen(path, "ae");

    if (f) {
        fputs("done\n", f);
        fclose(f);
    }
}

static PJRT_NamedValue number(const char *name, const char *value)
{
    return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = name,
                             .name_size = strlen(name),
                             .type = PJRT_NamedValue_kInt64,
                             .int64_value = value ? atoll(value) : 0,
                             .value_size = 1};
}

static int rank(int argc, char **argv)
{
    struct harness h;
    long count = argc > 3 ? atol(argv[3]) : 1, odd = argc > 4 ? atol(argv[4]) : -1;
    double *ms = calloc((size_t)count + 1, sizeof *ms), begin;
    const char *die = getenv("POD_DIE"), *own = getenv("FAKE_PROCESS");
    bool dies = die && own && atol(die) == atol(own) && strchr(die, ':');
    long dies_at = dies ? atol(strchr(die, ':') + 1) : 0;
    const char *stay = getenv("POD_STAY_MS"), *until = getenv("POD_STAY_UNTIL");
    const char *pause_file = getenv("POD_PAUSE");
    PJRT_NamedValue place[2] = {number("node_id", getenv("FAKE_PROCESS")),
                                number("num_nodes", getenv("FAKE_PROCESSES"))};
    ARGS(PJRT_Client_Create, args, .create_options = place, .num_options = 2);

    store = argv[2];
    if (!store_is("none")) {
        args.kv_get_callback = get;
        args.kv_put_callback = put;
        args.kv_try_get_callback = try_get;
    }
    if (!harness_open(&h, argv[1]) || !harness_initialize(&h) ||
        !harness_ok(&h, h.api->PJRT_Client_Create(&args))) {
        fprintf(stderr, "%s\n", h.text);
        return 1;
    }
    h.client = args.client;
    begin = now_ms();
    for (long i = 0; i < count; i++) {
        if (dies && i == dies_at)
            raise(SIGKILL);
        if (pause_file && i == count - 1)
            pause_at(pause_file);
        if (!compile_and_run(&h, i, i == odd, &ms[i])) {
            printf("{\"failed\":%ld,\"why\":\"%s\"}\n", i, h.text);
            return 1;
        }
    }
    if (getenv("POD_DONE"))
        add_line(getenv("POD_DONE"));
    if (stay)
        poll(NULL, 0, atoi(stay));
    while (until && access(until, F_OK) != 0)
        poll(NULL, 0, 20);
    printf("{\"compile_ms\":[");
    for (long i = 0; i < count; i++)
        printf("%s%.3f", i ? "," : "", ms[i]);
    printf("],\"all_ms\":%.1f,\"run_ns\":%.0f}\n", now_ms() - begin, run_ns);
    fflush(stdout);
    harness_client_destroy(&h);
    atomic_store(&gone, true);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "serve"))
        return serve(argv[2]);
    if (argc < 4) {
        fprintf(stderr, "usage: pod_rank serve SOCKET | PLUGIN STORE COUNT [ODD]\n");
        return 2;
    }
    return rank(argc, argv);
}
