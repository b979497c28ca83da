/* Bundles: what is kept, what a difference means, what a plugin's file tells. */
#include "base/fs.h"
#include "bundle/elf.h"
#include "bundle/inventory.h"
#include "bundle/system.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

static void put(struct stet_inventory *v, enum stet_group g, const char *name, const char *value)
{
    stet_bundle_inventory_put(v, g, stet_view_str(name), stet_view_str(value));
}

static const char *value_of(const struct stet_inventory *v, enum stet_group g, const char *name)
{
    const struct stet_item *item = stet_bundle_inventory_get(v, g, stet_view_str(name));

    return item ? item->value.ptr : NULL;
}

TEST(patterns_match_whole_names)
{
    EXPECT(stet_bundle_glob("JAX_*", STET_VIEW("JAX_ENABLE_X64")));
    EXPECT(stet_bundle_glob("TPU_*TOPOLOGY*", STET_VIEW("TPU_CHIP_TOPOLOGY_X")));
    EXPECT(stet_bundle_glob("*", STET_VIEW("")));
    EXPECT(!stet_bundle_glob("JAX", STET_VIEW("JAX_X")));
    EXPECT(!stet_bundle_glob("JAX_X", STET_VIEW("JAX")));
    EXPECT(stet_bundle_glob("a*b*c", STET_VIEW("aXbYbc")));
    EXPECT(!stet_bundle_glob("a*b*c", STET_VIEW("aXbYb")));
}

TEST(differences_are_ordered_by_what_they_can_change)
{
    struct stet_inventory a, b;
    struct stet_item_changes c;

    stet_bundle_inventory_init(&a);
    stet_bundle_inventory_init(&b);
    put(&a, STET_GROUP_system, "kernel", "6.1");
    put(&b, STET_GROUP_system, "kernel", "6.2");
    put(&a, STET_GROUP_flag, "xla_a", "1");
    put(&b, STET_GROUP_flag, "xla_a", "2");
    put(&a, STET_GROUP_flag, "xla_dump_to", "/tmp/a");
    put(&a, STET_GROUP_package, "jax", "0.10.2");
    put(&b, STET_GROUP_package, "jax", "0.11.0");
    put(&b, STET_GROUP_env, "JAX_ENABLE_X64", "1");
    put(&a, STET_GROUP_package, "flax", "1");
    put(&b, STET_GROUP_package, "flax", "1");
    put(&a, STET_GROUP_probe, "x", "only now");
    stet_bundle_inventory_sort(&a);
    stet_bundle_inventory_sort(&b);
    EXPECT_INT(STET_OK, stet_bundle_inventory_diff(&a, &b, &c, NULL));
    EXPECT_INT(5, c.count);
    EXPECT_INT(2, c.by_effect[STET_EFFECT_PROGRAM]);
    EXPECT_INT(1, c.by_effect[STET_EFFECT_KEY]);
    EXPECT_INT(2, c.by_effect[STET_EFFECT_NOTHING]);
    EXPECT_STR("jax", c.items[0].to->name.ptr);
    EXPECT(c.items[1].from == NULL);
    EXPECT_STR("xla_a", c.items[2].to->name.ptr);
    stet_bundle_item_changes_release(&c);
    stet_bundle_inventory_release(&a);
    stet_bundle_inventory_release(&b);
}

TEST(facts_that_one_side_did_not_query_are_not_differences)
{
    struct stet_inventory a, b;
    struct stet_item_changes c;

    stet_bundle_inventory_init(&a);
    stet_bundle_inventory_init(&b);
    put(&a, STET_GROUP_plugin, "libtpu.so", "build id 1");
    put(&b, STET_GROUP_plugin, "libtpu.so", "build id 1");
    put(&a, STET_GROUP_plugin, "libtpu.so found by", "package libtpu");
    put(&b, STET_GROUP_plugin, "libtpu.so api", "0.116");
    put(&b, STET_GROUP_plugin, "libtpu.so stablehlo minimum", "0.9.0");
    put(&b, STET_GROUP_plugin, "libtpu.so platform", "tpu");
    put(&b, STET_GROUP_plugin, "libtpu.so platform version", "1");
    put(&b, STET_GROUP_topology, "libtpu.so devices", "8 x TPU v6 lite");
    put(&b, STET_GROUP_topology, "tpu chips on the bus", "8");
    put(&b, STET_GROUP_plugin, "other.so", "build id 2");
    put(&b, STET_GROUP_plugin, "other.so api", "0.90");
    stet_bundle_inventory_sort(&a);
    stet_bundle_inventory_sort(&b);
    EXPECT_INT(STET_OK, stet_bundle_inventory_diff(&a, &b, &c, NULL));
    EXPECT_INT(3, c.count);
    EXPECT_STR("other.so", c.items[0].to->name.ptr);
    EXPECT_STR("libtpu.so found by", c.items[1].from->name.ptr);
    EXPECT_STR("tpu chips on the bus", c.items[2].to->name.ptr);
    stet_bundle_item_changes_release(&c);
    /* both loaded it, one made a client: what was asked of both counts */
    put(&a, STET_GROUP_plugin, "libtpu.so api", "0.112");
    stet_bundle_inventory_sort(&a);
    EXPECT_INT(STET_OK, stet_bundle_inventory_diff(&a, &b, &c, NULL));
    EXPECT_INT(5, c.count);
    EXPECT_STR("libtpu.so api", c.items[0].to->name.ptr);
    EXPECT_STR("libtpu.so stablehlo minimum", c.items[3].to->name.ptr);
    stet_bundle_item_changes_release(&c);
    stet_bundle_inventory_release(&a);
    stet_bundle_inventory_release(&b);
}

