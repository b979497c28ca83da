/* Offsets of CPython's headers on 64-bit machines. The releases named here are past their betas, so
 * their layouts are final. */
#include "journal/pylayout.h"

#include <stddef.h>

/* In the order of struct stet_pylayout: thread_frame, inner, indirect, code, previous, instruction,
 * owner, code_bytes, index_size, file, name, first_line, lines, text. */
/* clang-format off */
static const struct stet_pylayout layouts[] = {
    [9]  = {24,   0, false,  32,  24, 104,   0,   0,   1, 104, 112,  40,   0,  48},
    [10] = {24,   0, false,  32,  24,  96,   0,   0,   2, 104, 112,  40,   0,  48},
    [11] = {56,   8,  true,  32,  48,  56,   0, 184,   0, 112, 128,  72, 136,  48},
    [12] = {56,   0,  true,   0,   8,  56,  70, 192,   0, 112, 128,  68, 136,  40},
    [13] = {72,   0, false,   0,   8,  56,  70, 200,   0, 112, 128,  68, 136,  40},
    [14] = {72,   0, false,   0,   8,  56,  74, 208,   0, 112, 128,  68, 136,  40},
    [15] = {72,   0, false,   0,   8,  56,  74, 208,   0, 112, 128,  68, 136,  40},
};
/* clang-format on */

const struct stet_pylayout *stet_journal_pylayout(unsigned minor)
{
    return minor < sizeof layouts / sizeof *layouts && layouts[minor].text ? &layouts[minor] : NULL;
}
