/* Widens each clause that the run breaks, until the run breaks none. Only changed statements are
 * printed anew; the rest of the file, with its comments, stays as it was. */
#include "contract/update.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 4096 };

static bool no_memory(struct stet_err *err)
{
    stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    return false;
}

/* ---- widening ---- */

static void moved(struct stet_contract_update *u, const struct stet_family *f)
{
    uint32_t n = (uint32_t)(f - u->c.families);

    if (n < u->families)
        u->family_moved[n] = true;
}

static bool widen_dims(struct stet_contract_update *u, struct stet_family *f,
                       const struct stet_seen *s, uint32_t number)
{
    for (uint32_t i = 0; i < f->arg_count; i++) {
        struct stet_clause_arg *a = &f->args[i];

        if (!stet_view_eq(a->name, s->args[number].name) || a->rank != s->args[number].rank)
            continue;
        for (uint32_t d = 0; d < a->rank; d++)
            if (!stet_gate_dim_add(&a->dims[d], s->args[number].dims[d], &u->c.arena))
                return false;
        return true;
    }
    return false;
}

/* Adds the run's own family for a program, beside the families that do not fit. */
static bool adopt(struct stet_contract_update *u, const struct stet_seen *s)
{
    const struct stet_family *found;
    struct stet_family *f;
    struct stet_gate gate;
    struct stet_breach b;

    if (stet_gate_init(&gate, &u->fresh, false, NULL) != STET_OK)
        return false;
    found = stet_gate_family(&gate, s, &b);
    stet_gate_release(&gate);
    f = found ? stet_gate_contract_add_family(&u->c) : NULL;
    if (f)
        *f = *found; /* `fresh` has the same lifetime */
    return f != NULL;
}

static bool widen(struct stet_contract_update *u, const struct stet_seen *s,
                  const struct stet_breach *b)
{
    struct stet_family *f = b->family ? &u->c.families[b->family - u->c.families] : NULL;
    bool own = f && b->clause == STET_CLAUSE_MESH && f->terms.has_mesh;

    if (!f && b->clause != STET_CLAUSE_MESH)
        return adopt(u, s);
    switch (b->clause) {
    case STET_CLAUSE_DIMS:
        moved(u, f);
        return widen_dims(u, f, s, b->number);
    case STET_CLAUSE_OPTIONS:
        f->options++;
        break;
    case STET_CLAUSE_GRAPHS:
        f->graphs++;
        break;
    case STET_CLAUSE_PROGRAMS:
        f->programs++;
        break;
    case STET_CLAUSE_COMPILES:
        f->compiles++;
        break;
    case STET_CLAUSE_MESH:
        if (!own) {
            u->c.terms.mesh = stet_arena_copy(&u->c.arena, s->mesh);
            u->terms_moved = true;
            return u->c.terms.mesh.ptr != NULL;
        }
        f->terms.mesh = stet_arena_copy(&u->c.arena, s->mesh);
        break;
    default:
        return adopt(u, s);
    }
    moved(u, f);
    return true;
}

/* Passes the compiles of a process through the gate once; true when nothing broke. */
static int pass(struct stet_contract_update *u, uint32_t process, bool foreign,
                struct stet_err *err)
{
    const struct stet_history *h = &u->l.x.history;
    struct stet_arena arena;
    struct stet_gate gate;
    int fine = 1;

    if (stet_gate_init(&gate, &u->c, foreign, err) != STET_OK)
        return -1;
    for (uint32_t i = 0; fine > 0 && i < h->sighting_count; i++) {
        struct stet_seen seen;
        struct stet_breach b;

        if (h->sightings[i].past || h->sightings[i].process != process)
            continue;
        stet_arena_init(&arena, (size_t)64 << 20);
        if (stet_contract_see(&u->l.x, i, &seen, &arena, NULL) == STET_OK &&
            (stet_gate_breaks(&gate, &seen, &b) ||
             stet_contract_is_stranger(&seen, &h->sightings[i], &b)))
            fine = widen(u, &seen, &b) || no_memory(err) ? 0 : -1;
        stet_arena_release(&arena);
    }
    stet_gate_release(&gate);
    return fine;
}

