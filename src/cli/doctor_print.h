/* Prints what `stet doctor` found, as text. It appends to the caller's buffer. */
#ifndef STET_CLI_DOCTOR_PRINT_H
#define STET_CLI_DOCTOR_PRINT_H

#include "doctor/doctor.h"

void stet_cli_doctor_text(const struct stet_doctor *d, struct stet_buf *out);

#endif
