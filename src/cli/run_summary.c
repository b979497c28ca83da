/* Prints the summary of `stet run` when the command has ended: compiles, seconds lost, whether it
 * settled, the three questions, the most expensive causes. */
#include "base/human.h"
#include "cli/account_text.h"
#include "cli/frameworks_text.h"
#include "cli/run_text.h"
#include "cli/startup_text.h"
#include "session/account_run.h"
#include "session/avoided.h"
#include "session/comparing.h"
#include "session/compiler_cost.h"
#include "session/exhausted.h"
#include "session/frameworks.h"
#include "session/program_cache.h"
#include "session/readbacks.h"
#include "session/session.h"
#include "story/story_text.h"

#include "base/fs.h"
#include "cli/command.h"
#include "journal/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* More compiles take seconds to explain, while the caller of the ended command waits. */
enum { MOST_COMPILES = 4000, TOP = 3 };

static void stranger_lines(struct stet_buf *out, const struct stet_launch_watch *w)
{
    size_t listed = sizeof w->strangers / sizeof *w->strangers;

    for (size_t i = 0; i < w->stranger_count && i < listed && i < 5; i++)
        stet_buf_printf(out, "stet: %s (pid %ld) did not check in: %s\n", w->strangers[i].command,
                        (long)w->strangers[i].pid, w->strangers[i].reason);
    if (w->stranger_count > 5)
        stet_buf_printf(out, "stet: %zu more processes did not check in\n", w->stranger_count - 5);
}

/* ---- causes ---- */

static void further(struct stet_buf *out, const struct stet_stories *s)
{
    uint64_t wait_ns = 0, more = 0;

    for (size_t i = TOP; i < s->count && !s->items[i].benign; i++, more++)
        wait_ns += s->items[i].wait_ns;
    if (!more)
        return;
    stet_buf_printf(out, "stet:   and %" PRIu64 " more, waited ", more);
    stet_text_duration(out, wait_ns);
    stet_buf_char(out, '\n');
}

static void top_lines(struct stet_buf *out, const struct stet_stories *s)
{
    for (size_t i = 0; i < TOP && i < s->count && !s->items[i].benign; i++) {
        stet_buf_str(out, "stet:   ");
        stet_story_text_line(out, &s->items[i]);
    }
    further(out, s);
}

/* ---- all of it ---- */

static void say_questions(struct stet_buf *out, const struct stet_account_tally *t)
{
    for (int q = 0; q < STET_QUESTIONS; q++) {
        stet_buf_printf(out, "stet: %s %s", stet_cause_question_text((enum stet_cause_question)q),
                        stet_answer_yes(&t->answers[q]) ? "yes, " : "no");
        stet_answer_text(out, &t->answers[q]);
        stet_buf_char(out, '\n');
    }
}

struct summary {
    struct stet_buf *out;
    bool cpu; /* the command ran with --cpu */
    const struct stet_avoided *avoided;
};

static enum stet_rc say_account(void *context, const struct stet_account *a,
                                const struct stet_account_tally *t, struct stet_err *err)
{
    const struct summary *s = context;
    struct stet_buf *out = s->out;

    (void)err;
    if (!a->totals.compiles && !t->alarms) /* torch.compile alone, and nothing to report */
        return STET_OK;
    stet_buf_str(out, "stet: ");
    if (t->alarms)
        stet_cli_account_lost(out, t);
    if (a->totals.compiles) {
        stet_buf_str(out, t->alarms ? "; " : "");
        stet_cli_account_programs(out, a);
    } else {
        stet_buf_char(out, '\n');
    }
    if (t->alarms && s->cpu && a->totals.compiles)
        stet_buf_str(out, "stet: the compiler is Stet's CPU backend; a device's compiler takes "
                          "longer\n");
    say_questions(out, t);
    top_lines(out, a->stories);
    stet_avoided_summary(out, "stet: ", s->avoided, a->totals.compiles);
    stet_cli_counters_text(out, "stet: ", true, a->counters, a->counter_count);
    return STET_OK;
}

static void print_causes(struct stet_buf *out, const char *folder, bool cpu)
{
    struct stet_avoided avoided;
    struct summary s = {out, cpu, &avoided};
    struct stet_comparing comparing;
    const struct stet_run *run;
    struct stet_ledger *l = NULL;
    struct stet_runs runs;
    struct stet_session x;

    if (stet_ledger_runs_open(&runs, NULL) != STET_OK)
        return;
    if (stet_ledger_runs_find(&runs, folder, &run, NULL) == STET_OK &&
        stet_session_open(&x, &runs, run, NULL) == STET_OK) {
        if (stet_ledger_open(&l, NULL, NULL) == STET_OK)
            stet_session_keep(l, &x, run, NULL);
        stet_ledger_close(l);
        stet_avoided_make(&avoided, &x.digest);
        stet_account_of_session(&x, run, say_account, &s, NULL);
        stet_avoided_release(&avoided);
        stet_session_comparing(&comparing, &x.digest);
        stet_session_comparing_text(out, &comparing, "stet: ");
        stet_cli_startup_text(out, "stet: ", &x.digest);
        stet_session_close(&x);
    }
    stet_ledger_runs_close(&runs);
}

