/* Finds the page about a subject, and shortens the pages of traps and causes to one screen. */
#include "help/help_pages.h"

#include "base/fs.h"
#include "cause/cause.h"
#include "help/markdown.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds share/doc/stet beside the executable's bin. */
static bool find_pages(char *out, size_t room)
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *slash;

    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (slash)
        *slash = '\0';
    return snprintf(out, room, "%s/../share/doc/stet", exe) < (int)room && stet_fs_exists(out);
}

/* Names of pages are words with dashes, so they cannot lead out of the folder. */
static bool is_name(const char *subject)
{
    return *subject && strspn(subject, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(subject);
}

static bool read_page(struct stet_buf *out, const char *folder, const char *name)
{
    char path[PATH_MAX + 512];
    struct stet_file page;

    if (snprintf(path, sizeof path, "%s/%s.md", folder, name) >= (int)sizeof path ||
        stet_file_open(&page, path, NULL) != STET_OK)
        return false;
    stet_buf_view(out, page.bytes);
    stet_file_close(&page);
    return true;
}

static void list_causes(struct stet_buf *out)
{
    for (int c = STET_CAUSE_NONE + 1; c < STET_CAUSES; c++)
        stet_buf_printf(out, "%-24s %s\n", stet_cause_id((enum stet_cause)c),
                        stet_cause_about((enum stet_cause)c));
    stet_buf_str(out, "\n`stet help ID` describes a cause and its fix.\n");
}

/* ---- one screen ---- */

/* Returns a section with its heading; empty when the page has none of this name. */
static struct stet_view section(struct stet_view page, const char *heading)
{
    size_t begin = stet_view_find(page, heading), end;

    if (begin == page.len)
        return (struct stet_view){0};
    page = stet_view_of(page.ptr + begin, page.len - begin);
    end = stet_view_find(stet_view_of(page.ptr + 3, page.len - 3), "\n## ");
    return stet_view_of(page.ptr, end + 3 < page.len ? end + 4 : page.len);
}

/* Returns what is before the first section. */
static struct stet_view opening(struct stet_view page)
{
    return stet_view_of(page.ptr, stet_view_find(page, "\n## "));
}

static void render_without_examples(struct stet_buf *out, struct stet_view text,
                                    const struct stet_help_look *look)
{
    struct stet_buf kept = STET_BUF_INIT;

    while (text.len) { /* by paragraphs */
        size_t n = stet_view_find(text, "\n\n");
        struct stet_view one = stet_view_of(text.ptr, n);

        n += n < text.len ? 2 : 0;
        text = stet_view_of(text.ptr + n, text.len - n);
        if (!stet_view_starts(one, "[examples/")) {
            stet_buf_view(&kept, one);
            stet_buf_str(&kept, "\n\n");
        }
    }
    stet_help_render(out, stet_buf_as_view(&kept), look->width, look->colour);
    stet_buf_release(&kept);
}

/* Appends a fix with a word in place of each {thing} that an explanation fills in. */
static void fix_text(struct stet_buf *out, const char *fix)
{
    static const struct {
        const char *from, *to;
    } words[] = {{"{name}", "ARGUMENT"}, {"{dim}", "DIM"}, {"{from}", "DTYPE"}, {"{detail}", "…"}};

    while (*fix) {
        size_t i = 0, count = sizeof words / sizeof *words;

        while (i < count && strncmp(fix, words[i].from, strlen(words[i].from)) != 0)
            i++;
        if (i < count)
            stet_buf_str(out, words[i].to);
        else
            stet_buf_char(out, *fix);
        fix += i < count ? strlen(words[i].from) : 1;
    }
}

/* Appends the fixes of a cause, framework by framework. */
static void fixes(struct stet_buf *out, enum stet_cause c, const struct stet_help_look *look)
{
    static const struct {
        enum stet_cause_fix_for framework;
        const char *name;
    } all[] = {{STET_FIX_ANY, "any"},
               {STET_FIX_JAX, "JAX"},
               {STET_FIX_TORCH_XLA, "PyTorch/XLA"},
               {STET_FIX_TORCH_TPU, "TorchTPU"},
               {STET_FIX_TORCH_COMPILE, "torch.compile"}};
    struct stet_buf rows = STET_BUF_INIT;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *fix = stet_cause_fix(c, all[i].framework);

        if (!*fix || (i && !strcmp(fix, stet_cause_fix(c, STET_FIX_ANY))))
            continue;
        stet_buf_printf(&rows, "| %s | ", all[i].name);
        fix_text(&rows, fix);
        stet_buf_str(&rows, " |\n");
    }
    if (rows.len)
        stet_buf_str(out, "\nWhat to do\n");
    if (rows.len)
        stet_help_table(out, stet_buf_as_view(&rows), look->width);
    stet_buf_release(&rows);
}

