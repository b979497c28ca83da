/* One Python file, parsed and indexed: its tree, which statement each line belongs to, where each
 * name gets a value, and what its imports mean. Modules are opened through struct
 * stet_python_sources (sources.h), which owns them. */
#ifndef STET_PYTHON_MODULE_H
#define STET_PYTHON_MODULE_H

#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "python/ast.h"
#include "python/library.h"

enum stet_python_bind {
    PY_BIND_VALUE,     /* name = value */
    PY_BIND_ELEMENT,   /* for name in value */
    PY_BIND_AUGMENTED, /* name += value */
    PY_BIND_CONTEXT,   /* with value as name */
    PY_BIND_FUNCTION,  /* def name, class name: `value` is the definition */
    PY_BIND_CLASS,
};

/* One place that assigns a value to a name, or to an attribute of that name. */
struct stet_python_binding {
    uint32_t name, next; /* next: the binding after it of the same name, + 1; 0 for none */
    stet_python_ref target, value;
    stet_python_ref scope; /* the function or lambda around it; 0 for the module */
    int16_t position;      /* in `a, b = value`: which of them; -1 for all of it */
    uint8_t how;
    bool attribute; /* `object.name = value` */
};

struct stet_python_module {
    char *path;
    struct stet_file file;
    struct stet_python_ast ast;
    stet_python_ref *parents;         /* by node */
    stet_python_ref *statements;      /* by row: the innermost statement that holds it, or 0 */
    struct stet_view name;            /* dotted; empty when it is not known */
    bool package;                     /* it is the __init__.py of `name` */
    struct stet_view *imports;        /* by name number: the dotted target of an import, or empty */
    STET_VEC(struct stet_view) stars; /* modules of which all names are imported */
    STET_VEC(struct stet_python_binding) bindings;
    uint32_t *first_binding; /* by name number: the first binding, + 1 */
    struct stet_map locals;  /* function (0: the module) and name that it binds itself -> 1 */
    struct stet_map methods; /* class and name -> its first method of this name */
    STET_VEC(stet_python_ref) calls;
    STET_VEC(uint32_t) callees; /* by call: the name number of stet_python_callee, or 0 */
    struct stet_arena arena;    /* texts of imports */
    bool tried, parsed;
};

/* Is it a file of the project, not of an installed package, and could it be read? */
bool stet_python_is_own(const struct stet_python_module *m);
/* Reads a file; a file that is missing or too large has no text. False when out of memory. */
bool stet_python_module_open(struct stet_python_module *m, struct stet_view path);
/* Parses and indexes a text, which must outlive the module. False when out of memory; a text that
 * the parser rejects is marked as not parsed. */
bool stet_python_module_parse(struct stet_python_module *m, struct stet_python_parser *p,
                              struct stet_view text);
/* Indexes a module whose tree is parsed. Where `name` is set, the targets of relative imports are
 * absolute. False when out of memory. */
bool stet_python_module_index(struct stet_python_module *m);
void stet_python_module_close(struct stet_python_module *m);

/* The innermost statement (or clause: elif, else, except) that holds a line, counted from 1. */
stet_python_ref stet_python_statement_at(const struct stet_python_module *m, uint32_t line);
/* The statement that a node is part of; 0 for the module. */
stet_python_ref stet_python_statement_of(const struct stet_python_module *m, stet_python_ref n);
/* Where the statement's own part ends, in bytes: before its block, or at its end. */
uint32_t stet_python_own_end(const struct stet_python_module *m, stet_python_ref statement);
/* The innermost function or lambda around a node, itself left out; 0 for the module. */
stet_python_ref stet_python_function_around(const struct stet_python_module *m, stet_python_ref n);
/* The class whose body a function is defined in, or 0. */
stet_python_ref stet_python_class_around(const struct stet_python_module *m, stet_python_ref n);
/* The innermost `for` or `while` around a node, also outside of its function; 0 for none. */
stet_python_ref stet_python_loop_around(const struct stet_python_module *m, stet_python_ref n);
/* Is the function a method that gets the object, or the class, as its first argument? */
bool stet_python_is_method(const struct stet_python_module *m, stet_python_ref function);
/* The class of the object that a name stands for, when the name is the first parameter of a method
 * around it ("self"); 0 otherwise. */
stet_python_ref stet_python_self_class(const struct stet_python_module *m, stet_python_ref object);
/* Is `n` below `outer`, or the same? */
bool stet_python_is_inside(const struct stet_python_module *m, stet_python_ref n,
                           stet_python_ref outer);
