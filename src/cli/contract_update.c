/* stet contract update: shows how a contract would have to change, or changes it. */
#include "cli/contract_update.h"

#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "contract/update.h"

#include <inttypes.h>

/* Lines that both texts share at their beginning and end are left out. */
static void diff(struct stet_buf *out, struct stet_view old, struct stet_view new)
{
    size_t head = 0, tail = 0;

    for (size_t i = 0; i < old.len && i < new.len && old.ptr[i] == new.ptr[i]; i++)
        head = old.ptr[i] == '\n' ? i + 1 : head;
    for (size_t i = 0; i < old.len - head && i < new.len - head &&
                       old.ptr[old.len - 1 - i] == new.ptr[new.len - 1 - i];
         i++)
        tail = old.ptr[old.len - 1 - i] == '\n' ? i + 1 : tail;
    for (int side = 0; side < 2; side++) {
        struct stet_view v = side ? new : old;

        v = stet_view_of(v.ptr + head, v.len - head - tail);
        while (v.len) {
            const char *end = memchr(v.ptr, '\n', v.len);
            size_t n = end ? (size_t)(end - v.ptr) : v.len;

            stet_buf_printf(out, "%c%.*s\n", side ? '+' : '-', (int)n, v.ptr);
            n += end != NULL;
            v = stet_view_of(v.ptr + n, v.len - n);
        }
    }
}

static bool concerns(const struct stet_violation *v, const struct stet_update_piece *p)
{
    if (p->first && v->line)
        return v->line >= p->first && v->line <= p->last;
    return !p->first && stet_view_eq(v->family, p->family) &&
           (v->clause <= STET_CLAUSE_CALLS || v->clause == STET_CLAUSE_FRAME);
}

static void why(struct stet_buf *out, const struct stet_contract_update *u,
                const struct stet_update_piece *p)
{
    for (uint32_t i = 0; i < u->k.count; i++) {
        const struct stet_violation *v = &u->k.items[i];

        if (!concerns(v, p))
            continue;
        stet_buf_printf(out, "  why: %.*s", STET_FMT(v->what));
        if (v->cause != STET_CAUSE_NONE)
            stet_buf_printf(out, " (%s", stet_cause_id(v->cause));
        if (v->origin.line)
            stet_buf_printf(out, "%s%.*s:%" PRIu64, v->cause ? ", " : " (",
                            STET_FMT(stet_path_base(v->origin.file)), v->origin.line);
        stet_buf_str(out, v->cause || v->origin.line ? ")\n" : "\n");
    }
}

static void tell(struct stet_buf *out, const struct stet_contract_update *u, const char *file)
{
    stet_buf_printf(out, "--- %s\n+++ %s, so that run %s keeps it\n", file, file, u->l.run->id);
    for (size_t i = 0; i < u->piece_count; i++) {
        const struct stet_update_piece *p = &u->pieces[i];
        struct stet_view old = stet_view_of(u->file.bytes.ptr + p->begin, p->end - p->begin);

        if (p->first)
            stet_buf_printf(out, "@@ line %u @@\n", p->first);
        else
            stet_buf_str(out, "@@ new @@\n");
        diff(out, p->first ? old : (struct stet_view){0}, stet_buf_as_view(&p->text));
        why(out, u, p);
    }
}

static void tell_json(struct stet_buf *out, const struct stet_contract_update *u, const char *file)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.contract-update/1");
    stet_json_cstr(&j, "contract", file);
    stet_json_cstr(&j, "run", u->l.run->id);
    stet_json_array(&j, "changes");
    for (size_t i = 0; i < u->piece_count; i++) {
        const struct stet_update_piece *p = &u->pieces[i];
        struct stet_buf reasons = STET_BUF_INIT;

        stet_json_object(&j, NULL);
        stet_json_uint(&j, "line", p->first);
        stet_json_string(&j, "from", stet_view_of(u->file.bytes.ptr + p->begin, p->end - p->begin));
        stet_json_string(&j, "to", stet_buf_as_view(&p->text));
        why(&reasons, u, p);
        stet_json_string(&j, "why", stet_buf_as_view(&reasons));
        stet_json_end_object(&j);
        stet_buf_release(&reasons);
    }
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}

static int finish(const struct stet_contract_update *u, const char *file, bool write,
                  enum stet_format format)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    int code = STET_EXIT_FINE;

    if (format == STET_FORMAT_JSON)
        tell_json(&out, u, file);
    else if (u->piece_count)
        tell(&out, u, file);
    else
        stet_buf_printf(&out, "run %s keeps %s: nothing to change\n", u->l.run->id, file);
    if (u->piece_count && write && stet_contract_update_write(u, file, &err) != STET_OK)
        code = stet_cli_complain(&err);
    else if (u->piece_count && !write)
        code = STET_EXIT_FINDING;
    return stet_cli_print(&out, code);
}

int stet_cli_contract_update(const char *run, const char *file, bool write, enum stet_format format)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_contract_update u;
    enum stet_rc rc = stet_contract_update_make(&u, run, file, &err);
    int code = rc == STET_OK ? finish(&u, file, write, format) : stet_cli_complain(&err);

    if (rc != STET_OK && !u.has_contract)
        code = STET_EXIT_USAGE;
    stet_contract_update_release(&u);
    return code;
}
