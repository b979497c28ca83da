/* Shared by the files that fill the model. */
#ifndef STET_INGEST_TORCH_INTERNAL_H
#define STET_INGEST_TORCH_INTERNAL_H

#include "ingest/jscan.h"
#include "ingest/torch.h"

struct stet_torch_log {
    struct stet_torch *t;
    struct stet_trace_sink sink;
    struct stet_view file, group;
    int64_t rank;
    uint32_t process; /* of the last record; records of one process come in runs */
    uint32_t index;
    struct stet_view *strings; /* by id */
    size_t string_room;
    /* TORCH_LOGS text: what the lines so far belong to. */
    uint32_t text_compile;
    uint32_t text_break;
    struct stet_buf text;
    bool text_reason;
    struct stet_view described_id, described_size; /* the last tensor that was described */
    double recording_since;                        /* a CUDA graph, in microseconds; 0: none */
    /* The same from TORCH_LOGS: the last graph that was mentioned, and the reason for which it will
     * be recorded again, if it is. */
    uint32_t graph_compile, rerecord_of;
    struct stet_torch_rerecord rerecord;
    bool rerecord_limit;
};

/* Grows an array of the model by one zeroed item; returns its index, or STET_TORCH_NONE. */
uint32_t stet_torch_grow(struct stet_torch *t, void **items, size_t *count, size_t *room,
                         size_t size);
struct stet_view stet_torch_keep(struct stet_torch *t, struct stet_view text);
/* The same of raw JSON string text. */
struct stet_view stet_torch_keep_raw(struct stet_torch *t, struct stet_view raw);

uint64_t stet_torch_hash(uint64_t a, uint64_t b);

/* Of a record of a trace. */
uint32_t stet_torch_process_of(struct stet_torch_log *log, uint64_t pid, int64_t rank);
/* Of a line that TORCH_LOGS printed. */
uint32_t stet_torch_printed_process(struct stet_torch_log *log, uint64_t pid, int64_t rank);
/* The frame, created if it is new. `fresh` begins a new one under the same id:
 * torch._dynamo.reset() counts from 0 again. */
uint32_t stet_torch_frame_of(struct stet_torch *t, uint32_t process, int64_t id, bool fresh);
/* The compile, made when it is new. */
uint32_t stet_torch_compile_of(struct stet_torch *t, uint32_t frame, int64_t number);
/* {"str": [text, id]} */
void stet_torch_take_string(struct stet_torch_log *log, struct stet_view body);
/* An interned string of a log, or of its parent's; empty if it is in neither. */
struct stet_view stet_torch_string(const struct stet_torch_log *log, int64_t id);
/* What a stack shows of the call of a frame; see struct stet_torch_compile. */
struct stet_torch_caller {
    struct stet_torch_place call, near;
    bool passes;
    struct stet_torch_place waits[STET_TORCH_WAITS]; /* the outermost first, until it is kept */
    uint32_t wait_count;
};

/* A list of stack frames: the last one (the code object) and the user's own lines before it. */
void stet_torch_stack(struct stet_torch_log *log, struct stet_jscan *j,
                      struct stet_torch_place *last, struct stet_torch_caller *caller);
void stet_torch_add_failure(struct stet_torch *t, uint32_t compile, struct stet_view text);
void stet_torch_hit_limit(struct stet_torch *t, uint32_t compile, struct stet_view reason);
void stet_torch_done(struct stet_torch *t, uint32_t compile);

void stet_torch_metrics(struct stet_torch *t, uint32_t compile, struct stet_view body,
                        bool backward);
void stet_torch_reasons(struct stet_torch *t, uint32_t compile, struct stet_view payload);
uint32_t stet_torch_add_break(struct stet_torch *t, uint32_t compile, struct stet_view payload);
/* The name of a chromium event. */
struct stet_view stet_torch_event_name(struct stet_view payload);
/* The event "compile_attempt_0": when the compile began, until its metrics say so. */
void stet_torch_began(struct stet_torch *t, uint32_t compile, struct stet_view payload);
/* The instant event "automatic_dynamic". */
void stet_torch_drifted(struct stet_torch *t, uint32_t compile, struct stet_view payload);
/* Reads a key's list of components; with STET_TORCH_NONE it is skipped. */
void stet_torch_key_components(struct stet_torch *t, uint32_t key, struct stet_jscan *j);
void stet_torch_cache_event(struct stet_torch *t, uint32_t compile, struct stet_view name,
                            struct stet_view payload);
/* What old traces have instead of reasons, and the reasons derived from it. */
void stet_torch_hold_guards(struct stet_torch *t, uint32_t compile, struct stet_view payload);
void stet_torch_describe(struct stet_torch_log *log, struct stet_view body);
void stet_torch_described(struct stet_torch_log *log, uint32_t compile, struct stet_view body);
void stet_torch_infer(struct stet_torch *t, uint32_t compile);
/* The comments of a graph name the functions that its operations come from. */
void stet_torch_take_nested(struct stet_torch *t, uint32_t compile, struct stet_view graph);
void stet_torch_specialised(struct stet_torch_log *log, uint32_t compile, struct stet_view body);
/* A chromium event of a CUDA graph's recording. */
void stet_torch_recorded(struct stet_torch_log *log, uint32_t process, struct stet_view payload);
/* A line of TORCH_LOGS=cudagraphs. */
void stet_torch_graph_text(struct stet_torch_log *log, const struct stet_trace_line *line,
                           struct stet_view v);
void stet_torch_graph_flush(struct stet_torch_log *log);
/* The compile of a line that TORCH_LOGS printed. */
uint32_t stet_torch_text_compile(struct stet_torch_log *log, const struct stet_trace_line *line,
                                 int64_t frame, int64_t number);
void stet_torch_text(struct stet_torch_log *log, const struct stet_trace_line *line);
/* The lines that were collected for a reason or a break belong together. */
void stet_torch_text_flush(struct stet_torch_log *log);

#endif