static inline uint32_t stet_python_line(const struct stet_python_module *m, stet_python_ref n)
{
    return m->ast.nodes[n].row + 1;
}

/* A function's parameter of this name (its node below `parameters`), or 0; *position counts from 0.
 * `stet_python_parameter_name` is the number of a parameter's name. */
stet_python_ref stet_python_parameter(const struct stet_python_module *m, stet_python_ref function,
                                      uint32_t name, uint32_t *position);
uint32_t stet_python_parameter_name(const struct stet_python_module *m, stet_python_ref parameter);
/* Returns the definition of a function or class of this name that is visible in a scope; 0 for
 * none. */
stet_python_ref stet_python_defined(const struct stet_python_module *m, stet_python_ref scope,
                                    uint32_t name);
/* The first function of this name anywhere in the file. */
stet_python_ref stet_python_function_named(const struct stet_python_module *m,
                                           struct stet_view name);
/* The method of a class, or 0; by its name, or by the number of that. */
stet_python_ref stet_python_method(const struct stet_python_module *m, stet_python_ref class_node,
                                   struct stet_view name);
stet_python_ref stet_python_method_of(const struct stet_python_module *m,
                                      stet_python_ref class_node, uint32_t name);
/* The method that a node is part of; 0 for none. */
stet_python_ref stet_python_method_around(const struct stet_python_module *m, stet_python_ref n);
/* Adds the methods that run while an object is made to `out` (node -> 1): those that Python or a
 * framework calls then (library.def), and those that only such methods call. False when out of
 * memory. */
bool stet_python_builders(const struct stet_python_module *m, struct stet_map *out);
/* Does the function (0: the module) bind the name: as a parameter, or by a statement of its own? */
static inline bool stet_python_binds(const struct stet_python_module *m, stet_python_ref function,
                                     uint32_t name)
{
    return stet_map_get(&m->locals, stet_map_pair(function, name)) != STET_MAP_NONE;
}

/* "jax.numpy.where" for jnp.where as imported, "x.sum" as written; empty when the expression is not
 * a dotted name. *imported: its head is an import that no local name hides. */
struct stet_view stet_python_dotted(const struct stet_python_module *m, stet_python_ref n,
                                    char room[160], bool *imported);
/* The same; empty unless its head is such an import. */
struct stet_view stet_python_imported(const struct stet_python_module *m, stet_python_ref n,
                                      char room[160]);

/* The only binding of the name that is visible in an identifier's scope; NULL for none or several.
 */
const struct stet_python_binding *stet_python_only_binding(const struct stet_python_module *m,
                                                           stet_python_ref n);
/* The full name of a function of a library: "jax.numpy.where" for jnp.where as imported,
 * "builtins.range" for a range that nothing in the file defines, and the same for a name that the
 * file gives to one of them (`numbers = range`). Empty for all other expressions. */
struct stet_view stet_python_full_name(const struct stet_python_module *m, stet_python_ref n,
                                       char room[160]);
/* The last part of such a name, "where", if something is known of the library; empty otherwise. */
struct stet_view stet_python_library_name(const struct stet_python_module *m, stet_python_ref n,
                                          char room[160]);
/* What the use of such a name shows; nothing for all other expressions. */
enum stet_python_meaning stet_python_meaning(const struct stet_python_module *m, stet_python_ref n);

/* Arguments of a call, by position or by keyword; 0 when there is none. */
stet_python_ref stet_python_argument(const struct stet_python_module *m, stet_python_ref call,
                                     uint32_t position);
stet_python_ref stet_python_keyword(const struct stet_python_module *m, stet_python_ref call,
                                    struct stet_view name);
uint32_t stet_python_argument_count(const struct stet_python_module *m, stet_python_ref call);
/* The value of a keyword argument, or the argument itself. */
stet_python_ref stet_python_argument_value(const struct stet_python_module *m, stet_python_ref arg);
/* Returns the last part of the called name: "item" for x.y.item(). */
struct stet_view stet_python_callee(const struct stet_python_module *m, stet_python_ref call);
/* The object of a method call, "x.y" in x.y.item(); 0 for a plain function. */
stet_python_ref stet_python_callee_object(const struct stet_python_module *m, stet_python_ref call);
/* An integer literal; -1 for everything else. */
long stet_python_integer(const struct stet_python_module *m, stet_python_ref n);

#endif
