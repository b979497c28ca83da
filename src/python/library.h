/* What is known of Python's libraries: library.def as tables. Lint, explain and ingest look names
 * up here, so that a library is described in one place. */
#ifndef STET_PYTHON_LIBRARY_H
#define STET_PYTHON_LIBRARY_H

#include "base/view.h"

/* The result of a function, method or attribute. */
enum stet_python_effect {
    PY_GIVES_NOTHING_KNOWN, /* the name is not in the table */
    PY_GIVES_UNKNOWN,
    PY_GIVES_HOST,      /* a value of the host that depends on no array */
    PY_GIVES_DESCRIBES, /* such a value, made of its arguments: a sharding, a shape with a type */
    PY_GIVES_DEVICE,    /* an array on the device */
    PY_GIVES_OPAQUE, /* one whose values no code branches on: a random key, the index of an axis */
    PY_GIVES_MAKER,  /* what makes arrays on the device when it is called: a layer, a function */
    PY_GIVES_TENSOR, /* another tensor; no other class has this method */
    PY_GIVES_PARTS,  /* several tensors */
    PY_GIVES_GRADS,  /* nothing: it computes gradients; only tensors have this method */
    PY_GIVES_DRAWS,  /* values of the host; only random generators have this method */
    PY_GIVES_SCALAR, /* a number that is read back from an array */
    PY_GIVES_ARRAYS, /* a whole array that is read back */
    PY_GIVES_HOSTED, /* the same array in the memory of the host; it is read back */
    PY_GIVES_COPIES, /* a host array; a device array is read back for it */
    PY_GIVES_ITERATES, /* one value out of many; an array of the device is read back */
    PY_GIVES_REDUCES,  /* one value out of an array, wherever that is */
    PY_GIVES_SHOWS,    /* nothing: it prints or records its arguments, which reads them back */
    PY_GIVES_WAITS,    /* its argument, when it has been computed */
    PY_GIVES_THROUGH,  /* its arguments, or something computed from them */
    PY_GIVES_UPDATED,  /* the same array, to give a changed copy: x.at[i].set(0) */
    PY_GIVES_HOLDS,    /* a container of its arguments, or an iterator over them */
    PY_GIVES_KEYS,     /* names of a container's items */
    PY_GIVES_KEYED,    /* items of a container, by name */
    PY_GIVES_SIZE,     /* a shape, or a part of one */
    PY_GIVES_RANK,     /* a number that follows from the rank or the type, not from the sizes */
    PY_GIVES_TYPE,     /* a type of elements */
    PY_GIVES_HANDLE,   /* a device */
    PY_GIVES_MOVES,    /* its argument, on a device that another argument names */
    PY_GIVES_FEEDS,    /* an iterator that brings its items to the device */
    PY_GIVES_LOADER,   /* an iterator over batches of the host */
    PY_GIVES_BARS,     /* an iterator over its argument that can show numbers */
    PY_GIVES_OPTIMIZER,
    PY_GIVES_STEPS,     /* makes an optimizer take its step */
    PY_GIVES_CLEARS,    /* nothing: it clears the gradients of a model or an optimizer */
    PY_GIVES_GROUPS,    /* the settings of an optimizer, by group of parameters */
    PY_GIVES_SCHEDULER, /* changes the rate of an optimizer */
    PY_GIVES_TRAINER,   /* runs a training loop over batches */
    PY_GIVES_CALLBACK,  /* what a function of the host computes; that function is not traced */
    PY_GIVES_GRADIENT,
    PY_GIVES_PROCESS, /* the number of this process among all, or whether it is the first one */
    PY_GIVES_IMAGE,   /* a picture in the memory of the host, which no program takes */
};

