/* One recompile in the form that all lanes share: what `stet explain` prints and the ledger stores.
 * Texts are borrowed. */
#ifndef STET_LEDGER_RECOMPILE_H
#define STET_LEDGER_RECOMPILE_H

#include "cause/cause.h"
#include "cause/change.h"
#include "journal/vocabulary.h"

struct stet_line {
    struct stet_view file, function;
    uint64_t line; /* 0 when not known */
};

struct stet_json;
/* A place in the source, or null. */
void stet_recompile_line_json(struct stet_json *j, const char *key, const struct stet_line *l);

/* A text whose ptr is NULL is absent. */
struct stet_row_change {
    struct stet_view what, from, to;
    struct stet_view file;
    uint64_t line; /* 0 when not known */
    enum stet_change_kind kind;
    struct stet_view facet, follows; /* absent where there is none */
    uint64_t count;                  /* places that changed in the same way */
    uint64_t dim;                    /* the dimension whose size it is, + 1; 0 for none */
};

/* Begins the name of a counter: programs that JAX compiled on a backend that the layer does not
 * see. The line follows, because a process has one counter of a name. */
#define STET_COUNTER_UNSEEN "UnseenCompile"

/* What a row records. */
enum stet_row_event {
#define ROW_EVENT(id, word, what) STET_EVENT_##id,
#include "ledger/row_events.def"
#undef ROW_EVENT
    STET_ROW_EVENTS
};

const char *stet_ledger_event_word(enum stet_row_event e);
/* AGAIN for a word that this version does not know. */
enum stet_row_event stet_ledger_event_of(struct stet_view word);

/* What a framework counted itself in one process. */
struct stet_counter {
    uint64_t process;
    struct stet_view framework, name; /* "torch_xla"; "UncachedCompile", "aten::nonzero" */
    uint64_t samples, total;          /* total: of a metric, nanoseconds or bytes */
    /* The user's line, of an operation without a lowering and of a compile that the layer does not
     * see; line 0 if it is not known. */
    struct stet_line at;
};

struct stet_recompile {
    enum stet_lane lane;
    enum stet_row_event event;
    uint64_t process, compile; /* process: number within the run; compile: 0-based in it */
    int64_t rank;              /* -1 when not known */
    bool step_known, turn_known;
    uint64_t step;
    uint64_t turn;    /* of the loop: how often its function had run when this first ran */
    uint64_t time_ns; /* CLOCK_REALTIME of its beginning; 0 when not known */
    enum stet_cause cause;
    struct stet_cause_list also; /* further causes */
    struct stet_view function;
    struct stet_view program, against; /* 32 hex digits; absent where there is none */
    struct stet_line origin, trigger;
    struct stet_line source; /* where the value was made or read back; line 0 when not known */
    const struct stet_row_change *changes;
    size_t change_count, left_out;
    uint64_t wait_ns; /* what was waited for it: tracing to its first execution */
    uint64_t cost_ns; /* the part of that inside the compiler, or in loading */
    enum stet_served served;
    bool benign;
    enum stet_sure sure;
    struct stet_view evidence;
    bool has_memory, has_more;
    uint64_t temp_bytes;
    int64_t temp_bytes_more;
    struct stet_view fix;
    struct stet_view advice; /* a JSON object with the numbers behind the text; absent for none */
};

#endif
