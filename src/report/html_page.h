/* The report as one HTML file that needs nothing else. */
#ifndef STET_REPORT_HTML_PAGE_H
#define STET_REPORT_HTML_PAGE_H

#include "report/model.h"

/* `json` is stet.report/1 as the page's script reads it; the runs (one or two) are told in words as
 * well, so that the first thing painted is what a reader came for. */
void stet_report_page(struct stet_buf *out, const struct stet_report_run *const *runs, size_t count,
                      struct stet_view json);

/* Text for element content or a quoted attribute; control characters and bytes that are no UTF-8
 * become U+FFFD. */
void stet_html_text(struct stet_buf *out, struct stet_view text);

#endif