static bool widen_pairs(struct stet_contract_update *u, struct stet_pairs *list,
                        const struct stet_pairs *fresh)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct stet_pair *p = &list->items[i];
        const struct stet_pair *other = NULL;

        for (uint32_t k = 0; k < fresh->count && !other; k++)
            if (stet_view_eq(fresh->items[k].name, p->name))
                other = &fresh->items[k];
        if (!other && p->unset)
            continue;
        if (other && other->unset == p->unset &&
            (p->unset || stet_contract_same_flags(other->value, p->value) ||
             stet_contract_same_version(p->value, other->value)))
            continue;
        p->unset = !other || other->unset;
        p->value = other ? other->value : (struct stet_view){0};
        u->terms_moved = true;
    }
    return true;
}

static bool widen_frames(struct stet_contract_update *u)
{
    if (u->c.no_limit && !u->fresh.no_limit && u->l.has_torch)
        u->c.no_limit = false, u->torch_moved = true;
    if (u->c.no_late && !u->fresh.no_late && u->l.has_torch)
        u->c.no_late = false, u->torch_moved = true;
    if (u->c.no_failure && !u->fresh.no_failure && u->l.has_torch)
        u->c.no_failure = false, u->torch_moved = true;
    for (uint32_t i = 0; i < u->fresh.frame_count; i++) {
        const struct stet_clause_frame *from = &u->fresh.frames[i];
        struct stet_clause_frame *to = NULL;

        for (uint32_t k = 0; k < u->c.frame_count && !to; k++)
            if (stet_view_eq(u->c.frames[k].function, from->function) &&
                (!u->c.frames[k].file.len || stet_view_eq(u->c.frames[k].file, from->file)))
                to = &u->c.frames[k];
        if (!to) {
            to = stet_gate_contract_add_frame(&u->c);
            if (!to)
                return false;
            *to = *from;
        } else if (to->programs < from->programs || to->breaks < from->breaks) {
            to->programs = to->programs < from->programs ? from->programs : to->programs;
            to->breaks = to->breaks < from->breaks ? from->breaks : to->breaks;
            if ((uint32_t)(to - u->c.frames) < u->frames)
                u->frame_moved[to - u->c.frames] = true;
        }
    }
    return true;
}

static void widen_settled(struct stet_contract_update *u)
{
    const struct stet_history *h = &u->l.x.history;

    for (uint32_t i = 0; i < h->sighting_count; i++) {
        const struct stet_sighting *s = &h->sightings[i];

        if (s->past || !s->step_known || u->c.terms.settled == STET_NO_BUDGET ||
            s->step < u->c.terms.settled)
            continue;
        u->c.terms.settled = s->step + 1;
        u->terms_moved = true;
    }
}

/* Widens the budgets of waiting to what the compiles of a process took. */
static bool widen_waited(struct stet_contract_update *u, uint32_t process, bool foreign,
                         struct stet_err *err)
{
    const struct stet_history *h = &u->l.x.history;
    struct stet_contract_process held;
    struct stet_arena arena;

    if (stet_contract_process_init(&held, &u->c, foreign, err) != STET_OK)
        return false;
    for (uint32_t i = 0; i < h->sighting_count; i++) {
        struct stet_seen seen;
        struct stet_breach b = {0};

        if (h->sightings[i].past || h->sightings[i].process != process)
            continue;
        stet_arena_init(&arena, (size_t)64 << 20);
        if (stet_contract_see(&u->l.x, i, &seen, &arena, NULL) == STET_OK)
            stet_gate_family(&held.gate, &seen, &b);
        stet_contract_waited_add(&held, b.family, &u->l.x, i);
        stet_arena_release(&arena);
    }
    for (uint32_t i = 0; i < held.gate.family_count; i++)
        if (stet_contract_waited_over(&held, i)) {
            u->c.families[i].terms.waited_ns = stet_contract_waited_round(held.waited[i].ns);
            moved(u, &u->c.families[i]);
        }
    if (stet_contract_waited_over(&held, held.gate.family_count)) {
        u->c.terms.waited_ns = stet_contract_waited_round(held.waited[held.gate.family_count].ns);
        u->terms_moved = true;
    }
    stet_contract_process_release(&held);
    return true;
}

static bool widen_all(struct stet_contract_update *u, struct stet_err *err)
{
    bool foreign = false;

    for (uint32_t i = 0; i < u->l.x.digest.process_count; i++) {
        const struct stet_process_digest *p = &u->l.x.digest.processes[i];
        int fine = 0;

        if (!p->compile_count)
            continue;
        foreign = u->c.on_cpu && !stet_contract_on_cpu(p);
        for (int round = 0; !fine && round < MOST_ROUNDS; round++)
            fine = pass(u, i, foreign, err);
        if (fine < 0 || !widen_waited(u, i, foreign, err))
            return false;
    }
    widen_settled(u);
    widen_pairs(u, &u->c.terms.flags, &u->fresh.terms.flags);
    if (!foreign)
        widen_pairs(u, &u->c.terms.bundle, &u->fresh.terms.bundle);
    return widen_frames(u) || no_memory(err);
}