/* What the use of a name shows. */
enum stet_python_meaning {
    PY_MEANS_NOTHING_KNOWN,
    PY_MEANS_COMPILING, /* true while the code is traced or compiled */
    PY_MEANS_NO_GRADIENT,
    PY_MEANS_GRADIENT_MODE, /* gradients from here on, or as its argument says */
    PY_MEANS_REPLACES,      /* its second argument, with what its first one selects replaced */
    PY_MEANS_KERNEL,        /* a kernel that is not the compiler's own */
    PY_MEANS_LAYOUT,
    PY_MEANS_SHARDING,
    PY_MEANS_BY_VALUE,  /* objects of a class are compared by their fields */
    PY_MEANS_FROZEN,    /* the same, if an argument asks for it */
    PY_MEANS_CONVERTS,  /* its first argument, elsewhere or of another type, with the same sizes */
    PY_MEANS_ASSEMBLES, /* its second argument, as the part of this process */
    PY_MEANS_PICTURES,  /* its first argument is a picture in the memory of the host */
    /* Python's own. */
    PY_MEANS_COUNTS,      /* gives consecutive numbers */
    PY_MEANS_ENUMERATES,  /* gives pairs: a number and an item of its first argument */
    PY_MEANS_ZIPS,        /* gives tuples: one item of each argument */
    PY_MEANS_TAKES_NEXT,  /* gives the next item of its first argument */
    PY_MEANS_INTEGER,     /* makes an integer of its argument */
    PY_MEANS_LENGTH,      /* gives the number of items */
    PY_MEANS_SMALLEST,    /* gives the smallest of its arguments */
    PY_MEANS_SEQUENCE,    /* gives a list or tuple of the items of its argument */
    PY_MEANS_CHECKS_TYPE, /* is its first argument an instance of its second? */
    PY_MEANS_PRINTS,
    PY_MEANS_MAKES_TEXT,     /* gives a text or a hash of its argument, which no program computes */
    PY_MEANS_BINDS,          /* its first argument, a function, with the others given as they are */
    PY_MEANS_TAKES_SYMBOL,   /* its first argument is a symbol where torch.export reads the code */
    PY_MEANS_OPENS,          /* opens a file */
    PY_MEANS_GETS_ATTRIBUTE, /* gives the attribute that its second argument names */
    PY_MEANS_SETS_ATTRIBUTE, /* sets it */
    PY_MEANS_NAMESPACE,      /* gives the variables of a module by name */
    PY_MEANS_SUPER,
    PY_MEANS_STATIC_METHOD,
    PY_MEANS_CLASS_METHOD,
    PY_MEANS_ENVIRONMENT,    /* holds the variables of the environment */
    PY_MEANS_READS_VARIABLE, /* gives the variable of the environment that its argument names */
    PY_MEANS_SETS_VARIABLE,  /* sets it to its second argument */
    PY_MEANS_DRAWS,          /* gives random numbers of the host */
    PY_MEANS_SEEDS,          /* fixes which random numbers come, if its argument does */
    PY_MEANS_KEEPS_STATE,    /* reads or writes the state of a random generator */
    PY_MEANS_ACTS_ON_HOST,   /* waits, reads a clock or writes a file */
    PY_MEANS_ASSERTS,        /* raises unless its first argument is true; also in a graph */
    /* Of a container. */
    PY_MEANS_ADDS_ITEM,    /* adds its first argument */
    PY_MEANS_INSERTS_ITEM, /* adds its second argument */
    PY_MEANS_ADDS_ITEMS,
    PY_MEANS_DROPS_ITEMS,
    PY_MEANS_LOOPS,           /* a loop that the compiler sees as one operation */
    PY_MEANS_LOOKS_UP,        /* gives the value of a key, or a default if there is no such key */
    PY_MEANS_PAIRS,           /* gives pairs: a key and its value */
    PY_MEANS_PASSES_ITEMS,    /* gives the items of its first argument */
    PY_MEANS_MAPS_ITEMS,      /* gives what its first argument, a function, makes of each item */
    PY_MEANS_FILTERS_ITEMS,   /* gives some items of its second argument */
    PY_MEANS_PUTS_ITEM,       /* of a queue: puts its argument into it */
    PY_MEANS_TAKES_ITEM,      /* of a queue: gives what was put into it */
    PY_MEANS_REPLACES_FIELDS, /* gives a copy of an object, with the fields that keywords name */
    /* Of a tensor. */
    PY_MEANS_CHANGES_FORM,     /* its sizes or its layout */
    PY_MEANS_ASKS_GRADIENT,    /* whether it wants a gradient */
    PY_MEANS_KEEPS_FORM,       /* gives an array of the same sizes, type and layout */
    PY_MEANS_MOVES_AWAY,       /* the same on a device */
    PY_MEANS_MOVES_OR_CASTS,   /* the same, as its argument says */
    PY_MEANS_CASTS,            /* gives the array with another type of elements */
    PY_MEANS_MAKES_CONTIGUOUS, /* gives it with the usual layout */
    PY_MEANS_TRANSPOSES,
    PY_MEANS_ADDS_AXIS,
    PY_MEANS_RESHAPES,
    PY_MEANS_CUTS_BY_SIZE,  /* gives parts of a given size */
    PY_MEANS_CUTS_BY_COUNT, /* gives a number of parts of one size and a smaller one */
    PY_MEANS_CUTS_EVENLY,   /* gives a number of parts of nearly one size */
    PY_MEANS_TESTS_MASK,    /* takes truth values: any, all, not */
    PY_MEANS_TAKES_MASK,    /* takes a tensor and a mask, or is a method of one that takes a mask */
    PY_MEANS_SELECTS_BY_MASK, /* takes a mask and, if given, two arrays */
    PY_MEANS_REPEATS,         /* takes an array and how often each item of it is repeated */
    PY_MEANS_LIMITS,          /* compares with a limit, its last argument */
    PY_MEANS_ONE_HOT,
    PY_MEANS_SPACED,       /* gives numbers of equal distance as an array */
    PY_MEANS_DRAWS_ARRAY,  /* gives random numbers as an array */
    PY_MEANS_MAKES_KEY,    /* gives what random numbers are drawn with */
    PY_MEANS_STACKS,       /* gives an array of the items of its first argument */
    PY_MEANS_JOINS,        /* joins arrays to a larger one */
    PY_MEANS_PACKS,        /* takes its layout from the lengths in the batch */
    PY_MEANS_CALLS_METHOD, /* calls the method of this name of its argument, if there is one */
    PY_MEANS_SUMS_AXIS,    /* adds over the devices along an axis; a constant: their number */
    /* Of a model. */
    PY_MEANS_TRAINS,           /* training from here on, or as its argument says */
    PY_MEANS_EVALUATES,        /* evaluation from here on */
    PY_MEANS_REGISTERS_BUFFER, /* the tensor that its first argument names */
    PY_MEANS_LOADS_STATE,
    PY_MEANS_TAKES_RATE, /* makes an optimizer; the first argument is its rate */
    PY_MEANS_CAPTURABLE, /* makes an optimizer that counts its steps in Python unless told not to */
    PY_MEANS_BATCHES,    /* makes an iterator over batches */
    PY_MEANS_CUTS_BATCHES, /* of a library's data set: makes one of batches, the last of which is
                              short */
    PY_MEANS_PADS_TO_LONGEST,
    /* Of a compiler or a step. */
    PY_MEANS_ENDS_STEP,       /* of PyTorch/XLA */
    PY_MEANS_UPDATES_IN_STEP, /* the same, after the optimizer's step */
    PY_MEANS_STEP_REGION,     /* a step is what runs inside it */
    PY_MEANS_COMPILE_TIME,    /* what runs inside it is not traced */
    PY_MEANS_LOWERS,          /* of a compiled function: makes a program for these arguments */
    PY_MEANS_MAPS_AXES,       /* a transform whose second argument lists axes */
    PY_MEANS_CUSTOM_GRADIENT, /* a transform whose function takes what its caller passes */
    PY_MEANS_MARKS_DYNAMIC,
    PY_MEANS_RECOMPILE_LIMIT,  /* how many programs torch.compile makes of one function */
    PY_MEANS_BARRIER,          /* waits for all processes, or for the device */
    PY_MEANS_SETS_OPTION,      /* sets the option of JAX that its first argument names */
    PY_MEANS_HOLDS_OPTION,     /* an option of JAX is set for what runs inside it */
    PY_MEANS_SETS_CACHE,       /* sets the folder of a compilation cache */
    PY_MEANS_SETS_XLA_CACHE,   /* the same, of PyTorch/XLA */
    PY_MEANS_CHECKS_GRADIENTS, /* switches a check of every gradient on or off */
};

