/* Prints the completions of bash, zsh and fish. */
#include "help/topic.h"

#include <stdio.h>
#include <string.h>

enum stet_help_shell stet_help_shell_find(const char *name)
{
    static const char *const names[] = {"bash", "zsh", "fish"};

    for (int i = 0; i < STET_SHELLS; i++)
        if (!strcmp(names[i], name))
            return (enum stet_help_shell)i;
    return STET_SHELLS;
}

static const char *dashes(const struct stet_option *o)
{
    return o->name[1] ? "--" : "-";
}

/* Is the operand a choice of words: "text|json"? */
static bool is_choice(const struct stet_option *o)
{
    return o->operand && strchr(o->operand, '|') && !strpbrk(o->operand, "[]<>… ") &&
           !strpbrk(o->operand, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* Must a value follow, after "="? */
static bool needs_equals(const struct stet_option *o)
{
    return o->kind == STET_OPTION_VALUE && o->name[1];
}

static bool has_parts(const struct stet_help_topic *t)
{
    return t->form_count && t->forms[0].part;
}

/* Appends the words of a synopsis that are to be typed: "init|update", "[status|stop]". */
static void typed_words(struct stet_buf *out, const char *synopsis)
{
    while (*synopsis) {
        size_t n = strcspn(synopsis, " "), from = *synopsis == '[';
        size_t end = n - (n && synopsis[n - 1] == ']');

        if (end > from && memchr(synopsis, '|', n) &&
            strspn(synopsis + from, "abcdefghijklmnopqrstuvwxyz|") == end - from) {
            for (size_t i = from; i < end; i++)
                stet_buf_char(out, synopsis[i] == '|' ? ' ' : synopsis[i]);
            stet_buf_char(out, ' ');
        }
        synopsis += n + (synopsis[n] == ' ');
    }
}

static void words(struct stet_buf *out, const struct stet_help_topic *t)
{
    if (t->form_count && !has_parts(t))
        typed_words(out, t->forms[0].synopsis);
    for (size_t i = 0; has_parts(t) && i < t->form_count; i++)
        stet_buf_printf(out, "%s ", t->forms[i].part);
}

/* ---- bash ---- */

static void bash_options(struct stet_buf *out, const struct stet_help_topic *t)
{
    for (size_t i = 0; i < t->option_count; i++)
        stet_buf_printf(out, "%s%s%s ", dashes(&t->options[i]), t->options[i].name,
                        needs_equals(&t->options[i]) ? "=" : "");
}

static void bash_values(struct stet_buf *out, const struct stet_help_topic *t)
{
    for (size_t i = 0; i < t->option_count; i++) {
        const struct stet_option *o = &t->options[i];

        if (!is_choice(o))
            continue;
        stet_buf_printf(out, "        %s:--%s) words='", t->name, o->name);
        for (const char *c = o->operand; *c; c++)
            stet_buf_char(out, *c == '|' ? ' ' : *c);
        stet_buf_str(out, "' ;;\n");
    }
}

static void bash(struct stet_buf *out, const struct stet_help_topic *all, size_t count,
                 struct stet_view subjects)
{
    stet_buf_str(out,
                 "# bash completion for stet; made from its option tables\n"
                 "_stet() {\n    local cur=${COMP_WORDS[COMP_CWORD]} words='' options='' option\n"
                 "    local command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    if [[ $cur == = ]]; then option=$before; cur=''\n"
                 "    elif [[ $before == = ]]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                 "    if (( COMP_CWORD == 1 )); then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < count; i++)
        stet_buf_printf(out, "%s ", all[i].name);
    stet_buf_str(out, "help --help --version' -- \"$cur\"))\n        return\n    fi\n"
                      "    case $command:$option in\n");
    for (size_t i = 0; i < count; i++)
        bash_values(out, &all[i]);
    stet_buf_str(out, "    esac\n    if [[ -n $option ]]; then\n"
                      "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                      "        return\n    fi\n    case $command in\n");
    for (size_t i = 0; i < count; i++) {
        stet_buf_printf(out, "        %s) words='", all[i].name);
        words(out, &all[i]);
        stet_buf_str(out, "' options='");
        bash_options(out, &all[i]);
        stet_buf_str(out, "' ;;\n");
    }
    /* Where no word is offered, bash completes file names. */
    stet_buf_printf(out,
                    "        help) words='%.*s' options='--help' ;;\n    esac\n"
                    "    if [[ $cur == -* ]]; then words=$options\n"
                    "    elif (( COMP_CWORD > 2 )); then words=''; fi\n"
                    "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                    "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n}\n"
                    "complete -o default -F _stet stet\n",
                    STET_FMT(subjects));
}

/* ---- zsh ---- */

/* Appends text for a description in single quotes, where ':' and brackets have a meaning. */
static void zsh_text(struct stet_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            stet_buf_str(out, "'\\''");
        else if (strchr("[]:\\", *text))
            stet_buf_printf(out, "\\%c", *text);
        else
            stet_buf_char(out, *text);
    }
}

static void zsh_option(struct stet_buf *out, const struct stet_option *o)
{
    stet_buf_printf(out, "                '%s%s%s[", dashes(o), o->name,
                    needs_equals(o)                ? "="
                    : o->kind == STET_OPTION_MAYBE ? "=-"
                                                   : "");
    zsh_text(out, o->help);
    stet_buf_char(out, ']');
    if (is_choice(o)) {
        stet_buf_str(out, ":value:(");
        for (const char *c = o->operand; *c; c++)
            stet_buf_char(out, *c == '|' ? ' ' : *c);
        stet_buf_char(out, ')');
    } else if (o->operand) {
        stet_buf_str(out, o->kind == STET_OPTION_MAYBE ? "::" : ":");
        zsh_text(out, o->kind != STET_OPTION_MAYBE  ? o->operand
                      : !strcmp(o->operand, "[=N]") ? "N"
                                                    : "FILE");
        stet_buf_str(out, !strcmp(o->operand, "[=N]") ? ":" : ":_files");
    }
    stet_buf_str(out, "' \\\n");
}

static void zsh_command(struct stet_buf *out, const struct stet_help_topic *t)
{
    struct stet_buf parts = STET_BUF_INIT;

    stet_buf_printf(out, "        %s)\n            _arguments \\\n", t->name);
    for (size_t i = 0; i < t->option_count; i++)
        zsh_option(out, &t->options[i]);
    words(&parts, t);
    if (parts.len)
        stet_buf_printf(out, "                '1:part:(%.*s)' \\\n",
                        STET_FMT(stet_buf_as_view(&parts)));
    stet_buf_release(&parts);
    stet_buf_str(out, "                '*:file:_files' ;;\n");
}

static void zsh(struct stet_buf *out, const struct stet_help_topic *all, size_t count,
                struct stet_view subjects)
{
    stet_buf_str(out, "#compdef stet\n# zsh completion for stet; made from its option tables\n"
                      "_stet() {\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; i < count; i++) {
        stet_buf_printf(out, "        '%s:", all[i].name);
        zsh_text(out, all[i].about);
        stet_buf_str(out, "'\n");
    }
    stet_buf_str(out, "        'help:print a page'\n    )\n    if (( CURRENT == 2 )); then\n"
                      "        _describe command commands\n        return\n    fi\n"
                      "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; i < count; i++)
        zsh_command(out, &all[i]);
    stet_buf_printf(out,
                    "        help) _arguments '1:subject:(%.*s)' ;;\n        *) _files ;;\n"
                    "    esac\n}\n_stet \"$@\"\n",
                    STET_FMT(subjects));
}

/* ---- fish ---- */

static void fish_text(struct stet_buf *out, const char *text)
{
    stet_buf_char(out, '\'');
    for (; *text; text++)
        if (*text == '\'' || *text == '\\')
            stet_buf_printf(out, "\\%c", *text);
        else
            stet_buf_char(out, *text);
    stet_buf_char(out, '\'');
}

static void fish_option(struct stet_buf *out, const char *command, const struct stet_option *o)
{
    stet_buf_printf(out, "complete -c stet -n '__fish_seen_subcommand_from %s' -%s %s%s -d ",
                    command, o->name[1] ? "l" : "s", o->name,
                    o->kind == STET_OPTION_VALUE ? " -r" : "");
    fish_text(out, o->help);
    if (is_choice(o)) {
        stet_buf_str(out, " -f -a '");
        for (const char *c = o->operand; *c; c++)
            stet_buf_char(out, *c == '|' ? ' ' : *c);
        stet_buf_char(out, '\'');
    }
    stet_buf_char(out, '\n');
}

/* `words` after a command, each with the same description. */
static void fish_words(struct stet_buf *out, const char *command, struct stet_view words,
                       const char *about)
{
    stet_buf_printf(out, "complete -c stet -f -n '__fish_seen_subcommand_from %s' -a '%.*s' -d ",
                    command, STET_FMT(words));
    fish_text(out, about);
    stet_buf_char(out, '\n');
}

static void fish_command(struct stet_buf *out, const char *name, const char *about)
{
    stet_buf_printf(out, "complete -c stet -f -n __fish_use_subcommand -a %s -d ", name);
    fish_text(out, about);
    stet_buf_char(out, '\n');
}

static void fish(struct stet_buf *out, const struct stet_help_topic *all, size_t count,
                 struct stet_view subjects)
{
    stet_buf_str(out, "# fish completion for stet; made from its option tables\n");
    for (size_t i = 0; i < count; i++) {
        const struct stet_help_topic *t = &all[i];
        struct stet_buf parts = STET_BUF_INIT;

        fish_command(out, t->name, t->about);
        for (size_t k = 0; has_parts(t) && k < t->form_count; k++)
            fish_words(out, t->name, stet_view_str(t->forms[k].part), t->forms[k].about);
        if (!has_parts(t))
            words(&parts, t);
        if (parts.len)
            fish_words(out, t->name, stet_buf_as_view(&parts), "");
        stet_buf_release(&parts);
        for (size_t k = 0; k < t->option_count; k++)
            fish_option(out, t->name, &t->options[k]);
    }
    fish_command(out, "help", "print a page");
    fish_words(out, "help", subjects, "");
}

void stet_help_completion(struct stet_buf *out, enum stet_help_shell shell,
                          const struct stet_help_topic *all, size_t count,
                          struct stet_view subjects)
{
    static void (*const print[])(struct stet_buf *, const struct stet_help_topic *, size_t,
                                 struct stet_view) = {bash, zsh, fish};

    print[shell](out, all, count, subjects);
}