/* ---- the new text ---- */

static struct stet_update_piece *add_piece(struct stet_contract_update *u)
{
    if (!stet_vec_room(&u->pieces, &u->piece_room, u->piece_count, sizeof *u->pieces)) {
        u->failed = true;
        return NULL;
    }
    u->pieces[u->piece_count] = (struct stet_update_piece){0};
    return &u->pieces[u->piece_count++];
}

static uint32_t line_of(struct stet_view text, size_t at)
{
    uint32_t line = 1;

    for (size_t i = 0; i < at && i < text.len; i++)
        line += text.ptr[i] == '\n';
    return line;
}

static void place(struct stet_update_piece *p, struct stet_view text, size_t begin, size_t end)
{
    while (end > begin && (text.ptr[end - 1] == ' ' || text.ptr[end - 1] == '\n'))
        end--;
    p->begin = begin;
    p->end = end;
    p->first = line_of(text, begin);
    p->last = line_of(text, end);
    if (p->text.len && !p->text.failed) /* without the end of its line */
        p->text.len--;
}

/* Replaces a whole line, for statements of one line. */
static void place_line(struct stet_update_piece *p, struct stet_view text, uint32_t line)
{
    size_t begin = 0, end;

    for (uint32_t n = 1; n < line && begin < text.len; begin++)
        n += text.ptr[begin] == '\n';
    for (end = begin; end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '#';)
        end++;
    place(p, text, begin, end);
}

/* Adds the piece of family or frame `i` when it is new or moved: its place in the file, or none. */
static struct stet_update_piece *clause_piece(struct stet_contract_update *u, struct stet_view name,
                                              uint32_t i, uint32_t known, const bool *moved)
{
    struct stet_update_piece *p = i >= known || moved[i] ? add_piece(u) : NULL;

    if (p)
        p->family = name;
    return p;
}

static void clause_pieces(struct stet_contract_update *u)
{
    struct stet_update_piece *p;

    for (uint32_t i = 0; i < u->c.family_count; i++) {
        const struct stet_family *f = &u->c.families[i];

        if (!(p = clause_piece(u, f->name, i, u->families, u->family_moved)))
            continue;
        stet_gate_contract_print_family(&p->text, f);
        if (i < u->families)
            place(p, u->file.bytes, f->begin, f->end);
    }
    for (uint32_t i = 0; i < u->c.frame_count; i++) {
        const struct stet_clause_frame *f = &u->c.frames[i];

        if (!(p = clause_piece(u, f->function, i, u->frames, u->frame_moved)))
            continue;
        stet_gate_contract_print_frame(&p->text, f);
        if (i < u->frames)
            place(p, u->file.bytes, f->begin, f->end);
    }
}

static void pair_pieces(struct stet_contract_update *u, const char *word,
                        const struct stet_pairs *now, const struct stet_pairs *before)
{
    for (uint32_t i = 0; i < now->count && i < before->count; i++) {
        struct stet_update_piece *p;

        if (now->items[i].unset == before->items[i].unset &&
            stet_view_eq(now->items[i].value, before->items[i].value))
            continue;
        if (!(p = add_piece(u)))
            return;
        stet_gate_contract_print_pair(&p->text, word, &now->items[i]);
        stet_buf_char(&p->text, '\n');
        place_line(p, u->file.bytes, now->items[i].line);
    }
}

