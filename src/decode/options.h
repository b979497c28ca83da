/* Reads CompileOptionsProto: by field, in canonical form, and comparable by name. The caller owns
 * the struct and releases it. */
#ifndef STET_DECODE_OPTIONS_H
#define STET_DECODE_OPTIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

struct stet_buf;
struct stet_json;

/* The version of the canonical form and so of every hash. Raise it when the dropped fields change,
 * or how values are written or ordered. 2: elements of repeated fields that this build does not
 * know keep their order. */
#define STET_OPTIONS_VERSION 2

/* One set field. Values are text: true, 3, 1.5, "text" (escaped), [0,1], {f32[2]{0}}, or hex of
 * bytes ("#128:<hash>" if they are many). A field that this build does not know is named by its
 * number: "executable_build_options.#99". */
struct stet_options_item {
    struct stet_view path; /* executable_build_options.debug_options.xla_gpu_autotune_level */
    struct stet_view value;
    const char *dropped; /* why it does not count (canon_options.def), or NULL */
    size_t order;        /* of its field in the input */
};

struct stet_options {
    struct stet_arena arena;
    struct stet_options_item *items; /* sorted by path */
    size_t count;
    /* The fields that count, as lines "3.3.31=2\n" (field numbers and raw values) below a version
     * line. Equal bytes mean equal options, whatever the order of a map. Names are not part of it,
     * so that a Stet with more names finds what an older one stored. */
    struct stet_view canonical;
    struct stet_hash hash;
};

/* The bytes need not outlive the result. On failure there is nothing to release. */
enum stet_rc stet_options_decode(struct stet_options *out, struct stet_view bytes,
                                 struct stet_err *err);
/* Only the hash of the canonical form, which a store's key needs, in a third of the time. With
 * `files`, options that name a file (option_files.def) are not part of the hash: their names and
 * values are appended there, each followed by a zero, and the caller reads the files. */
enum stet_rc stet_options_hash(struct stet_view bytes, struct stet_hash *out,
                               struct stet_buf *files, struct stet_err *err);
void stet_options_release(struct stet_options *o);

/* Why an option of this name has no effect on what is compiled (canon_options.def), or NULL. */
const char *stet_options_dropped(struct stet_view name);

/* What the value of an option names, for options that name files whose content affects what is
 * compiled (option_files.def). */
enum stet_option_file {
    STET_OPTION_FILE_NONE,
    STET_OPTION_FILE_ONE,    /* a file */
    STET_OPTION_FILE_LIST,   /* files, separated by commas; their names matter too */
    STET_OPTION_FILE_FOLDER, /* a file, or a folder of files */
    STET_OPTION_FILE_CUDA,   /* a CUDA toolkit */
    STET_OPTION_FILE_MAYBE,  /* by its name it may be a file */
};

enum stet_option_file stet_option_file_kind(struct stet_view name);

/* Every path whose value differs, in order; a side that lacks it gives an empty view with NULL ptr.
 * Fields that do not count are left out. */
void stet_options_diff(const struct stet_options *a, const struct stet_options *b,
                       void (*visit)(void *context, struct stet_view path, struct stet_view from,
                                     struct stet_view to),
                       void *context);

#endif
