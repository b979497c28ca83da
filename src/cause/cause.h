/* The reasons why a program was compiled again: one vocabulary for both lanes.
 * causes.def has the list. A cause is an enum in the evidence, in the ledger's rows and in the
 * printing code. Its id is made when it is written and looked up when it is read. Nothing else in
 * the tree compares ids. All returned texts are literals. */
#ifndef STET_CAUSE_CAUSE_H
#define STET_CAUSE_CAUSE_H

#include "base/view.h"

enum stet_cause {
    STET_CAUSE_NONE, /* nothing to explain */
#define CAUSE(identifier, id, lane, question, thing, facet, step, flags, about, page)              \
    STET_CAUSE_##identifier,
#include "cause/causes.def"
    STET_CAUSES
};

/* The three questions that every run answers. */
enum stet_cause_question {
    STET_QUESTION_SHAPES,
    STET_QUESTION_PROFILE,
    STET_QUESTION_BRANCH,
    STET_QUESTIONS
};

#define STET_QUESTION_NONE STET_QUESTIONS

/* The things of which a launch should change one at a time. */
enum stet_cause_thing {
    STET_THING_SHAPES,
    STET_THING_PROFILE,
    STET_THING_SHARDING,
    STET_THING_BRANCH,
    STET_THING_BUNDLE,
    STET_THING_CONSTANTS,
    STET_THINGS
};

#define STET_THING_NONE STET_THINGS

/* What a cause is about. A rule that holds for several causes asks for one of these. */
enum stet_cause_flag {
    /* How a guard's cause fits the cause of the program that it led to. */
    STET_CAUSE_IS_NUMBER = 1 << 0,   /* a number changed; what the number did is not known */
    STET_CAUSE_NUMBER_DOES = 1 << 1, /* what a number that changed did in the program */
    STET_CAUSE_IS_SIZE = 1 << 2,     /* a size changed; where it came from is not known */
    STET_CAUSE_SIZE_FROM = 1 << 3,   /* where a size that changed came from */
    STET_CAUSE_IN_VIEW = 1 << 4,     /* of a view, which TorchTPU folds into what uses it */
    STET_CAUSE_OTHER_CODE = 1 << 5,  /* other operations ran */
    STET_CAUSE_UNDECIDED = 1 << 6,   /* the same; what decided it is not known */
    /* What it explains. */
    STET_CAUSE_VAGUE = 1 << 7,         /* the programs differ, and no other cause describes it */
    STET_CAUSE_HARMLESS = 1 << 8,      /* happens once; never counted as lost */
    STET_CAUSE_DESCRIBES = 1 << 9,     /* how the program differs; a value may be the reason */
    STET_CAUSE_IS_FORM = 1 << 10,      /* an array has other sizes, another rank or element type */
    STET_CAUSE_IS_STRUCTURE = 1 << 11, /* operations or arguments came or went */
    STET_CAUSE_GIVES_WAY = 1 << 12, /* a value changed; if other code ran too, that comes first */
    STET_CAUSE_FOLLOWS_SIZE = 1 << 13, /* may follow from a size that changed inside the program */
    STET_CAUSE_NO_CODE = 1 << 14,      /* of arguments alone: code that came has another cause */
    STET_CAUSE_MAY_COUNT = 1 << 15,    /* a counter, if the number goes on changing */
    STET_CAUSE_BELOW = 1 << 16,        /* something below all programs differs */
    STET_CAUSE_BETWEEN_LAUNCHES = 1 << 17, /* also named against an earlier launch */
    /* Where the line to edit is. */
    STET_CAUSE_OF_ARGUMENT = 1 << 18,  /* where an argument of the call was made */
    STET_CAUSE_OF_PRESENCE = 1 << 19,  /* that argument came or went */
    STET_CAUSE_OF_TYPE = 1 << 20,      /* that argument has another element type */
    STET_CAUSE_OF_PLACE = 1 << 21,     /* where that argument was placed, not where it was made */
    STET_CAUSE_OF_JIT = 1 << 22,       /* where the function was jitted, if no argument shows it */
    STET_CAUSE_HAS_VARIABLE = 1 << 23, /* where a variable that holds the number is assigned */
    STET_CAUSE_READS_BACK = 1 << 24,   /* where a value is read back, which ends a lazy graph */
    /* Is it named for a single operation outside jit? Otherwise that is part of a storm. */
    STET_CAUSE_NAMES_LINE = 1 << 25,
    STET_CAUSE_NAMES_LINE_IF_CERTAIN = 1 << 26,
};

