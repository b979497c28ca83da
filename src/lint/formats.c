/* See formats.h. */
#include "lint/formats.h"

#include "base/fs.h"
#include "base/human.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/sarif.h"

#include <stdlib.h>

const char *stet_lint_severity_name(unsigned severity)
{
    static const char *const names[] = {"note", "warning", "error"};

    return names[severity];
}

static void print_finding_json(struct stet_json *j, const struct stet_lint_print *p,
                               const struct stet_lint_finding *f)
{
    struct stet_lint_rule r = stet_lint_rule_at(f->rule);
    struct stet_buf source = STET_BUF_INIT;

    stet_json_object(j, NULL);
    stet_json_cstr(j, "rule", r.trap);
    stet_json_cstr(j, "code", r.code);
    stet_json_cstr(j, "severity", stet_lint_severity_name(f->severity));
    stet_json_cstr(j, "file", f->path);
    stet_json_uint(j, "line", f->line);
    stet_json_uint(j, "column", f->column);
    stet_json_uint(j, "end_line", f->end_line);
    stet_json_uint(j, "end_column", f->end_column);
    stet_json_string(j, "message", f->what);
    stet_json_string(j, "traced", f->traced);
    stet_json_cstr(j, "why", r.why);
    stet_json_string(j, "fix", f->fix);
    stet_json_bool(j, "fixable", f->edit.ptr != NULL);
    stet_mask_source(&source, f->source);
    stet_json_string(j, "source", stet_buf_as_view(&source));
    stet_buf_release(&source);
    stet_json_cstr(j, "id", f->id);
    if (p->run) {
        stet_json_uint(j, "compiles", f->compiles);
        stet_json_number(j, "cost_s", f->cost_s);
    }
    stet_json_end_object(j);
}

void stet_lint_print_json(struct stet_buf *out, const struct stet_lint_print *p)
{
    const struct stet_lint_result *r = p->result;
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.lint/1");
    stet_json_uint(&j, "files", r->files);
    stet_json_uint(&j, "bytes", r->bytes);
    stet_json_uint(&j, "ignored", r->ignored);
    stet_json_uint(&j, "baseline", p->known);
    stet_json_uint(&j, "baseline_gone", p->gone);
    stet_json_uint(&j, "unreadable", r->unreadable);
    if (p->run)
        stet_json_cstr(&j, "run", p->run);
    stet_json_array(&j, "findings");
    for (size_t i = 0; i < r->finding_count; i++)
        print_finding_json(&j, p, &r->findings[i]);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}

void stet_lint_print_github(struct stet_buf *out, const struct stet_lint_print *p)
{
    static const char *const words[] = {"notice", "warning", "error"};

    for (size_t i = 0; i < p->result->finding_count; i++) {
        const struct stet_lint_finding *f = &p->result->findings[i];
        struct stet_lint_rule r = stet_lint_rule_at(f->rule);

        stet_buf_printf(out, "::%s file=", words[f->severity]);
        stet_text_github(out, stet_view_str(f->path), true);
        stet_buf_printf(out, ",line=%u,col=%u,endLine=%u,endColumn=%u,title=stet %s::", f->line,
                        f->column, f->end_line, f->end_column, r.code);
        stet_text_github(out, f->what, false);
        stet_buf_str(out, ". Fix: ");
        stet_text_github(out, f->fix, false);
        stet_buf_char(out, '\n');
    }
}

static void sarif_text(struct stet_json *j, const char *key, const char *text)
{
    stet_json_object(j, key);
    stet_json_cstr(j, "text", text);
    stet_json_end_object(j);
}

