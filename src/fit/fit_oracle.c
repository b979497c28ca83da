/* See fit_oracle.h. */
#include "fit/fit_oracle.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/stop.h"
#include "decode/proto.h"
#include "fit/fit_inspect.h"
#include "fit/fit_phases.h"
#include "ledger/captured.h"
#include "warm/patience.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_REQUEST = 1 << 30, MOST_RESULTS = 1 << 16, READY_S = 300 };
enum { MOST_WORKERS = 8, UNABLE = 1 };

void stet_fit_oracle_kept(char *out, size_t room, const char *folder, struct stet_view program,
                          struct stet_view options, const char *kind)
{
    char text[STET_HASH_TEXT];

    stet_hash_format(stet_hash_mix(stet_hash_bytes(program), stet_hash_bytes(options)), text);
    snprintf(out, room, "%s/phase-%s.%s", folder, text, kind);
}

/* ---- shardings ---- */

/* Field numbers of HloModuleProtoWithConfig, HloModuleProto and OpSharding. */
enum {
    CONFIG_MODULE = 1,
    MODULE_OUTPUT_SHARDING = 12,
    SHARDING_TYPE = 1,
    SHARDING_DIMENSIONS = 3,
    SHARDING_DEVICES = 4,
    SHARDING_TUPLE = 5,
    SHARDING_REPLICATE_LAST = 6,
    SHARDING_IOTA_RESHAPE = 9,
    SHARDING_IOTA_TRANSPOSE = 10,
};
enum { TYPE_REPLICATED = 0, TYPE_TUPLE = 2, TYPE_OTHER = 3 };

static void put_ints(struct stet_buf *out, const struct stet_ints *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        stet_buf_printf(out, "%s%lld", i ? "," : "", (long long)list->at[i]);
}

/* "devices=[2,4]<=[4,2]T(1,0)", as XLA writes it; empty for what the backend does not read. */
static void put_sharding(struct stet_buf *out, struct stet_proto p, struct stet_arena *a)
{
    struct stet_ints dims = {0}, devices = {0}, reshape = {0}, transpose = {0};
    uint64_t type = TYPE_REPLICATED, last = 0;
    struct stet_proto_field f;

    while (stet_proto_next(&p, &f)) {
        if (f.number == SHARDING_TYPE)
            type = stet_proto_uint(p.fault, &f);
        else if (f.number == SHARDING_DIMENSIONS)
            stet_proto_ints(p.fault, &f, a, &dims);
        else if (f.number == SHARDING_DEVICES)
            stet_proto_ints(p.fault, &f, a, &devices);
        else if (f.number == SHARDING_REPLICATE_LAST)
            last = stet_proto_uint(p.fault, &f);
        else if (f.number == SHARDING_IOTA_RESHAPE)
            stet_proto_ints(p.fault, &f, a, &reshape);
        else if (f.number == SHARDING_IOTA_TRANSPOSE)
            stet_proto_ints(p.fault, &f, a, &transpose);
    }
    if (type == TYPE_REPLICATED) {
        stet_buf_str(out, "{replicated}");
        return;
    }
    if (type != TYPE_OTHER || !dims.count)
        return;
    stet_buf_str(out, "{devices=[");
    put_ints(out, &dims);
    stet_buf_str(out, "]");
    if (reshape.count) {
        stet_buf_str(out, "<=[");
        put_ints(out, &reshape);
        stet_buf_str(out, "]");
        if (transpose.count > 1) {
            stet_buf_str(out, "T(");
            put_ints(out, &transpose);
            stet_buf_str(out, ")");
        }
    } else {
        put_ints(out, &devices);
    }
    stet_buf_str(out, last ? " last_tile_dim_replicate}" : "}");
}

static void add_answer(struct stet_buf *out, uint32_t *count, struct stet_proto p,
                       struct stet_arena *a)
{
    struct stet_buf text = STET_BUF_INIT;

    put_sharding(&text, p, a);
    stet_buf_u64(out, text.len);
    stet_buf_view(out, stet_buf_as_view(&text));
    out->failed |= text.failed;
    stet_buf_release(&text);
    ++*count;
}

/* The shardings of the results in the optimized program: a tuple has one for each. */
static uint32_t read_answers(struct stet_view hlo, struct stet_buf *out)
{
    struct stet_proto_fault fault = {0};
    struct stet_proto_field f;
    struct stet_proto config, module, sharding, one;
    struct stet_arena arena;
    uint32_t count = 0;
    bool tuple = false;

    stet_arena_init(&arena, 1 << 26);
    stet_proto_init(&config, hlo, &fault);
    if (stet_proto_next(&config, &f) && f.number == CONFIG_MODULE) {
        module = stet_proto_sub(&config, &f);
        while (stet_proto_next(&module, &f)) {
            if (f.number != MODULE_OUTPUT_SHARDING)
                continue;
            sharding = stet_proto_sub(&module, &f);
            one = sharding;
            while (stet_proto_next(&sharding, &f)) {
                if (f.number == SHARDING_TYPE)
                    tuple = stet_proto_uint(&fault, &f) == TYPE_TUPLE;
                else if (f.number == SHARDING_TUPLE && count < MOST_RESULTS)
                    add_answer(out, &count, stet_proto_sub(&sharding, &f), &arena);
            }
            if (!tuple && !count)
                add_answer(out, &count, one, &arena);
        }
    }
    stet_arena_release(&arena);
    return fault.rc == STET_OK && !out->failed ? count : 0;
}

