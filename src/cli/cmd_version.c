/* stet version: prints the version and the build. */
#include "cli/command.h"

#include "abi/pjrt.h"
#include "base/json.h"
#include "journal/format.h"
#include "stet_version.h"

#include <stdio.h>

#define TEXT(x)          #x
#define VERSION(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
#ifdef __clang__
static const char built_with[] =
    "clang " VERSION(__clang_major__, __clang_minor__, __clang_patchlevel__);
#else
static const char built_with[] = "gcc " VERSION(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif

int cmd_version(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet version [--format=text|json]",
        "Prints the version of Stet, the formats it knows and how it was built.",
        "version",
    };
    static const struct stet_option options[] = {{0}};
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_args args;
    char journal[32], pjrt[32];
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count)
        return stet_cli_usage_error(&usage, "no operands are taken");
    snprintf(journal, sizeof journal, "%d.%d", STET_JOURNAL_MAJOR, STET_JOURNAL_MINOR);
    snprintf(pjrt, sizeof pjrt, "%d.%d", PJRT_API_MAJOR, PJRT_API_MINOR);
    if (args.format == STET_FORMAT_JSON) {
        struct stet_json j;

        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.version/1");
        stet_json_cstr(&j, "version", STET_VERSION);
        stet_json_cstr(&j, "journal", journal);
        stet_json_cstr(&j, "pjrt_api", pjrt);
        stet_json_cstr(&j, "compiler", built_with);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else {
        stet_buf_printf(&out,
                        "stet %s\n  PJRT C API known  %s\n  journal format    %s\n"
                        "  built with        %s\n",
                        STET_VERSION, pjrt, journal, built_with);
    }
    return stet_cli_print(&out, STET_EXIT_FINE);
}
