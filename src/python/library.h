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
    PY_MEANS_BY_VALUE,   /* objects of a class are compared by their fields */
    PY_MEANS_CONVERTS,   /* its first argument, elsewhere or of another type, with the same sizes */
    PY_MEANS_FROZEN,     /* the same, if an argument asks for it */
    PY_MEANS_PICTURES,   /* its first argument is a picture in the memory of the host */
    PY_MEANS_COUNTS,     /* gives consecutive numbers */
    PY_MEANS_ENUMERATES, /* gives pairs: a number and an item of its first argument */
    PY_MEANS_ZIPS,       /* gives tuples: one item of each argument */
    PY_MEANS_TAKES_NEXT, /* gives the next item of its first argument */
    PY_MEANS_INTEGER,    /* makes an integer of its argument */
    PY_MEANS_SETS_ATTRIBUTE, /* sets the attribute that its second argument names */
    PY_MEANS_NAMESPACE,      /* gives the variables of a module by name */
    PY_MEANS_SUPER,
    PY_MEANS_STATIC_METHOD,
    PY_MEANS_ENVIRONMENT,    /* holds the variables of the environment */
    PY_MEANS_READS_VARIABLE, /* gives the variable of the environment that its argument names */
    PY_MEANS_CHANGES_ITEMS,  /* of a container: what is in it */
    PY_MEANS_CHANGES_FORM,   /* of a tensor: its sizes or its layout */
    PY_MEANS_ASKS_GRADIENT,  /* of a tensor: whether it wants a gradient */
    PY_MEANS_TRAINS,         /* of a model: training from here on, or as its argument says */
    PY_MEANS_EVALUATES,      /* of a model: evaluation from here on */
    PY_MEANS_LENGTH,         /* gives the length of its argument */
    PY_MEANS_PASSES_ITEMS,   /* gives the items of its first argument */
    PY_MEANS_MAPS_ITEMS,     /* gives what its first argument, a function, makes of each item */
    PY_MEANS_FILTERS_ITEMS,  /* gives some items of its second argument */
    PY_MEANS_PUTS_ITEM,      /* of a queue: puts its argument into it */
    PY_MEANS_TAKES_ITEM,     /* of a queue: gives what was put into it */
    PY_MEANS_DRAWS,          /* gives random values */
    PY_MEANS_SEEDS,          /* makes what draws them, from a seed */
    PY_MEANS_STACKS,         /* gives an array of the items of its first argument */
    PY_MEANS_FITS,           /* gives an array as large as the largest of its items */
    PY_MEANS_CASTS,          /* of an array: with the type that its argument names */
    PY_MEANS_REPLACES_FIELDS, /* gives a copy of an object, with the fields that keywords name */
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
const char *stet_python_called(size_t i);
/* Is a keyword of array functions for a place, a type or an axis, and so for no number? */
bool stet_python_setting(struct stet_view keyword);
/* The options of a transform that list static arguments, by number; NULL after the last. */
const char *stet_python_static_option(size_t i);
/* Does this name ("**", "[]", "pow") pass numbers to the operation of a program? */
bool stet_python_gives_operation(struct stet_view operation, struct stet_view python);
/* Does it compute the operation? */
bool stet_python_computes(struct stet_view operation, struct stet_view python);

#endif