/* ---- one program ---- */

static void keep(const struct stet_fit_oracle *o, struct stet_view program,
                 struct stet_view options, const char *kind, struct stet_view bytes)
{
    char path[PATH_MAX];

    stet_fit_oracle_kept(path, sizeof path, o->folder, program, options, kind);
    stet_fs_write_unsynced(path, bytes, NULL);
}

/* The compiler as the worker has it. */
struct compiler {
    const PJRT_Api *api;
    PJRT_TopologyDescription *topology;
    struct stet_fit_phases phases;
    bool has_phases;
};

/* Asks without the limit of memory: what does not fit has shardings too. */
static bool optimize(const struct stet_fit_oracle *o, const struct stet_fit_phases *p,
                     struct stet_view program, struct stet_view options)
{
    struct stet_buf begin = STET_BUF_INIT, unlimited = STET_BUF_INIT;
    struct stet_fit_partials out;
    struct stet_view in;
    PJRT_Error *error;

    stet_fit_phases_begin(&begin, program);
    stet_buf_view(&unlimited, options);
    stet_fit_phases_override(&unlimited, "xla_tpu_no_crash_on_oom", "true");
    in = stet_buf_as_view(&begin);
    error =
        stet_fit_phases_run(p, STET_FIT_PHASE_OPTIMIZE, &in, 1, stet_buf_as_view(&unlimited), &out);
    if (error)
        p->api->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
            .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error});
    for (size_t i = 0; !error && i < out.count; i++) {
        struct stet_fit_partial part = stet_fit_phases_part(&out, i);

        if (stet_view_is(part.name, "opt_hlo"))
            keep(o, program, options, "hlo", part.program);
    }
    if (!error)
        stet_fit_phases_release(p, &out);
    stet_buf_release(&begin);
    stet_buf_release(&unlimited);
    return !error;
}

/* A compiler without phases has to compile the whole program. */
static bool compile(const struct stet_fit_oracle *o, const struct compiler *c,
                    struct stet_view program, struct stet_view options)
{
    bool hlo = stet_fit_phases_is_hlo(program);
    PJRT_Program code = {.struct_size = PJRT_Program_STRUCT_SIZE,
                         .format = hlo ? "hlo" : "mlir",
                         .format_size = hlo ? 3 : 4,
                         .code = (char *)(uintptr_t)program.ptr,
                         .code_size = program.len};
    PJRT_Compile_Args args = {.struct_size = PJRT_Compile_Args_STRUCT_SIZE,
                              .topology = c->topology,
                              .program = &code,
                              .compile_options = options.ptr,
                              .compile_options_size = options.len};
    PJRT_Executable_Destroy_Args destroy = {.struct_size =
                                                PJRT_Executable_Destroy_Args_STRUCT_SIZE};
    struct stet_buf optimized = STET_BUF_INIT;
    char ignored[16];
    bool fine;

    if (stet_warm_topology_failed(c->api, c->api->PJRT_Compile(&args), ignored, sizeof ignored))
        return false;
    fine = stet_fit_inspect_optimized(c->api, args.executable, &optimized);
    if (fine)
        keep(o, program, options, "hlo", stet_buf_as_view(&optimized));
    destroy.executable = args.executable;
    c->api->PJRT_Executable_Destroy(&destroy);
    stet_buf_release(&optimized);
    return fine;
}

static uint32_t answer(const struct stet_fit_oracle *o, const struct compiler *c,
                       struct stet_view program, struct stet_view options, struct stet_buf *out)
{
    struct stet_file hlo = {0};
    char path[PATH_MAX];
    uint32_t count;

    stet_fit_oracle_kept(path, sizeof path, o->folder, program, options, "hlo");
    if (!stet_fs_exists(path) && !(c->has_phases ? optimize(o, &c->phases, program, options)
                                                 : compile(o, c, program, options)))
        return 0;
    if (stet_ledger_captured_open(&hlo, path, 0, NULL) != STET_OK)
        return 0;
    count = read_answers(hlo.bytes, out);
    stet_file_close(&hlo);
    return count;
}

/* ---- the socket ---- */

static bool read_all(int fd, void *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t k = read(fd, (char *)to + got, n - got);

        if (k <= 0)
            return false;
        got += (size_t)k;
    }
    return true;
}

/* A request is two sizes, the program and its options; the answer a count, and a size and a text
 * for each result. */
