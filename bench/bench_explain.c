/* What an explanation costs: one more program against a history of many, and a ledger that has
 * grown. */
#include "bench.h"

#include "base/arena.h"
#include "base/fs.h"
#include "decode/decode.h"
#include "explain/history.h"
#include "explain/side.h"
#include "ledger/ledger.h"
#include "program/ops.h"
#include "session/session.h"
#include "stet_version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const struct stet_err *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* ---- a history ---- */

/* A history grows while it is measured: the small ones have few wider programs. */
enum { ROUNDS = 201, WIDER = 41, WIDER_OF_SMALL = 11, APART = 60 };

/* A program that JAX lowered, and the place of a number in it that drifts. */
struct source {
    struct stet_file file;
    size_t constant;
};

/* The program that was sent last, and the one before it: what is nearest is always at hand. */
struct sent {
    char *bytes;
    struct stet_program program;
    struct stet_fingerprint fingerprint;
    struct stet_side tables;
    bool there;
};

struct history {
    struct stet_history h;
    struct source program, wider;
    struct sent sent[2];
    uint32_t count;
};

static enum stet_rc open_program(void *context, uint32_t number, struct stet_history_side *out,
                                 struct stet_err *err)
{
    struct history *b = context;
    struct sent *s = &b->sent[number % 2];

    if (number + 2 < b->count)
        return stet_fail(err, STET_NOT_FOUND, "program %u is gone", number);
    *out = (struct stet_history_side){{&s->program, &s->fingerprint, &s->tables}, NULL};
    return STET_OK;
}

struct search {
    struct stet_view input;
    size_t found;
};

/* A 32-bit float in the file itself. */
static bool find_constant(const struct stet_op *op, void *context)
{
    struct search *s = context;
    const struct stet_attr *value = stet_op_attr(op, "value");
    struct stet_view bytes = value ? stet_attr_bytes(value) : (struct stet_view){0};
    float number;

    if (!bytes.ptr || bytes.len != 4 || bytes.ptr < s->input.ptr ||
        bytes.ptr + 4 > s->input.ptr + s->input.len)
        return true;
    memcpy(&number, bytes.ptr, 4);
    if (!(number > 1e-6f && number < 0.9f))
        return true;
    s->found = (size_t)(bytes.ptr - s->input.ptr);
    return false;
}

/* Decodes, fingerprints, compares and explains a program with another value of its constant. */
static void send(struct history *b, const struct source *of)
{
    struct sent *s = &b->sent[b->count % 2];
    float value = (float)(0.1 / (1.0 + b->count * 0.37));
    struct stet_err err = STET_ERR_INIT;
    struct stet_sighting sighting = {.rank = -1, .index = b->count, .executable = b->count + 1};
    struct stet_view bytes = {s->bytes, of->file.bytes.len};
    struct stet_history_side side;
    uint32_t number;

    if (s->there) {
        stet_side_release(&s->tables);
        stet_program_release(&s->program);
    }
    memcpy(s->bytes, of->file.bytes.ptr, bytes.len);
    memcpy(s->bytes + of->constant, &value, 4);
    sighting.program = stet_hash_bytes(bytes);
    if (stet_decode(&s->program, bytes, &err) != STET_OK ||
        stet_side_prepare(&s->tables, &s->program, (struct stet_view){0}, &s->fingerprint, &err) !=
            STET_OK)
        fail(&err);
    s->there = true;
    b->count++;
    side = (struct stet_history_side){{&s->program, &s->fingerprint, &s->tables}, NULL};
    if (stet_history_add(&b->h, &sighting, &side, NULL, &number, &err) != STET_OK)
        fail(&err);
}

/* Processor time: others use this machine, too. */
static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* In ms; what it was found to be goes to *cause. */
static double explain(struct history *b, const struct source *of, enum stet_cause *cause)
{
    struct stet_err err = STET_ERR_INIT;
    double begin = cpu_ns(), end;

    send(b, of);
    if (stet_history_judge_from(&b->h, b->h.finding_count - 1, &err) != STET_OK)
        fail(&err);
    end = cpu_ns();
    *cause = b->h.findings[b->h.finding_count - 1].cause;
    return (end - begin) / 1e6;
}

static void print(const char *what, uint32_t many, double *times, size_t count)
{
    char name[64];

    snprintf(name, sizeof name, "explain.%s.against-%u-programs", what, many);
    bench_print(name, "ms", bench_quantile(times, count, 0.5), bench_quantile(times, count, 0.1),
                bench_quantile(times, count, 0.9), "", 0, many >= 10000 ? 1 : 0);
}

