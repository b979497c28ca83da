/* Writes the report as one HTML file that needs no other file and no network. */
#ifndef STET_REPORT_HTML_PAGE_H
#define STET_REPORT_HTML_PAGE_H

#include "report/model.h"

/* `json` is stet.report/1, which the page's script reads. The runs (one or two) are also summarised
 * in HTML, so that the first thing painted is the answer. */
void stet_report_page(struct stet_buf *out, const struct stet_report_run *const *runs, size_t count,
                      struct stet_view json);

/* Text for element content or a quoted attribute; control characters and bytes that are not UTF-8
 * become U+FFFD. */
void stet_html_text(struct stet_buf *out, struct stet_view text);

#endif
