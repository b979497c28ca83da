/* Shared by the two HLO readers (proto and text): builds a finished program from instructions. The
 * program is the caller's; the builder owns only its temporary tables. */
#ifndef STET_DECODE_HLO_BUILD_H
#define STET_DECODE_HLO_BUILD_H

#include "program/build.h"
#include "program/hlo.h"

/* An instruction as read, before its computation is complete. Operands precede their users, so they
 * are indices into the computation. */
struct stet_hlo_instr {
    uint64_t key; /* how others refer to it: the proto's id, or the hash of the name */
    struct stet_view name, opcode;
    const struct stet_hlo_op *op; /* NULL if this build does not know the opcode */
    const struct stet_type *type;
    const struct stet_loc *metadata; /* or NULL */
    struct stet_named_attr *attrs;   /* arena; unsorted */
    uint32_t *operands;              /* scratch; control predecessors last */
    uint32_t attr_count, operand_count, control_count;
    int64_t parameter; /* number, -1 for others */
    uint64_t offset;   /* in the input, for messages */
};

/* OpMetadata; zero and empty are absent. */
struct stet_hlo_metadata {
    struct stet_view op_type, op_name, source_file, deduplicated_name, scheduling_name, payload;
    int64_t line, end_line, column, end_column, frame;
    const int64_t *profile_types;
    uint32_t profile_type_count;
};

struct stet_hlo_file_location {
    int64_t file, function, line, end_line, column, end_column; /* file, function count from 1 */
};
struct stet_hlo_frame {
    int64_t location, parent; /* count from 1; 0 is none */
};
/* StackFrameIndexProto. */
struct stet_hlo_frames {
    const struct stet_view *files, *functions;
    const struct stet_hlo_file_location *locations;
    const struct stet_hlo_frame *frames;
    size_t file_count, function_count, location_count, frame_count;
};

/* Caches what was created from some bytes. */
struct stet_hlo_made {
    struct stet_view raw;
    const void *made;
};

enum { STET_HLO_MODULE_ATTRS = 32, STET_HLO_FIRST = 32 };

/* Room on the stack for small programs, which are the most common: their tables need no heap
 * memory. */
struct stet_hlo_room {
    struct stet_hlo_instr instrs[STET_HLO_FIRST];
    uint32_t slots[2 * STET_HLO_FIRST];
    _Alignas(8) char tables[14 << 10];
};

struct stet_hlo_build {
    struct stet_program *p;
    struct stet_arena *a;
    struct stet_arena scratch; /* tables, released when the program is built */
    struct stet_err *err;
    struct stet_hlo_instr *instrs; /* of the current computation */
    size_t instr_count, instr_room;
    bool scheduled;  /* the order of instructions is part of the program: keep it */
    bool by_id;      /* keys are ids, and XLA lists the instructions it loads in that order */
    uint32_t *slots; /* positions + 1 by key, a power of two */
    size_t slot_count;
    struct stet_build_list computations;
    struct stet_build_list offsets; /* where each began in the input, as pointers */
    struct stet_named_attr attrs[STET_HLO_MODULE_ATTRS]; /* of the module */
    uint32_t attr_count;
    const struct stet_loc **frames; /* by frame id - 1 */
    size_t frame_count;
    struct stet_hlo_made *cache;
    size_t cache_size;          /* a power of two */
    struct stet_hlo_room *room; /* the first `instrs` and `slots`; NULL while a computation is set
                                 * aside */
};

/* Initialises `p` (arena cap from the input's size). Always release it, before `room` goes out of
 * scope. On success the program is the caller's; otherwise stet_decode_hlo_build_release(b, false)
 * releases it. */
void stet_decode_hlo_build_init(struct stet_hlo_build *b, struct stet_hlo_room *room,
                                struct stet_program *p, size_t input, struct stet_err *err);
void stet_decode_hlo_build_release(struct stet_hlo_build *b, bool keep);
/* Reports out of memory, or the cap, as an error. */
enum stet_rc stet_decode_hlo_build_full(struct stet_hlo_build *b);

/* What was created from the same bytes before, or NULL; shapes and metadata are repeated very
 * often. */
const void *stet_decode_hlo_recall(struct stet_hlo_build *b, struct stet_view raw);
void stet_decode_hlo_remember(struct stet_hlo_build *b, struct stet_view raw, const void *made);

/* Appends a zeroed entry, or returns NULL. */
struct stet_hlo_instr *stet_decode_hlo_instr_add(struct stet_hlo_build *b);
/* Registers the last instruction for lookup; false if its key (and its name, with `by_name`) is
 * taken. */
