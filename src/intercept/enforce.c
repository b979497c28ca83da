/* Decodes the program before the store needs it; the store then reuses the result. */
#include "intercept/enforce.h"

#include "abi/error.h"
#include "base/fs.h"
#include "decode/decode.h"
#include "gate/gate.h"
#include "intercept/layer.h"
#include "intercept/local.h"
#include "intercept/memo.h"

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

static PJRT_Error *judge(const struct stet_program *program, struct stet_hash options,
                         struct stet_arena *arena, struct stet_lookup *lookup)
{
    struct stet_traits traits = {0};
    struct stet_fingerprint print;
    struct stet_breach breach;
    struct stet_seen seen;
    bool no_memory = false, broken;

    stet_traits_make(&traits, program, arena, &no_memory);
    if (no_memory ||
        stet_fingerprint_make(&print, program, (struct stet_view){0}, NULL) != STET_OK ||
        stet_gate_seen_make(&seen, program, &traits, &print, options, arena) != STET_OK) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return NULL;
    }
    *lookup = (struct stet_lookup){true, stet_intercept_program_is_local(program), print.key};
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

PJRT_Error *stet_intercept_contract_refuse(const PJRT_Program *program, struct stet_view options,
                                           struct stet_lookup *lookup)
{
    struct stet_program decoded;
    struct stet_arena arena;
    struct stet_hash hash = {0};
    PJRT_Error *error;

    if (!on || !program || !STET_HAS(program, format_size) || !program->code)
        return NULL;
    if (stet_decode(&decoded, stet_view_of(program->code, program->code_size), NULL) != STET_OK)
        return NULL;
    if (options.ptr)
        hash = hash_of(options);
    stet_arena_init(&arena, (size_t)64 << 20);
    error = judge(&decoded, hash, &arena, lookup);
    stet_arena_release(&arena);
    stet_program_release(&decoded);
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
