/* Reads a run from its journals: processes, plugins, compiles, executions. The offline commands
 * call stet_ledger_run_load; the monitor takes the parts record by record. The digest owns
 * everything; views into it are valid until it is released. */
#ifndef STET_LEDGER_RUN_LOAD_H
#define STET_LEDGER_RUN_LOAD_H

#include "base/arena.h"
#include "base/map.h"
#include "journal/copied.h"
#include "journal/read.h"
#include "journal/vocabulary.h"
#include "ledger/recompile.h"

/* The line that waited for a compile: the innermost Python frame outside installed packages,
 * otherwise the innermost frame. */
struct stet_trigger {
    struct stet_view file, function;
    uint64_t line;
};

/* One compile (or, if `load`, one load of a serialised executable). */
struct stet_compile_event {
    uint64_t index, time_ns; /* CLOCK_REALTIME of the call */
    bool load, ended;
    struct stet_hash program, options; /* captured content, programs/<hash>.* */
    uint64_t program_size, thread, plugin, client, executable;
    uint64_t plugin_ns, layer_ns; /* inside the plugin; added by the layer */
    /* If served: how long that took; how long compiling takes, 0 if not known. */
    uint64_t served_ns, instead_ns;
    /* The framework's time for it: before the call (if the framework reports it), and until it
     * ran. */
    uint64_t trace_ns, lower_ns, between_ns, until_run_ns;
    uint64_t begin_ns, end_ns;  /* of the call, CLOCK_MONOTONIC */
    uint64_t stack_thread;      /* whose stack was read; 0 when not known */
    uint64_t waiter;            /* the thread that waited; 0: not known, or nothing was reported */
    bool ran;                   /* its first execution was seen */
    uint64_t ran_ns;            /* when, CLOCK_MONOTONIC */
    uint64_t before_ns, before; /* the execution before that: when, 0 for none; its executable */
    /* Measured without phases: how much longer than usual the time between these two executions
     * was, and what of that was waited for this compile. */
    bool extra_known, measured;
    uint64_t extra_ns, waited_ns;
    bool ahead; /* compiled ahead of time: the user's own code may run in between */
    uint64_t error_code, temp_bytes, code_bytes;
    enum stet_served served;
    enum stet_outcome outcome; /* of the store's lookup */
    struct stet_view store;    /* the outcome's text, which a newer Stet may have written */
    struct stet_view tier;     /* the tier from which the agent got it, if it did */
    struct stet_view agent;    /* the agent's answer; empty if it was not asked */
    uint64_t agent_ns;         /* the time of the agent's answer */
    struct stet_hash key;      /* in the store */
    bool stored;               /* true if it was written there */
    struct stet_view unlifted; /* why its family is not lifted any more; empty if it is... */
    bool unlifted_alone;       /* ...or why this program cannot be lifted */
    uint64_t compared;         /* how often results of its lifted program were compared... */
    uint64_t elements, ulp;    /* ...with how many different elements, by how much at most */
    uint64_t lift_ahead_ns;    /* a lifted program of its family was compiled in the background */
    uint64_t lift_plain;       /* how often it was compiled as it is although it was lifted... */
    uint64_t lift_plain_ns, lift_plain_waited_ns; /* ...how long that took, and was waited for */
    struct stet_view elsewhere;  /* why XLA's CPU client runs it; empty if the plugin does */
    struct stet_view components; /* of a miss: the components of the key, name=value lines */
    bool has_memory;
    struct stet_view format, name, error, fingerprint;
    struct stet_trigger trigger; /* line 0 when not known */
    struct stet_frames lines;    /* of the thread that waited: the user's own, innermost first */
    struct stet_frames stack;    /* the same, further out */
    struct stet_view no_stack;   /* why there is no stack */
    struct stet_view
        values; /* what Python held, encoded as in journal/values_record.h; may be empty */
    uint64_t executions;
    bool step_known; /* after stet_ledger_run_steps: the loop's iteration (from 0) that it belongs
                        to */
    uint64_t step;
};

