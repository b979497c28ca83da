/* Characters of UTF-8 (RFC 3629). See view.h. */
#include "base/view.h"

size_t stet_utf8_length(const void *text, size_t left)
{
    const unsigned char *p = text;
    size_t n = !left         ? 0
               : p[0] < 0x80 ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;

    if (!n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

uint32_t stet_utf8_decode(const void *text, size_t n)
{
    const unsigned char *p = text;
    uint32_t code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));

    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3f);
    return code;
}

bool stet_utf8_is_control(const void *text, size_t n)
{
    uint32_t code = stet_utf8_decode(text, n);

    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}
