/* What torch.compile did, from its traces: frames, compiles, the guards that failed, graph breaks.
 * It is filled record by record, so it can be read while the run is in progress. Texts are in the
 * model's pool. */
#ifndef STET_INGEST_TORCH_H
#define STET_INGEST_TORCH_H

#include "base/intern.h"
#include "base/map.h"
#include "ingest/guard_text.h"
#include "ingest/trace.h"

#define STET_TORCH_NONE UINT32_MAX

/* Whether a compile did work. A record of a compile is not a cache miss: only the keys show
 * that. */
enum stet_torch_cache {
    STET_CACHE_UNSEEN,  /* the backend has no cache, or it was off */
    STET_CACHE_MISS,    /* compiled, then written */
    STET_CACHE_BYPASS,  /* compiled, and can't be written */
    STET_CACHE_SAME,    /* loaded; this run itself wrote it */
    STET_CACHE_EARLIER, /* loaded; an earlier run wrote it */
};

struct stet_torch_place {
    struct stet_view file, function;
    uint64_t line; /* 0 when not known */
};

/* A guard that failed against one cached entry. Texts are in the pool. */
struct stet_torch_failure {
    struct stet_view text; /* torch's text, without the entry's number */
    uint32_t entry;        /* of the same frame; STET_TORCH_NONE if unknown */
    uint32_t next;
    /* The parsed text (stet_ingest_guard_parse), kept because values over time are read often. */
    enum stet_guard_kind kind;
    int dim;
    struct stet_view source, expected, actual;
};

/* Dynamo's own note that something it had assumed constant changed. */
struct stet_torch_drift {
    struct stet_view source;   /* in the form for TORCH_COMPILE_DYNAMIC_SOURCES: L['x'] */
    struct stet_view from, to; /* values, if known */
    int dim;                   /* -1 for a scalar */
    bool scalar;
    uint32_t next;
};

/* A symbol that should be dynamic and became a constant. */
struct stet_torch_special {
    struct stet_view source, value, reason;
    struct stet_torch_place place;
    uint32_t next;
};

/* Why a CUDA graph was recorded again. */
enum stet_rerecord {
    STET_RERECORD_UNTOLD,
    STET_RERECORD_ADDRESS, /* one of the next three, unknown which */
    STET_RERECORD_STATIC,  /* a parameter or buffer has another address */
    STET_RERECORD_MANAGED, /* a result of another graph has another address */
    STET_RERECORD_LIVE,    /* what should have died is alive */
    STET_RERECORD_SIZE,    /* integers (sizes) that no graph was recorded for */
};

struct stet_torch_rerecord {
    enum stet_rerecord kind;
    struct stet_view input; /* the graph's name for it */
    struct stet_view size;  /* the last one */
    struct stet_torch_place place;
    uint32_t count;
    bool limit; /* torch gave up recording: it runs without a CUDA graph */
    uint32_t next;
};

struct stet_torch_phases { /* microseconds; 0 if unknown. Each contains the one after it. */
    uint64_t all, aot, inductor, codegen, kernels;
    uint64_t restarts; /* of `all`: attempts thrown away at graph breaks */
    uint64_t cudagraphs;
};

enum { STET_TORCH_WAITS = 8 };

