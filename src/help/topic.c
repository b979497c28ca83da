/* Collects what the commands have in their tables, and prints it as manual pages. */
#include "help/topic.h"

#include "stet_version.h"

#include <stdio.h>
#include <string.h>

static void add_option(struct stet_help_topic *t, const struct stet_option *o)
{
    for (size_t i = 0; i < t->option_count; i++)
        if (!strcmp(t->options[i].name, o->name))
            return;
    if (o->help && t->option_count < STET_HELP_OPTIONS)
        t->options[t->option_count++] = *o;
}

void stet_help_topic_add(struct stet_help_topic *t, const char *part,
                         const struct stet_usage *usage, const struct stet_option *options)
{
    static const struct stet_option format = {"format", "text|json", "how to print (default text)",
                                              STET_OPTION_VALUE, NULL};
    static const struct stet_option help = {"help", NULL, "print the options", STET_OPTION_FLAG,
                                            NULL};
    size_t n = t->form_count;
    bool own_format = false;

    if (n == STET_HELP_FORMS)
        return;
    t->forms[n].part = part;
    snprintf(t->forms[n].synopsis, sizeof t->forms[n].synopsis, "%s", usage->synopsis);
    t->forms[n].about = usage->about;
    t->form_count++;
    for (; options->name; options++) {
        add_option(t, options);
        own_format |= !strcmp(options->name, "format");
    }
    if (!own_format)
        add_option(t, &format);
    add_option(t, &help);
}

/* ---- manual pages ---- */

/* Appends text for roff: backslashes and dashes are escaped, and no line begins with a dot or a
 * quote. Other characters than ASCII go by their number. */
static void roff(struct stet_buf *out, const char *text)
{
    bool begins = true;

    for (size_t n; *text; text += n ? n : 1) {
        n = (unsigned char)*text < 0x80 ? 0 : stet_utf8_length(text, strlen(text));
        if (begins && (*text == '.' || *text == '\''))
            stet_buf_str(out, "\\&");
        if (n)
            stet_buf_printf(out, "\\[u%04X]", (unsigned)stet_utf8_decode(text, n));
        else if (*text == '\\')
            stet_buf_str(out, "\\e");
        else if (*text == '-')
            stet_buf_str(out, "\\-");
        else
            stet_buf_char(out, *text);
        begins = *text == '\n';
    }
}

static void head(struct stet_buf *out, const char *name, const char *about)
{
    stet_buf_str(out, ".TH ");
    for (const char *c = name; *c; c++)
        stet_buf_char(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    stet_buf_printf(out, " 1 \"\" \"stet %s\" \"Stet\"\n.SH NAME\n", STET_VERSION);
    roff(out, name);
    stet_buf_str(out, " \\- ");
    roff(out, about);
    stet_buf_char(out, '\n');
}

static void option_name(struct stet_buf *out, const struct stet_option *o)
{
    stet_buf_str(out, o->name[1] ? "--" : "-");
    stet_buf_str(out, o->name);
    if (o->operand)
        stet_buf_printf(out, "%s%s",
                        o->kind == STET_OPTION_MAYBE ? ""
                        : o->name[1]                 ? "="
                                                     : " ",
                        o->operand);
}

static void man_options(struct stet_buf *out, const struct stet_help_topic *t)
{
    stet_buf_str(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < t->option_count; i++) {
        struct stet_buf name = STET_BUF_INIT;

        option_name(&name, &t->options[i]);
        stet_buf_str(out, ".TP\n.B ");
        roff(out, name.ptr ? name.ptr : "");
        stet_buf_char(out, '\n');
        roff(out, t->options[i].help);
        stet_buf_char(out, '\n');
        stet_buf_release(&name);
    }
}

void stet_help_man(struct stet_buf *out, const struct stet_help_topic *t)
{
    char name[64];

    snprintf(name, sizeof name, "stet-%s", t->name);
    head(out, name, t->about);
    stet_buf_str(out, ".SH SYNOPSIS\n.nf\n");
    for (size_t i = 0; i < t->form_count; i++) {
        roff(out, t->forms[i].synopsis);
        stet_buf_char(out, '\n');
    }
    stet_buf_str(out, ".fi\n.SH DESCRIPTION\n");
    for (size_t i = 0; i < t->form_count; i++) {
        if (t->forms[i].part)
            stet_buf_printf(out, ".TP\n.B %s\n", t->forms[i].part);
        roff(out, t->forms[i].about);
        stet_buf_char(out, '\n');
    }
    man_options(out, t);
    stet_buf_printf(out, ".SH SEE ALSO\n.B stet help %s\nprints the whole page.\n.BR stet (1)\n",
                    t->name);
}

void stet_help_man_all(struct stet_buf *out, const struct stet_help_topic *all, size_t count)
{
    head(out, "stet", "names every recompile of a compiled tensor program");
    stet_buf_str(out, ".SH SYNOPSIS\n.B stet\nCOMMAND [options]\n.SH DESCRIPTION\n"
                      "Stet names every recompile of a JAX, PyTorch/XLA, TorchTPU or torch.compile "
                      "job: the cause, the source line, the cost and the fix.\n.SH COMMANDS\n");
    for (size_t i = 0; i < count; i++) {
        stet_buf_printf(out, ".TP\n.BR stet\\-%s (1)\n", all[i].name);
        roff(out, all[i].about);
        stet_buf_char(out, '\n');
    }
    stet_buf_str(out, ".SH EXIT STATUS\n0: nothing to report; 1: a finding; 2: a usage error; 3: a "
                      "failure. \\fBstet run\\fR exits as its command does.\n"
                      ".SH SEE ALSO\n.B stet help docs\nlists all pages.\n");
}
