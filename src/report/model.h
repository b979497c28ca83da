/* Everything that a report shows of one run. The command fills it, model_json.c writes it as JSON,
 * and the page draws it. The struct owns its lists and texts. */
#ifndef STET_REPORT_MODEL_H
#define STET_REPORT_MODEL_H

#include "base/err.h"
#include "base/intern.h"
#include "base/json.h"
#include "journal/format.h"
#include "journal/vocabulary.h"
#include "ledger/ledger.h"
#include "ledger/run_folder.h"
#include "ledger/startup.h"
#include "session/account.h"
#include "session/avoided.h"
#include "session/divergence.h"
#include "story/story.h"

enum stet_report_kind {
    STET_REPORT_COMPILE,
    STET_REPORT_LOAD, /* of a serialised executable */
    STET_REPORT_FAILED,
    STET_REPORT_OPEN, /* did not return */
};

/* What a compile consists of, in order. The parts add up to the wait, unless the user's thread went
 * on while others compiled: then the wait is shorter. */
struct stet_report_parts {
    uint64_t call_at_ns; /* CLOCK_REALTIME of the call into the compiler */
    uint64_t trace_ns, lower_ns, between_ns, call_ns, until_run_ns;
};

/* A compile in either lane, or a load. */
struct stet_report_event {
    uint64_t time_ns;                                        /* CLOCK_REALTIME; 0 when not known */
    uint64_t wait_ns, cost_ns, step, temp_bytes, executions; /* cost: inside the compiler */
    uint32_t process, family;
    uint32_t program; /* STET_INTERN_NONE for none */
    int32_t cause;    /* the number of its story; -1: the first of its kind */
    uint8_t kind, served;
    bool step_known, has_memory;
    struct stet_report_parts parts;
    struct stet_frames stack; /* that waited: the user's own lines, innermost first */
};

struct stet_report_process {
    bool torch;
    uint64_t pid, devices, steps, executions, to_device_bytes, to_host_bytes;
    int64_t rank; /* -1 when not known */
    struct stet_view host, python, plugin, platform;
    bool steps_known;
    const char *steps_why; /* a literal, or NULL */
    const struct stet_step_mark *marks;
    size_t mark_count;
    /* Its events, and the event of the nth compile: event + 1, or 0. */
    uint32_t *by_index, index_count;
};

enum { STET_REPORT_SAMPLES = 512 };

/* A device's memory over time. */
struct stet_report_sample {
    uint64_t time_ns, in_use, peak;
};

struct stet_report_device {
    uint32_t process;
    uint64_t device, limit, every, seen;
    struct stet_report_sample samples[STET_REPORT_SAMPLES];
    size_t count;
};

/* Programs of one skeleton and function; in the torch lane a frame's function. */
struct stet_report_family {
    uint32_t function; /* name */
    uint32_t skeleton; /* name: the first hex digits, or STET_INTERN_NONE when it was not read */
    bool torch;
};

/* The arguments of one function: a row for each argument that changed, a column for each
 * program. */
struct stet_report_row {
    uint32_t name, *cells; /* names, STET_INTERN_NONE where there is none */
};

struct stet_report_grid {
    uint32_t function;
    bool torch;
    uint32_t *events; /* a column each */
    struct stet_report_row *rows;
    uint32_t columns, row_count;
    uint32_t steady, more; /* rows that never changed; columns left out */
};

struct stet_report_question {
    const char *key, *text;
    struct stet_answer answer;
};

enum { STET_REPORT_QUESTIONS = STET_QUESTIONS };

struct stet_report_run {
    struct stet_arena arena; /* grids, texts */
    const struct stet_run *run;
    struct stet_intern names, programs; /* programs: 32 hex digits each */
    struct stet_intern family_keys;
    uint32_t *program_family, *program_against;
    struct stet_report_process *processes;
    struct stet_report_event *events;
    struct stet_report_family *families;
    struct stet_report_device *devices;
    struct stet_report_grid *grids;
    size_t process_count, process_room, event_count, event_room, family_count, family_room,
        device_count, device_room, grid_count, grid_room, program_room;
    struct stet_stories stories;
    struct stet_divergences divergences; /* ranks that do not compile the same */
    uint32_t *row_event; /* by recompile: its event + 1, until the stories are finished */
    size_t row_room;
    uint64_t compiles, loads, failed, executions, compile_ns, distinct; /* of the XLA lane;
                                                                          distinct: programs */
    uint64_t torch_compiles, torch_ns;
    uint64_t alarms, recompiles, harmless, wait_ns, lost_ns; /* alarms: of every kind */
    bool starts; /* it is known where the time until the first step went: */
    struct stet_startup startup;
    bool settled;
    uint64_t settled_step;
    enum stet_unsettled unsettled;
    struct stet_report_question questions[STET_REPORT_QUESTIONS];
    struct stet_avoided_sum avoided, served[STET_SERVED_COUNT]; /* all, and by what served it */
    struct stet_buf avoided_json; /* the members that stet_avoided_json writes; empty for none */
    uint64_t undecoded;           /* programs whose arguments and family were not read */
    struct stet_buf buckets;      /* JSON of the functions whose sizes varied; empty for none */
    struct stet_buf fits;         /* JSON of its fits, separated by commas; empty for none */
    struct stet_buf torch;        /* JSON of frames and graph breaks; empty for none */
    bool failed_memory;           /* sticky */
};

/* False if memory runs out; release either way. */
bool stet_report_init(struct stet_report_run *r, const struct stet_run *run);
void stet_report_release(struct stet_report_run *r);

/* Room for one more, zeroed; NULL (and failed_memory) if memory runs out. Pointers into the list do
 * not survive it. */
struct stet_report_process *stet_report_add_process(struct stet_report_run *r);
struct stet_report_event *stet_report_add_event(struct stet_report_run *r);
struct stet_report_device *stet_report_add_device(struct stet_report_run *r);
struct stet_report_grid *stet_report_add_grid(struct stet_report_run *r);
/* The program's number, created if new. */
uint32_t stet_report_program(struct stet_report_run *r, struct stet_hash hash);
/* The family's number, created if new; `skeleton` is empty if unknown. */
uint32_t stet_report_family(struct stet_report_run *r, struct stet_view function,
                            struct stet_view skeleton, bool torch);
/* Adds one sample; every other one is dropped when there is no room. */
void stet_report_sample(struct stet_report_device *d, const struct stet_report_sample *s);
/* The event of `index` in its process; NULL if there is none. */
struct stet_report_event *stet_report_event_of(struct stet_report_run *r, uint64_t process,
                                               uint64_t index);
/* Assigns indices to the process's events from `first` on: index_of[i] is that of event first + i,
 * UINT32_MAX for none. */
bool stet_report_index(struct stet_report_run *r, struct stet_report_process *p, uint32_t first,
                       const uint32_t *index_of, uint32_t count);

/* Which part of the run's time its processes waited for recompiles, 0 to 1. Negative if that is not
 * known: the run has not ended, nothing compiled, or threads waited at the same time for longer
 * than the run took. `processes` receives how many compiled. */
double stet_report_share(const struct stet_report_run *r, uint32_t *processes);

/* One run of stet.report/1, as a value of the array or object that is open. */
void stet_report_json(struct stet_json *j, const struct stet_report_run *r);

#endif