enum stet_python_transform_kind {
    PY_NO_TRANSFORM,
    PY_JITS,     /* gives a compiled function */
    PY_TRACES,   /* gives a function that traces its argument, or runs it traced */
    PY_MAPS,     /* calls its argument at once, with arrays */
    PY_PARTIAL,  /* the same function with arguments bound */
    PY_DISABLES, /* prevents tracing */
    PY_MEMOIZES,
};

enum stet_python_lane { PY_LANE_NONE, PY_LANE_JAX, PY_LANE_TORCH, PY_LANE_XLA };

struct stet_python_transform {
    const char *name;
    enum stet_python_transform_kind kind;
    enum stet_python_lane lane;
};

/* A method that is called when its object is. */
struct stet_python_called {
    const char *name;
    enum stet_python_lane lane; /* whose models have it */
};

/* What an option of a transform lists. */
enum stet_python_listed {
    PY_STATIC_PLACES,
    PY_STATIC_NAMES,
    PY_DONATED_PLACES,
    PY_DONATED_NAMES,
};

struct stet_python_option {
    const char *name;
    enum stet_python_listed what;
};

enum stet_python_dtype {
    PY_NO_TYPE,
    PY_FLOAT32,
    PY_FLOAT64,
    PY_FLOAT16,
    PY_BFLOAT16,
    PY_INT32,
    PY_INT64,
    PY_UINT8,
    PY_BOOL,
    PY_INT8,
    PY_INT16,
    PY_UINT32,
    PY_UINT16,
};

/* A function that makes an array of a given shape. */
struct stet_python_shaper {
    const char *name;
    uint8_t shape, dtype; /* positions of these arguments */
    bool each;            /* in torch each argument is a size */
};

