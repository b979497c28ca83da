/* See enforce.h. */
#include "intercept/enforce.h"

#include "abi/error.h"
#include "base/fs.h"
#include "gate/gate.h"
#include "intercept/layer.h"
#include "intercept/memo.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct stet_contract contract;
static struct stet_gate gate;
static bool on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the gate counts */

void stet_intercept_contract_start(void)
{
    const char *path = getenv("STET_CONTRACT");
    struct stet_err err = STET_ERR_INIT;
    struct stet_file file;
    struct stat st;

    if (!path || *path != '/')
        return;
    /* a regular file only: a pipe could block the host, and a device may have no end */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        stet_fail(&err, STET_IO, "%s: not a file", path);
    else if (stet_file_open(&file, path, &err) == STET_OK) {
        if (stet_gate_contract_unpack(&contract, file.bytes, &err) == STET_OK)
            on = stet_gate_init(&gate, &contract, contract.on_cpu, &err) == STET_OK;
        stet_file_close(&file);
    }
    if (!on) {
        stet_layer_log("contract: %s", err.text);
        stet_fault(STET_FAULT_CONTRACT);
    }
}

/* The user reads this in a Python traceback: what is forbidden, where, and what to do. */
static PJRT_Error *error_of(const struct stet_seen *s, const struct stet_breach *b)
{
    return stet_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                           "stet: this compile breaks the contract: %s of %.*s: %s (%.*s:%u). Run "
                           "`stet check` for the "
                           "line that caused it, or start with --on-breach warn to go on.",
                           stet_gate_clause_name(b->clause), STET_FMT(s->family), b->what,
                           STET_FMT(contract.file), b->line);
}

static PJRT_Error *judge(struct stet_reading *reading, const struct stet_program *program,
                         struct stet_hash options, struct stet_arena *arena)
{
    const struct stet_fingerprint *print = stet_intercept_reading_print(reading);
    struct stet_traits traits = {0};
    struct stet_breach breach;
    struct stet_seen seen;
    bool no_memory = false, broken;

    stet_traits_make(&traits, program, arena, &no_memory);
    if (!print || no_memory ||
        stet_gate_seen_make(&seen, program, &traits, print, options, arena) != STET_OK) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    broken = stet_gate_breaks(&gate, &seen, &breach);
    pthread_mutex_unlock(&lock);
    return broken ? error_of(&seen, &breach) : NULL;
}

/* A hash of all options, to distinguish programs. */
static struct stet_hash hash_of(struct stet_view options)
{
    struct stet_buf files = STET_BUF_INIT;
    struct stet_hash hash;

    if (stet_memo_options(options, &hash, &files) != STET_OK)
        hash = (struct stet_hash){0};
    else if (files.len)
        hash = stet_hash_mix(hash, stet_hash_bytes(stet_buf_as_view(&files)));
    stet_buf_release(&files);
    return hash;
}

PJRT_Error *stet_intercept_contract_refuse(struct stet_reading *reading, struct stet_view options)
{
    const struct stet_program *program = on ? stet_intercept_reading_program(reading) : NULL;
    struct stet_arena arena;
    struct stet_hash hash = {0};
    PJRT_Error *error;

    if (!program)
        return NULL;
    if (options.ptr)
        hash = hash_of(options);
    stet_arena_init(&arena, (size_t)64 << 20);
    error = judge(reading, program, hash, &arena);
    stet_arena_release(&arena);
    return error;
}

void stet_intercept_contract_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_intercept_contract_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}
