/* Serves a compile from the store: the same program was compiled before, here or by another
 * process, and its executable is loaded instead. The compile hooks call it before and after the
 * plugin. The struct belongs to the caller, for the time of one compile. */
#ifndef STET_INTERCEPT_RELOAD_H
#define STET_INTERCEPT_RELOAD_H

#include "intercept/plugin.h"
#include "intercept/reading.h"
#include "intercept/remote.h"
#include "journal/vocabulary.h"
#include "store/entry.h"

/* One compile and the store; on the caller's stack. */
struct stet_reload {
    struct stet_reading *reading;
    struct stet_arena arena;
    struct stet_key_parts parts;
    struct stet_hash key;
    struct stet_view plugin_path;
    enum stet_outcome outcome; /* of the lookup */
    bool keep;                 /* what is compiled now is worth keeping */
    bool exact; /* the key is a guess: only a program of the same bytes is the same */
    struct stet_hash bytes, program; /* hash of the bytes; of the program, when it was read */
    enum stet_served served;
    uint64_t load_ns;    /* in the plugin, when served */
    uint64_t compile_ns; /* how long compiling it took, when served; 0 if not known */
    struct stet_remote remote;
};

/* True if args->executable is loaded and the plugin need not compile. `reading` is of
 * args->program, and outlives `r`. `turn`: this compile among those of other ranks (pod.h), or
 * NULL. */
struct stet_pod_turn;
bool stet_reload_try(struct stet_reload *r, struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                     struct stet_reading *reading, struct stet_pod_turn *turn);
/* Ahead of time there is no client to load into; but what is compiled is stored. */
void stet_reload_ahead(struct stet_reload *r, struct stet_plugin *p, const PJRT_Compile_Args *args,
                       struct stet_reading *reading);
/* The components of a miss as text for the journal; empty for anything else. */
struct stet_view stet_reload_words(const struct stet_reload *r, struct stet_arena *a);
void stet_reload_end(struct stet_reload *r);

/* What is needed to store an executable, on its way to the thread that serialises it (ask.h). */
struct stet_pending_write;
/* Limits the bytes of programs that wait to be stored. */
void stet_intercept_pending_limit(size_t bytes);
/* NULL if it is not to be stored; r->word gives the reason if there is no room. Copies what it
 * needs, and takes ownership of the lease. */
struct stet_pending_write *stet_intercept_pending_new(struct stet_reload *r,
                                                      const PJRT_Program *program,
                                                      struct stet_view options, uint64_t index,
                                                      uint64_t compile_ns);
/* Serialises and stores it; frees `k`. */
void stet_intercept_pending_write(struct stet_pending_write *k, struct stet_plugin *p,
                                  PJRT_Executable *executable);
void stet_intercept_pending_free(struct stet_pending_write *k);

#endif