/* Can a journal be written in its folder? Returns 0, or the errno. */
static int try_to_write(const char *folder)
{
    static const char bytes[4096];
    char path[PATH_MAX + 16];
    int fd, failure = 0;

    snprintf(path, sizeof path, "%s/probe", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    if (stet_fs_write_all(fd, bytes, sizeof bytes) != 0)
        failure = errno;
    close(fd);
    unlink(path);
    return failure;
}

/* Prints why nothing was recorded, from the machine, the options and the command's end. */
static void say_why(struct stet_buf *out, const char *folder, const struct stet_run_end *end)
{
    int failure = try_to_write(folder);
    struct rlimit files;

    stet_buf_str(out, "stet: nothing was watched: ");
    if (failure == ENOSPC || failure == EDQUOT)
        stet_buf_printf(out, "the disk is full, so the layer recorded nothing (%s)\n", folder);
    else if (failure)
        stet_buf_printf(out, "%s cannot be written (%s), so the layer recorded nothing\n", folder,
                        strerror(failure));
    else if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < STET_JOURNAL_DESCRIPTORS)
        stet_buf_printf(
            out,
            "a process may open only %llu files here, so the layer recorded nothing; it "
            "needs a limit of %d (`ulimit -n`)\n",
            (unsigned long long)files.rlim_cur, STET_JOURNAL_DESCRIPTORS);
    else if (WIFSIGNALED(end->status))
        stet_buf_printf(out, "the command was ended by signal %d before it compiled anything\n",
                        WTERMSIG(end->status));
    else if (WEXITSTATUS(end->status))
        stet_buf_printf(out, "the command failed (exit %d) before it compiled anything\n",
                        WEXITSTATUS(end->status));
    else if (end->cpu)
        stet_buf_str(out, "no process of the command used the CPU backend, which JAX, PyTorch/XLA "
                          "and TorchTPU find by their environment; was it cleared?\n");
    else
        stet_buf_str(out, STET_UNWATCHED "\n");
}

/* Handles a run without records of a plugin: there was none, or it was not used. */
static void say_nothing(struct stet_buf *out, const struct stet_run_digest *d, const char *folder,
                        const char *id, const struct stet_run_end *end)
{
    stet_buf_printf(out, "stet: run %s: %s\n", id,
                    end->torch         ? "torch.compile alone"
                    : d->process_count ? "a compiler plugin was loaded, and compiled nothing"
                                       : "no process loaded a compiler plugin");
    if (!end->torch)
        say_why(out, folder, end);
}

/* Names what may run otherwise with real values. */
static void say_zeros(struct stet_buf *out, const struct stet_run_digest *d,
                      const struct stet_run_end *end)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_readbacks r;

    if (stet_session_readbacks(&r, d, &err) != STET_OK) {
        stet_buf_printf(out, "stet: %s\n", err.text);
    } else if (!r.count && !r.unplaced) {
        stet_buf_str(out, "stet: zeros: no program was computed, and no result was read back\n");
    } else {
        stet_buf_str(out, "stet: zeros: no program was computed; results read back were zeros:\n");
        stet_session_readbacks_text(out, &r, "stet:   ", TOP);
        if (r.unplaced)
            stet_buf_printf(out, "stet:   %" PRIu64 " copies from lines that are not known\n",
                            r.unplaced);
        if (end->status)
            stet_buf_str(out, "stet: the command failed; a value that cannot be zero may be why\n");
    }
    stet_session_readbacks_release(&r);
}

static void say_compiler(struct stet_buf *out, const struct stet_run_digest *d)
{
    uint64_t ns = stet_session_compiler_ns(d);

    if (!ns)
        return;
    stet_buf_str(out, "stet: about ");
    stet_text_duration(out, ns);
    stet_buf_str(out, " of compiling avoided: the processor time that XLA's CPU compiler takes for "
                      "programs of these sizes\n");
}

static void say_exhausted(struct stet_buf *out, const struct stet_run_digest *d, const char *folder)
{
    struct stet_exhausted_list l;

    if (stet_session_exhausted(&l, d, folder, NULL) == STET_OK)
        stet_session_exhausted_text(out, &l, "stet: ");
    stet_session_exhausted_release(&l);
}

void stet_cli_run_summary(const char *folder, const char *id, const struct stet_launch_watch *watch,
                          const struct stet_run_end *end)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_session_programs *shelf = stet_session_programs_new();
    struct stet_dump dump = {0};
    struct stet_run_digest d;

    if (stet_ledger_run_load(&d, folder, &err) != STET_OK) {
        stet_say("stet: %s\n", err.text);
        stet_session_programs_free(shelf);
        return;
    }
    snprintf(dump.dir, sizeof dump.dir, "%s/dump", folder);
    if (d.compiles == 0 && shelf)
        stet_dump_scan(&dump, &d, shelf, true);
    if (!d.compiles && !d.loads && !d.executions) {
        say_nothing(&out, &d, folder, id, end);
    } else {
        stet_buf_printf(&out, "stet: run %s: ", id);
        stet_cli_run_totals(&out, &d);
        stet_buf_printf(&out, "; see `stet %s`\n", d.compiles ? "explain" : "show");
    }
    if (!end->brief && (d.compiles || end->torch) && d.compiles <= MOST_COMPILES)
        print_causes(&out, folder, end->cpu);
    if (end->brief && end->cpu)
        say_compiler(&out, &d);
    stet_cli_elsewhere_text(&out, "stet: ", &d);
    say_exhausted(&out, &d, folder);
    if (end->zeros && d.executions)
        say_zeros(&out, &d, end);
    stet_cli_run_trouble(&out, &d);
    stranger_lines(&out, watch);
    if (!out.failed)
        stet_say_text(&out);
    stet_buf_release(&out);
    stet_dump_release(&dump);
    stet_session_programs_free(shelf);
    stet_ledger_run_unload(&d);
}
