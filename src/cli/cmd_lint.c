/* stet lint: finds Python hazards for compiled code, before anything is compiled. */
#include "cli/command.h"
#include "lint/formats.h"
#include "session/lint_join.h"

#include "base/fs.h"
#include "base/mem.h"
#include "lint/baseline.h"
#include "lint/config.h"
#include "lint/fix.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct stet_usage usage = {
    "stet lint [options] [PATH...]",
    "Finds Python code that will compile again and again, or not at all, once it is under\n"
    "jax.jit, torch.compile or PyTorch/XLA: with the reason, the fix and the trap's page. PATH is\n"
    "a file or a folder (default: this folder); - reads standard input.\n"
    "A comment `# stet: ignore[rule]` suppresses a finding; exit 1 when one is left.",
    "lint",
};

struct lint_args {
    const char *select, *ignore, *exclude, *baseline, *write_baseline, *config, *format, *severity,
        *stdin_name, *jobs, *run;
    bool fix, diff, no_config, no_cache, statistics, rules;
};

/* Sets the marks for "a,b". Prints an error and returns false if a name is not a rule's. */
static bool mark(bool *on, struct stet_view list, bool value)
{
    while (list.len) {
        const char *comma = memchr(list.ptr, ',', list.len);
        struct stet_view name =
            stet_view_of(list.ptr, comma ? (size_t)(comma - list.ptr) : list.len);
        bool known = stet_view_is(name, "all");

        for (size_t r = 0; r < stet_lint_rule_count(); r++) {
            struct stet_lint_rule rule = stet_lint_rule_at(r);

            if (stet_view_is(name, rule.code) || stet_view_is(name, rule.trap) ||
                stet_view_is(name, "all")) {
                on[r] = value;
                known = true;
            }
        }
        if (!known) {
            stet_say("stet: no rule '%.*s'; `stet lint --rules` lists them\n", STET_FMT(name));
            return false;
        }
        list = comma ? stet_view_of(comma + 1, list.len - name.len - 1) : stet_view_of("", 0);
    }
    return true;
}

static bool mark_list(bool *on, char *const *names, size_t count, bool value)
{
    for (size_t i = 0; i < count; i++) {
        if (!mark(on, stet_view_str(names[i]), value))
            return false;
    }
    return true;
}

/* The command line overrides the file: --select replaces, --ignore adds. */
static bool choose_rules(bool *on, const struct lint_args *a, const struct stet_lint_config *c)
{
    bool chosen = a->select || c->select_count;

    for (size_t r = 0; r < stet_lint_rule_count(); r++)
        on[r] = !chosen;
    if (a->select) {
        if (!mark(on, stet_view_str(a->select), true))
            return false;
    } else if (!mark_list(on, c->select, c->select_count, true)) {
        return false;
    }
    if (!mark_list(on, c->ignore, c->ignore_count, false))
        return false;
    return !a->ignore || mark(on, stet_view_str(a->ignore), false);
}

static char *cache_folder(void)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *base, *folder;

    if (xdg && xdg[0] == '/')
        return stet_fs_join(xdg, "stet/lint");
    base = home ? stet_fs_join(home, ".cache") : NULL;
    folder = base ? stet_fs_join(base, "stet/lint") : NULL;
    stet_mem_free(base);
    return folder;
}

/* Parses --jobs. Returns 0 when it is not given, -1 when it is not a number of threads. */
static long count_of(const char *text)
{
    char *end;
    long n;

    if (!text)
        return 0;
    n = strtol(text, &end, 10);
    return end == text || *end || n < 1 || n > 1024 ? -1 : n;
}

static int severity_of(const char *text)
{
    if (!text || !strcmp(text, "note"))
        return 0;
    return !strcmp(text, "warning") ? 1 : !strcmp(text, "error") ? 2 : -1;
}

static void drop_below(struct stet_lint_result *r, unsigned severity)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->finding_count; i++) {
        if (r->findings[i].severity >= severity)
            r->findings[kept++] = r->findings[i];
    }
    r->finding_count = kept;
}

/* Prints the diff of every file with a fixable finding, and with --fix writes its new text to
 * disk. */