struct stet_torch_compile {
    uint32_t frame, number; /* number: torch's own count within the frame, from 0 */
    uint32_t attempts;
    uint32_t next;     /* of the same frame, in order */
    uint64_t start_us; /* CLOCK_REALTIME; 0 if unknown */
    struct stet_torch_phases forward, backward;
    struct stet_torch_place call; /* the user's own line that called the frame */
    bool passes;                  /* its arguments are those of the frame: only torch is between */
    struct stet_torch_place near; /* without it: the user's own line that is nearest */
    struct stet_torch_place waits[STET_TORCH_WAITS]; /* the user's own lines, innermost first */
    uint32_t wait_count;
    uint32_t failures, last_failure, failure_count, drifts, specials;
    struct stet_view fail_type, fail_reason, bypass, cudagraph_skip;
    enum stet_torch_cache aot_cache, fx_cache;
    bool ended, limit;         /* metrics have come; it was refused, the limit was reached */
    uint32_t held, held_count; /* guards, see stet_torch_held */
    bool inferred;             /* the failures were found by comparing guards, not from the trace */
    /* CUDA graphs, by the trace and by TORCH_LOGS; reasons from the latter alone. */
    uint32_t recordings, text_recordings, rerecords, symbols;
    uint64_t recording_us;
    /* The first graph of a frame in a job of several ranks, plain (graph_text.h): equal graphs have
     * one pointer. Empty if there is none, or too much of it. */
    struct stet_view graph;
    struct stet_view settings; /* that are not at their defaults, plain (config_text.h) */
    bool settings_known;
    /* No graph was compiled before it. While torch compiles a graph it sets some settings and then
     * sets them to their defaults, after which they count as changed. */
    bool settings_fresh;
};

struct stet_torch_frame {
    uint32_t process;
    int64_t id;
    struct stet_torch_place code; /* the code object: function, file, first line */
    uint32_t first, last;         /* compiles; STET_TORCH_NONE for none */
    uint32_t compiles, breaks, nested;
    struct stet_view limit; /* "recompile_limit", "accumulated_recompile_limit"; empty: not hit */
    uint64_t limit_value;
};

/* A function of the user's own that a frame calls and that was compiled into it. */
struct stet_torch_nested {
    struct stet_torch_place place;
    uint32_t next;
};

struct stet_torch_break {
    uint32_t frame, compile, process;
    struct stet_torch_place place;
    struct stet_view code;          /* the line, if known */
    struct stet_view reason;        /* one line */
    struct stet_view why, hint, id; /* explanation, first hint, torch's catalogue number gb0059 */
    uint32_t count;
};

/* For a torch that does not record which guards fail: the guards of each entry, and its inputs. */
struct stet_torch_held {
    struct stet_view text, subject, value; /* its subject, and what it requires of it */
    bool tensor, bound;
};

struct stet_torch_size {
    uint32_t compile;
    struct stet_view source, size; /* "3, 4" */
};

/* A tensor that a frame took in when it was first compiled. */
struct stet_torch_input {
    uint32_t frame;
    struct stet_view source; /* L['x'] */
};

struct stet_torch_process {
    uint64_t pid;
    int64_t rank; /* -1 if unknown */
    struct stet_view torch_version;
    uint32_t source;
    bool traced;       /* by records of a trace, not only by lines that TORCH_LOGS printed */
    bool backend_used; /* Inductor has compiled a graph, or begun to */
};

struct stet_torch_fault {
    struct stet_view file;
    enum stet_trace_fault fault;
    uint64_t offset, line;
};

/* One part of a key of Inductor's cache. Texts are interned: equal ones have one pointer. */
struct stet_torch_component {
    struct stet_view name, digest, value; /* the value may be cut */
};

/* Settings that were written alike in several keys. */
struct stet_torch_setting_set {
    uint64_t hash;
    uint32_t first, count; /* components, by name */
    bool part;             /* there were more than are kept */
};

/* One lookup in a cache. */
struct stet_torch_key {
    struct stet_view id;  /* torch's own key */
    struct stet_view run; /* of an earlier run; empty: of this one */
    struct stet_view bypass;
    uint32_t compile; /* STET_TORCH_NONE in an earlier run */
    bool aot;         /* AOTAutograd's cache, whose keys have no components; else Inductor's */
    enum stet_torch_cache got;
    uint32_t first, count, settings; /* components by name; STET_TORCH_NONE: none */
    bool part;                       /* there were more than are kept, or it was cut off */
};

struct stet_torch_log;

#define STET_TORCH_FAULTS_KEPT 64

