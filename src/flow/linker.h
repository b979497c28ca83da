/* Internal to the link; no other file includes it. link.c prepares and drives it, link_names.c
 * resolves names, and link_trace.c spreads tracing along calls. */
#ifndef STET_FLOW_LINKER_H
#define STET_FLOW_LINKER_H

#include "base/map.h"
#include "base/vec.h"
#include "flow/link.h"

/* Of the name table: `at` holds a file and the index of the function, class or import. */
struct entry {
    struct stet_hash key;
    struct stet_flow_place at;
};

enum entry_kind { ENTRY_NONE, ENTRY_FILE, ENTRY_FN, ENTRY_CLASS, ENTRY_METHOD, ENTRY_IMPORT };

enum class_kind { CLASS_UNSEEN, CLASS_VISITING, CLASS_PLAIN, CLASS_TORCH, CLASS_FLAX };

struct linker {
    const struct stet_flow_file *files;
    size_t file_count;
    struct stet_flow_state **states; /* by file and function */
    uint8_t **classes;               /* by file and class: enum class_kind */
    bool **guards; /* by file and guard: it returns whether the code is being compiled */
    STET_VEC(struct entry) names;
    struct stet_map places; /* in `names`, by a part of the key */
    STET_VEC(struct stet_flow_place) queue;
    uint64_t steps;
    bool failed;
};

/* link_names.c */
bool stet_flow_linker_index(struct linker *l);
/* Does this function of the files return whether the code is being compiled; after FLOW_DENIAL,
 * whether it is not? */
bool stet_flow_linker_asks_compiling(struct linker *l, struct stet_view dotted);
/* What a call reaches; .file is FLOW_NONE if it is not among the files. */
struct stet_flow_place stet_flow_linker_callee(struct linker *l, uint32_t file,
                                               const struct stet_flow_call *c);
/* Does this class of the files hold Python values alone? */
bool stet_flow_linker_is_plain(struct linker *l, struct stet_view dotted);
/* Does the class, or one of its bases, have the method? */
bool stet_flow_linker_has_method(struct linker *l, uint32_t file, uint32_t index,
                                 struct stet_view name);
enum class_kind stet_flow_linker_class(struct linker *l, uint32_t file, uint32_t index);

/* link_trace.c: fills `states`. */
void stet_flow_linker_trace(struct linker *l);

#endif