/* `before` has the terms of the file. */
static void term_pieces(struct stet_contract_update *u, const struct stet_contract *before)
{
    const struct stet_terms *t = &u->c.terms;
    struct stet_update_piece *p;

    if (t->settled != before->terms.settled && (p = add_piece(u))) {
        stet_buf_printf(&p->text, "settled by step %" PRIu64 "\n", t->settled);
        place_line(p, u->file.bytes, t->settled_line);
    }
    if (t->waited_ns != before->terms.waited_ns && (p = add_piece(u))) {
        stet_buf_str(&p->text, "waited at most ");
        stet_gate_contract_print_wait(&p->text, t->waited_ns);
        stet_buf_char(&p->text, '\n');
        place_line(p, u->file.bytes, t->waited_line);
    }
    if (t->has_mesh && !stet_view_eq(t->mesh, before->terms.mesh) && (p = add_piece(u))) {
        stet_buf_printf(&p->text, "mesh %.*s\n", STET_FMT(t->mesh));
        place_line(p, u->file.bytes, t->mesh_line);
    }
    pair_pieces(u, "flags", &t->flags, &before->terms.flags);
    pair_pieces(u, "bundle", &t->bundle, &before->terms.bundle);
    if (u->torch_moved && (p = add_piece(u))) {
        stet_gate_contract_print_torch(&p->text, &u->c);
        place_line(p, u->file.bytes, u->c.torch_line);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct stet_update_piece *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

enum stet_rc stet_contract_update_write(const struct stet_contract_update *u, const char *file,
                                        struct stet_err *err)
{
    struct stet_view text = u->file.bytes;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_contract again;
    size_t at = 0;
    enum stet_rc rc;

    for (uint32_t i = 0; i < u->piece_count; i++) {
        const struct stet_update_piece *p = &u->pieces[i];

        if (!p->first || p->begin < at)
            continue;
        stet_buf_add(&out, text.ptr + at, p->begin - at);
        stet_buf_view(&out, stet_buf_as_view(&p->text));
        at = p->end;
    }
    stet_buf_add(&out, text.ptr + at, text.len - at);
    for (uint32_t i = 0; i < u->piece_count; i++)
        if (!u->pieces[i].first) {
            stet_buf_char(&out, '\n');
            stet_buf_view(&out, stet_buf_as_view(&u->pieces[i].text));
        }
    rc = out.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for a contract")
                    : stet_gate_contract_parse(&again, stet_buf_as_view(&out), file, err);
    if (rc == STET_OK) {
        stet_gate_contract_release(&again);
        rc = stet_fs_write(file, stet_buf_as_view(&out), err);
    }
    stet_buf_release(&out);
    return rc;
}

static enum stet_rc make(struct stet_contract_update *u, const struct stet_contract *before,
                         struct stet_err *err)
{
    enum stet_rc rc = stet_contract_make(&u->fresh, &u->l, false, err);

    if (rc != STET_OK)
        return rc;
    u->has_fresh = true;
    u->families = u->c.family_count;
    u->frames = u->c.frame_count;
    u->family_moved = stet_mem_calloc(u->families + 1, 1);
    u->frame_moved = stet_mem_calloc(u->frames + 1, 1);
    if (!u->family_moved || !u->frame_moved)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    rc = stet_contract_check_run(&u->k, before, &u->l, err);
    if (rc != STET_OK)
        return rc;
    if (!widen_all(u, err))
        return err ? err->rc : STET_NO_MEMORY;
    term_pieces(u, before);
    clause_pieces(u);
    if (u->failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    if (u->piece_count)
        qsort(u->pieces, u->piece_count, sizeof *u->pieces, by_place);
    return STET_OK;
}

enum stet_rc stet_contract_update_make(struct stet_contract_update *u, const char *run,
                                       const char *file, struct stet_err *err)
{
    struct stet_contract before;
    enum stet_rc rc = stet_gate_contract_read(&before, file, err);

    *u = (struct stet_contract_update){0};
    stet_contract_check_init(&u->k);
    if (rc != STET_OK)
        return rc;
    rc = stet_file_open(&u->file, file, err);
    if (rc == STET_OK)
        rc = stet_gate_contract_parse(&u->c, u->file.bytes, file, err);
    u->has_contract = rc == STET_OK;
    if (rc == STET_OK)
        rc = stet_contract_lanes_open(&u->l, run, err);
    u->has_run = rc == STET_OK;
    if (rc == STET_OK)
        rc = make(u, &before, err);
    stet_gate_contract_release(&before);
    return rc;
}

void stet_contract_update_release(struct stet_contract_update *u)
{
    for (size_t i = 0; i < u->piece_count; i++)
        stet_buf_release(&u->pieces[i].text);
    stet_mem_free(u->pieces);
    stet_contract_check_release(&u->k);
    stet_mem_free(u->family_moved);
    stet_mem_free(u->frame_moved);
    if (u->has_fresh)
        stet_gate_contract_release(&u->fresh);
    if (u->has_run)
        stet_contract_lanes_close(&u->l);
    if (u->has_contract)
        stet_gate_contract_release(&u->c);
    stet_file_close(&u->file);
}
