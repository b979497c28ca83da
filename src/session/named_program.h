/* A program file, decoded and fingerprinted. `stet show`, `stet diff` and `stet fingerprint` begin
 * with it. Close it to free the program, the fingerprint and the options. */
#ifndef STET_SESSION_NAMED_PROGRAM_H
#define STET_SESSION_NAMED_PROGRAM_H

#include "base/buf.h"
#include "base/fs.h"
#include "explain/diff.h"

struct stet_options;

struct stet_session_program {
    const char *path; /* as given by the caller */
    struct stet_file file;
    struct stet_program program;
    struct stet_fingerprint fingerprint;
    struct stet_options *options; /* NULL when none were given */
};

/* `path` is a file, plain or compressed, "-" for standard input, or the hash of a captured program
 * (or a prefix of it).
 * `options_path` may be NULL. Messages name the file. */
enum stet_rc stet_session_program_open(struct stet_session_program *l, const char *path,
                                       const char *options_path, struct stet_err *err);
void stet_session_program_close(struct stet_session_program *l);

/* Adds the differences between the options of two programs. Both need options, or both are HLO
 * text, which shows a few of them. */
void stet_session_program_compare_options(struct stet_diff *d, const struct stet_session_program *a,
                                          const struct stet_session_program *b);

/* "MLIR bytecode", "HLO proto"… */
const char *stet_session_program_format(const struct stet_session_program *l);

#endif