/* Returns how long the program's user waited for it. It is less than the time of the call where
 * other threads compile while the user's goes on. */
static inline uint64_t stet_compile_event_wait(const struct stet_compile_event *c)
{
    uint64_t work = c->trace_ns + c->lower_ns + c->plugin_ns + c->layer_ns;

    if (c->measured)
        return c->waited_ns;
    if (c->ahead)
        return work;
    return work + c->between_ns + (c->until_run_ns < work ? c->until_run_ns : work);
}

struct stet_plugin_event {
    uint64_t id, api_major, api_minor;
    struct stet_view path, build_id, platform, platform_version, note;
    /* the descriptions of its client's devices for a compiler; empty unless they are GPUs */
    struct stet_view target, host_target;
    /* the platform and the number of devices that the CPU backend was told to have; else empty */
    struct stet_view told_platform, told_devices;
    uint64_t devices, addressable; /* that the client sees; that are this process's */
};

/* What a process found out when it compared a compile with another rank's (`agreement` in
 * docs/formats.md). Ranks are -1 when there is none. */
struct stet_agreement_event {
    uint64_t time_ns; /* CLOCK_REALTIME */
    uint64_t finding; /* enum stet_agreement_finding */
    bool has_compile; /* `compile` is this process's */
    uint64_t compile; /* index */
    bool certain, went_on, answered, compiling;
    int64_t other;
    struct stet_view name, other_name; /* of the functions */
    uint64_t ranks, parts;
    struct stet_hash other_program, other_options; /* captured in this run; zero for none */
    const struct stet_view *flags, *other_flags;   /* NAME=value */
    size_t flag_count, other_flag_count;
    struct stet_trigger other_at; /* where the other rank is */
    struct stet_view program;     /* the last program that it started */
    uint64_t executions, pid, after_ns, missing_count;
    struct stet_view host;
    const uint64_t *like_this, *like_other, *missing;
    size_t like_this_count, like_other_count, missing_listed;
};

enum stet_agreement_finding {
    STET_AGREEMENT_DIFFERS = 2,
    STET_AGREEMENT_LATE = 3,
    STET_AGREEMENT_MISSING = 4
};

/* Bits of `parts`. */
enum {
    STET_AGREEMENT_PROGRAM = 1,
    STET_AGREEMENT_OPTIONS = 2,
    STET_AGREEMENT_ENVIRONMENT = 4,
    STET_AGREEMENT_PLUGIN = 8
};

/* How a process takes part in comparing the ranks of a job, and what that took. */
struct stet_job_event {
    bool known;                         /* it tried to */
    bool refuses;                       /* compiles that differ */
    struct stet_view channel, why;      /* why: there is none, or it was given up */
    uint64_t compared, messages, bytes; /* when the process ended */
    uint64_t failures, waited_ns, open;
    uint64_t cpu_ns; /* of the thread that compared */
};

/* An error of the plugin because memory ran out. */
struct stet_exhaustion {
    uint64_t time_ns; /* CLOCK_REALTIME */
    struct stet_view function, message, file;
    uint64_t line;       /* of the user's, 0 when not known */
    uint64_t executable; /* id; 0: it was not executing one, or that is not known */
    uint64_t compile;    /* index, + 1; 0: it was not compiling */
    uint64_t times;      /* the same error, one after the other */
};

enum { STET_EXHAUSTIONS = 16 }; /* of a process; the first ones are kept */

/* The time at which the loop had completed this many steps. */
struct stet_step_mark {
    uint64_t step, wall_ns; /* CLOCK_REALTIME */
};

enum { STET_STEP_MARKS = 1024 };