bool stet_decode_hlo_instr_publish(struct stet_hlo_build *b, bool by_name);
/* Its index, or -1. `name` is compared if its pointer is not NULL. */
int64_t stet_decode_hlo_instr_find(const struct stet_hlo_build *b, uint64_t key,
                                   struct stet_view name);

/* Saves a computation while another one, inside it, is read. */
struct stet_hlo_open {
    struct stet_hlo_instr *instrs;
    size_t instr_count, instr_room;
    uint32_t *slots;
    size_t slot_count;
    struct stet_hlo_room *room;
};

/* Begins an empty computation inside the current one, and returns to the current one afterwards. */
void stet_decode_hlo_set_aside(struct stet_hlo_build *b, struct stet_hlo_open *to);
void stet_decode_hlo_take_up(struct stet_hlo_build *b, const struct stet_hlo_open *from);

/* Puts the instructions into the order in which XLA prints an unscheduled computation: operands
 * before users, starting from those without users. Builders number and list them in many ways, and
 * text has only this one. False if out of memory. */
bool stet_decode_hlo_post_order(struct stet_hlo_build *b, size_t *root);

/* Ends the computation: the instructions become one "hlo.computation", ordered as above unless the
 * module is scheduled. Parameters must be numbered 0 to n-1 without gaps. `offset` is where it
 * began, for messages. */
enum stet_rc stet_decode_hlo_computation_end(struct stet_hlo_build *b, struct stet_view name,
                                             size_t root, struct stet_view thread, uint64_t offset);

/* Adds frames; call it before any metadata refers to them. */
enum stet_rc stet_decode_hlo_build_frames(struct stet_hlo_build *b,
                                          const struct stet_hlo_frames *f);
/* NULL only when out of memory. */
const struct stet_loc *stet_decode_hlo_build_metadata(struct stet_hlo_build *b,
                                                      const struct stet_hlo_metadata *m);

void stet_decode_hlo_module_attr(struct stet_hlo_build *b, const char *name,
                                 const struct stet_attr *v);
/* Orders the computations as XLA prints them (callees first), creates the module, finds arguments,
 * donation and outputs, and numbers everything. */
enum stet_rc stet_decode_hlo_build_finish(struct stet_hlo_build *b, struct stet_view module,
                                          struct stet_view entry);

/* Adds an attribute in its stored form: slices, paddings and windows in their parts (hlo.h). NULL
 * adds nothing; what does not fit in `room` is left out. */
void stet_decode_hlo_put(struct stet_arena *a, struct stet_named_attr *attrs, uint32_t *count,
                         uint32_t room, enum stet_hlo_attr which, const struct stet_attr *v);
/* The module's entry_computation_layout of a FUNCTION type with layouts. */
const struct stet_attr *stet_decode_hlo_entry_layout(struct stet_arena *a,
                                                     const struct stet_type *t);

/* Attributes; NULL if the arena is full. */
struct stet_attr *stet_decode_hlo_new_int(struct stet_arena *a, int64_t v);
struct stet_attr *stet_decode_hlo_new_bool(struct stet_arena *a, bool v);
struct stet_attr *stet_decode_hlo_new_float(struct stet_arena *a, float v);
struct stet_attr *stet_decode_hlo_new_ints(struct stet_arena *a, const int64_t *v, uint32_t n);
struct stet_attr *stet_decode_hlo_new_word(struct stet_arena *a, const char *mnemonic,
                                           struct stet_view text);
struct stet_attr *stet_decode_hlo_new_string(struct stet_arena *a, struct stet_view text);
/* The attribute of a comparison with type=…, order=… or both (empty: absent); NULL for the default
 * of such operands. Newer XLA writes order=TOTAL where older XLA wrote type=TOTALORDER. */
struct stet_attr *stet_decode_hlo_comparison(struct stet_arena *a, const struct stet_type *operand,
                                             struct stet_view type, struct stet_view order);
/* A JSON object with its fields, and those inside it, sorted and without spaces; anything else
 * unchanged. */
struct stet_view stet_decode_hlo_sorted_json(struct stet_arena *a, struct stet_view json);
struct stet_attr *stet_decode_hlo_new_symbol(struct stet_arena *a, struct stet_view text);
struct stet_attr *stet_decode_hlo_new_type(struct stet_arena *a, const struct stet_type *t);
struct stet_attr *stet_decode_hlo_new_array(struct stet_arena *a,
                                            const struct stet_attr *const *items, uint32_t n);
/* The same of a list, which is released. */
struct stet_attr *stet_decode_hlo_array_of(struct stet_arena *a, struct stet_build_list *items);
/* The fields are adopted without a copy; `mnemonic` NULL creates a DICT. */
struct stet_attr *stet_decode_hlo_new_record(struct stet_arena *a, const char *mnemonic,
                                             const struct stet_named_attr *fields, uint32_t n);

#endif
