/* stet fingerprint: prints skeleton, facets and key of program files. */
#include "cli/command.h"
#include "session/named_program.h"

#include "base/json.h"

#include <stdio.h>

static const struct stet_usage usage = {
    "stet fingerprint [options] FILE...",
    "Prints a program's identity: the skeleton (which family it belongs to), a digest for each\n"
    "facet (what may vary in a family) and the exact key. FILE is MLIR bytecode or text, or an\n"
    "HLO proto or text; - is standard input.",
    "fingerprint",
};

static void print_text(struct stet_buf *out, const struct stet_session_program *l)
{
    char hash[STET_HASH_TEXT];

    stet_buf_printf(out, "%s\n", l->path);
    stet_hash_format(l->fingerprint.key, hash);
    stet_buf_printf(out, "  %-12s %s\n", "key", hash);
    stet_hash_format(l->fingerprint.skeleton, hash);
    stet_buf_printf(out, "  %-12s %s\n", "skeleton", hash);
    for (unsigned f = 0; f < STET_FACETS; f++) {
        stet_hash_format(l->fingerprint.facets[f], hash);
        stet_buf_printf(out, "  %-12s %s\n", stet_facet_name((enum stet_facet)f), hash);
    }
}

static void print_json(struct stet_json *j, const struct stet_session_program *l)
{
    char hash[STET_HASH_TEXT];

    stet_json_object(j, NULL);
    stet_json_cstr(j, "file", l->path);
    stet_hash_format(l->fingerprint.key, hash);
    stet_json_cstr(j, "key", hash);
    stet_hash_format(l->fingerprint.skeleton, hash);
    stet_json_cstr(j, "skeleton", hash);
    stet_json_object(j, "facets");
    for (unsigned f = 0; f < STET_FACETS; f++) {
        stet_hash_format(l->fingerprint.facets[f], hash);
        stet_json_cstr(j, stet_facet_name((enum stet_facet)f), hash);
    }
    stet_json_end_object(j);
    stet_json_end_object(j);
}

int cmd_fingerprint(int argc, char **argv)
{
    const char *options_path = NULL;
    const struct stet_option options[] = {
        {"options", "FILE", "compile options (CompileOptionsProto) that go with the programs",
         STET_OPTION_VALUE, &options_path},
        {0},
    };
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);
    int code = STET_EXIT_FINE;

    if (done >= 0)
        return done;
    if (!args.count)
        return stet_cli_usage_error(&usage, "needs at least one FILE");
    stet_json_init(&j, &out);
    if (args.format == STET_FORMAT_JSON) {
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.fingerprint/1");
        stet_json_uint(&j, "version", STET_FINGERPRINT_VERSION);
        stet_json_array(&j, "programs");
    }
    for (int i = 0; i < args.count; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_session_program l;

        if (stet_session_program_open(&l, args.values[i], options_path, &err) != STET_OK) {
            code = stet_cli_complain(&err); /* the other files are still printed */
            continue;
        }
        if (args.format == STET_FORMAT_JSON)
            print_json(&j, &l);
        else
            print_text(&out, &l);
        stet_session_program_close(&l);
    }
    if (args.format == STET_FORMAT_JSON) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    }
    return stet_cli_print(&out, code);
}
