/* The contract: what a run may compile, as written in a file (docs/contract.md has the grammar).
 * A family is a function with its arguments; several families may have one name, like overloads.
 * The command line parses, prints and packs a contract; the layer unpacks it. Everything belongs to
 * the contract's arena, which stet_gate_contract_release frees. */
#ifndef STET_GATE_CONTRACT_H
#define STET_GATE_CONTRACT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { STET_CONTRACT_VERSION = 1 };

enum stet_clause {
#define CLAUSE(id, name, what, holds) STET_CLAUSE_##id,
#include "gate/clauses.def"
#undef CLAUSE
    STET_CLAUSES
};

const char *stet_gate_clause_name(enum stet_clause c);
const char *stet_gate_clause_about(enum stet_clause c);
/* Does it apply to the target if the contract was made on the CPU backend? */
bool stet_gate_clause_travels(enum stet_clause c);

#define STET_NO_BUDGET UINT64_MAX

enum stet_dim_kind { STET_DIM_ANY, STET_DIM_SET, STET_DIM_RANGE };

/* The sizes that a dimension may have. A set contains INT64_MIN if a dynamic one ("?") is
 * allowed. */
struct stet_dim {
    enum stet_dim_kind kind;
    int64_t *values; /* sorted */
    uint32_t count, room;
    int64_t low, high, step;
};

bool stet_gate_dim_allows(const struct stet_dim *d, int64_t size);
/* False if memory runs out. */
bool stet_gate_dim_add(struct stet_dim *d, int64_t size, struct stet_arena *arena);

/* An argument, or all arguments with this prefix. */
struct stet_clause_arg {
    struct stet_view name;
    bool many;             /* the name ends in '*' */
    struct stet_view type; /* "float32", "float32|bfloat16"; "any" */
    bool any_shape;
    struct stet_dim *dims;
    uint32_t rank, line;
    bool donated;
    struct stet_view sharding, layout; /* empty: none */
};

/* flags XLA_FLAGS "--a", bundle Python "3.11.7" */
struct stet_pair {
    struct stet_view name, value;
    bool unset;
    uint32_t line;
};

struct stet_pairs {
    struct stet_pair *items;
    uint32_t count, room;
};

/* The clauses of a family and of the whole contract. */
struct stet_terms {
    uint64_t settled;   /* STET_NO_BUDGET: none given */
    uint64_t waited_ns; /* for all compiles of a process; the same */
    bool has_mesh;
    struct stet_view mesh; /* "data=2 model=4"; empty with has_mesh: none */
    uint32_t settled_line, waited_line, mesh_line;
    struct stet_pairs flags, bundle;
};

struct stet_family {
    struct stet_view name; /* "*" is any that is not named elsewhere */
    struct stet_clause_arg *args;
    uint32_t arg_count, arg_room;
    bool open;    /* ends in "...": further arguments are allowed */
    bool library; /* only for programs that no function of the user's made */
    uint64_t programs, graphs, options, compiles; /* budgets; STET_NO_BUDGET: none */
    bool has_calls;
    struct stet_view calls; /* custom kernels, sorted, separated by blanks */
    struct stet_terms terms;
    uint32_t line, programs_line;
    size_t begin, end; /* its place in the text */
};

/* torch.compile's lane. */
struct stet_clause_frame {
    struct stet_view function, file; /* file: its name without folders; may be empty */
    uint64_t programs, breaks;
    uint32_t line;
    size_t begin, end;
};

struct stet_contract {
    struct stet_arena arena;
    struct stet_view file; /* for messages */
    struct stet_view made_on;
    bool on_cpu; /* made on the embedded CPU backend */
    struct stet_family *families;
    uint32_t family_count, family_room;
    struct stet_clause_frame *frames;
    uint32_t frame_count, frame_room;
    struct stet_terms terms;
    /* torch: no recompile limit; no recompile after warm-up; no frame that fails to compile */
    bool no_limit, no_late, no_failure;
    uint32_t torch_line;
};

void stet_gate_contract_init(struct stet_contract *c);
void stet_gate_contract_release(struct stet_contract *c);

/* Messages are "FILE:LINE:COLUMN: what". On failure there is nothing to release. */
enum stet_rc stet_gate_contract_parse(struct stet_contract *c, struct stet_view text,
                                      const char *file, struct stet_err *err);
enum stet_rc stet_gate_contract_read(struct stet_contract *c, const char *path,
                                     struct stet_err *err);

/* As in a file, with a newline at the end. */
void stet_gate_contract_print(struct stet_buf *out, const struct stet_contract *c);
void stet_gate_contract_print_family(struct stet_buf *out, const struct stet_family *f);
/* Writes nothing if the contract has no clause for all frames. */
void stet_gate_contract_print_torch(struct stet_buf *out, const struct stet_contract *c);
void stet_gate_contract_print_frame(struct stet_buf *out, const struct stet_clause_frame *f);
void stet_gate_contract_print_pair(struct stet_buf *out, const char *word,
                                   const struct stet_pair *p);
/* "30 s", "1500 ms" */
void stet_gate_contract_print_wait(struct stet_buf *out, uint64_t ns);
void stet_gate_contract_print_dim(struct stet_buf *out, const struct stet_dim *d);
void stet_gate_contract_print_arg(struct stet_buf *out, const struct stet_clause_arg *a);

/* Appends a zeroed item; NULL if memory runs out. */
struct stet_family *stet_gate_contract_add_family(struct stet_contract *c);
struct stet_clause_frame *stet_gate_contract_add_frame(struct stet_contract *c);
struct stet_clause_arg *stet_gate_family_add_arg(struct stet_family *f, struct stet_arena *arena);
struct stet_pair *stet_gate_pairs_add(struct stet_pairs *p, struct stet_arena *arena);

/* Writes the checked, compact table of rules for the layer. `foreign`: the contract was made on the
 * CPU backend and is used elsewhere, so the backend's own clauses are left out. */
void stet_gate_contract_pack(struct stet_buf *out, const struct stet_contract *c, bool foreign);
enum stet_rc stet_gate_contract_unpack(struct stet_contract *c, struct stet_view bytes,
                                       struct stet_err *err);

#endif
