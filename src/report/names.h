/* The older names of base/intern.h, for src/cli until it uses that itself. */
#ifndef STET_REPORT_NAMES_H
#define STET_REPORT_NAMES_H

#include "base/intern.h"

#define STET_NO_NAME       STET_INTERN_NONE
#define stet_names         stet_intern
#define stet_names_init    stet_intern_init
#define stet_names_release stet_intern_release
#define stet_names_add     stet_intern_add
#define stet_names_find    stet_intern_find

#endif