enum { PY_NO_DTYPE = 9 /* as a position: it takes none */ };

/* The meaning of an array function's numbers; bits. */
enum stet_python_role {
    PY_SIZED = 1,    /* sizes of its result */
    PY_SPLITS = 2,   /* sizes of its parts */
    PY_PACKED = 4,   /* lengths of packed sequences */
    PY_TOPK = 8,     /* how many elements are taken */
    PY_STARTS = 16,  /* where a part begins */
    PY_RAISES = 32,  /* an exponent */
    PY_SELECTS = 64, /* no numbers: its size follows a mask */
    PY_FINDS = 128,  /* no numbers: positions or different values, as many as there are */
    PY_GATHERS = 256,
    PY_KTH = 512,            /* which element is taken */
    PY_ONLY_FIRST = 1024,    /* the later numbers are elements */
    PY_ONLY_KEYWORDS = 2048, /* those without a keyword are elements */
    PY_ADDS = 4096,          /* the result is larger than its first argument */
    PY_SIZED_MORE = PY_SIZED | PY_ADDS,
    PY_SIZED_BY_FIRST = PY_SIZED | PY_ONLY_FIRST,
    PY_SIZED_BY_KEYWORD = PY_SIZED | PY_ONLY_KEYWORDS,
};

struct stet_python_array {
    const char *name;
    unsigned role;
    uint32_t first;
};

/* Is the effect an array on the device, or something that makes one? */
static inline bool stet_python_is_device(enum stet_python_effect effect)
{
    return effect == PY_GIVES_DEVICE || effect == PY_GIVES_OPAQUE || effect == PY_GIVES_MAKER ||
           effect == PY_GIVES_PARTS;
}

/* Looks up the dotted name with imports resolved: the longest entry that covers it. */
enum stet_python_effect stet_python_library(struct stet_view dotted);
/* What an object of this type is: an array (DEVICE), a number (SCALAR), another object of Python
 * (HOST), a picture (IMAGE), a container (HOLDS, UNKNOWN where that may be an array too), or what
 * its parameters are (THROUGH). Builtins have no dot. */
enum stet_python_effect stet_python_library_type(struct stet_view dotted);
enum stet_python_meaning stet_python_library_meaning(struct stet_view dotted);
enum stet_python_effect stet_python_library_method(struct stet_view name);
enum stet_python_meaning stet_python_library_method_meaning(struct stet_view name);
enum stet_python_effect stet_python_library_attribute(struct stet_view name);
/* Does no object but an array have this attribute? */
bool stet_python_only_arrays(struct stet_view attribute);
/* NULL when the function is not a transform. */
const struct stet_python_transform *stet_python_transform(struct stet_view dotted);
/* Finds a function of an array library by the last part of its name; NULL when it takes no
 * numbers. */
const struct stet_python_array *stet_python_array(struct stet_view name);
/* Is the result of this function or method a truth value, or a mask of them? */
bool stet_python_compares(struct stet_view name);
/* What a variable of the environment holds. */
enum stet_python_effect stet_python_library_variable(struct stet_view name);
/* Does Python or a framework call a method of this name while it makes an object? */
bool stet_python_constructs(struct stet_view method);
/* The methods that Python or a framework calls when an object is called, by number; NULL after the
 * last. */
const struct stet_python_called *stet_python_called(size_t i);
/* The framework that calls objects of this class, or of one derived from it; PY_LANE_NONE for all
 * other classes. */
enum stet_python_lane stet_python_library_model(struct stet_view dotted);
/* Is a keyword of array functions for a place, a type or an axis, and so for no number? */
bool stet_python_setting(struct stet_view keyword);
/* Does a keyword of an array function fix a size that would follow values? */
bool stet_python_bound(struct stet_view keyword);
/* The options of a transform that list arguments, by number; NULL after the last. */
const struct stet_python_option *stet_python_option(size_t i);
/* Does a function or method of torch make its numbers a part of a lazy graph? */
bool stet_python_lazy(struct stet_view name);
/* Does torch.compile draw the random number of this function itself? */
bool stet_python_drawn(struct stet_view dotted);
/* The type of elements that a name of a library, or a text for it, denotes. */
enum stet_python_dtype stet_python_library_dtype(struct stet_view name);
/* Finds a function that makes arrays of a given shape by the last part of its name, or NULL. */
const struct stet_python_shaper *stet_python_shaper(struct stet_view name);
/* Does this name ("**", "[]", "pow") pass numbers to the operation of a program? */
bool stet_python_gives_operation(struct stet_view operation, struct stet_view python);
/* Does it compute the operation? */
bool stet_python_computes(struct stet_view operation, struct stet_view python);

#endif
