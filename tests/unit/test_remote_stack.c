/* Lines of Python code that another process runs. */
#include "test.h"

#include "journal/remote_stack.h"

TEST(a_table_of_lines_is_read_in_all_its_forms)
{
    /* 2 units: no columns, +1; 1: one line, +1; 1: none; 1: short; 3: long, -2;
     * Objects/locations.md */
    static const unsigned char table[] = {0x80 | 13 << 3 | 1,
                                          2,
                                          0x80 | 11 << 3,
                                          0,
                                          5,
                                          0x80 | 15 << 3,
                                          0x80,
                                          0x11,
                                          0x80 | 14 << 3 | 2,
                                          5,
                                          0,
                                          0,
                                          0};
    static const uint32_t expected[] = {11, 11, 12, 0, 12, 10, 10, 10, 0};

    for (uint32_t i = 0; i < 9; i++)
        EXPECT_INT(expected[i], stet_remote_stack_line(table, sizeof table, 10, 2 * i));
    for (size_t n = 0; n < sizeof table; n++) /* cut anywhere: no line, or one, but it ends */
        stet_remote_stack_line(table, n, 10, 20);
}

TEST(what_cannot_be_read_is_reported)
{
    static struct stet_remote_frame frames[STET_REMOTE_FRAMES];
    struct stet_remote_place place = {.pid = 1 << 30, .state = 4096, .code_type = 8, .minor = 11};
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(0, stet_remote_stack_read(&place, frames, &err));
    EXPECT(strstr(err.text, "cannot be read") != NULL);
    err = (struct stet_err)STET_ERR_INIT;
    place.minor = 9;
    EXPECT_INT(0, stet_remote_stack_read(&place, frames, &err));
    EXPECT_STR("Python 3.9 is not read from outside", err.text);
    err = (struct stet_err)STET_ERR_INIT;
    place.state = 0;
    EXPECT_INT(0, stet_remote_stack_read(&place, frames, &err));
    EXPECT_STR("the layer did not find where its frames are", err.text);
}
