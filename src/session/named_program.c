/* Opens, decodes and fingerprints a program file. Every error message has the path. */
#include "session/named_program.h"

#include "base/mem.h"
#include "base/text.h"
#include "decode/decode.h"
#include "decode/options.h"
#include "ledger/captured.h"
#include "program/hlo.h"

#include <stdio.h>

/* Puts the path before the message ("path: text"), so that a message names its file. */
static enum stet_rc name_file(struct stet_err *err, const char *path)
{
    struct stet_err named = {STET_OK, STET_NO_OFFSET, ""};

    stet_fail_at(&named, err->rc, err->offset, "%s: %s", path,
                 err->text[0] ? err->text : stet_rc_name(err->rc));
    *err = named;
    return err->rc;
}

static enum stet_rc read_options(struct stet_session_program *l, const char *path,
                                 struct stet_err *err)
{
    struct stet_options *o = stet_mem_calloc(1, sizeof *o);
    struct stet_file file;

    if (!o)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for compile options");
    if (stet_ledger_captured_open(&file, path, 0, err) == STET_OK) {
        if (stet_options_decode(o, file.bytes, err) == STET_OK)
            l->options = o;
        else
            name_file(err, path);
        stet_file_close(&file);
    }
    if (!l->options)
        stet_mem_free(o);
    return err->rc;
}

static enum stet_rc open_named(struct stet_file *f, const char *name, struct stet_err *err)
{
    struct stet_runs runs;
    char *path;
    enum stet_rc rc;

    if (!strcmp(name, "-"))
        return stet_ledger_captured_open(f, "/dev/stdin", 0, err);
    if (strchr(name, '/') || strchr(name, '.') || stet_fs_exists(name))
        return stet_ledger_captured_open(f, name, 0, err);
    rc = stet_ledger_runs_open(&runs, err);
    if (rc != STET_OK)
        return rc;
    rc = stet_ledger_captured_find(&runs, name, &path, err);
    stet_ledger_runs_close(&runs);
    if (rc == STET_OK)
        rc = stet_ledger_captured_open(f, path, 0, err);
    stet_mem_free(path);
    return rc;
}

enum stet_rc stet_session_program_open(struct stet_session_program *l, const char *path,
                                       const char *options_path, struct stet_err *err)
{
    struct stet_view options = {0};

    *l = (struct stet_session_program){.path = path};
    if (open_named(&l->file, path, err) != STET_OK)
        return err->rc;
    if (stet_decode(&l->program, l->file.bytes, err) != STET_OK) {
        stet_file_close(&l->file);
        if (stet_view_ends(stet_view_str(path), ".py")) {
            *err = (struct stet_err)STET_ERR_INIT;
            return stet_fail(
                err, STET_BAD_INPUT,
                "%s is Python source, not a program: `stet run -- python %s` records the "
                "programs it compiles, `stet show` lists them",
                path, path);
        }
        return name_file(err, path);
    }
    if (options_path && read_options(l, options_path, err) != STET_OK) {
        stet_session_program_close(l);
        return err->rc;
    }
    if (l->options)
        options = l->options->canonical;
    if (stet_fingerprint_make(&l->fingerprint, &l->program, options, err) != STET_OK) {
        stet_session_program_close(l);
        return name_file(err, path);
    }
    if (l->program.left_out)
        stet_say(
            "stet: %s: %u constant%s left out when this was printed: programs that differ only "
            "there look the same\n",
            path, l->program.left_out, l->program.left_out == 1 ? " was" : "s were");
    return STET_OK;
}

void stet_session_program_close(struct stet_session_program *l)
{
    stet_program_release(&l->program);
    stet_file_close(&l->file);
    if (l->options)
        stet_options_release(l->options);
    stet_mem_free(l->options);
}

static void add_option(void *context, struct stet_view path, struct stet_view from,
                       struct stet_view to)
{
    stet_diff_add_option(context, path, from, to);
}

static bool is_hlo_text(const struct stet_session_program *l)
{
    return l->program.source == STET_SOURCE_HLO_TEXT && l->program.module;
}

/* Appends an option as the HLO text has it; the text omits usual values. */
static void put_option(struct stet_buf *out, const char *name, const struct stet_attr *a)
{
    if (!a)
        stet_buf_str(out, strstr(name, "num_") || strstr(name, "_count") ? "1" : "false");
    else if (a->kind == STET_ATTR_INTEGER)
        stet_buf_int(out, stet_attr_int(a));
    else if (a->kind == STET_ATTR_BOOL)
        stet_buf_str(out, stet_attr_int(a) ? "true" : "false");
    for (uint32_t i = 0; a && a->kind == STET_ATTR_INTS && i < a->count; i++)
        stet_buf_printf(out, "%s%s", i ? "," : "", a->ints[i] ? "true" : "false");
}

/* Compares the options shown in the first lines of two HLO texts. */
static void compare_first_lines(struct stet_diff *d, const struct stet_session_program *a,
                                const struct stet_session_program *b)
{
    for (const char *const *name = stet_hlo_options; *name; name++) {
        struct stet_buf from = STET_BUF_INIT, to = STET_BUF_INIT;

        put_option(&from, *name, stet_op_attr(a->program.module, *name));
        put_option(&to, *name, stet_op_attr(b->program.module, *name));
        if (!stet_view_eq(stet_buf_as_view(&from), stet_buf_as_view(&to)))
            stet_diff_add_option(d, stet_view_str(*name), stet_buf_as_view(&from),
                                 stet_buf_as_view(&to));
        stet_buf_release(&from);
        stet_buf_release(&to);
    }
}

void stet_session_program_compare_options(struct stet_diff *d, const struct stet_session_program *a,
                                          const struct stet_session_program *b)
{
    if (a->options && b->options)
        stet_options_diff(a->options, b->options, add_option, d);
    else if (is_hlo_text(a) && is_hlo_text(b))
        compare_first_lines(d, a, b);
}

const char *stet_session_program_format(const struct stet_session_program *l)
{
    switch (l->program.source) {
    case STET_SOURCE_BYTECODE:
        return "MLIR bytecode";
    case STET_SOURCE_MLIR_TEXT:
        return "MLIR text";
    case STET_SOURCE_HLO:
        return "HLO proto";
    case STET_SOURCE_HLO_TEXT:
        return "HLO text";
    }
    return "program";
}
