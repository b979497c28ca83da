/* stet bundle: records, shows, compares and checks what is installed below the programs. */
#include "bundle/gather_run.h"
#include "cli/command.h"
#include "cli/run_text.h"

#include <stdio.h>
#include <stdlib.h>

static struct stet_bundle_wishes wishes;
static const char *output;
static bool all, strict;

static const char *const effect_words[STET_EFFECTS] = {
    [STET_EFFECT_PROGRAM] = "can change a program",
    [STET_EFFECT_KEY] = "can change what is compiled, or its cache key",
    [STET_EFFECT_NOTHING] = "changes neither, as far as is known",
};

static void show_text(struct stet_buf *out, const struct stet_inventory *v)
{
    enum stet_group open = STET_GROUPS;
    size_t others = 0;

    for (size_t i = 0; i < v->count; i++) {
        const struct stet_item *item = &v->items[i];

        if (item->group == STET_GROUP_other && !all) {
            others++;
            continue;
        }
        if (item->group != open) {
            open = item->group;
            stet_buf_printf(out, out->len ? "\n%s: %s\n" : "%s: %s\n", stet_bundle_group_name(open),
                            stet_bundle_group_about(open));
        }
        stet_buf_printf(out, "  %-28.*s %.*s\n", STET_FMT(item->name), STET_FMT(item->value));
    }
    if (others)
        stet_buf_printf(out, "\nand %zu other package%s (--all)\n", others, others == 1 ? "" : "s");
}

