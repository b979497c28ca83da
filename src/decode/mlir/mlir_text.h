/* Internal to the MLIR text reader: the scanner, the tables of names, and the parsers of types,
 * attributes, locations and operations, which call each other. Each is one file, mlir_*.c.
 *
 * The scanner works on characters, because the tokens of MLIR's grammar depend on the context
 * ("4x4xf32" in a tensor type). The first failure sticks: it is recorded with its line and column,
 * the cursor moves to the end of the text, every later step does nothing, and the caller checks
 * once. */
#ifndef STET_DECODE_MLIR_TEXT_H
#define STET_DECODE_MLIR_TEXT_H

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/mlir/mlir.h"
#include "decode/shared_attrs.h"
#include "program/build.h"
#include "program/records.h"

/* ---- names (mlir_names.c) ---- */

enum mlir_space {
    MLIR_VALUES,
    MLIR_BLOCKS,
    MLIR_ATTR_ALIASES,
    MLIR_TYPE_ALIASES,
    MLIR_TYPES,
    MLIR_RESOURCES
};

struct mlir_name {
    struct stet_view key;
    uint32_t space, scope;
    uint32_t next, hash;
    void *value;
};

/* Chained, and emptied only from the top: leaving a region drops what it defined. */
struct mlir_names {
    struct mlir_name *entries;
    uint32_t *buckets; /* as many as the entries have room for, a power of two */
    uint32_t count, room;
};

/* ---- the parser ---- */

/* A value name: its results, or the uses that wait for its definition. */
struct mlir_value {
    struct stet_view name;
    struct stet_value *values; /* NULL until defined */
    uint32_t count;
    struct mlir_use *uses;
    const char *where;            /* first use or definition */
    struct mlir_value *next_open; /* list of those used before defined */
};

struct mlir_use {
    struct stet_value **slot;
    const struct stet_type *type; /* what the user expects, or NULL */
    uint32_t number;
    const char *where;
    struct mlir_use *next;
};

/* "#name = …" or "!name = …", or a location's name used before that. */
struct mlir_alias {
    struct stet_view name;
    const struct stet_type *type; /* !name */
    const struct stet_attr *attr; /* #name */
    struct stet_loc *loc;         /* returned before the definition, which fills it */
    unsigned height;              /* nesting of the value */
    uint64_t weight;              /* its size when written out without aliases */
    const char *where;
    struct mlir_alias *next_open;
};

struct mlir {
    const char *start, *at, *end;
    struct stet_program *program; /* NULL if a single attribute or type is read */
    struct stet_arena *arena;
    struct stet_arena temporary; /* memory for the reader alone: uses of names */
    struct stet_err *err;
    enum stet_rc rc;         /* first failure */
    unsigned depth, deepest; /* current nesting; `deepest` includes expanded aliases */
    uint64_t weight;         /* attributes, types and locations so far, with aliases expanded */
    bool in_alias;           /* a definition can use only aliases above it, so none is circular */
    uint32_t left_out;       /* resources that are used but not in the text so far */
    uint32_t scopes;         /* handed out so far */
    uint32_t value_scope;    /* of the innermost isolated region */
    uint32_t region_scope;   /* of the innermost region, for block labels */
    struct mlir_value *open_values; /* used before defined, in this isolated region */
    struct mlir_label *labels;      /* of the blocks of the innermost region */
    struct mlir_names names;
    struct stet_shared_attrs interned;
    struct stet_buf scratch;                         /* a stack of list items, see MLIR_PUSH */
    struct stet_buf operands, attrs, types, results; /* stacks of the current operation */
    struct stet_buf bytes;                           /* elements of a dense attribute */
    const struct stet_loc *unknown;
    struct mlir_alias *open_aliases;  /* location aliases used before their definition */
    struct stet_view default_dialect; /* of operation names without a dot */
};

/* `text` is borrowed. Always release with stet_mlir_release. */
void stet_mlir_init(struct mlir *p, struct stet_arena *arena, struct stet_view text,
                    struct stet_err *err);
void stet_mlir_release(struct mlir *p);

