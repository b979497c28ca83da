/* Writes the report as one HTML file that needs no other file and no network. `stet report` calls
 * it with the model and its JSON. It appends to the caller's buffer. */
#ifndef STET_REPORT_HTML_PAGE_H
#define STET_REPORT_HTML_PAGE_H

#include "report/model.h"

/* `json` is stet.report/1, which the page's script reads. One or two runs are also summarised in
 * HTML, so that the answer is visible before the script runs. */
void stet_report_page(struct stet_buf *out, const struct stet_report_run *const *runs, size_t count,
                      struct stet_view json);

/* Appends text for element content or a quoted attribute. Control characters and bytes that are not
 * UTF-8 become U+FFFD. */
void stet_html_page_text(struct stet_buf *out, struct stet_view text);

#endif