static int print(const struct stet_args *args, struct stet_inventory *v)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;

    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_bundle_inventory_json(v, &j, NULL);
        stet_buf_char(&out, '\n');
    } else {
        show_text(&out, v);
    }
    stet_bundle_inventory_release(v);
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static int record(const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_inventory v;
    struct stet_args json = *args;

    if (stet_bundle_now(&v, &wishes, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (output) {
        enum stet_rc rc = stet_bundle_inventory_write(&v, output, &err);
        size_t n = v.count;

        stet_bundle_inventory_release(&v);
        if (rc != STET_OK)
            return stet_cli_complain(&err);
        stet_say("stet: %zu item%s recorded in %s\n", n, n == 1 ? "" : "s", output);
        return STET_EXIT_FINE;
    }
    json.format = STET_FORMAT_JSON; /* the content of a file, to be redirected */
    return print(&json, &v);
}

static int show(const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_inventory v;

    if (stet_bundle_named(&v, args->count ? args->values[0] : "now", &wishes, &err) != STET_OK)
        return stet_cli_complain(&err);
    return print(args, &v);
}

static void change_text(struct stet_buf *out, const struct stet_item_change *c)
{
    const struct stet_item *one = c->to ? c->to : c->from;

    stet_buf_printf(out, "  %s %.*s: ", stet_bundle_group_name(one->group), STET_FMT(one->name));
    if (!c->from)
        stet_buf_printf(out, "absent -> %.*s\n", STET_FMT(c->to->value));
    else if (!c->to)
        stet_buf_printf(out, "%.*s -> absent\n", STET_FMT(c->from->value));
    else
        stet_buf_printf(out, "%.*s -> %.*s\n", STET_FMT(c->from->value), STET_FMT(c->to->value));
}

static void changes_text(struct stet_buf *out, const struct stet_item_changes *c)
{
    for (int e = STET_EFFECTS - 1; e >= 0; e--) {
        if (!c->by_effect[e])
            continue;
        stet_buf_printf(out, out->len ? "\n%s\n" : "%s\n", effect_words[e]);
        for (size_t i = 0; i < c->count; i++)
            if (c->items[i].effect == (enum stet_effect)e)
                change_text(out, &c->items[i]);
    }
    if (!c->count)
        stet_buf_str(out, "the same\n");
}

static void changes_json(struct stet_json *j, const struct stet_item_changes *c)
{
    stet_json_array(j, "changes");
    for (size_t i = 0; i < c->count; i++) {
        const struct stet_item_change *one = &c->items[i];
        const struct stet_item *item = one->to ? one->to : one->from;

        stet_json_object(j, NULL);
        stet_json_cstr(j, "effect", stet_bundle_effect_name(one->effect));
        stet_json_cstr(j, "group", stet_bundle_group_name(item->group));
        stet_json_string(j, "name", item->name);
        if (one->from)
            stet_json_string(j, "from", one->from->value);
        else
            stet_json_null(j, "from");
        if (one->to)
            stet_json_string(j, "to", one->to->value);
        else
            stet_json_null(j, "to");
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static int compare(const struct stet_args *args, const char *a_name, const char *b_name,
                   const char *schema)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_item_changes c;
    struct stet_inventory a, b;
    struct stet_json j;
    bool moved;

    if (stet_bundle_named(&a, a_name, &wishes, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (stet_bundle_named(&b, b_name, &wishes, &err) != STET_OK) {
        stet_bundle_inventory_release(&a);
        return stet_cli_complain(&err);
    }
    if (stet_bundle_inventory_diff(&a, &b, &c, &err) != STET_OK)
        return stet_cli_complain(&err);
    moved = c.by_effect[STET_EFFECT_KEY] || c.by_effect[STET_EFFECT_PROGRAM] || (strict && c.count);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", schema);
        stet_json_bool(&j, "ok", !moved);
        changes_json(&j, &c);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else {
        changes_text(&out, &c);
    }
    stet_bundle_item_changes_release(&c);
    stet_bundle_inventory_release(&a);
    stet_bundle_inventory_release(&b);
    return stet_cli_print(&out, moved ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

static int diff(const struct stet_args *args)
{
    return compare(args, args->values[0], args->count > 1 ? args->values[1] : "now",
                   "stet.bundlediff/1");
}

static int check(const struct stet_args *args)
{
    return compare(args, args->values[0], args->count > 1 ? args->values[1] : "now",
                   "stet.bundlecheck/1");
}

static const struct part {
    struct stet_cli_part head;
    int least, most;
    int (*run)(const struct stet_args *args);
} parts[] = {
    {{"record", "", "record what is here now, as JSON"}, 0, 0, record},
    {{"show", "[FILE|RUN|now]", "print a bundle (default: the present one)"}, 0, 1, show},
    {{"diff", "A [B]", "what changed between two bundles (B: the present one), most serious first"},
     1,
     2,
     diff},
    {{"check", "FILE [B]", "compare with a validated bundle; exit 1 when it differs"}, 1, 2, check},
};

static int run_part(const void *row, int argc, char **argv)
{
    const struct part *p = row;
    char synopsis[96];
    struct stet_usage usage = {synopsis, p->head.about, "bundle"};
    const struct stet_option options[] = {
        {"python", "PYTHON", "of this interpreter (default: $VIRTUAL_ENV, python3 on PATH)",
         STET_OPTION_VALUE, &wishes.python},
        {"plugin", "FILE", "one more plugin, in addition to those found", STET_OPTION_VALUE,
         &wishes.plugin},
        {"client", NULL, "make a client of each plugin: platform version, devices",
         STET_OPTION_FLAG, &wishes.client},
        {"no-load", NULL, "load no plugin: files only", STET_OPTION_FLAG, &wishes.no_load},
        {"deadline", "SECONDS", "for each plugin's child process (60)", STET_OPTION_VALUE,
         &wishes.deadline},
        {"output", "FILE", "record: write there", STET_OPTION_VALUE, &output},
        {"o", "FILE", "the same", STET_OPTION_VALUE, &output},
        {"all", NULL, "show: every package", STET_OPTION_FLAG, &all},
        {"strict", NULL, "diff, check: any difference counts", STET_OPTION_FLAG, &strict},
        {0},
    };
    struct stet_args args;
    int done;

    snprintf(synopsis, sizeof synopsis, "stet bundle %s [options] %s", p->head.name,
             p->head.operands);
    done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);
    if (done >= 0)
        return done;
    if (args.count < p->least)
        return stet_cli_usage_error(&usage, "no bundle given");
    if (args.count > p->most)
        return stet_cli_usage_error(&usage, "too many operands");
    return p->run(&args);
}

int cmd_bundle(int argc, char **argv)
{
    static const struct stet_cli_parts whole = {
        "bundle",
        "Everything below a program that can change it, or the key it is cached under.",
        parts,
        sizeof parts / sizeof *parts,
        sizeof *parts,
        run_part,
    };

    return stet_cli_parts_run(&whole, argc, argv);
}
