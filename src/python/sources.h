/* The Python files of one explanation: the user's files that stacks name, and the modules beside
 * them that those import. A file is read when it is first needed and kept until release; the number
 * of files is bounded. A file that cannot be read only means less evidence. */
#ifndef STET_PYTHON_SOURCES_H
#define STET_PYTHON_SOURCES_H

#include "base/map.h"
#include "python/module.h"

enum { STET_PYTHON_FILES = 96 };

/* Where a value was read back from the device: lines `line` to `last` of `file`. `here` is the same
 * in the file of the question: the line itself, or the call that leads to another file. */
struct stet_python_read {
    struct stet_view file;
    uint32_t line, last, here;
    bool sure; /* the value that was read is known to be on the device */
};

/* The lines that were observed to copy something to the host. */
struct stet_python_copies {
    /* Did one of these lines, or with `calls` something that it calls? */
    bool (*read)(void *context, struct stet_view file, uint32_t first, uint32_t last, bool calls);
    void *context;
};

/* A line of a file, and the function around it; 0 for none. */
struct stet_python_made {
    struct stet_view file, function;
    uint32_t line;
    bool sure; /* every step on the way was the only one that was possible */
};

/* A statement that the trail of a value passes, and where the trail came from. */
struct stet_python_stop {
    const struct stet_python_module *module;
    uint32_t statement, line;
    uint32_t from;   /* a place, + 1; 0 for none */
    unsigned aspect; /* enum stet_python_aspect */
    unsigned does;   /* PY_WAY_… */
};

/* The statements that the last question passed. */
struct stet_python_ways {
    STET_VEC(struct stet_python_stop) stops;
    uint32_t now; /* the place where the trail is, + 1 */
};

struct stet_python_sources {
    struct stet_python_module *modules[STET_PYTHON_FILES];
    uint32_t count;
    uint32_t imported; /* the imports of this many of them were opened */
    size_t bytes;      /* of text, in all files */
    struct stet_map by_path;
    struct stet_map absent; /* folder and import of which no file was found */
    struct stet_python_parser *parser;
    struct stet_python_module *snippet; /* the last line that was read without its file */
    struct stet_arena snippet_text;
    /* Question, file and line -> the earlier answer: 0 for no, or its place in `reads`, + 1. */
    struct stet_map answers;
    STET_VEC(struct stet_python_read) reads;
    /* The same of lines that make a value: question -> place in `made`. */
    struct stet_map made_answers;
    STET_VEC(struct stet_python_made) made;
    struct stet_python_ways ways;
};

/* A zeroed struct is ready for use. */
void stet_python_sources_release(struct stet_python_sources *s);
/* NULL when the file cannot be read, or there are too many. Valid until release. */
const struct stet_python_module *stet_python_open(struct stet_python_sources *s,
                                                  struct stet_view path);
/* A line of a file, trimmed; empty when there is none. Does not parse the file. */
struct stet_view stet_python_line_text(struct stet_python_sources *s, struct stet_view path,
                                       uint32_t line);
/* Opens what the files that were read import, and what those import. Questions about all files of
 * the project then have the same answer whatever was asked before. */
void stet_python_open_imports(struct stet_python_sources *s);
/* Makes a module of one line of source, for a file that is not available. Valid until the next
 * snippet. */
const struct stet_python_module *stet_python_snippet(struct stet_python_sources *s,
                                                     struct stet_view text);
/* Returns the module that `dotted` (an import's target, "..layers.norm") names or begins with, seen
 * from a file; *rest is what follows it. NULL when the project has no such file, and for no
 * sources.
 */
const struct stet_python_module *stet_python_import(struct stet_python_sources *s,
                                                    const struct stet_python_module *from,
                                                    struct stet_view dotted,
                                                    struct stet_view *rest);

#endif
