/* The present state of a run, over all its processes and both lanes: `stet top` shows it and `stet
 * metrics` writes it. A tap on live.h feeds it, and stet_pulse_update is called after each poll.
 * Its size does not depend on the length of the run. The caller frees it with stet_pulse_free. */
#ifndef STET_MONITOR_PULSE_H
#define STET_MONITOR_PULSE_H

#include "base/map.h"
#include "ingest/torch.h"
#include "ledger/steps_live.h"
#include "monitor/live.h"

enum {
    STET_PULSE_PROCESSES = STET_LIVE_PROCESSES,
    STET_PULSE_DEVICES = 1024,
    STET_PULSE_FAMILIES = 512,
    STET_PULSE_CELLS = 1024,
    STET_PULSE_CAUSES = 128,
};

enum stet_pulse_direction { STET_TO_DEVICE, STET_TO_HOST, STET_BETWEEN, STET_DIRECTIONS };
/* The directions whose bytes are counted. The bytes of copies between devices are not known. */
enum { STET_MEASURED = STET_BETWEEN };

/* A process that loaded a plugin. */
struct stet_pulse_process {
    bool used;
    bool ended; /* its end record was read: its totals are final */
    bool gone;  /* the process no longer exists, or the run has ended */
    uint64_t pid;
    int64_t rank; /* -1 when not known */
    char host[64];
    uint64_t last_ns;                      /* CLOCK_REALTIME of its last record */
    uint64_t compiles, compile_ns, failed; /* that returned; ns: inside the plugin */
    uint64_t begun, begun_ns;              /* compiles that began; time of the last beginning */
    uint64_t served[STET_SERVED_COUNT];    /* [0]: compiled */
    uint64_t misses, stored, stored_bytes; /* of the store */
    uint64_t loads, load_ns;               /* by the framework's own cache */
    uint64_t layer_ns;
    uint64_t recompiles, wait_ns, benign; /* wait: the time spent waiting for them */
    uint64_t lost_ns;                     /* the compiler's part of that */
    uint64_t executions;
    uint64_t last_executable; /* the last that began */
    bool finished_known;      /* executions of programs of several processes are watched */
    uint64_t finished, pending, last_finished;
    uint64_t pending_executable, pending_since_ns; /* of the oldest one */
    uint64_t *runs;                                /* of each executable, by its id */
    size_t runs_room;
    uint64_t py_thread, py_state, py_code_type; /* of the last compile's stack (records.def) */
    uint64_t transfers[STET_DIRECTIONS], transfer_bytes[STET_MEASURED];
    uint64_t errors, faults, lost_records;
    struct stet_steps_live steps;
    uint64_t steps_shown; /* the highest value ever shown: a counter must not go back */
};

struct stet_pulse_device {
    size_t process;
    uint64_t plugin, device; /* PJRT's own number */
    uint64_t in_use, peak, limit;
};

/* All programs of one skeleton, in all processes. */
struct stet_pulse_family {
    struct stet_hash skeleton;
    char name[64];
    uint64_t programs, compiles, compile_ns;
    uint64_t wait_ns;  /* for all of its compiles, the first one too */
    uint64_t grown_ns; /* CLOCK_REALTIME of its newest program */
};

/* Recompiles by lane, rank and cause. What was waited includes what is not a recompile: a first
 * compile in the loop, a graph break. */
struct stet_pulse_cell {
    enum stet_lane lane;
    int64_t rank;
    enum stet_cause cause;
    bool other; /* all causes without a cell of their own */
    uint64_t count, wait_ns, cost_ns;
};

/* A story: one cause with everything that it made compile, as `stet explain` has it. */
struct stet_pulse_cause {
    enum stet_lane lane;
    int64_t rank; /* of the last one */
    enum stet_cause cause;
    char function[64], file[256], what[160], fix[256];
    uint64_t line, times, wait_ns, cost_ns, last_ns;
};

/* What one rank had of a cause. */
struct stet_pulse_share {
    size_t cause; /* its number */
    int64_t rank;
    uint64_t times, wait_ns, last_ns;
};