TEST(a_bundle_reads_back_as_it_was_written)
{
    char path[] = "/tmp/stet-bundle-XXXXXX";
    struct stet_inventory a, b;
    struct stet_item_changes c;
    int fd = mkstemp(path);

    stet_bundle_inventory_init(&a);
    put(&a, STET_GROUP_env, "XLA_FLAGS", "--xla_a=\"b\\c\"");
    put(&a, STET_GROUP_package, "jax", "0.10.2");
    put(&a, STET_GROUP_plugin, "lib.so platform version", "two\nlines\n");
    EXPECT_INT(STET_OK, stet_bundle_inventory_write(&a, path, NULL));
    EXPECT_INT(STET_OK, stet_bundle_inventory_read(&b, path, NULL));
    EXPECT_STR("two lines", value_of(&b, STET_GROUP_plugin, "lib.so platform version"));
    EXPECT_INT(STET_OK, stet_bundle_inventory_diff(&a, &b, &c, NULL));
    EXPECT_INT(0, c.count);
    stet_bundle_item_changes_release(&c);
    stet_bundle_inventory_release(&a);
    stet_bundle_inventory_release(&b);
    close(fd);
    unlink(path);
}

static void expect_refused(const char *text, enum stet_rc rc, const char *words)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_inventory v;

    EXPECT_INT(rc, stet_bundle_inventory_parse(&v, stet_view_str(text), "b.json", &err));
    EXPECT(strstr(err.text, words) != NULL);
}

TEST(files_that_are_not_bundles_are_refused_with_line_and_column)
{
    expect_refused("", STET_BAD_INPUT, "b.json:1:");
    expect_refused("{\n  \"schema\": oops}", STET_BAD_INPUT, "b.json:2:");
    expect_refused("{}", STET_BAD_INPUT, "not a bundle");
    expect_refused("[1]", STET_BAD_INPUT, "not a bundle");
    expect_refused("{\"schema\":\"stet.bundle/2\"}", STET_UNSUPPORTED, "newer");
    expect_refused("{\"schema\":\"stet.bundle/1\",\"package\":3}", STET_BAD_INPUT, "package");
    expect_refused("{\"schema\":\"stet.bundle/1\",\"env\":{\"A\":1}}", STET_BAD_INPUT, "\"A\"");
}

TEST(secrets_are_masked_everywhere)
{
    static char *environment[] = {
        "JAX_AUTH_TOKEN=planted1",
        "TPU_URL=https://user:planted2@host/x?token=planted3&a=1",
        "XLA_FLAGS=--xla_a=1 --api_key=planted4",
        "TORCH_HUB=hf_planted5abcdefghijk",
        "jax_secret=planted6",
        "NCCL_X=AKIAPLANTED7PLANTED7,b",
        "HOME=/planted8",
        NULL,
    };
    struct stet_inventory v;

    stet_bundle_inventory_init(&v);
    stet_bundle_system_environment(&v, environment);
    EXPECT_INT(7, v.count); /* five variables and the flags xla_a and api_key, HOME left out */
    for (size_t i = 0; i < v.count; i++)
        EXPECT(!strcasestr(v.items[i].value.ptr, "planted"));
    EXPECT_STR("1", value_of(&v, STET_GROUP_flag, "xla_a"));
    EXPECT_STR("***", value_of(&v, STET_GROUP_env, "JAX_AUTH_TOKEN"));
    stet_bundle_inventory_release(&v);
}

TEST(a_plugin_file_is_judged_without_loading_it)
{
    struct stet_file f;
    struct stet_elf e;
    char copy[4096];

    EXPECT(!stet_bundle_elf_open(&e, "/no/such/file.so"));
    stet_bundle_elf_look(&e, STET_VIEW(""));
    EXPECT_STR("empty", e.wrong);
    stet_bundle_elf_look(&e, STET_VIEW("hello"));
    EXPECT(e.wrong && strstr(e.wrong, "not an ELF"));
    EXPECT_INT(STET_OK, stet_file_open(&f, "/proc/self/exe", NULL));
    stet_bundle_elf_look(&e, f.bytes);
    EXPECT(!e.wrong && e.build_id[0] && !e.has_entry);
    stet_bundle_elf_look(&e, stet_view_of(f.bytes.ptr, 8192)); /* within what is loaded */
    EXPECT(e.wrong && strstr(e.wrong, "truncated"));
    memcpy(copy, f.bytes.ptr, sizeof copy);
    copy[18] = (char)183; /* e_machine: aarch64 */
    copy[19] = 0;
    stet_bundle_elf_look(&e, stet_view_of(copy, sizeof copy));
#if defined(__x86_64__)
    EXPECT(e.wrong && strstr(e.wrong, "aarch64"));
#endif
    copy[4] = 1; /* 32 bits */
    stet_bundle_elf_look(&e, stet_view_of(copy, sizeof copy));
    EXPECT(e.wrong && strstr(e.wrong, "64-bit"));
    stet_file_close(&f);
}
