/* Compile options for a program with more arguments. */
#include "base/buf.h"
#include "decode/options.h"
#include "intercept/lift_family.h"
#include "test.h"

static const char list_name[] =
    "executable_build_options.allow_spmd_sharding_propagation_to_parameters";

/* The values of an option. A protobuf reader joins the parts of a list; ours shows them one by
 * one. */
static void value_of(struct stet_view bytes, const char *path, char *out, size_t room)
{
    struct stet_options o;
    size_t n = 0;

    out[0] = '\0';
    EXPECT_INT(STET_OK, stet_options_decode(&o, bytes, NULL));
    for (size_t i = 0; i < o.count; i++) {
        if (stet_view_is(o.items[i].path, path))
            n += (size_t)snprintf(out + n, room - n, "%s%.*s", n ? "," : "",
                                  STET_FMT(o.items[i].value));
    }
    stet_options_release(&o);
}

/* executable_build_options (3) with a list (18) of bools, or num_partitions (5). */
#define LISTED       "\x1a\x05\x92\x01\x02\x01\x00"
#define PARTITIONS_2 "\x1a\x02\x28\x02"
#define PARTITIONS_1 "\x1a\x02\x28\x01"
#define TUPLED       "\x10\x01"
#define AUTOMATIC    "\x1a\x02\x38\x01" /* use_auto_spmd_partitioning (7) */
#define ONE_FOR_ALL  "\x1a\x04\x92\x01\x01\x01"

TEST(a_list_of_the_arguments_grows_with_them)
{
    struct stet_view options = STET_VIEW(LISTED);
    struct stet_buf out = STET_BUF_INIT;
    char text[128];

    EXPECT(stet_intercept_lift_options(options, 2, 3, &out));
    value_of(stet_buf_as_view(&out), list_name, text, sizeof text);
    EXPECT_STR("true,false,false,false,false", text);
    stet_buf_release(&out);
}

TEST(one_entry_for_all_arguments_becomes_one_for_each)
{
    struct stet_buf out = STET_BUF_INIT;
    char text[128];

    EXPECT(stet_intercept_lift_options(STET_VIEW(ONE_FOR_ALL), 3, 2, &out));
    value_of(stet_buf_as_view(&out), list_name, text, sizeof text);
    EXPECT_STR("true,true,true,false,false", text);
    stet_buf_release(&out);
}

TEST(options_without_such_a_list_stay_as_they_are)
{
    struct stet_buf out = STET_BUF_INIT;

    EXPECT(stet_intercept_lift_options(STET_VIEW(""), 2, 3, &out));
    EXPECT(stet_intercept_lift_options(STET_VIEW(PARTITIONS_1), 2, 3, &out));
    EXPECT(stet_intercept_lift_options(STET_VIEW(PARTITIONS_2), 2, 3, &out));
    EXPECT_INT(0, out.len);
    stet_buf_release(&out);
}

TEST(options_that_cannot_have_more_arguments_are_refused)
{
    struct stet_buf out = STET_BUF_INIT;

    EXPECT(!stet_intercept_lift_options(STET_VIEW(LISTED), 3, 1, &out)); /* another count */
    EXPECT(!stet_intercept_lift_options(STET_VIEW(AUTOMATIC), 2, 1, &out));
    EXPECT(!stet_intercept_lift_options(STET_VIEW(TUPLED), 2, 1, &out));
    EXPECT(!stet_intercept_lift_options(STET_VIEW("\xff\xff"), 2, 1, &out));
    stet_buf_release(&out);
}