static void serve(const struct stet_fit_oracle *o, const struct compiler *c, int fd)
{
    struct stet_buf texts = STET_BUF_INIT, out = STET_BUF_INIT;
    uint64_t sizes[2];
    char *bytes = NULL;
    uint32_t count = 0;

    if (read_all(fd, sizes, sizeof sizes) && sizes[0] <= MOST_REQUEST && sizes[1] <= MOST_REQUEST)
        bytes = malloc((size_t)(sizes[0] + sizes[1]) + 1);
    if (bytes && read_all(fd, bytes, (size_t)(sizes[0] + sizes[1])))
        count = answer(o, c, stet_view_of(bytes, (size_t)sizes[0]),
                       stet_view_of(bytes + sizes[0], (size_t)sizes[1]), &texts);
    stet_buf_u64(&out, count);
    if (count)
        stet_buf_view(&out, stet_buf_as_view(&texts));
    if (!out.failed && !texts.failed && count && stet_fs_write_all(fd, out.ptr, out.len) == 0)
        atomic_fetch_add(&o->shared->answered, 1);
    free(bytes);
    stet_buf_release(&texts);
    stet_buf_release(&out);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* ---- the process with the compiler ---- */

static _Noreturn void work(const struct stet_fit_oracle *o, int fd, int ready)
{
    struct compiler c = {0};
    char why[256];

    if (strstr(o->plugin, "libtpu"))
        stet_warm_topology_environment(o->topology.name);
    c.api = stet_warm_topology_load(o->plugin, o->plugin, why, sizeof why);
    if (c.api)
        c.topology = stet_warm_topology_create(c.api, &o->topology, why, sizeof why);
    if (!c.topology)
        _exit(UNABLE);
    c.has_phases = stet_fit_phases_open(&c.phases, c.api, c.topology);
    if (ready >= 0 && write(ready, "y", 1) != 1)
        _exit(UNABLE);
    for (;;) {
        int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

        if (client < 0)
            continue;
        atomic_fetch_add(&o->shared->asked, 1);
        atomic_store(&o->shared->begun_ns, stet_clock_ns());
        serve(o, &c, client);
        atomic_store(&o->shared->begun_ns, 0);
        close(client);
    }
}

/* ---- its supervisor ---- */

/* Neither process outlives the fit. */
static void belong_to(pid_t parent)
{
    stet_stop_forget();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(UNABLE);
}

/* Waits for the worker's end, which is brought about if it hangs. */
static int wait_for(const struct stet_fit_oracle *o, pid_t pid)
{
    struct stet_warm_watch watch = {.pid = pid};
    char why[192];
    int status;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (stet_warm_watch_over(&watch, stet_warm_watch_cpu(pid), stet_clock_ns(),
                                 atomic_load(&o->shared->begun_ns), o->limit_ns, why, sizeof why))
            kill(pid, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return status;
}

/* A compiler that ends its process costs the program that it was asked about its answer. The next
 * ones go to another process. */
static _Noreturn void supervise(const struct stet_fit_oracle *o, int ready)
{
    int quiet = open("/dev/null", O_RDWR | O_CLOEXEC), fd = listen_at(o->socket);

    signal(SIGPIPE, SIG_IGN);
    if (quiet < 0 || fd < 0)
        _exit(UNABLE);
    dup2(quiet, STDIN_FILENO);
    dup2(quiet, STDOUT_FILENO);
    dup2(quiet, STDERR_FILENO);
    for (int i = 0; i < MOST_WORKERS; i++) {
        pid_t parent = getpid(), pid = fork();
        int status;

        if (pid == 0) {
            belong_to(parent);
            work(o, fd, ready);
        }
        if (pid < 0)
            break;
        if (ready >= 0)
            close(ready);
        ready = -1;
        status = wait_for(o, pid);
        atomic_store(&o->shared->begun_ns, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == UNABLE)
            break;
    }
    _exit(UNABLE);
}

bool stet_fit_oracle_start(struct stet_fit_oracle *o)
{
    struct pollfd wait = {.events = POLLIN};
    pid_t parent = getpid();
    bool fine = false;
    int ends[2];
    char c;

    o->pid = 0;
    o->shared =
        mmap(NULL, sizeof *o->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (o->shared == MAP_FAILED)
        o->shared = NULL;
    if (!o->shared || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    o->pid = fork();
    if (o->pid == 0) {
        close(ends[0]);
        belong_to(parent);
        supervise(o, ends[1]);
    }
    close(ends[1]);
    wait.fd = ends[0];
    fine = o->pid > 0 && poll(&wait, 1, READY_S * 1000) == 1 && read(ends[0], &c, 1) == 1;
    close(ends[0]);
    if (!fine)
        stet_fit_oracle_stop(o);
    return fine;
}

bool stet_fit_oracle_stop(struct stet_fit_oracle *o)
{
    bool complete = true;

    if (o->pid > 0) {
        complete = waitpid(o->pid, NULL, WNOHANG) == 0; /* it was there to the end */
        kill(o->pid, SIGKILL);
        waitpid(o->pid, NULL, 0);
    }
    if (o->shared) {
        complete &= atomic_load(&o->shared->asked) == atomic_load(&o->shared->answered);
        munmap(o->shared, sizeof *o->shared);
    }
    o->pid = 0;
    o->shared = NULL;
    return complete;
}
