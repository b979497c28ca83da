/* compare RUN_FOLDER MARKS: inferred steps of the one process that ran, against the script's marks
 * ("step time executions"). Prints a line; fails when a step is wrong or fewer than 99 % are known.
 */
#include "base/mem.h"
#include "journal/execs.h"
#include "ledger/events.h"
#include "ledger/steps.h"

#include <stdio.h>
#include <stdlib.h>

struct sequence {
    uint64_t *ids;
    size_t count, room;
};

static void add_batch(struct sequence *s, const struct stet_rec_execs *r)
{
    static struct stet_exec batch[STET_EXECS_MAX];

    if (r->before != s->count ||
        stet_journal_execs_decode(r, batch, STET_EXECS_MAX, NULL) != STET_OK) {
        fprintf(stderr, "executions are missing\n");
        exit(3);
    }
    for (uint64_t i = 0; i < r->count; i++) {
        if (s->count == s->room) {
            s->room = s->room ? 2 * s->room : 1024;
            s->ids = realloc(s->ids, s->room * sizeof *s->ids);
            if (!s->ids)
                abort();
        }
        s->ids[s->count++] = batch[i].executable;
    }
}

static void read_run(const char *folder, struct stet_steps *steps, struct sequence *sequence)
{
    struct stet_events events;
    struct stet_run_event e;
    struct stet_err err = STET_ERR_INIT;

    if (stet_ledger_events_open(&events, folder, &err) != STET_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(3);
    }
    while (stet_ledger_events_next(&events, &e) == STET_OK) {
        const union stet_record *r = e.event.record;

        if (e.event.kind == STET_REC_execs)
            add_batch(sequence, &r->execs);
        else if (e.event.kind == STET_REC_flow)
            stet_ledger_steps_flow(steps, &r->flow);
        else if (e.event.kind == STET_REC_compile_end)
            stet_ledger_steps_executable(steps, r->compile_end.executable, r->compile_end.name,
                                         (struct stet_hash){0});
    }
    stet_ledger_events_close(&events);
}

int main(int argc, char **argv)
{
    struct stet_steps *steps = stet_ledger_steps_new();
    struct sequence sequence = {0};
    size_t at = 0, right = 0, null = 0, wrong = 0;
    unsigned long long step, time;
    long long before;
    char line[128];
    FILE *marks;

    if (argc != 3 || !(marks = fopen(argv[2], "r"))) {
        fprintf(stderr, "usage: compare RUN_FOLDER MARKS\n");
        return 2;
    }
    read_run(argv[1], steps, &sequence);
    stet_ledger_steps_decide(steps);
    while (fgets(line, sizeof line, marks)) {
        struct stet_steps_answer now;

        if (sscanf(line, "%llu %llu %lld", &step, &time, &before) != 3)
            break; /* "end" */
        if (before < 0 || (size_t)before > sequence.count) {
            fprintf(stderr, "the mark of step %llu has no place among %zu executions\n", step,
                    sequence.count);
            return 3;
        }
        for (; at < (size_t)before; at++)
            stet_ledger_steps_add(steps, sequence.ids[at]);
        now = stet_ledger_steps_now(steps);
        *(!now.known ? &null : now.completed == step ? &right : &wrong) += 1;
        if (now.known && now.completed != step && wrong == 1)
            fprintf(stderr, "at the begin of step %llu: %llu\n", step,
                    (unsigned long long)now.completed);
    }
    fclose(marks);
    printf("%zu executions, %zu steps: %zu right, %zu null, %zu wrong (%s)\n", sequence.count,
           right + null + wrong, right, null, wrong, stet_ledger_steps_now(steps).why);
    stet_ledger_steps_free(steps);
    free(sequence.ids);
    return wrong || !right || right * 100 < (right + null) * 99;
}
