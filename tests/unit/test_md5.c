/* Facts about MD5, which the payloads of torch.compile traces are checked with. */
#include "test.h"

#include "md5_help.h"

#include <stdlib.h>

TEST(md5_gives_the_digests_of_the_rfc)
{
    static const char *const cases[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    char got[33];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hex(md5(cases[i][0], strlen(cases[i][0])), got);
        EXPECT_STR(cases[i][1], got);
    }
}

TEST(md5_of_pieces_is_md5_of_the_whole)
{
    char text[300];
    struct stet_md5_digest whole;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7);
    whole = md5(text, sizeof text);
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        struct stet_md5_digest d;
        struct stet_md5 m;

        stet_md5_init(&m);
        stet_md5_add(&m, text, cut);
        stet_md5_digest(&m); /* looking does not change it */
        stet_md5_add(&m, text + cut, sizeof text - cut);
        d = stet_md5_digest(&m);
        EXPECT(stet_md5_eq(&d, &whole));
    }
}

TEST(md5_of_many_is_md5_of_each)
{
    enum { MANY = 75, ROOM = 640 };
    static unsigned char bytes[MANY][ROOM];
    struct stet_md5_job jobs[MANY];

    for (size_t count = 0; count <= MANY; count += count < 20 ? 1 : 11) {
        for (size_t i = 0; i < count; i++) { /* every length around a block, some long */
            size_t length = i < 70 ? i * 2 : i * 7;

            for (size_t k = 0; k < length; k++)
                bytes[i][k] = (unsigned char)(k * 31 + i);
            jobs[i] = (struct stet_md5_job){
                .bytes = bytes[i], .padded = length + stet_md5_pad(bytes[i] + length, length)};
            EXPECT_INT(0, jobs[i].padded % 64);
        }
        stet_md5_many(jobs, count);
        for (size_t i = 0; i < count; i++) {
            struct stet_md5_digest one = md5((const char *)bytes[i], i < 70 ? i * 2 : i * 7);

            EXPECT(stet_md5_eq(&one, &jobs[i].digest));
        }
    }
}