struct stet_torch {
    struct stet_intern pool;
    struct stet_torch_process *processes;
    struct stet_torch_frame *frames;
    struct stet_torch_compile *compiles; /* in the order in which they began */
    struct stet_torch_failure *failures;
    struct stet_torch_drift *drifts;
    struct stet_torch_special *specials;
    struct stet_torch_break *breaks;
    struct stet_torch_nested *nesteds;
    size_t nested_count, nested_room;
    struct stet_torch_rerecord *rerecords;
    size_t rerecord_count, rerecord_room;
    struct stet_torch_input *inputs;
    size_t input_count, input_room;
    bool tells_reasons; /* so far: then the next two stay as they are */
    struct stet_torch_held *held;
    struct stet_torch_size *sizes;
    size_t held_count, held_room, size_count, size_room;
    size_t process_count, frame_count, compile_count, failure_count, drift_count, special_count,
        break_count;
    size_t process_room, frame_room, compile_room, failure_room, drift_room, special_room,
        break_room;
    struct stet_map by_pid, by_frame, by_compile, by_break; /* hash of what names it -> items */
    struct stet_intern keys;                                /* cache keys that this run wrote */
    struct stet_torch_key *torch_keys;                      /* in the order of the lookups */
    struct stet_torch_component *components;
    struct stet_torch_setting_set *settings;
    size_t torch_key_count, torch_key_room, component_count, component_room, setting_count,
        setting_room;
    size_t graph_bytes;      /* that are kept of graphs */
    size_t settings_told;    /* compiles whose settings are known */
    bool keys_lost;          /* there were more than are kept */
    struct stet_view *parts; /* the files that were read, in order */
    size_t part_count, part_room;
    struct stet_torch_log **logs;
    size_t log_count, log_room;
    uint64_t records, bytes;
    uint64_t faults[STET_TRACE_FAULTS];
    struct stet_torch_fault kept[STET_TORCH_FAULTS_KEPT]; /* the first ones, located */
    size_t kept_count;
    struct stet_python_sources *sources; /* the user's files, read when a cause asks about them */
    bool failed;                         /* out of memory: what is there is right, but not all */
    /* Called when a compile has ended, or was refused at the limit; may be NULL. */
    void (*on_compile)(void *context, struct stet_torch *t, uint32_t compile);
    /* Called when a CUDA graph was recorded again; may be NULL. */
    void (*on_recording)(void *context, struct stet_torch *t, uint32_t compile);
    void *context;
    struct stet_buf scratch;
};

void stet_torch_init(struct stet_torch *t);
void stet_torch_release(struct stet_torch *t);

/* Adds a log named `file` (rank -1: not in the name). Its records come through the sink, which is
 * valid as long as the model. `group` is the folder: a forked process uses its parent's string
 * table, from a log of the same group. */
struct stet_torch_log *stet_torch_log_new(struct stet_torch *t, const char *file, const char *group,
                                          int64_t rank);
const struct stet_trace_sink *stet_torch_log_sink(struct stet_torch_log *log);

const char *stet_torch_cache_name(enum stet_torch_cache cache);
/* How often CUDA graphs of a compile were recorded. */
uint32_t stet_torch_recordings(const struct stet_torch_compile *c);
/* What is known of the reason; `rerecord` may be STET_TORCH_NONE: unknown. */
enum stet_rerecord stet_torch_rerecord_kind(const struct stet_torch *t, uint32_t compile,
                                            uint32_t rerecord);
const char *stet_torch_rerecord_words(enum stet_rerecord kind);
const char *stet_torch_rerecord_fix(enum stet_rerecord kind);
/* The compile of a frame with torch's own number, or STET_TORCH_NONE. */
uint32_t stet_torch_compile_at(const struct stet_torch *t, uint32_t frame, uint32_t number);
/* Compiles that were recompiles: all but the first of each frame. */
uint32_t stet_torch_recompiles(const struct stet_torch *t);

#endif