static void measure_history(struct history *b, uint32_t many)
{
    struct stet_err err = STET_ERR_INIT;
    double times[ROUNDS];
    enum stet_cause cause;
    int wider = many < 10000 ? WIDER_OF_SMALL : WIDER;

    while (b->count < many)
        send(b, &b->program);
    /* As while a run goes on. stet_history_judge is for a run that is over: from then on every
     * judgement looks at the run as a whole. */
    if (stet_history_judge_from(&b->h, 0, &err) != STET_OK)
        fail(&err);
    for (int i = 0; i < ROUNDS; i++) {
        times[i] = explain(b, &b->program, &cause);
        if (cause != STET_CAUSE_BAKED_CONSTANT && cause != STET_CAUSE_OPTIMIZER_SCALAR)
            fail(&(struct stet_err){.text = "the drifting constant was not named"});
    }
    print("constant", many, times, ROUNDS);
    /* Each comes so late after the one before that only narrower ones are near. */
    for (int i = 0; i < wider; i++) {
        for (int k = 0; k < APART; k++)
            send(b, &b->program);
        times[i] = explain(b, &b->wider, &cause);
        if (cause != STET_CAUSE_SHAPE_DRIFT && cause != STET_CAUSE_LAST_BATCH)
            fail(&(struct stet_err){.text = "the larger batch was not named"});
    }
    print("shape", many, times, (size_t)wider);
}

static void open_source(struct source *s, const char *variable)
{
    const char *path = getenv(variable);
    struct stet_err err = STET_ERR_INIT;
    struct stet_program program;
    struct search search;

    if (!path)
        fail(&(struct stet_err){.text = "BENCH_PROGRAM and BENCH_WIDER are set by tools/bench.sh"});
    if (stet_file_open(&s->file, path, &err) != STET_OK ||
        stet_decode(&program, s->file.bytes, &err) != STET_OK)
        fail(&err);
    search = (struct search){s->file.bytes, 0};
    stet_program_walk(&program, find_constant, &search);
    if (!search.found)
        fail(&(struct stet_err){.text = "the program has no constant to drift"});
    stet_program_release(&program);
    s->constant = search.found;
}

static void bench_history(void)
{
    static struct history b;
    struct stet_err err = STET_ERR_INIT;
    size_t longest;

    open_source(&b.program, "BENCH_PROGRAM");
    open_source(&b.wider, "BENCH_WIDER");
    if (stet_history_init(&b.h, &err) != STET_OK)
        fail(&err);
    longest = b.program.file.bytes.len > b.wider.file.bytes.len ? b.program.file.bytes.len
                                                                : b.wider.file.bytes.len;
    b.h.open = open_program;
    b.h.context = &b;
    for (int i = 0; i < 2; i++)
        b.sent[i].bytes = malloc(longest);
    for (uint32_t many = 100; many <= 10000; many *= 10)
        measure_history(&b, many);
    stet_history_release(&b.h);
    stet_file_close(&b.program.file);
    stet_file_close(&b.wider.file);
}

/* ---- a ledger ---- */

