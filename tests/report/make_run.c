/* A run folder of any size, written as the layer writes one: journals by the journal's own writer,
 * programs as files. For tests of the report; no framework is needed.
 *
 * usage: make_run STATE_DIR ID COMPILES RANKS SOURCE [FUNCTION [PROGRAMS]]
 *
 * Each rank compiles FUNCTION (train_step) again and again with another batch size, PROGRAMS (200)
 * of them, from lines of SOURCE; what repeats is the same program. With PROGRAMS they run, too. A
 * FUNCTION that ends in "." is named as torch_xla.compile does: without "jit_", with a number. */
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "journal/execs.h"
#include "journal/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <zstd.h>

enum { MOST_PROGRAMS = 100000, RUN_AT_ONCE = 256 };

struct making {
    char folder[512];
    const char *source, *function;
    uint64_t started_ns; /* CLOCK_REALTIME */
    unsigned distinct;
    bool runs;
    struct stet_hash programs[MOST_PROGRAMS];
    uint64_t sizes[MOST_PROGRAMS];
};

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void quoted(struct stet_buf *out, const char *text)
{
    stet_buf_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            stet_buf_char(out, '\\');
        stet_buf_char(out, *text);
    }
    stet_buf_char(out, '"');
}

/* The module's name: "jit_train_step", or "step.7". */
static void module_name(const struct making *m, unsigned variant, char *out, size_t room)
{
    size_t n = strlen(m->function);

    if (n && m->function[n - 1] == '.')
        snprintf(out, room, "%s%u", m->function, variant);
    else
        snprintf(out, room, "jit_%s", m->function);
}

/* A step on a batch of 8, 16, 24… rows; its multiplication stands on line 3 of the source. */
static void write_program(struct making *m, unsigned variant)
{
    unsigned rows = 8 * (variant + 1);
    struct stet_buf out = STET_BUF_INIT;
    char hash[STET_HASH_TEXT], path[700], packed[8192], name[600];
    size_t size;

    module_name(m, variant, name, sizeof name);
    stet_buf_str(&out, "module @");
    quoted(&out, name);
    stet_buf_printf(&out, " {\n  func.func public @main(%%arg0: tensor<%ux4xf32> loc(", rows);
    quoted(&out, "batch['x']");
    stet_buf_printf(&out,
                    "), %%arg1: tensor<4xf32> loc(\"params['w']\")) -> tensor<%ux4xf32> {\n"
                    "    %%0 = stablehlo.multiply %%arg0, %%arg0 : tensor<%ux4xf32> loc(",
                    rows, rows);
    quoted(&out, m->source);
    stet_buf_printf(
        &out,
        ":3:8)\n    return %%0 : tensor<%ux4xf32> loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n"
        "#loc = loc(unknown)\n",
        rows);
    m->programs[variant] = stet_hash_bytes(stet_buf_as_view(&out));
    m->sizes[variant] = out.len;
    stet_hash_format(m->programs[variant], hash);
    snprintf(path, sizeof path, "%s/programs/%s.mlir.zst", m->folder, hash);
    size = ZSTD_compress(packed, sizeof packed, out.ptr, out.len, 1);
    if (ZSTD_isError(size) ||
        stet_fs_write_unsynced(path, stet_view_of(packed, size), NULL) != STET_OK)
        fail(path);
    stet_buf_release(&out);
}

static void write_run(const struct making *m, const char *id, uint64_t seconds)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;
    char path[600];

    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.run/1");
    stet_json_cstr(&j, "id", id);
    stet_json_array(&j, "argv");
    stet_json_cstr(&j, NULL, "python");
    stet_json_cstr(&j, NULL, m->source);
    stet_json_end_array(&j);
    stet_json_cstr(&j, "cwd", "/");
    stet_json_cstr(&j, "host", "host");
    stet_json_uint(&j, "started_ns", m->started_ns);
    stet_json_uint(&j, "ended_ns", m->started_ns + seconds * 1000000000u);
    stet_json_int(&j, "exit", 0);
    stet_json_end_object(&j);
    snprintf(path, sizeof path, "%s/run.json", m->folder);
    if (stet_fs_write(path, stet_buf_as_view(&out), NULL) != STET_OK)
        fail(path);
    stet_buf_release(&out);
}

