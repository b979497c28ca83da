/* Budgets of waiting: what a process waited for its compiles, in all and for each family. */
#include "contract/contract_run.h"

#include "base/human.h"
#include "base/mem.h"

enum stet_rc stet_contract_process_init(struct stet_contract_process *p,
                                        const struct stet_contract *c, bool foreign,
                                        struct stet_err *err)
{
    enum stet_rc rc;

    *p = (struct stet_contract_process){0};
    p->waited = stet_mem_calloc((size_t)c->family_count + 1, sizeof *p->waited);
    if (!p->waited)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    rc = stet_gate_init(&p->gate, c, foreign, err);
    if (rc != STET_OK)
        stet_contract_process_release(p);
    return rc;
}

void stet_contract_process_release(struct stet_contract_process *p)
{
    stet_gate_release(&p->gate);
    stet_mem_free(p->waited);
    *p = (struct stet_contract_process){0};
}

static void add(struct stet_contract_waited *w, uint64_t ns, uint32_t sighting)
{
    w->ns += ns;
    w->compiles++;
    if (ns < w->most_ns)
        return;
    w->most_ns = ns;
    w->dearest = sighting;
}

void stet_contract_waited_add(struct stet_contract_process *p, const struct stet_family *family,
                              const struct stet_session *x, uint32_t sighting)
{
    uint64_t ns = x->history.sightings[sighting].wait_ns;

    if (family)
        add(&p->waited[family - p->gate.contract->families], ns, sighting);
    add(&p->waited[p->gate.family_count], ns, sighting);
}

const struct stet_terms *stet_contract_waited_over(const struct stet_contract_process *p,
                                                   uint32_t i)
{
    const struct stet_contract *c = p->gate.contract;
    const struct stet_terms *t = i < p->gate.family_count ? &c->families[i].terms : &c->terms;

    return p->waited[i].ns > t->waited_ns ? t : NULL;
}

enum stet_rc stet_contract_check_waited(struct stet_contract_check *k,
                                        struct stet_contract_process *p, struct stet_session *x,
                                        struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (uint32_t i = 0; rc == STET_OK && i <= p->gate.family_count; i++) {
        const struct stet_terms *t = stet_contract_waited_over(p, i);
        struct stet_contract_waited *w = &p->waited[i];
        struct stet_violation v = {.clause = STET_CLAUSE_WAITED};
        struct stet_buf what = STET_BUF_INIT;
        struct stet_session_row row;

        if (!t || w->told)
            continue;
        w->told = true;
        stet_contract_explain(&v, x, w->dearest, UINT32_MAX, &row);
        stet_text_duration(&what, w->ns);
        stet_buf_str(&what, " waited for ");
        stet_text_count(&what, w->compiles, "compile");
        stet_buf_str(&what, "; at most ");
        stet_gate_contract_print_wait(&what, t->waited_ns);
        stet_buf_str(&what, " is allowed");
        v.line = t->waited_line;
        v.family =
            i < p->gate.family_count ? p->gate.contract->families[i].name : (struct stet_view){0};
        v.what = stet_buf_as_view(&what);
        rc = what.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for the violations")
                         : stet_contract_check_add(k, &v, err);
        stet_buf_release(&what);
    }
    return rc;
}

uint64_t stet_contract_waited_round(uint64_t ns)
{
    return (ns / 1000000000 + 1) * 1000000000;
}

uint64_t stet_contract_waited_budget(const struct stet_lanes *l)
{
    const struct stet_history *h = &l->x.history;
    uint64_t most = 0;

    for (size_t p = 0; p < l->x.digest.process_count; p++) {
        uint64_t sum = 0;

        for (uint32_t i = 0; i < h->sighting_count; i++)
            sum +=
                !h->sightings[i].past && h->sightings[i].process == p ? h->sightings[i].wait_ns : 0;
        most = sum > most ? sum : most;
    }
    return stet_contract_waited_round(2 * most);
}