static void fill(const char *state, const char *id, uint64_t recompiles)
{
    const struct stet_row_change changes[] = {
        {STET_VIEW("constant in multiply"),
         STET_VIEW("0.05"),
         STET_VIEW("0.045"),
         STET_VIEW("/home/someone/project/train.py"),
         28,
         STET_CHANGE_CONSTANT,
         STET_VIEW("constants"),
         {0},
         3},
        {STET_VIEW("argument batch['x'] dimension 0"),
         STET_VIEW("16"),
         STET_VIEW("12"),
         STET_VIEW("/home/someone/project/train.py"),
         17,
         STET_CHANGE_ARGUMENT,
         STET_VIEW("shapes"),
         {0},
         1},
    };
    char path[600], folder[512], number[160];
    struct stet_run run = {.id = id,
                           .folder = folder,
                           .cwd = "/",
                           .host = "h",
                           .command = "train",
                           .started_ns = 1,
                           .ended_ns = 2};
    struct stet_ledger_run row = {
        .run = &run, .compiles = recompiles, .executions = 10000000, .programs = recompiles};
    struct stet_ledger_process process = {
        .pid = 1, .steps = 10000000, .steps_known = true, .executions = 10000000, .rank = -1};
    struct stet_err err = STET_ERR_INIT;
    struct stet_ledger *l;

    snprintf(folder, sizeof folder, "%s/runs/%s", state, id);
    snprintf(path, sizeof path, "%s/ledger.db", state);
    if (stet_fs_mkdirs(folder, &err) != STET_OK || stet_ledger_open(&l, path, &err) != STET_OK ||
        stet_ledger_begin(l, &row, STET_LANE_XLA, &err) != STET_OK ||
        stet_ledger_add_process(l, &process, &err) != STET_OK)
        fail(&err);
    snprintf(path, sizeof path, "%s/run.json", folder);
    snprintf(number, sizeof number,
             "{\"schema\":\"stet.run/1\",\"id\":\"%s\",\"started_ns\":1,\"ended_ns\":2}\n", id);
    if (stet_fs_write(path, stet_view_str(number), &err) != STET_OK)
        fail(&err);
    for (uint64_t i = 0; i < recompiles; i++) {
        struct stet_ledger_compile c = {.compile = i,
                                        .cost_ns = 1000000,
                                        .function = STET_VIEW("train_step"),
                                        .program = STET_VIEW("00112233445566778899aabbccddeeff"),
                                        .step = i * 100,
                                        .step_known = true};
        struct stet_recompile r = {
            .compile = i,
            .rank = -1,
            .step = i * 100,
            .step_known = true,
            .cause = STET_CAUSE_STATIC_ARGUMENT,
            .also = {{STET_CAUSE_SHAPE_DRIFT}, 1},
            .function = STET_VIEW("train_step"),
            .program = c.program,
            .against = c.program,
            .origin = {STET_VIEW("/home/someone/project/train.py"), STET_VIEW("train_step"),
                       28 + i % 7},
            .trigger = {STET_VIEW("/home/someone/project/train.py"), STET_VIEW("main"), 44},
            .changes = changes,
            .change_count = 2,
            .cost_ns = 1000000,
            .served = STET_SERVED_COMPILED,
            .sure = STET_SURE_CERTAIN,
            .evidence = STET_VIEW("parameter lr is static for jit, and its value is used here"),
            .fix = STET_VIEW("Make lr a traced argument.")};

        if (stet_ledger_add_compile(l, &c, &err) != STET_OK ||
            stet_ledger_add_recompile(l, &r, &err) != STET_OK)
            fail(&err);
    }
    /* As the command stamps a run without journals that ended at 2 ns; otherwise it would explain
     * it anew. */
    snprintf(number, sizeof number, STET_VERSION " %d 0 0 2", STET_EXPLAIN_VERSION);
    if (stet_ledger_end(l, number, true, &err) != STET_OK)
        fail(&err);
    stet_ledger_close(l);
}

static void ask(const char *state, const char *id, const char *format, uint64_t recompiles)
{
    char self[512], name[96];
    struct rusage used;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 8);
    pid_t pid = fork();
    int status;

    self[n > 0 ? n : 0] = '\0';
    if (!pid) {
        snprintf(strrchr(self, '/') + 1, 8, "stet");
        setenv("STET_STATE_DIR", state, 1);
        if (!freopen("/dev/null", "w", stdout))
            _exit(9);
        execl(self, self, "explain", format, id, (char *)NULL);
        _exit(9);
    }
    if (wait4(pid, &status, 0, &used) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 1)
        fail(&(struct stet_err){.text = "stet explain failed"});
    snprintf(name, sizeof name, "ledger.explain%s.%llu-recompiles",
             strchr(format, 'j') ? ".json" : "", (unsigned long long)recompiles);
    bench_print(name, "s",
                (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
                0, 0, "", 0, recompiles == 100000 ? 2 : 0);
    strcat(name, ".memory");
    bench_print(name, "MB", (double)used.ru_maxrss / 1024, 0, 0, "", 0,
                recompiles == 100000 ? 200 : 0);
}

static void bench_ledger(void)
{
    char state[] = "/tmp/stet-bench-ledger-XXXXXX", command[64], id[32];

    if (!mkdtemp(state))
        fail(&(struct stet_err){.text = "no folder for the ledger"});
    for (uint64_t n = 1000; n <= 100000; n *= 10) {
        snprintf(id, sizeof id, "r-%llu", (unsigned long long)n);
        fill(state, id, n);
        ask(state, id, "--format=text", n);
        ask(state, id, "--format=json", n);
    }
    snprintf(command, sizeof command, "rm -rf %s", state);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", state);
}

/* `bench_explain ledger` measures that alone. */
int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "ledger") != 0)
        bench_history();
    bench_ledger();
    return 0;
}