/* The kind of line that a cause is about. Programs of PyTorch/XLA have no lines, so the loop that
 * runs them is searched for such a line. */
enum stet_cause_step {
    STET_STEP_NONE,
    STET_STEP_FEEDS,      /* brings an array to the device */
    STET_STEP_FEEDS_SIZE, /* the same, if an argument's size changed */
    STET_STEP_SELECTS,    /* selects elements by their values */
    STET_STEP_UPDATES,    /* lets the optimizer take its step */
    STET_STEP_CLEARS,     /* takes the gradients away */
    STET_STEP_COMPUTES,   /* passes a number to the operation that differs */
};

/* Which framework a fix is for. */
enum stet_cause_fix_for {
    STET_FIX_ANY,
    STET_FIX_JAX,
    STET_FIX_TORCH_XLA,
    STET_FIX_TORCH_TPU,
    STET_FIX_TORCH_COMPILE
};

/* "shape-drift"; "" for STET_CAUSE_NONE. */
const char *stet_cause_id(enum stet_cause c);
/* One line: "the size of a dimension differs". */
const char *stet_cause_about(enum stet_cause c);
/* Returns its page under docs/, with an anchor if it is a part of one: "diff.md#classes". */
const char *stet_cause_page(enum stet_cause c);
/* STET_CAUSE_NONE when this version has no such id. */
enum stet_cause stet_cause_find(struct stet_view id);
/* STET_QUESTION_NONE when it answers none of them. */
enum stet_cause_question stet_cause_question(enum stet_cause c);
/* STET_THING_NONE when nothing moved. */
enum stet_cause_thing stet_cause_thing(enum stet_cause c);
enum stet_cause_step stet_cause_step(enum stet_cause c);
/* Has it any of these flags (enum stet_cause_flag)? */
bool stet_cause_is(enum stet_cause c, unsigned flags);
/* Returns the fix, with the placeholders of causes.def. A framework that compiles with XLA and has
 * no row of its own gets that of STET_FIX_ANY; "" when there is none. A literal. */
const char *stet_cause_fix(enum stet_cause c, enum stet_cause_fix_for framework);

const char *stet_cause_question_key(enum stet_cause_question q);
const char *stet_cause_question_text(enum stet_cause_question q);
const char *stet_cause_thing_name(enum stet_cause_thing t);

/* ---- confidence ---- */

enum stet_sure { STET_SURE_GUESS, STET_SURE_LIKELY, STET_SURE_CERTAIN };

const char *stet_sure_name(enum stet_sure s);
/* STET_SURE_GUESS for a word that this version does not have. */
enum stet_sure stet_sure_find(struct stet_view name);

/* ---- several causes of one recompile ---- */

/* The largest number of causes, and the room that their ids need. */
enum { STET_CAUSE_LIST = 12, STET_CAUSE_LIST_TEXT = 400 };

/* The order is that of printing. */
struct stet_cause_list {
    enum stet_cause items[STET_CAUSE_LIST];
    uint32_t count;
};

/* Adds a cause. Leaves out STET_CAUSE_NONE, causes that are already in the list, and those beyond
 * the room. */
void stet_cause_list_add(struct stet_cause_list *l, enum stet_cause c);
bool stet_cause_list_has(const struct stet_cause_list *l, enum stet_cause c);
/* Writes the ids to `room`, separated by blanks, as the ledger and JSON have them. */
struct stet_view stet_cause_list_text(const struct stet_cause_list *l,
                                      char room[STET_CAUSE_LIST_TEXT]);
/* Reads what was written; ids that this version does not have become STET_CAUSE_UNKNOWN. */
void stet_cause_list_read(struct stet_cause_list *l, struct stet_view text);

#endif