static int fix_files(struct stet_buf *out, const struct stet_lint_result *r, bool apply)
{
    struct stet_err err = STET_ERR_INIT;
    size_t fixed = 0, files = 0;
    const char *last = "";

    for (size_t i = 0; i < r->finding_count; i++) {
        struct stet_buf text = STET_BUF_INIT;
        struct stet_file f;
        size_t count = 0;

        if (!r->findings[i].edit.ptr || !strcmp(last, r->findings[i].path))
            continue;
        last = r->findings[i].path;
        if (stet_file_open(&f, last, &err) != STET_OK)
            return stet_cli_complain(&err);
        stet_lint_fix_text(r, last, f.bytes, &text, &count);
        stet_lint_fix_diff(last, f.bytes, stet_buf_as_view(&text), out);
        stet_file_close(&f);
        if (apply && !text.failed &&
            stet_fs_write(last, stet_buf_as_view(&text), &err) != STET_OK) {
            stet_buf_release(&text);
            return stet_cli_complain(&err);
        }
        stet_buf_release(&text);
        fixed += count;
        files++;
    }
    stet_say("stet: %s %zu of %zu finding%s in %zu file%s\n", apply ? "fixed" : "would fix", fixed,
             r->finding_count, r->finding_count == 1 ? "" : "s", files, files == 1 ? "" : "s");
    return (apply ? fixed < r->finding_count : r->finding_count) ? STET_EXIT_FINDING
                                                                 : STET_EXIT_FINE;
}

typedef void printer(struct stet_buf *, const struct stet_lint_print *);

static printer *printer_of(const char *format)
{
    if (!format || !strcmp(format, "text"))
        return stet_lint_print_text;
    if (!strcmp(format, "json"))
        return stet_lint_print_json;
    if (!strcmp(format, "github"))
        return stet_lint_print_github;
    return !strcmp(format, "sarif") ? stet_lint_print_sarif : NULL;
}

