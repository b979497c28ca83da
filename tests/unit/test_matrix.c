/* The breakage matrix: its form, its detectors, and that the built-in rows are whole. */
#include "bundle/matrix.h"
#include "test.h"

static const char good[] = "# a comment\n"
                           "[a-row]\n"
                           "area     = cache\n"
                           "kind     = launch policy\n"
                           "symptom  = something\n"
                           "    that goes on\n"
                           "versions = any\n"
                           "evidence = here\n"
                           "do       = that\n"
                           "detect   = %s\n";

static void put(struct stet_inventory *v, enum stet_group g, const char *name, const char *value)
{
    stet_inventory_put(v, g, stet_view_str(name), stet_view_str(value));
}

static bool fits(const struct stet_inventory *v, const char *detector)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_matrix m;
    char text[1024];
    bool yes = false;

    snprintf(text, sizeof text, good, detector);
    stet_matrix_init(&m);
    EXPECT_INT(STET_OK, stet_matrix_add(&m, stet_view_str(text), "t", &err));
    EXPECT_STR("", err.text);
    if (m.count == 1)
        yes = stet_row_fits(&m.rows[0], v, NULL);
    stet_matrix_release(&m);
    return yes;
}

TEST(versions_are_compared_by_their_numbers)
{
    static const struct {
        const char *a, *b;
        int order;
    } cases[] = {{"0.10.2", "0.9.9", 1}, {"2.0rc1", "2.0", -1},       {"2.9.0+cu128", "2.9.0", 0},
                 {"2.9", "2.9.0", 0},    {"2.9.0.post1", "2.9.0", 1}, {"580.82.07", "580", 1},
                 {"0.116", "0.29", 1},   {"0.5.dev3", "0.5", -1},     {"", "1", -1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int got = stet_version_cmp(stet_view_str(cases[i].a), stet_view_str(cases[i].b));

        EXPECT_INT(cases[i].order, (got > 0) - (got < 0));
        got = stet_version_cmp(stet_view_str(cases[i].b), stet_view_str(cases[i].a));
        EXPECT_INT(-cases[i].order, (got > 0) - (got < 0));
    }
}

TEST(detectors_say_what_they_mean)
{
    struct stet_inventory v;

    stet_inventory_init(&v);
    put(&v, STET_GROUP_package, "jax", "0.10.2");
    put(&v, STET_GROUP_package, "torch", "2.9.0+cu128");
    put(&v, STET_GROUP_other, "numpy", "2.4.6");
    put(&v, STET_GROUP_compiler, "libtpu", "0.0.51");
    put(&v, STET_GROUP_env, "XLA_FLAGS", "--xla_a=1 --xla_tpu_b");
    put(&v, STET_GROUP_plugin, "libtpu.so api", "0.116");
    EXPECT(fits(&v, "package.jax"));
    EXPECT(!fits(&v, "package.flax"));
    EXPECT(fits(&v, "not package.flax"));
    EXPECT(fits(&v, "package.numpy >= 2 and package.libtpu < 0.1"));
    EXPECT(!fits(&v, "package.flax != 1")); /* what is absent compares with nothing */
    EXPECT(fits(&v, "package.flax or package.jax = 0.10.2"));
    EXPECT(fits(&v, "package.jax < 0.11 and (package.flax or not package.x)"));
    EXPECT(fits(&v, "env.XLA_FLAGS ~ *--xla_tpu_*"));
    EXPECT(!fits(&v, "env.XLA_FLAGS ~ xla_tpu_*"));
    EXPECT(fits(&v, "plugin.\"* api\" > 0.29"));
    EXPECT(fits(&v, "package.jax < @package.torch"));
    EXPECT(!fits(&v, "package.jax < @package.nobody"));
    EXPECT(fits(&v, "package.torch ^ 2.9.5"));
    EXPECT(!fits(&v, "package.torch ^ 2.90"));
    EXPECT(!fits(&v, "package.torch ^ 2.8.0"));
    EXPECT(fits(&v, "env.*"));
    stet_inventory_release(&v);
}

static void refused(const char *text, const char *place)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_matrix m;

    stet_matrix_init(&m);
    EXPECT(stet_matrix_add(&m, stet_view_str(text), "t", &err) != STET_OK);
    EXPECT_STR(place, err.text);
    stet_matrix_release(&m);
}

TEST(mistakes_are_told_with_line_and_column)
{
    char text[1024];

    refused("area = cache\n", "t:1:1: expected [name-of-a-row]");
    refused("[A]\n", "t:1:2: a row's name has small letters, digits and -");
    refused("[a] b\n", "t:1:5: nothing may follow ]");
    refused("[a\n", "t:1:1: expected [name-of-the-row]");
    refused("[a]\nnonsense\n", "t:2:1: expected field = text");
    refused("[a]\ncolour = red\n", "t:2:1: no such field; there are area, kind, symptom, versions, "
                                   "evidence, do, detect");
    refused("[a]\ndo = x\ndo = y\n", "t:3:1: do: a second time");
    refused("[a]\ndo =  \n", "t:2:1: do: nothing said");
    refused("[a]\ndo = x\n", "t:3:1: the row above has no field area");
    refused("[a]\nkind = bad luck\n",
            "t:2:7: no such kind; there are upstream defect, launch policy, version gate, "
            "structural gate");
    snprintf(text, sizeof text, good, "package.jax and");
    refused(text, "t:11:1: expected group.name, such as package.jax or env.XLA_FLAGS");
    snprintf(text, sizeof text, good, "(package.jax");
    refused(text, "t:11:1: expected )");
    snprintf(text, sizeof text, good, "package.jax\n  or frog.x");
    refused(text, "t:11:6: expected group.name, such as package.jax or env.XLA_FLAGS");
    snprintf(text, sizeof text, good, "package.jax < \"1");
    refused(text, "t:10:26: a quote that does not end");
    snprintf(text, sizeof text, good, "package.jax package.x");
    refused(text, "t:10:24: expected and, or, or the end");
}

TEST(a_row_of_ones_own_replaces_the_one_of_its_name)
{
    struct stet_matrix m;
    char text[1024];

    stet_matrix_init(&m);
    snprintf(text, sizeof text, good, "package.jax");
    EXPECT_INT(STET_OK, stet_matrix_add(&m, stet_view_str(text), "first", NULL));
    EXPECT_STR("something that goes on", m.rows[0].field[STET_ROW_SYMPTOM].ptr);
    EXPECT_INT(2, m.rows[0].line);
    EXPECT_INT(STET_OK, stet_matrix_add(&m, stet_view_str(text), "second", NULL));
    EXPECT_INT(1, m.count);
    EXPECT_STR("second", m.rows[0].source);
    stet_matrix_release(&m);
}

TEST(the_built_in_rows_are_whole_and_fit_nothing_in_an_empty_bundle)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_inventory nothing;
    struct stet_matrix m;

    stet_inventory_init(&nothing);
    stet_matrix_init(&m);
    EXPECT_INT(STET_OK, stet_matrix_built_in(&m, &err));
    EXPECT_STR("", err.text);
    EXPECT(m.count >= 25);
    for (size_t i = 0; i < m.count; i++) {
        for (int f = 0; f < STET_ROW_FIELDS; f++)
            EXPECT(m.rows[i].field[f].len > 0);
        EXPECT(!stet_row_fits(&m.rows[i], &nothing, NULL));
    }
    stet_matrix_release(&m);
    stet_inventory_release(&nothing);
}
