/* A run as its journals tell it: processes, plugins, compiles, executions. */
#ifndef STET_LEDGER_RUN_LOAD_H
#define STET_LEDGER_RUN_LOAD_H

#include "base/arena.h"
#include "journal/read.h"
#include "ledger/recompile.h"

/* The place a compile was waited for: the innermost Python frame outside installed packages, else
 * the innermost of all. */
struct stet_trigger {
    struct stet_view file, function;
    uint64_t line;
};

/* One compile (or load of a serialised executable, when `load`). */
struct stet_compile_event {
    uint64_t index, time_ns; /* CLOCK_REALTIME of the call */
    bool load, ended;
    struct stet_hash program, options; /* captured content, programs/<hash>.* */
    uint64_t program_size, thread, plugin, client, executable;
    uint64_t plugin_ns, layer_ns; /* inside the plugin; added by the layer */
    uint64_t error_code, temp_bytes, code_bytes;
    uint64_t served;             /* 0 compiled, 1 memory, 2 disk, 3 remote, 4 lifted */
    struct stet_view store;      /* hit, miss, or why neither; empty when the store was off */
    struct stet_view tier;       /* where the agent got it from, when it did */
    struct stet_view agent;      /* what the agent said; empty when it was not asked */
    uint64_t agent_ns;           /* what asking it took */
    struct stet_hash key;        /* in the store */
    bool stored;                 /* and it was written there */
    struct stet_view components; /* of a miss: what the key is made of, name=value lines */
    bool has_memory;
    struct stet_view format, name, error, fingerprint;
    struct stet_trigger trigger; /* line 0 when not known */
    struct stet_view no_stack;   /* why not */
    struct stet_view
        values; /* what Python held, as journal/values_record.h codes it; may be empty */
    uint64_t executions;
    bool step_known; /* after stet_run_steps: the loop's iteration (from 0) that it belongs to */
    uint64_t step;
};

struct stet_plugin_event {
    uint64_t id, api_major, api_minor;
    struct stet_view path, build_id, platform, platform_version, note;
    /* how its client's devices describe themselves to a compiler; empty unless they are GPUs */
    struct stet_view target, host_target;
    uint64_t devices;
};

/* When the loop had completed so many steps. */
struct stet_step_mark {
    uint64_t step, wall_ns; /* CLOCK_REALTIME */
};

enum { STET_STEP_MARKS = 1024 };

struct stet_process_digest {
    struct stet_hash uid;
    struct stet_view host, cwd, exe, python, entry;
    const struct stet_view *argv, *env; /* env: NAME=value of what matters */
    size_t argc, env_count;
    uint64_t pid, ppid;
    int64_t rank; /* -1 when the environment has none */
    uint64_t wall_minus_mono;
    struct stet_plugin_event *plugins;
    size_t plugin_count;
    struct stet_compile_event *compiles;
    size_t compile_count;
    uint64_t next_index[2]; /* above every index met: of compiles, of loads */
    uint64_t executions, executions_lost;
    uint64_t to_device_bytes, to_host_bytes, to_device_count, to_host_count;
    struct stet_counter *counters; /* what the framework counted itself; lines are not filled */
    size_t counter_count;
    uint64_t plugin_errors, faults, lost_records;
    uint64_t unread_stacks; /* compiles that were over before their Python line was read */
    bool steps_known;       /* after stet_run_steps */
    uint64_t steps;
    const char *steps_why; /* how they were found, or why they are not known; a literal */
    struct stet_step_mark
        *marks; /* evenly spaced steps, at most STET_STEP_MARKS; and the spacing */
    size_t mark_count;
    uint64_t mark_every;
    bool ended;       /* it said good-bye; a killed process did not */
    uint64_t last_ns; /* CLOCK_REALTIME of its last record */
    struct stet_journal_damage damage;
};

struct stet_run_digest {
    struct stet_arena arena;
    struct stet_process_digest *processes; /* by first record */
    size_t process_count;
    uint64_t compiles, loads, failed, executions, compile_ns, layer_ns;
    uint64_t value_bytes;
    uint64_t unreadable; /* journal files that are none, or of a newer version */
};

/* Stacks met so far, and the line each stands for. */
struct stet_stack_trigger {
    struct stet_hash stack;
    struct stet_trigger trigger;
};

struct stet_stacks {
    struct stet_stack_trigger *items;
    size_t count;
};

/* The pieces of loading, for those who follow a run while it goes on: the process of a journal
 * (made when new; NULL when out of memory; valid until the next is made), and one record of it. */
struct stet_process_digest *stet_run_process(struct stet_run_digest *d,
                                             const struct stet_rec_segment *segment);
/* The compile of this index, made when new; NULL when out of memory. */
struct stet_compile_event *stet_run_compile(struct stet_process_digest *p, uint64_t index);
void stet_run_take(struct stet_run_digest *d, struct stet_process_digest *p, struct stet_stacks *s,
                   const struct stet_journal_event *e);

/* Reads every journal of the run folder. A folder without journals gives an empty digest. */
enum stet_rc stet_run_load(struct stet_run_digest *d, const char *folder, struct stet_err *err);
void stet_run_unload(struct stet_run_digest *d);

#endif