struct stet_process_digest {
    struct stet_hash uid;
    struct stet_view host, python, entry;
    const struct stet_view *env; /* NAME=value of what matters */
    size_t env_count;
    uint64_t pid;
    int64_t rank;         /* -1 when not known */
    int64_t world;        /* processes of its job; 0 when not known */
    const char *launcher; /* that was recognised, or NULL; a literal */
    struct stet_hash job; /* equal in all processes of its job; zero if not known */
    uint64_t wall_minus_mono;
    struct stet_plugin_event *plugins;
    size_t plugin_count, plugin_room;
    struct stet_compile_event *compiles;
    size_t compile_count, compile_room;
    uint64_t next_index[2]; /* above every known index: of compiles, of loads */
    struct stet_run_waits *waits;
    struct stet_run_gaps *gaps;
    uint64_t start_ns;                   /* CLOCK_REALTIME of its start, or of the process that it
                                            was forked from; 0 when not known */
    uint64_t first_ns;                   /* CLOCK_REALTIME of its first record */
    uint64_t client_begin_ns, client_ns; /* its first client: CLOCK_MONOTONIC; all: how long */
    uint64_t first_step_ns;  /* after stet_ledger_run_steps: CLOCK_MONOTONIC of step 1 */
    uint64_t first_phase_ns; /* when the framework first reported one; 0 for never */
    uint64_t traces, traces_taken, untaken_ns; /* taken: by a compile; ns: of all other phases */
    uint64_t executions;
    uint64_t to_device_bytes, to_host_bytes, to_device_count, to_host_count;
    struct stet_journal_copied *copies; /* between host and device, if lines were read */
    size_t copy_count, copy_room;
    struct stet_job_event job_event;
    struct stet_agreement_event *agreements;
    size_t agreement_count, agreement_room;
    struct stet_counter *counters; /* the framework's own counters; lines are not filled */
    size_t counter_count, counter_room;
    struct stet_exhaustion exhaustions[STET_EXHAUSTIONS];
    size_t exhaustion_count;
    uint64_t plugin_errors, faults, lost_records, lost_executions;
    uint64_t fault_kinds[STET_FAULTS + 1]; /* of `faults`, by enum stet_fault */
    uint64_t unread_stacks; /* compiles that ended before their Python line was read */
    bool steps_known;       /* after stet_ledger_run_steps */
    uint64_t steps;
    const char *steps_why; /* how they were found, or why they are not known; a literal */
    struct stet_step_mark
        *marks; /* evenly spaced steps, at most STET_STEP_MARKS; and the spacing */
    size_t mark_count;
    uint64_t mark_every;
    bool ended;       /* it wrote its last record; a killed process did not */
    uint64_t last_ns; /* CLOCK_REALTIME of its last record */
    struct stet_journal_damage damage;
};

struct stet_run_digest {
    struct stet_arena arena;
    struct stet_process_digest *processes; /* by first record */
    size_t process_count, process_room;
    uint64_t compiles, loads, failed, executions, compile_ns;
    uint64_t value_bytes;
    uint64_t unreadable; /* files that are not journals, or of a newer version */
};

/* The stacks found so far, and the line that each gives. */
struct stet_stack_trigger {
    struct stet_hash stack;
    struct stet_trigger trigger;
    struct stet_frames lines;  /* the user's own, innermost first */
    struct stet_frames frames; /* the same, further out */
    bool ahead;
};

struct stet_stacks {
    struct stet_stack_trigger *items;
    size_t count, room;
    struct stet_map by_hash; /* a journal may have a stack several times */
};

void stet_ledger_stacks_release(struct stet_stacks *s);

/* The parts of loading, for code that follows a run in progress: the process of a journal (created
 * if new; NULL when out of memory; valid until the next is created), and one record of it. */
struct stet_process_digest *stet_ledger_run_process(struct stet_run_digest *d,
                                                    const struct stet_rec_segment *segment);
/* The compile of this index, created if new; NULL when out of memory. */
struct stet_compile_event *stet_ledger_run_compile(struct stet_process_digest *p, uint64_t index);
void stet_ledger_run_take(struct stet_run_digest *d, struct stet_process_digest *p,
                          struct stet_stacks *s, const struct stet_journal_event *e);

/* Reads every journal of the run folder. A folder without journals gives an empty digest. */
enum stet_rc stet_ledger_run_load(struct stet_run_digest *d, const char *folder,
                                  struct stet_err *err);
void stet_ledger_run_unload(struct stet_run_digest *d);

#endif
