/* The HLO dialect: its opcodes and attributes by number, from hlo.def.
 *
 * An HLO program has this form: "hlo.module" contains one "hlo.computation" for each computation.
 * The arguments of its block are the parameters, and its last operation is "hlo.return" with the
 * root. An instruction is "hlo.<opcode>" with one result (a tuple has a tuple type) and attributes
 * named as in XLA's text. Control predecessors are trailing operands, counted by the attribute
 * "control-predecessors". The instruction's name is the outermost NAME of its location, which every
 * comparison ignores; a FUSED location inside keeps XLA's own metadata in its dictionary, so that
 * it prints unchanged. */
#ifndef STET_PROGRAM_HLO_H
#define STET_PROGRAM_HLO_H

#include "program/program.h"

enum stet_hlo_attr {
    STET_HLO_A_NONE,
#define HLO_ATTR(identifier, name, form) STET_HLO_A_##identifier,
#include "program/hlo.def"
#undef HLO_ATTR
    STET_HLO_ATTRS
};

/* How a value is written in text, and which kind of attribute it becomes. */
enum stet_hlo_form {
    STET_HLO_F_INT,     /* 3: INTEGER */
    STET_HLO_F_BOOL,    /* true: BOOL */
    STET_HLO_F_FLOAT,   /* 1e-05: FLOAT of f32 */
    STET_HLO_F_INTS,    /* {0,1}: INTS */
    STET_HLO_F_LISTS,   /* {{0,1},{2,3}}: ARRAY of INTS, or {0,1}: INTS */
    STET_HLO_F_BOOLS,   /* {true,false}: INTS */
    STET_HLO_F_WORD,    /* GT: ENUM */
    STET_HLO_F_WORDS,   /* {highest,default}: ARRAY of ENUM */
    STET_HLO_F_STRING,  /* "text": STRING */
    STET_HLO_F_CONFIG,  /* "text" or a JSON dictionary: STRING */
    STET_HLO_F_STRINGS, /* {key="text"}: DICT of STRING, sorted */
    /* three that are stored in parts, named as in StableHLO, so that shapes, starts and strides can
     * change separately (stet_hlo_part) */
    STET_HLO_F_SLICE,       /* {[0:4:2]}: start_indices, limit_indices, strides; INTS each */
    STET_HLO_F_PADDING,     /* 1_1x0_0_2: edge_padding_low, _high, interior_padding; INTS each */
    STET_HLO_F_WINDOW,      /* {size=3x3 pad=1_1x1_1}: window_dimensions, INTS; the rest a RECORD */
    STET_HLO_F_LABELS,      /* bf01_oi01->bf01: STRING */
    STET_HLO_F_GROUPS,      /* {{0,1}}: ARRAY of INTS; [2,2]<=[4]: STRING; meshes: STRING */
    STET_HLO_F_COMPUTATION, /* %add: SYMBOL */
    STET_HLO_F_COMPUTATIONS, /* {%a, %b}: ARRAY of SYMBOL */
    STET_HLO_F_SHAPE,        /* f32[2]{0}: TYPE */
    STET_HLO_F_SHAPES,       /* {f32[2]{0}}: ARRAY of TYPE */
    STET_HLO_F_ALIASING,     /* {{0}: (1, {})}: ARRAY of RECORD of output, operand, index */
    STET_HLO_F_SHARDING,     /* {devices=[2]0,1}: STRING, without its metadata */
    STET_HLO_F_LITERAL,      /* DENSE, ARRAY for tuples */
    STET_HLO_F_BRACES,       /* kept as written between its braces: STRING */
    STET_HLO_F_CONTROL,      /* {%a}: operands, and an INTEGER */
    STET_HLO_F_METADATA,     /* the location */
};

/* Attributes of a module that are compile options. The text shows them, but a proto alone does not
 * contain them, so they are in no hash. Ends with NULL. */
extern const char *const stet_hlo_options[];
bool stet_hlo_is_option(struct stet_view attr);

struct stet_hlo_op {
    const char *opcode;
    unsigned char attrs[20]; /* enum stet_hlo_attr in printed order, 0 ends it */
};

/* NULL for an opcode that this build does not know. */
const struct stet_hlo_op *stet_hlo_op(struct stet_view opcode);
/* The entry of an operation; NULL if it is not a known "hlo." operation. */
const struct stet_hlo_op *stet_hlo_op_of(const struct stet_op *op);
/* Its number in ops.h. */
uint32_t stet_hlo_known(const struct stet_hlo_op *op);

/* Attributes every opcode may have, in printed order; 0 ends it. */
extern const unsigned char stet_hlo_tail[];
const char *stet_hlo_attr_name(enum stet_hlo_attr a);
enum stet_hlo_form stet_hlo_attr_form(enum stet_hlo_attr a);
/* STET_HLO_A_NONE if there is no such name. */
enum stet_hlo_attr stet_hlo_attr_by_name(struct stet_view name);

enum stet_element {
    STET_ELEMENT_NONE,
#define INTEGER(name, text, python, bits, sign)  STET_ELEMENT_##name,
#define FLOAT(name, text, python, bits)          STET_ELEMENT_##name,
#define COMPLEX(name, text, python, bits, parts) STET_ELEMENT_##name,
#include "program/elements.def"
    STET_ELEMENTS
};

/* NONE if HLO has no such type. */
enum stet_element stet_hlo_element_of(const struct stet_type *t);
/* "f32" for the element type, NULL if HLO has no such type. The reverse creates the type in the
 * arena, NULL if the name is unknown. */
const char *stet_hlo_element_name(const struct stet_type *t);
const struct stet_type *stet_hlo_element(struct stet_arena *a, struct stet_view name);
/* "float32", as numpy and JAX call the type; NULL as above. The second takes HLO's name, "f32". */
const char *stet_hlo_element_python(const struct stet_type *t);
const char *stet_hlo_element_python_of(struct stet_view name);

/* XLA's own text. */
struct stet_hlo_print {
    bool percent;        /* %names, and computations with their signature */
    bool operand_shapes; /* f32[2]{0} before each operand */
    bool metadata;
    bool index_notes;     /* a comment with the index at each fifth operand */
    bool large_constants; /* otherwise {...} above ten elements */
    bool control;         /* control-predecessors */
    bool frame_ids;       /* stack_frame_id in the metadata; XLA prints it since late 2025 */
    bool stack;           /* stack={file:line:column:function, …} in place of stack_frame_id */
};
/* Like `HloModule::ToString()` of current XLA (HloPrintOptions::Default and ShortParsable). */
extern const struct stet_hlo_print stet_hlo_print_long, stet_hlo_print_short;

struct stet_buf;
/* STET_UNSUPPORTED if the program is not HLO, or has names that HLO text cannot express. */
enum stet_rc stet_print_hlo(const struct stet_program *p, const struct stet_hlo_print *how,
                            struct stet_buf *out, struct stet_err *err);
/* What is before member i of a list: every fifth has its number. */
void stet_print_hlo_comma(struct stet_buf *out, uint32_t i);
void stet_print_hlo_type(struct stet_buf *out, const struct stet_type *t, bool layout);

#endif