static int report(struct stet_lint_result *r, const struct lint_args *a, const char *baseline)
{
    struct stet_lint_print p = {
        .result = r, .statistics = a->statistics, .colour = stet_text_colour(STDOUT_FILENO)};
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    char id[128];
    int code;

    if (a->write_baseline) {
        if (stet_lint_baseline_write(r, a->write_baseline, &err) != STET_OK)
            return stet_cli_complain(&err);
        stet_say("stet: %zu finding%s into %s\n", r->finding_count,
                 r->finding_count == 1 ? "" : "s", a->write_baseline);
        return STET_EXIT_FINE;
    }
    if (baseline && stet_lint_baseline_apply(r, baseline, &p.known, &p.gone, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (a->run && stet_session_lint_join(r, a->run, id, sizeof id, &err) != STET_OK)
        return stet_cli_complain(&err);
    p.run = a->run ? id : NULL;
    if (a->fix || a->diff) {
        code = fix_files(&out, r, a->fix && !a->diff);
    } else {
        printer_of(a->format)(&out, &p);
        code = r->finding_count ? STET_EXIT_FINDING : STET_EXIT_FINE;
    }
    if (r->unreadable)
        code = STET_EXIT_FAILURE;
    return stet_cli_print(&out, code);
}

/* Adds the comma-separated --exclude after those of the file. */
static size_t add_excludes(char **list, size_t count, char *text)
{
    for (char *p = text; p && *p && count < 2 * STET_LINT_CONFIG_LIST;) {
        char *comma = strchr(p, ',');

        list[count++] = p;
        if (comma)
            *comma++ = '\0';
        p = comma;
    }
    return count;
}

/* Probably the path or a pattern has a typing error. */
static void tell_nothing_found(const struct stet_lint_result *r, const struct stet_lint_options *o)
{
    const char *more = o->path_count > 1 ? " …" : "";

    if (r->excluded)
        stet_say("stet: everything in %s%s is excluded (%zu file%s): see --exclude, and `exclude` "
                 "in pyproject.toml\n",
                 o->paths[0], more, r->excluded, r->excluded == 1 ? "" : "s");
    else
        stet_say("stet: no Python file and no shell script in %s%s\n", o->paths[0], more);
}

static int lint(struct stet_args *args, const struct lint_args *a, const struct stet_lint_config *c,
                long threads)
{
    static char here[] = ".";
    char *all[] = {here}, *excludes[2 * STET_LINT_CONFIG_LIST];
    bool on[128];
    struct stet_lint_options o = {.paths = args->count ? args->values : all,
                                  .path_count = args->count ? args->count : 1,
                                  .rules = on,
                                  .apart = a->run != NULL,
                                  .excludes = excludes,
                                  .threads = (unsigned)threads};
    int severity = severity_of(a->severity ? a->severity : c->severity), code;
    struct stet_err err = STET_ERR_INIT;
    struct stet_lint_result r;
    struct stet_file in = {0};
    char *folder = a->no_cache ? NULL : cache_folder();
    char *list = a->exclude ? stet_mem_strdup(a->exclude) : NULL;

    if (severity < 0 || !choose_rules(on, a, c)) {
        if (severity < 0)
            stet_say("stet: --severity is note, warning or error\n");
        stet_mem_free(folder);
        stet_mem_free(list);
        return STET_EXIT_USAGE;
    }
    for (size_t i = 0; i < c->exclude_count; i++)
        excludes[o.exclude_count++] = c->exclude[i];
    o.exclude_count = add_excludes(excludes, o.exclude_count, list);
    o.cache_folder = folder;
    if (args->count == 1 && !strcmp(args->values[0], "-")) {
        if (stet_file_open(&in, "/dev/stdin", &err) != STET_OK)
            return stet_cli_complain(&err);
        o.stdin_path = a->stdin_name ? a->stdin_name : "<stdin>.py";
        o.stdin_text = in.bytes;
    }
    if (stet_lint_run(&r, &o, &err) != STET_OK) {
        code = stet_cli_complain(&err);
    } else {
        if (!r.files)
            tell_nothing_found(&r, &o);
        drop_below(&r, (unsigned)severity);
        code = report(&r, a, a->baseline ? a->baseline : c->baseline);
        stet_lint_release(&r);
    }
    stet_file_close(&in);
    stet_mem_free(folder);
    stet_mem_free(list);
    return code;
}

int cmd_lint(int argc, char **argv)
{
    struct lint_args a = {0};
    const struct stet_option options[] = {
        {"select", "RULES", "only these rules or traps, separated by commas", STET_OPTION_VALUE,
         &a.select},
        {"ignore", "RULES", "not these", STET_OPTION_VALUE, &a.ignore},
        {"severity", "LEVEL", "from note (default), warning or error on", STET_OPTION_VALUE,
         &a.severity},
        {"exclude", "PATHS", "folders, files or *endings to skip", STET_OPTION_VALUE, &a.exclude},
        {"baseline", "FILE", "report only findings that are not in FILE", STET_OPTION_VALUE,
         &a.baseline},
        {"write-baseline", "FILE", "write all present findings to FILE", STET_OPTION_VALUE,
         &a.write_baseline},
        {"fix", NULL, "make the safe fixes, and show them as a diff", STET_OPTION_FLAG, &a.fix},
        {"diff", NULL, "show the safe fixes as a diff, change nothing", STET_OPTION_FLAG, &a.diff},
        {"statistics", NULL, "how often each rule was found", STET_OPTION_FLAG, &a.statistics},
        {"rules", NULL, "list the rules", STET_OPTION_FLAG, &a.rules},
        {"stdin-filename", "PATH", "the name of what comes on standard input", STET_OPTION_VALUE,
         &a.stdin_name},
        {"run", "RUN", "rank the findings by what their lines cost in that run", STET_OPTION_VALUE,
         &a.run},
        {"config", "FILE", "instead of the nearest pyproject.toml", STET_OPTION_VALUE, &a.config},
        {"no-config", NULL, "read no pyproject.toml", STET_OPTION_FLAG, &a.no_config},
        {"no-cache", NULL, "analyse every file again", STET_OPTION_FLAG, &a.no_cache},
        {"jobs", "N", "threads (default: one per processor)", STET_OPTION_VALUE, &a.jobs},
        {"format", "FORMAT", "text (default), json, github or sarif", STET_OPTION_VALUE, &a.format},
        {0},
    };
    struct stet_lint_config config = {0};
    struct stet_err err = STET_ERR_INIT;
    struct stet_args args;
    int code = stet_cli_args_parse(&args, argc, argv, &usage, options, false);
    long threads;

    if (code >= 0)
        return code;
    if (!printer_of(a.format))
        return stet_cli_usage_error(&usage, "--format is text, json, github or sarif");
    threads = count_of(a.jobs);
    if (threads < 0)
        return stet_cli_usage_error(&usage, "--jobs is a number of threads, 1 to 1024");
    if (a.rules) {
        struct stet_buf out = STET_TEXT_INIT;

        stet_lint_print_rules(&out, a.format && !strcmp(a.format, "json"));
        return stet_cli_print(&out, STET_EXIT_FINE);
    }
    if (!a.no_config && stet_lint_config_read(&config, a.config, &err) != STET_OK)
        return stet_cli_complain(&err);
    code = lint(&args, &a, &config, threads);
    stet_lint_config_release(&config);
    return code;
}
