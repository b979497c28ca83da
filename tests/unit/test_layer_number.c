/* Settings of the layer that are numbers: what cannot be read means the default. */
#include "folder_help.h"
#include "intercept/layer.h"
#include "intercept/layer_number.h"
#include "intercept/lift_spare.h"

const char stet_entry_name[] = "test"; /* the shared objects have their own */

static const uint64_t second = 1000000000;

/* How many lines of the layer's log have these words. */
static int logged(const char *words)
{
    FILE *log = fopen(getenv("STET_LOG"), "r");
    char line[512];
    int n = 0;

    while (log && fgets(line, sizeof line, log))
        n += strstr(line, words) != NULL;
    if (log)
        fclose(log);
    return n;
}

static void make_log(void)
{
    char path[96];

    make_folder("settings");
    snprintf(path, sizeof path, "%s/log", folder);
    setenv("STET_LOG", path, 1);
}

TEST(numbers_and_off_are_read)
{
    static const struct {
        const char *text;
        uint64_t number;
    } all[] = {{"0", 0}, {"off", 0}, {"60", 60}, {"007", 7}, {"99999999999999999999", UINT64_MAX}};
    uint64_t n;

    make_log();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        setenv("STET_ANY", all[i].text, 1);
        n = 5;
        EXPECT(stet_layer_number("STET_ANY", &n));
        EXPECT(n == all[i].number);
    }
    EXPECT_INT(0, logged("STET_ANY"));
    remove_folder();
}

TEST(other_texts_leave_the_default_and_are_logged_once)
{
    static const char *const all[] = {"abc", "-5", "+5", " 5", "5 ", "10s", "1e3", "0x10", "Off"};
    uint64_t n = 5;

    make_log();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char words[64];

        setenv("STET_ANY", all[i], 1);
        EXPECT(!stet_layer_number("STET_ANY", &n));
        EXPECT_INT(5, n);
        snprintf(words, sizeof words, "STET_ANY=%s is not a number", all[i]);
        EXPECT_INT(1, logged(words));
    }
    remove_folder();
}

TEST(what_is_not_set_is_the_default_and_not_logged)
{
    uint64_t n = 5;

    make_log();
    unsetenv("STET_ANY");
    EXPECT(!stet_layer_number("STET_ANY", &n));
    setenv("STET_ANY", "", 1);
    EXPECT(!stet_layer_number("STET_ANY", &n));
    EXPECT_INT(5, n);
    EXPECT_INT(0, logged("STET_ANY"));
    remove_folder();
}

TEST(a_background_that_cannot_be_read_is_ten_seconds)
{
    static const char *const all[] = {"-5", "abc", ""};

    make_log();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        setenv("STET_LIFT_BACKGROUND", all[i], 1);
        stet_intercept_lift_spare_init();
        EXPECT(stet_intercept_lift_spare_takes(10 * second));
        EXPECT(!stet_intercept_lift_spare_takes(11 * second));
    }
    EXPECT_INT(2, logged("STET_LIFT_BACKGROUND="));
    setenv("STET_LIFT_BACKGROUND", "60", 1);
    stet_intercept_lift_spare_init();
    EXPECT(stet_intercept_lift_spare_takes(60 * second));
    setenv("STET_LIFT_BACKGROUND", "off", 1);
    stet_intercept_lift_spare_init();
    EXPECT(!stet_intercept_lift_spare_takes(0));
    remove_folder();
}