static void sarif_rules(struct stet_json *j)
{
    stet_json_array(j, "rules");
    for (size_t i = 0; i < stet_lint_rule_count(); i++) {
        struct stet_lint_rule r = stet_lint_rule_at(i);

        stet_json_object(j, NULL);
        stet_json_cstr(j, "id", r.code);
        sarif_text(j, "shortDescription", r.title);
        sarif_text(j, "fullDescription", r.why);
        sarif_text(j, "help", r.fix);
        stet_json_object(j, "defaultConfiguration");
        stet_json_cstr(j, "level", r.severity);
        stet_json_end_object(j);
        stet_json_object(j, "properties");
        stet_json_array(j, "tags");
        stet_json_cstr(j, NULL, r.trap);
        stet_json_end_array(j);
        stet_json_end_object(j);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

/* SARIF counts columns in UTF-16 units, findings in bytes; the text of the line gives the
 * difference. The last file stays open, because findings are sorted by file. */
struct columns {
    struct stet_file file;
    const char *path; /* of the open one, or NULL */
};

static uint32_t utf16_column(struct columns *c, const char *path, uint32_t line, uint32_t column)
{
    const char *p, *end;
    uint32_t units = 1;

    if (!c->path || strcmp(c->path, path) != 0) {
        if (c->path)
            stet_file_close(&c->file);
        c->path = stet_file_open(&c->file, path, NULL) == STET_OK ? path : NULL;
    }
    if (!c->path || !c->file.bytes.len) /* standard input */
        return column;
    p = c->file.bytes.ptr;
    end = p + c->file.bytes.len;
    for (uint32_t l = 1; l < line && p; l++) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    for (uint32_t i = 1; p && i < column && p < end; i++, p++) {
        unsigned char byte = (unsigned char)*p;

        units += (byte & 0xc0) != 0x80; /* a byte that begins a character */
        units += byte >= 0xf0;          /* one outside the basic plane takes two units */
    }
    return p ? units : column;
}

/* Writes a path as a URI reference (RFC 3986). Characters with a meaning in a URI are escaped; so
 * is ':', which would turn the text before it into a scheme. */
static void sarif_uri(struct stet_json *j, const char *path)
{
    static const char plain[] = "-._~/!$&'()*+,;=@";
    struct stet_buf uri = STET_BUF_INIT;

    for (; *path; path++) {
        bool word = (*path >= '0' && *path <= '9') || (*path >= 'A' && *path <= 'Z') ||
                    (*path >= 'a' && *path <= 'z');

        if (word || strchr(plain, *path))
            stet_buf_char(&uri, *path);
        else
            stet_buf_printf(&uri, "%%%02X", (unsigned char)*path);
    }
    stet_json_string(j, "uri", stet_buf_as_view(&uri));
    stet_buf_release(&uri);
}

static void sarif_result(struct stet_json *j, struct columns *c, const struct stet_lint_finding *f)
{
    stet_json_object(j, NULL);
    stet_json_cstr(j, "ruleId", stet_lint_rule_at(f->rule).code);
    stet_json_uint(j, "ruleIndex", f->rule);
    stet_json_cstr(j, "level", stet_lint_severity_name(f->severity));
    stet_json_object(j, "message");
    stet_json_string(j, "text", f->what);
    stet_json_end_object(j);
    stet_json_array(j, "locations");
    stet_json_object(j, NULL);
    stet_json_object(j, "physicalLocation");
    stet_json_object(j, "artifactLocation");
    sarif_uri(j, f->path);
    stet_json_end_object(j);
    stet_json_object(j, "region");
    stet_json_uint(j, "startLine", f->line);
    stet_json_uint(j, "startColumn", utf16_column(c, f->path, f->line, f->column));
    stet_json_uint(j, "endLine", f->end_line);
    stet_json_uint(j, "endColumn", utf16_column(c, f->path, f->end_line, f->end_column));
    stet_json_end_object(j);
    stet_json_end_object(j);
    stet_json_end_object(j);
    stet_json_end_array(j);
    stet_json_object(j, "partialFingerprints");
    stet_json_cstr(j, "stet/v1", f->id);
    stet_json_end_object(j);
    stet_json_end_object(j);
}

void stet_lint_print_sarif(struct stet_buf *out, const struct stet_lint_print *p)
{
    struct columns c = {0};
    struct stet_json j;

    stet_json_sarif_begin(&j, out, "stet lint");
    sarif_rules(&j);
    stet_json_sarif_end_tool(&j);
    stet_json_cstr(&j, "columnKind", "utf16CodeUnits");
    stet_json_array(&j, "results");
    for (size_t i = 0; i < p->result->finding_count; i++)
        sarif_result(&j, &c, &p->result->findings[i]);
    if (c.path)
        stet_file_close(&c.file);
    stet_json_end_array(&j);
    stet_json_sarif_end(&j, out);
}
