/* stet doctor: finds what is installed, what of it works, and what is known to break. The command
 * fills the wishes, calls stet_doctor_examine, and prints the result as text or JSON. Everything
 * found belongs to the struct until stet_doctor_release. */
#ifndef STET_DOCTOR_DOCTOR_H
#define STET_DOCTOR_DOCTOR_H

#include "base/buf.h"
#include "bundle/gather.h"
#include "bundle/matrix.h"

struct stet_doctor_wishes {
    const char *python, *plugin, *matrix, *deadline, *run, *program;
    bool no_frameworks, quick, rows;
};

enum stet_doctor_result { STET_DOCTOR_FINE, STET_DOCTOR_NOTE, STET_DOCTOR_WRONG };

/* The result of a check of something other than a plugin: the store, a framework, the
 * interpreter. */
struct stet_doctor_finding {
    const char *what; /* "store", "jax" */
    enum stet_doctor_result result;
    const char *text, *fix; /* fix may be "" */
};

enum { STET_CHECKS_MAX = 32, STET_GATES_MAX = 16 };

/* A feature that needs both an interface and programs of a certain form. */
struct stet_doctor_gate {
    const char *name, *what;
    const char *api; /* where it was found, or NULL */
};

struct stet_scannable {
    bool looked;      /* programs were given */
    const char *name; /* of the program with most to gain; NULL when none repeats a block */
    uint32_t times, length, ops; /* the block, and operations of the whole program */
    uint32_t ops_scanned;        /* operations that would be left */
    double compile_s;            /* of that program in the run; 0 when not known */
    const char *barrier;         /* why it cannot be scanned in its present form, or NULL */
};

struct stet_doctor {
    const struct stet_doctor_wishes *wishes;
    struct stet_arena arena;
    struct stet_inventory bundle;
    struct stet_bundle_python python;
    struct stet_found_list found;
    struct stet_probe *probes; /* one for each plugin found */
    bool *wanted;              /* it is a finding if this plugin does not work */
    struct stet_doctor_finding checks[STET_CHECKS_MAX];
    size_t check_count;
    struct stet_doctor_gate gates[STET_GATES_MAX];
    size_t gate_count;
    struct stet_scannable scan;
    struct stet_matrix matrix;
    const struct stet_row **rows; /* the rows of the matrix that match */
    const char **why;             /* and the reason for each match */
    size_t row_count;
    size_t alive;
    int deadline_ms;
    bool fine;
};

void stet_doctor_check(struct stet_doctor *d, const char *what, enum stet_doctor_result result,
                       const char *fix, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Prints progress on standard error after two seconds; `arg` is the name of what is probed. */
void stet_doctor_tick(void *arg, int milliseconds);

/* Examines everything in the wishes. Release `d` even after a failure. */
enum stet_rc stet_doctor_examine(struct stet_doctor *d, struct stet_err *err);
void stet_doctor_release(struct stet_doctor *d);

/* The parts of stet_doctor_examine. */
enum stet_rc stet_doctor_load_matrix(struct stet_doctor *d, struct stet_err *err);
void stet_doctor_store(struct stet_doctor *d);
void stet_doctor_frameworks(struct stet_doctor *d);
/* Checks the programs of a run (or of a file) for the features. */
enum stet_rc stet_doctor_gates(struct stet_doctor *d, struct stet_err *err);

/* Writes the outcome as a sentence. */
void stet_doctor_verdict(const struct stet_doctor *d, char *out, size_t room);
void stet_doctor_json(const struct stet_doctor *d, struct stet_buf *out);

#endif