static void write_compile(const struct making *m, struct stet_journal *j, uint64_t index,
                          uint64_t begin_ns)
{
    unsigned variant = (unsigned)(index % m->distinct);
    char name[600];
    struct stet_frame frame = {stet_view_str(m->source), STET_VIEW("main"), 5};
    struct stet_rec_compile_begin begin = {.index = index,
                                           .plugin = 1,
                                           .client = 1,
                                           .entry = 1,
                                           .program = m->programs[variant],
                                           .program_size = m->sizes[variant],
                                           .format = STET_VIEW("mlir")};
    struct stet_rec_compile_end end = {.index = index,
                                       .executable = index + 1,
                                       .begin_ns = begin_ns,
                                       .plugin_ns = 400000 + 1000 * (index % 977)};
    struct stet_rec_compile_stack stack = {.index = index, .waits = 1};
    struct stet_rec_compiled_memory memory = {
        .index = index, .executable = index + 1, .temp = 1000 * (variant + 1)};

    module_name(m, variant, name, sizeof name);
    end.name = stet_view_str(name);
    stack.stack = stet_journal_write_stack(j, (struct stet_frames){&frame, 1});
    stet_journal_write_at(j, STET_REC_compile_begin, begin_ns, &begin);
    stet_journal_write_at(j, STET_REC_compile_stack, begin_ns, &stack);
    stet_journal_write_at(j, STET_REC_compile_end, begin_ns + end.plugin_ns, &end);
    stet_journal_write_at(j, STET_REC_compiled_memory, begin_ns + end.plugin_ns, &memory);
}

/* Each program of a batch runs twice, one after the other. */
static void write_executions(struct stet_journal *j, uint64_t first, uint64_t end, uint64_t at)
{
    static struct stet_exec execs[2 * RUN_AT_ONCE];
    size_t n = 0;

    for (uint64_t i = first; i < end; i++)
        for (int k = 0; k < 2; k++, n++)
            execs[n] = (struct stet_exec){at + n * 1000, i + 1};
    stet_journal_write_execs(j, execs, n);
}

static void write_rank(const struct making *m, unsigned rank, uint64_t compiles)
{
    char dir[600], env[32];
    struct stet_journal *j;
    struct stet_view argv[] = {STET_VIEW("python"), stet_view_str(m->source)}, vars[1];
    struct stet_rec_process process = {
        .argv = {argv, 2}, .cwd = STET_VIEW("/"), .env = {vars, 1}, .python = STET_VIEW("3.11.2")};
    struct stet_rec_plugin plugin = {
        .plugin = 1, .path = STET_VIEW("/lib/libtpu.so"), .api_minor = 90};
    struct stet_rec_client_create client = {
        .client = 1, .plugin = 1, .platform = STET_VIEW("tpu"), .devices = 8, .addressable = 1};
    uint64_t now = stet_journal_now();

    snprintf(dir, sizeof dir, "%s/journal", m->folder);
    snprintf(env, sizeof env, "RANK=%u", rank);
    vars[0] = stet_view_str(env);
    j = stet_journal_new(&(struct stet_journal_options){.dir = dir, .main_cap = (uint64_t)1 << 30});
    stet_journal_set_process(j, &process);
    stet_journal_write_at(j, STET_REC_plugin, now, &plugin);
    stet_journal_write_at(j, STET_REC_client_create, now, &client);
    for (uint64_t i = 0; i < compiles; i++) {
        uint64_t at = now + i * 3000000;

        write_compile(m, j, i, at);
        if (m->runs && (i + 1) % RUN_AT_ONCE == 0)
            write_executions(j, i + 1 - RUN_AT_ONCE, i + 1, at + 1500000);
        if (i % 64 == 0) {
            struct stet_rec_memory memory = {.plugin = 1,
                                             .device = rank,
                                             .bytes_in_use = 1000000 + 4000 * i,
                                             .peak_bytes_in_use = 1500000 + 4000 * i,
                                             .bytes_limit = (uint64_t)16 << 30};

            stet_journal_write_at(j, STET_REC_memory, at, &memory);
        }
    }
    stet_journal_free(j);
}

int main(int argc, char **argv)
{
    static struct making m;
    uint64_t compiles, ranks;
    struct timespec now;
    char path[600];

    if (argc < 6)
        return 2;
    compiles = strtoull(argv[3], NULL, 10);
    ranks = strtoull(argv[4], NULL, 10);
    m.source = argv[5];
    m.function = argc > 6 ? argv[6] : "train_step";
    m.distinct = argc > 7 ? (unsigned)strtoul(argv[7], NULL, 10) : 200;
    m.runs = argc > 7;
    if (!m.distinct || m.distinct > MOST_PROGRAMS)
        return 2;
    snprintf(m.folder, sizeof m.folder, "%s/runs/%s", argv[1], argv[2]);
    snprintf(path, sizeof path, "%s/programs", m.folder);
    if (stet_fs_mkdirs(path, NULL) != STET_OK)
        fail(path);
    clock_gettime(CLOCK_REALTIME, &now);
    m.started_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    for (unsigned i = 0; i < m.distinct; i++)
        write_program(&m, i);
    for (unsigned i = 0; i < ranks; i++)
        write_rank(&m, i, compiles / ranks);
    write_run(&m, argv[2], compiles * 3 / 1000 / ranks + 1);
    return 0;
}
