/* stet doctor: probes what is installed, and prints what to do about it. */
#include "base/json.h"
#include "bundle/gather_run.h"
#include "cli/command.h"
#include "cli/doctor_print.h"

/* Prints the whole matrix, for docs/matrix.md and for users. */
static int list_rows(const struct stet_args *args, struct stet_doctor *d)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;

    if (stet_doctor_load_matrix(d, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.matrix/1");
        stet_json_array(&j, "rows");
    }
    for (size_t i = 0; i < d->matrix.count; i++) {
        const struct stet_row *row = &d->matrix.rows[i];

        if (args->format == STET_FORMAT_JSON) {
            stet_json_object(&j, NULL);
            stet_json_string(&j, "id", row->id);
            for (int f = 0; f < STET_ROW_FIELDS; f++)
                stet_json_string(&j, stet_bundle_row_field_name((enum stet_row_field)f),
                                 row->field[f]);
            stet_json_end_object(&j);
            continue;
        }
        stet_buf_printf(&out, "[%.*s]\n", STET_FMT(row->id));
        for (int f = 0; f < STET_ROW_FIELDS; f++)
            stet_buf_printf(&out, "%-8s = %.*s\n",
                            stet_bundle_row_field_name((enum stet_row_field)f),
                            STET_FMT(row->field[f]));
        stet_buf_char(&out, '\n');
    }
    if (args->format == STET_FORMAT_JSON) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    }
    stet_bundle_matrix_release(&d->matrix);
    return stet_cli_print(&out, STET_EXIT_FINE);
}

int cmd_doctor(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet doctor [options]",
        "Tries what is installed: every plugin that a framework would find is loaded, makes a\n"
        "client, compiles, runs, and reloads what it compiled, each in a child process with a\n"
        "deadline. Looks at the store, the frameworks, the environment, and a list of what is\n"
        "known to break. Exit 0 when all is well, 1 for findings.",
        "doctor",
    };
    static struct stet_doctor_wishes w;
    static struct stet_doctor d;
    const struct stet_option options[] = {
        {"python", "PYTHON", "of this interpreter (default: $VIRTUAL_ENV, python3 on PATH)",
         STET_OPTION_VALUE, &w.python},
        {"plugin", "FILE", "one more plugin, in addition to those found", STET_OPTION_VALUE,
         &w.plugin},
        {"deadline", "SECONDS", "for each child process (60)", STET_OPTION_VALUE, &w.deadline},
        {"quick", NULL, "compile nothing: clients and devices only", STET_OPTION_FLAG, &w.quick},
        {"no-frameworks", NULL, "import no framework", STET_OPTION_FLAG, &w.no_frameworks},
        {"matrix", "FILE", "more rows of what is known to break (stet help matrix)",
         STET_OPTION_VALUE, &w.matrix},
        {"rows", NULL, "print the whole matrix and stop", STET_OPTION_FLAG, &w.rows},
        {"run", "RUN", "judge features by the programs of a run", STET_OPTION_VALUE, &w.run},
        {"program", "FILE", "or by a program file", STET_OPTION_VALUE, &w.program},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count)
        return stet_cli_usage_error(&usage, "no operands are taken");
    d.wishes = &w;
    if (!stet_bundle_deadline(w.deadline, &d.deadline_ms))
        return stet_cli_usage_error(&usage, "--deadline: not a number of seconds");
    if (w.rows)
        return list_rows(&args, &d);
    if (stet_doctor_examine(&d, &err) != STET_OK) {
        stet_doctor_release(&d);
        return stet_cli_complain(&err);
    }
    if (args.format == STET_FORMAT_JSON)
        stet_doctor_json(&d, &out);
    else
        stet_cli_doctor_text(&d, &out);
    done = d.fine ? STET_EXIT_FINE : STET_EXIT_FINDING;
    stet_doctor_release(&d);
    return stet_cli_print(&out, done);
}
