/* Fit: what the devices of a topology would say about a command's programs, before any of them is
 * there. The command runs on the CPU backend, which poses as the topology; the real compiler
 * compiles each program in child processes; the result is a verdict in bytes, seconds and lines.
 *
 *     stet_fit_run(&fit, &options, &err);
 *     … fit.fits, fit.programs …
 *     stet_fit_release(&fit);                 also after a failure
 */
#ifndef STET_FIT_FIT_H
#define STET_FIT_FIT_H

#include "fit/fit_blocks.h"
#include "fit/fit_topology.h"
#include "footprint/footprint.h"
#include "footprint/remedy.h"
#include "session/readbacks.h"
#include "warm/warm_run.h"

#include <limits.h>

struct stet_fit_options {
    const char *topology, *target, *plugin, *store;
    const char *run;        /* a finished run; NULL with a command, or the latest */
    char **command;         /* NULL for a finished run */
    const char *const *set; /* NAME=value for the command, NULL-terminated; or NULL */
    const char *contract;   /* a file, or NULL */
    uint64_t memory;        /* of a device, instead of what the plugin says; 0: not given */
    uint64_t limit_ns;      /* what compiling one program may take; 0 for no limit */
    bool zeros, quick, lines, no_store, no_history;
    unsigned jobs;
};

enum stet_fit_verdict {
    STET_FIT_FITS,
    STET_FIT_EXCEEDS, /* more memory than a device has */
    STET_FIT_FAILED,  /* the compiler gave another error, or its process ended */
    STET_FIT_UNKNOWN, /* not captured, or the size of the memory is not known */
};

/* Temporaries that one line of the user's made, at the peak of a program. */
struct stet_fit_line {
    struct stet_view file, function, op_name, opcode, shape; /* of the largest one */
    uint32_t line;
    uint64_t bytes, largest;
    size_t count;
    bool known_before; /* the last fit had this line: */
    uint64_t before;
    struct stet_view shape_before;
};

/* What generating the code of one line took; or compiling it, for a compiler without phases. */
struct stet_fit_cost {
    struct stet_view file, function, op_name, opcode; /* of its costliest instruction */
    uint32_t line;                                    /* 0: not known */
    uint64_t ns, largest;                             /* of processor time */
    uint64_t alike_ns; /* of fragments that another one equals but for layouts and placement */
    size_t instructions;
};

struct stet_fit_program {
    const struct stet_warm_item *item;
    enum stet_fit_verdict verdict;
    struct stet_footprint footprint;
    const char *why_unknown;             /* a literal; NULL if the verdict is another one */
    bool read;                           /* the footprint could be read */
    bool measured;                       /* memory is the executable's own statistics */
    struct stet_footprint_memory memory; /* all 0 if neither is known */
    uint64_t total;                      /* of the program alone */
    bool beside_known;
    uint64_t beside;  /* in use beside its arguments when it ran, at most */
    uint64_t exceeds; /* bytes above what a device has; 0 if it fits */
    uint64_t executions;
    uint64_t wall_ns, cpu_ns; /* of its compile; 0 if it was not compiled */
    enum stet_warm_end end;
    struct stet_view error;      /* the compiler's whole message, or empty */
    struct stet_fit_line *lines; /* the largest first */
    size_t line_count;
    struct stet_fit_cost *costs; /* the largest first; NULL if they were not measured */
    size_t cost_count, fragments;
    uint64_t fragments_ns;
    struct stet_fit_ablation {
        uint64_t whole_ns;  /* of processor time; 0: not measured */
        uint64_t unique_ns; /* without the copies of repeated blocks; 0: not measured */
        uint64_t noise_ns;  /* by which two measurements of the whole differed */
        struct stet_fit_block *blocks;
        size_t block_count;
    } ablation;
    struct stet_remedy advice[STET_REMEDIES]; /* if it does not fit */
    size_t advice_count;
    /* Lower bounds on its time, in seconds; 0 if not known. */
    double compute_s, memory_s, link_s;
};

/* The work folder has a socket in it, whose path may have 107 characters. */
enum { STET_FIT_WORK = 90, STET_FIT_WORK_FILE = STET_FIT_WORK + 16 };

struct stet_fit {
    struct stet_arena arena;
    struct stet_fit_topology topology;
    uint64_t limit; /* of memory, for one device; 0: not known */
    char plugin[PATH_MAX], work[STET_FIT_WORK], id[64];
    struct stet_warm_run warm;
    bool warmed;
    struct stet_fit_program *programs; /* in the order of the plan */
    size_t count;
    int status; /* of the command, as waitpid gives it; 0 for a finished run */
    bool ran, zeros, quick, lines;
    bool guessed; /* shardings of results are the CPU backend's guess, not the compiler's */
    enum stet_fit_verdict verdict;
    const struct stet_fit_program *peak; /* the one that needs most, with what is beside it */
    uint64_t peak_bytes, exceeds;
    size_t failed, unknown;
    uint64_t compile_cpu_ns, compile_wall_ns;
    /* One step of the loop: programs that ran as often as it. */
    bool step_known;
    uint64_t steps;
    double step_flops, step_memory, step_wire, step_bound_s;
    struct stet_footprint_traffic step_traffic[STET_COLLECTIVES];
    struct stet_readbacks readbacks; /* with zeros */
    bool contract_asked, contract_checked, contract_kept;
    size_t violations;
    struct stet_view contract_says; /* the first violation */
    struct stet_view since;         /* the run of the last fit; empty if there is none */
    struct stet_view since_command;
    uint64_t since_peak;
};

enum stet_rc stet_fit_run(struct stet_fit *fit, const struct stet_fit_options *o,
                          struct stet_err *err);
void stet_fit_release(struct stet_fit *fit);

/* Did everything fit, compile and keep the contract? */
bool stet_fit_is_fine(const struct stet_fit *fit);
/* How the command ended: "exit code 7", "signal 9". */
enum { STET_FIT_ENDED = 32 };
void stet_fit_ended(const struct stet_fit *fit, char out[STET_FIT_ENDED]);
/* The program's time at least, in seconds: the longest of the three. */
double stet_fit_bound(const struct stet_fit_program *p);
/* "fits", "exceeds", "failed", "unknown" */
const char *stet_fit_verdict_word(enum stet_fit_verdict v);
/* stet.fit/1 */
void stet_fit_json(struct stet_buf *out, const struct stet_fit *fit);

#endif