/* torch.compile's side of a process. */
struct stet_pulse_torch {
    uint64_t pid;
    int64_t rank;
    uint64_t frames, compiles, compile_ns, recompiles, wait_ns, lost_ns, breaks, limits;
};

struct stet_pulse {
    char run[64];
    uint64_t started_ns;
    struct stet_pulse_process *processes; /* STET_PULSE_PROCESSES, numbered as in the digest */
    size_t process_count;
    struct stet_pulse_device *devices;
    size_t device_count;
    struct stet_pulse_family *families;
    size_t family_count;
    uint64_t programs; /* distinct ones, in all families */
    struct stet_pulse_cell *cells;
    size_t cell_count;
    struct stet_pulse_cause *causes; /* the most expensive first */
    size_t cause_count;
    struct stet_pulse_share *shares; /* by cause */
    size_t share_count, share_room;
    struct stet_pulse_torch *torch; /* STET_PULSE_PROCESSES */
    size_t torch_count;
    bool explains;                        /* as stet_live_explains */
    struct stet_journal_damage damage;    /* of all journals */
    const struct stet_run_digest *digest; /* the live one's; valid until its next poll */
    /* Private to the pulse. */
    struct stet_exec *batch;
    struct stet_map known;  /* by a program's hash; the numbers mean nothing */
    uint32_t sightings;     /* sightings of the history already counted */
    uint64_t torch_records; /* records of the model at the last update */
    uint64_t live_changes;  /* stet_live_changes then */
};

/* NULL when memory is short. */
struct stet_pulse *stet_pulse_new(const char *run, uint64_t started_ns);
void stet_pulse_free(struct stet_pulse *p);

/* Returns the tap for stet_live_new. */
struct stet_live_tap stet_pulse_tap(struct stet_pulse *p);
/* Call it after each poll of `live`. `torch` may be NULL. With `last`, no records follow. */
void stet_pulse_update(struct stet_pulse *p, struct stet_live *live, struct stet_torch *torch,
                       bool last);
struct stet_account;
/* Counts the recompiles of an account, and takes its stories as the causes; everything counted
 * before is dropped. `process_of` gives the pulse's number of each of the account's processes; NULL
 * if the numbers are the same. */
enum stet_rc stet_pulse_recount(struct stet_pulse *p, const struct stet_account *a,
                                const size_t *process_of, size_t processes, struct stet_err *err);

/* Sums over processes. A `rank` of -2 means all ranks. */
struct stet_pulse_sum {
    uint64_t processes, running, compiles, compile_ns, compiling, failed, recompiles;
    uint64_t wait_ns, lost_ns;
    uint64_t benign, served[STET_SERVED_COUNT], misses, stored, stored_bytes, executions, loads,
        load_ns;
    uint64_t transfers[STET_DIRECTIONS], transfer_bytes[STET_MEASURED];
    uint64_t layer_ns, errors, faults, lost_records;
    uint64_t torch_processes, torch_frames, torch_compiles, torch_ns, torch_recompiles,
        torch_wait_ns, torch_lost_ns, torch_breaks, torch_limits;
    bool steps_known, rate_known;
    uint64_t steps;       /* of the process that has made the most steps */
    uint64_t steps_shown; /* the same, as a counter */
    double steps_rate;    /* of the slowest process that runs a loop */
    double executions_rate;
};

enum { STET_ALL_RANKS = -2 };

struct stet_pulse_sum stet_pulse_add_up(const struct stet_pulse *p, int64_t rank, uint64_t now_ns);

static inline bool stet_pulse_runs(const struct stet_pulse_process *q)
{
    return q->used && !q->ended && !q->gone;
}

/* Returns the platform's name, "cuda". */
struct stet_view stet_pulse_platform(const struct stet_pulse *p,
                                     const struct stet_pulse_device *device);
const char *stet_pulse_direction_name(enum stet_pulse_direction direction);

#endif