/* Records "line L column C: …" and stops the scanner. Always false. */
bool stet_mlir_fail(struct mlir *p, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool stet_mlir_fail_rc(struct mlir *p, enum stet_rc rc, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
bool stet_mlir_no_memory(struct mlir *p);

static inline bool mlir_ok(const struct mlir *p)
{
    return p->rc == STET_OK;
}

/* Enters a nesting level; false (and failed) if it is too deep. Leave only a level that was
 * entered. */
bool stet_mlir_enter(struct mlir *p);
static inline void mlir_leave(struct mlir *p)
{
    p->depth--;
}

/* ---- scanner (mlir_scan.c): all skip white space and comments first ---- */

void stet_mlir_space(struct mlir *p);
/* The next character, or 0 at the end. */
char stet_mlir_peek(struct mlir *p);
bool stet_mlir_at(struct mlir *p, const char *punctuation);
bool stet_mlir_accept(struct mlir *p, const char *punctuation);
bool stet_mlir_expect(struct mlir *p, const char *punctuation);
/* As written, and a complete word if it is a word. */
bool stet_mlir_at_view(struct mlir *p, struct stet_view v);
/* A complete bare word: "to" does not match in "token". */
bool stet_mlir_at_word(struct mlir *p, const char *word);
bool stet_mlir_accept_word(struct mlir *p, const char *word);
bool stet_mlir_expect_word(struct mlir *p, const char *word);
/* letter or '_', then letters, digits, "_$."; empty and failed if there is none. */
struct stet_view stet_mlir_word(struct mlir *p, const char *what);
/* The same, but only empty if there is none. */
struct stet_view stet_mlir_optional_word(struct mlir *p);
/* What may follow '%', '^', '#', '!', '@': digits, or letters, digits and "$._-". Skips no
 * space. */
struct stet_view stet_mlir_suffix(struct mlir *p, const char *what);
/* Decimal with an optional '-'. */
int64_t stet_mlir_int(struct mlir *p);
uint32_t stet_mlir_u32(struct mlir *p);
/* A quoted string with its escapes removed; borrowed from the text if it has none. */
struct stet_view stet_mlir_string(struct mlir *p);
/* @name or @"name", without the '@'. */
struct stet_view stet_mlir_symbol(struct mlir *p);
/* From an opening bracket to its match, with strings respected; includes the brackets. */
struct stet_view stet_mlir_balanced(struct mlir *p);
/* False at `close`, which it takes; otherwise true, after taking the comma unless this is the first
 * item. */
bool stet_mlir_more(struct mlir *p, const char *close, bool *first);

/* ---- lists: items are pushed on a stack and move to the arena when the list ends ---- */

static inline size_t mlir_mark(const struct stet_buf *stack)
{
    return stack->len;
}
void stet_mlir_push(struct mlir *p, struct stet_buf *stack, const void *item, size_t size);
#define MLIR_PUSH(p, stack, item) stet_mlir_push((p), (stack), &(item), sizeof(item))
void stet_mlir_push_pointer(struct mlir *p, struct stet_buf *stack, const void *item);
/* Copies the items above `mark` to an arena array (NULL if there are none) and pops them. */
void *stet_mlir_pop(struct mlir *p, struct stet_buf *stack, size_t mark, size_t size,
                    uint32_t *count);

/* Item `i` above `mark` of a stack of pointers, and how many there are. */
const void *stet_mlir_pointer_at(const struct stet_buf *stack, size_t mark, uint32_t i);
uint32_t stet_mlir_pointer_count(const struct stet_buf *stack, size_t mark);

/* ---- names ---- */

void stet_mlir_names_release(struct mlir_names *t);
/* The slot of a name, created if absent (`*made`); NULL if out of memory. Valid until the next
 * call. */
struct mlir_name *stet_mlir_name(struct mlir *p, enum mlir_space space, uint32_t scope,
                                 struct stet_view key, bool *made);
struct mlir_name *stet_mlir_find(struct mlir *p, enum mlir_space space, uint32_t scope,
                                 struct stet_view key);
/* Drops the names above `mark`, except values that still wait for their definition. */
void stet_mlir_names_drop(struct mlir *p, uint32_t mark);

/* ---- types (mlir_type.c) ---- */

const struct stet_type *stet_mlir_type(struct mlir *p);
/* (a, b) -> c */
const struct stet_type *stet_mlir_function_type(struct mlir *p);

/* ---- attributes (mlir_attr.c, mlir_dense.c, mlir_known.c, mlir_sdy.c) ---- */

const struct stet_attr *stet_mlir_attr(struct mlir *p);
const struct stet_attr *stet_mlir_array(struct mlir *p);
/* {a = 1, b}: pushes struct stet_named_attr onto `stack`. The '{' is next. */
void stet_mlir_dict_entries(struct mlir *p, struct stet_buf *stack);
const struct stet_attr *stet_mlir_make(struct mlir *p, struct stet_attr a);
const struct stet_attr *stet_mlir_make_int(struct mlir *p, const struct stet_type *type, int64_t v);
const struct stet_attr *stet_mlir_make_bool(struct mlir *p, bool v);
const struct stet_attr *stet_mlir_make_string(struct mlir *p, struct stet_view v);
const struct stet_attr *stet_mlir_make_array(struct mlir *p, const struct stet_attr *const *items,
                                             uint32_t count);
/* Eight-byte elements in MLIR's form: array<i64: …> and dense<…> : tensor<…xi64>. */
const struct stet_attr *stet_mlir_make_i64_array(struct mlir *p, const int64_t *v, uint32_t count);
const struct stet_attr *stet_mlir_make_dense_i64(struct mlir *p, const struct stet_type *type,
                                                 const int64_t *v, uint32_t count);
/* [1, 2] as array<i64: 1, 2>; [false] as array<i1: …>. */
const struct stet_attr *stet_mlir_bare_array(struct mlir *p, const struct stet_type *element);
/* [1, ?, 2]: the numbers, in the arena. */
const int64_t *stet_mlir_dims(struct mlir *p, uint32_t *count);

/* After "dense<" and the like. */
const struct stet_attr *stet_mlir_dense(struct mlir *p);
const struct stet_attr *stet_mlir_dense_resource(struct mlir *p);
const struct stet_attr *stet_mlir_sparse(struct mlir *p);
const struct stet_attr *stet_mlir_dense_array(struct mlir *p);
/* A number as an attribute of `type`, or of the type that follows (": f32"), or i64 / f64. */
const struct stet_attr *stet_mlir_number(struct mlir *p, const struct stet_type *type);
/* One element of `size` bytes, "(1,2)" for complex ones. `out` is undefined after a failure. */
void stet_mlir_element(struct mlir *p, const struct stet_type *type, size_t size, char *out);
/* The section {-# … #-} at the end of a file. */
void stet_mlir_resources(struct mlir *p);

/* digits[.digits][e[+-]digits]; the cursor is at the first digit. */
double stet_mlir_decimal(struct mlir *p);

/* An attribute after "#dialect.mnemonic" (`dotted`) or "#dialect<mnemonic"; NULL if this build has
 * no table for it. In the second case the caller takes the '>'. */
const struct stet_attr *stet_mlir_known_attr(struct mlir *p, struct stet_view dialect,
                                             struct stet_view mnemonic, bool dotted);
const struct stet_attr *stet_mlir_conv_dimensions(struct mlir *p);
const struct stet_attr *stet_mlir_dot_dimensions(struct mlir *p);
/* By mnemonic, as it follows "#sdy.mnemonic" or appears in an operation's short form. */
const struct stet_attr *stet_mlir_sdy_attr(struct mlir *p, struct stet_view mnemonic);
/* [<@mesh, …>, …] without the angle brackets around it, as in operations. */
const struct stet_attr *stet_mlir_sdy_per_value(struct mlir *p);

/* user_origin, origins or reduction, as in the short forms of mpmd's operations. */
const struct stet_attr *stet_mlir_mpmd_attr(struct mlir *p, struct stet_view mnemonic);

/* A record that is being filled: slots in the order of its table, NULL for an absent field. */
struct mlir_record {
    const struct stet_attr_record *table;
    const struct stet_attr *fields[STET_RECORD_FIELDS];
};
/* Finds the table; every field starts NULL. */
struct mlir_record stet_mlir_record(const char *dialect, const char *mnemonic);
const struct stet_attr *stet_mlir_make_record(struct mlir *p, const struct mlir_record *r);
const struct stet_attr *stet_mlir_make_ints(struct mlir *p, const int64_t *v, uint32_t count);

/* ---- locations (mlir_loc.c) ---- */

/* loc(...) if it is next, else NULL. */
const struct stet_loc *stet_mlir_optional_loc(struct mlir *p);
/* The inside of loc(...). */
const struct stet_loc *stet_mlir_loc(struct mlir *p);

/* ---- aliases (mlir_alias.c) ---- */

/* "#name = …" or "!name = …" at the cursor. */
void stet_mlir_alias_definition(struct mlir *p);
/* The value of #name or !name, NULL if it is not defined (yet). */
struct mlir_alias *stet_mlir_alias(struct mlir *p, enum mlir_space space, struct stet_view name);
/* loc(#name), also before the definition. */
const struct stet_loc *stet_mlir_loc_alias(struct mlir *p);
/* At the end of the text: every alias must have been defined. */
void stet_mlir_check_aliases(struct mlir *p);

/* ---- operations (mlir_op.c, mlir_form.c, mlir_custom.c) ---- */

/* An operation while it is read: its lists are on the parser's stacks above these marks. */
struct mlir_op {
    uint32_t known; /* enum stet_known_op */
    struct stet_view name;
    const char *where;
    struct stet_region *regions;
    struct stet_block **successors;
    uint32_t region_count, successor_count;
    size_t operands, attrs, types, results;
    const struct stet_loc *loc; /* when the form has it inside */
};

struct mlir_operand {
    struct stet_view name;
    uint32_t number;
    const char *where;
};

struct mlir_arg {
    struct stet_view name;
    const struct stet_type *type;
    const struct stet_loc *loc;
    const struct stet_attr *attrs;
    const char *where;
};

/* %name or %name#1, pushed. */
void stet_mlir_operand(struct mlir *p);
bool stet_mlir_optional_operand(struct mlir *p);
uint32_t stet_mlir_operand_count(const struct mlir *p, const struct mlir_op *o);
void stet_mlir_add_attr(struct mlir *p, const char *name, const struct stet_attr *value);
/* A type for the next operand (checked against the value), and one for the next result. */
void stet_mlir_operand_type(struct mlir *p, const struct stet_type *t);
void stet_mlir_result_type(struct mlir *p, const struct stet_type *t);
/* {…} with `args` as the arguments of its first block; isolated regions cannot use names from
 * outside. */
void stet_mlir_region(struct mlir *p, struct mlir_op *o, struct stet_region *region,
                      const struct mlir_arg *args, uint32_t arg_count, bool isolated);
struct stet_region *stet_mlir_regions(struct mlir *p, struct mlir_op *o, uint32_t count);
/* %name : type loc(…) */
bool stet_mlir_arg(struct mlir *p, struct mlir_arg *out);
/* { … }, { … } ) into o->regions. */
void stet_mlir_region_list(struct mlir *p, struct mlir_op *o);
/* Every value used must have been defined by the end of an isolated region, and of the text. */
void stet_mlir_check_values(struct mlir *p);
/* ^name, in the innermost region; it may be defined later. */
struct stet_block *stet_mlir_successor(struct mlir *p);
bool stet_mlir_isolated(const struct mlir_op *o);
/* One whole operation, NULL after a failure. */
struct stet_op *stet_mlir_operation(struct mlir *p);
/* (types of the operands) -> types of the results, onto their stacks. */
void stet_mlir_signature(struct mlir *p);
/* Everything after the name in "op"(…). */
void stet_mlir_generic(struct mlir *p, struct mlir_op *o);
/* The short form of the operation o->stet_op_name(op); fails, naming it, if there is none. */
void stet_mlir_custom(struct mlir *p, struct mlir_op *o);
/* The full name ("func.return") of a short-form name ("return"). */
struct stet_view stet_mlir_op_name(struct mlir *p, struct stet_view name);

/* Short forms that need code: FORM_CODE(function) in mlir_forms.def. */
typedef void mlir_form_code(struct mlir *p, struct mlir_op *o);

#endif
