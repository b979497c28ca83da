/* Makes clauses of a contract from what torch.compile compiled. */
#include "contract/contract_run.h"

#include "base/mem.h"
#include "base/path.h"
#include "session/torch_code.h"

enum { NAMES_MOST = 256 << 20 };

/* Counts for a code in a process. A compile that the limit refused does not count as a program. */
struct spent {
    uint64_t programs, breaks;
};

static bool count_codes(const struct stet_torch *t, uint32_t *code, struct spent *spent)
{
    struct stet_intern codes;
    bool fine;

    stet_intern_init(&codes, NAMES_MOST);
    for (size_t i = 0; i < t->frame_count && !codes.failed; i++) {
        const struct stet_torch_frame *f = &t->frames[i];

        code[i] = stet_session_code_add(
            &codes, (struct stet_code){f->process, stet_contract_frame(f->code.function),
                                       stet_path_base(f->code.file)});
        if (codes.failed)
            break;
        spent[code[i]].programs += f->compiles;
        spent[code[i]].breaks += f->breaks;
    }
    for (size_t i = 0; i < t->compile_count && !codes.failed; i++)
        spent[code[t->compiles[i].frame]].programs -= t->compiles[i].limit;
    fine = !codes.failed;
    stet_intern_release(&codes);
    return fine;
}

/* Returns the clause of a code in any process. Codes are numbered as the contract's frames are. */
static struct stet_clause_frame *frame_of(struct stet_contract *c, struct stet_intern *codes,
                                          const struct stet_torch_frame *f)
{
    struct stet_code code = {0, stet_contract_frame(f->code.function),
                             stet_path_base(f->code.file)};
    uint32_t number = stet_session_code_add(codes, code);
    struct stet_clause_frame *out;

    if (number == STET_INTERN_NONE)
        return NULL;
    if (number < c->frame_count)
        return &c->frames[number];
    out = stet_gate_contract_add_frame(c);
    if (out) {
        out->function = stet_arena_copy(&c->arena, code.function);
        out->file = stet_arena_copy(&c->arena, code.file);
        out->programs = out->breaks = 0;
    }
    return out;
}

static bool take_frames(struct stet_contract *c, const struct stet_torch *t,
                        struct stet_intern *codes)
{
    uint32_t *code = stet_mem_calloc(t->frame_count + 1, sizeof *code);
    struct spent *spent = stet_mem_calloc(t->frame_count + 1, sizeof *spent);
    bool fine = code && spent && count_codes(t, code, spent);

    for (size_t i = 0; fine && i < t->frame_count; i++) {
        const struct stet_torch_frame *f = &t->frames[i];
        const struct spent *own = &spent[code[i]];
        struct stet_clause_frame *out;

        if (!f->code.function.len || !f->compiles)
            continue;
        out = frame_of(c, codes, f);
        fine = out != NULL;
        if (!fine)
            break;
        out->programs = own->programs > out->programs ? own->programs : out->programs;
        out->breaks = own->breaks > out->breaks ? own->breaks : out->breaks;
        c->no_limit &= !f->limit.len;
    }
    stet_mem_free(code);
    stet_mem_free(spent);
    return fine;
}

static bool is_named(const struct stet_torch *t, size_t compile)
{
    return t->frames[t->compiles[compile].frame].code.function.len > 0;
}

/* Did a process compile again after each of its frames had been compiled once? `stet check` decides
 * this in the same way; it ignores frames without a name. */
static bool compiles_late(const struct stet_torch *t, bool *late)
{
    uint32_t *firsts = stet_mem_calloc(t->process_count + 1, sizeof *firsts);

    *late = false;
    if (!firsts)
        return false;
    for (size_t i = 0; i < t->compile_count; i++) {
        if (is_named(t, i) && !t->compiles[i].number)
            firsts[t->frames[t->compiles[i].frame].process] = (uint32_t)i;
    }
    for (size_t i = 0; i < t->compile_count; i++)
        *late |= is_named(t, i) && t->compiles[i].number &&
                 i > firsts[t->frames[t->compiles[i].frame].process];
    stet_mem_free(firsts);
    return true;
}

bool stet_contract_take_torch(struct stet_contract *c, const struct stet_torch *t)
{
    struct stet_intern codes;
    bool late, fine;

    c->no_limit = t->compile_count > 0;
    stet_intern_init(&codes, NAMES_MOST);
    fine = take_frames(c, t, &codes);
    stet_intern_release(&codes);
    if (!fine || !compiles_late(t, &late))
        return false;
    c->no_late = t->compile_count && !late;
    c->no_failure = t->compile_count > 0;
    for (size_t i = 0; i < t->compile_count; i++)
        c->no_failure &= !t->compiles[i].fail_type.len || t->compiles[i].limit;
    return true;
}
