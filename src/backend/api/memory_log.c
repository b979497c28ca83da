/* The account of memory (STET_CPU_ACCOUNT): a file for each process, with a record for each program
 * that ran. A record is written when its number rises, with one pwrite, so a process that is killed
 * leaves the account up to then. docs/formats.md describes the file; src/fit reads it. */
#include "backend/api/cpu_api.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* On disk, little-endian. */
struct record {
    uint64_t program[2]; /* high, low */
    uint64_t beside, arguments, check;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static int file = -1;
static pid_t owner;
static unsigned slots;
static bool full; /* the disk */

static void read_environment(void)
{
    const char *told = getenv("STET_CPU_ACCOUNT");

    if (told && *told)
        folder = strdup(told);
}

static bool is_wanted(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_environment);
    return folder != NULL;
}

/* The lock is held. A forked process writes its own file. */
static bool is_open(void)
{
    char path[PATH_MAX];

    if (file >= 0 && owner == getpid())
        return true;
    if (file >= 0)
        close(file);
    owner = getpid();
    if (snprintf(path, sizeof path, "%s/account-%ld", folder, (long)owner) >= (int)sizeof path)
        return false;
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    return file >= 0;
}

/* The lock is held. */
static void write_record(struct stet_cpu_code *code, uint64_t arguments)
{
    struct record r = {.program = {code->bytes_hash.hi, code->bytes_hash.lo},
                       .beside = code->beside,
                       .arguments = arguments};

    r.check = stet_hash_bytes(stet_view_of((const char *)&r, offsetof(struct record, check))).lo;
    if (is_open() && pwrite(file, &r, sizeof r, (off_t)(code->slot - 1) * (off_t)sizeof r) < 0)
        full = true; /* no account is better than a failing program */
}

/* The bytes of the arguments of one device; a buffer that is passed twice counts once. */
static uint64_t argument_bytes(const struct stet_cpu_code *code,
                               struct stet_cpu_block *const *inputs)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < code->inputs; i++) {
        bool again = false;

        /* the same array is almost always passed in neighbouring places */
        for (uint32_t k = i > 8 ? i - 8 : 0; k < i && !again; k++)
            again = inputs[k] == inputs[i];
        if (!again && inputs[i]->memory->kind == STET_DEVICE_MEMORY && !inputs[i]->view)
            n += inputs[i]->size;
    }
    return n;
}

void stet_memory_log_execution(struct stet_cpu_code *code, PJRT_Device *const *devices,
                               struct stet_cpu_block *const *inputs)
{
    uint64_t most = 0, arguments = 0;

    if (!is_wanted())
        return;
    for (uint32_t d = 0; d < code->assignment.count; d++) {
        uint64_t own = argument_bytes(code, inputs + (size_t)d * code->inputs);
        long long in_use = atomic_load(&devices[d]->in_use);
        uint64_t beside = in_use > (long long)own ? (uint64_t)in_use - own : 0;

        if (beside > most || d == 0)
            most = beside;
        arguments = own > arguments ? own : arguments;
    }
    pthread_mutex_lock(&lock);
    if (!full && (!code->slot || most > code->beside)) {
        if (!code->slot)
            code->slot = ++slots;
        code->beside = most;
        write_record(code, arguments);
    }
    pthread_mutex_unlock(&lock);
}