/* The page of a trap on one screen: what happens, and the fix. */
static void brief(struct stet_buf *out, struct stet_view page, const char *subject,
                  const struct stet_help_look *look)
{
    enum stet_cause c = stet_cause_find(stet_view_str(subject));
    struct stet_view fix = section(page, "## The fix");

    render_without_examples(out, opening(page), look);
    if (c != STET_CAUSE_NONE)
        fixes(out, c, look);
    stet_help_render(out, fix, look->width, look->colour);
    stet_buf_printf(out, "\nThe whole page, with an example: `stet help traps/%s`\n", subject);
}

/* A cause that is part of another page. */
static bool cause_alone(struct stet_buf *out, const char *subject,
                        const struct stet_help_look *look)
{
    enum stet_cause c = stet_cause_find(stet_view_str(subject));
    const char *page = stet_cause_page(c);

    if (c == STET_CAUSE_NONE)
        return false;
    stet_buf_printf(out, "%s: %s\n", subject, stet_cause_about(c));
    fixes(out, c, look);
    stet_buf_printf(out, "\nMore: `stet help %.*s`\n", (int)strcspn(page, ".#"), page);
    return true;
}

/* The list of the traps, without what the project measures with them. */
static void traps(struct stet_buf *out, struct stet_view page, const struct stet_help_look *look)
{
    struct stet_view by = section(page, "## By what changed");

    stet_help_render(out, by.len ? by : page, look->width, look->colour);
    stet_buf_str(out, "\n`stet help ID` describes a trap and its fix.\n");
}

/* ---- finding ---- */

/* Calls `take` with each name of a page, sorted. */
static void each_page(const char *folder, const char *below,
                      void (*take)(void *context, const char *name), void *context)
{
    char path[PATH_MAX + 64];
    struct dirent **pages;
    int count;

    snprintf(path, sizeof path, "%s/%s", folder, below);
    count = scandir(path, &pages, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char *end = pages[i]->d_name + strlen(pages[i]->d_name);

        if (end - pages[i]->d_name > 3 && !strcmp(end - 3, ".md")) {
            end[-3] = '\0';
            if (is_name(pages[i]->d_name)) /* not README */
                take(context, pages[i]->d_name);
        }
        free(pages[i]);
    }
    if (count >= 0)
        free(pages);
}

/* Calls `take` with each subject that has a page or a part of one; some come twice. */
static void each_subject(const char *folder, void (*take)(void *context, const char *name),
                         void *context)
{
    each_page(folder, "", take, context);
    each_page(folder, "traps", take, context);
    for (int c = STET_CAUSE_NONE + 1; c < STET_CAUSES; c++)
        take(context, stet_cause_id((enum stet_cause)c));
}

static void try_subject(void *similar, const char *name)
{
    stet_help_similar_try(similar, name);
}

static void append_subject(void *out, const char *name)
{
    stet_buf_printf(out, " %s", name);
}

void stet_help_subjects(struct stet_buf *out)
{
    char folder[PATH_MAX + 32];

    stet_buf_str(out, "causes docs traps");
    if (find_pages(folder, sizeof folder))
        each_subject(folder, append_subject, out);
}

static bool whole(struct stet_buf *out, struct stet_buf *page, const struct stet_help_look *look)
{
    stet_help_render(out, stet_buf_as_view(page), look->width, look->colour);
    return true;
}

static bool find(struct stet_buf *out, const char *folder, const char *subject,
                 const struct stet_help_look *look, struct stet_buf *page)
{
    bool trap = !strncmp(subject, "traps/", 6);
    char name[128];

    if (!strcmp(subject, "docs"))
        return read_page(page, folder, "README") && whole(out, page, look);
    if (!strcmp(subject, "traps") && read_page(page, folder, "traps/README")) {
        traps(out, stet_buf_as_view(page), look);
        return true;
    }
    if (!is_name(subject + (trap ? 6 : 0)))
        return false;
    if (read_page(page, folder, subject))
        return whole(out, page, look);
    snprintf(name, sizeof name, "traps/%s", subject);
    if (read_page(page, folder, name)) {
        brief(out, stet_buf_as_view(page), subject, look);
        return true;
    }
    return cause_alone(out, subject, look);
}

enum stet_rc stet_help_page(struct stet_buf *out, const char *subject,
                            const struct stet_help_look *look, struct stet_help_similar *similar,
                            struct stet_err *err)
{
    struct stet_buf page = STET_BUF_INIT;
    char folder[PATH_MAX + 32];
    bool found;

    if (!strcmp(subject, "causes")) {
        list_causes(out);
        return STET_OK;
    }
    if (!find_pages(folder, sizeof folder))
        return stet_fail(err, STET_IO, "the pages are not installed: no folder %s", folder);
    found = find(out, folder, subject, look, &page);
    stet_buf_release(&page);
    if (found)
        return STET_OK;
    each_subject(folder, try_subject, similar);
    return STET_NOT_FOUND;
}
