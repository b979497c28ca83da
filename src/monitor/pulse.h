/* How a run stands at this moment, over all its processes and both lanes: what `stet top` shows and
 * `stet metrics` gives out. Its size does not depend on how long the run goes on. */
#ifndef STET_MONITOR_PULSE_H
#define STET_MONITOR_PULSE_H

#include "ingest/torch.h"
#include "ledger/steps_live.h"
#include "monitor/live.h"

enum {
    STET_PULSE_PROCESSES = 256, /* as many as live.c follows */
    STET_PULSE_DEVICES = 1024,
    STET_PULSE_FAMILIES = 512,
    STET_PULSE_CELLS = 1024,
    STET_PULSE_CAUSES = 128,
};

enum stet_pulse_lane { STET_LANE_XLA, STET_LANE_TORCH, STET_LANES };

enum stet_pulse_direction { STET_TO_DEVICE, STET_TO_HOST, STET_BETWEEN, STET_DIRECTIONS };

/* A process that loaded a plugin. */
struct stet_pulse_process {
    bool used;
    bool ended; /* it said so: its totals are final */
    bool gone;  /* it is no longer there, or the run is over */
    uint64_t pid;
    int64_t rank; /* -1 when not known */
    char host[64];
    uint64_t last_ns;                      /* CLOCK_REALTIME of its last record */
    uint64_t compiles, compile_ns, failed; /* that came back; ns: inside the plugin */
    uint64_t begun, begun_ns;              /* compiles that were begun; when the last one was */
    char compiling[64];                    /* its name; valid while begun > compiles */
    uint64_t served[STET_SERVED_COUNT];    /* [0]: compiled */
    uint64_t misses, stored, stored_bytes; /* of the store */
    uint64_t loads, load_ns;               /* by the framework's own cache */
    uint64_t layer_ns;
    uint64_t recompiles, wait_ns, benign; /* wait: what was waited for them */
    uint64_t lost_ns;                     /* the compiler's part of that */
    uint64_t executions;
    uint64_t transfers[STET_DIRECTIONS], transfer_bytes[STET_DIRECTIONS];
    uint64_t errors, faults, lost_records;
    struct stet_steps_live steps;
    uint64_t steps_shown; /* the most that was ever known: a counter must not go back */
};

struct stet_pulse_device {
    size_t process;
    uint64_t plugin, device; /* PJRT's own number */
    uint64_t in_use, peak, limit;
};

/* All programs of one skeleton, in whichever process. */
struct stet_pulse_family {
    struct stet_hash skeleton;
    char name[64];
    uint64_t programs, compiles, compile_ns;
    uint64_t grown_ns; /* CLOCK_REALTIME of its newest program */
};

/* Recompiles by lane, rank and cause. */
struct stet_pulse_cell {
    enum stet_pulse_lane lane;
    int64_t rank;
    enum stet_cause cause;
    bool other; /* all causes for which there was no cell of their own */
    uint64_t count, wait_ns, cost_ns;
};

/* Recompiles that have one cause in one line. */
struct stet_pulse_cause {
    uint64_t key;
    enum stet_pulse_lane lane;
    int64_t rank; /* of the last one */
    enum stet_cause cause;
    char function[64], file[256], what[160], fix[256];
    uint64_t line, times, wait_ns, cost_ns, last_ns;
    uint64_t ranks; /* bit rank + 1, modulo 64, of each that had it */
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
    struct stet_pulse_cause *causes; /* in no order */
    size_t cause_count;
    struct stet_pulse_torch *torch; /* STET_PULSE_PROCESSES */
    size_t torch_count;
    bool explains;                        /* as stet_live_explains */
    struct stet_journal_damage damage;    /* of all journals */
    const struct stet_run_digest *digest; /* the live one's; valid until its next poll */
    /* The pulse's own. */
    struct stet_exec *batch;
    uint64_t *known; /* hashes of programs, open addressing */
    size_t known_count;
    uint32_t sightings; /* of the history that were looked at */
    struct stet_pulse_place {
        uint64_t cause; /* its key */
        uint32_t cell;  /* + 1; 0: not looked at */
    } *torch_places;    /* by torch compile: where it is counted */
    size_t torch_room;
    uint64_t torch_records; /* of the model when it was last looked at */
};

/* NULL when memory is short. */
struct stet_pulse *stet_pulse_new(const char *run, uint64_t started_ns);
void stet_pulse_free(struct stet_pulse *p);

/* The tap for stet_live_new. */
struct stet_live_tap stet_pulse_tap(struct stet_pulse *p);
/* After each poll of that live one. `torch` may be NULL. With `last` nothing more will come. */
void stet_pulse_update(struct stet_pulse *p, const struct stet_live *live,
                       const struct stet_torch *torch, bool last);

/* Sums over processes; `rank` -2 means all. */
struct stet_pulse_sum {
    uint64_t processes, running, compiles, compile_ns, compiling, failed, recompiles;
    uint64_t wait_ns, lost_ns;
    uint64_t benign, served[STET_SERVED_COUNT], misses, stored, stored_bytes, executions, loads,
        load_ns;
    uint64_t transfers[STET_DIRECTIONS], transfer_bytes[STET_DIRECTIONS];
    uint64_t layer_ns, errors, faults, lost_records;
    uint64_t torch_processes, torch_frames, torch_compiles, torch_ns, torch_recompiles,
        torch_wait_ns, torch_lost_ns, torch_breaks, torch_limits;
    bool steps_known, rate_known;
    uint64_t steps;       /* of the process that is furthest */
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

/* The platform's name, "cuda". */
struct stet_view stet_pulse_platform(const struct stet_pulse *p,
                                     const struct stet_pulse_device *device);
const char *stet_pulse_lane_name(enum stet_pulse_lane lane);
const char *stet_pulse_direction_name(enum stet_pulse_direction direction);

#endif
