/* Facts about compile options: by field, canonical, compared by name. */
#include "test.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "decode/options.h"

#include <stdlib.h>

/* ---- a small protobuf writer ---- */

static void varint(struct stet_buf *b, unsigned field, uint64_t v)
{
    stet_buf_varint(b, (uint64_t)field << 3);
    stet_buf_varint(b, v);
}

static void text(struct stet_buf *b, unsigned field, struct stet_view v)
{
    stet_buf_varint(b, (uint64_t)field << 3 | 2);
    stet_buf_varint(b, v.len);
    stet_buf_view(b, v);
}

static void text_override(struct stet_buf *b, const char *key, const char *value)
{
    struct stet_buf entry = STET_BUF_INIT, inner = STET_BUF_INIT;

    text(&inner, 1, stet_view_str(value));
    text(&entry, 1, stet_view_str(key));
    text(&entry, 2, stet_buf_as_view(&inner));
    text(b, 7, stet_buf_as_view(&entry));
    stet_buf_release(&entry);
    stet_buf_release(&inner);
}

/* CompileOptionsProto with one debug option given as bytes already. */
static struct stet_buf with_debug(struct stet_view debug)
{
    struct stet_buf b = STET_BUF_INIT, build = STET_BUF_INIT;

    text(&build, 3, debug);
    text(&b, 3, stet_buf_as_view(&build));
    stet_buf_release(&build);
    return b;
}

static struct stet_options read_all(struct stet_buf *b)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_options o;

    struct stet_hash brief;

    EXPECT_INT(STET_OK, stet_options_decode(&o, stet_buf_as_view(b), &err));
    EXPECT_INT(STET_OK, stet_options_hash(stet_buf_as_view(b), &brief, NULL, NULL));
    EXPECT(stet_hash_eq(o.hash, brief)); /* the short way gives the same */
    stet_buf_release(b);
    return o;
}

static const struct stet_options_item *find(const struct stet_options *o, const char *path)
{
    for (size_t i = 0; i < o->count; i++)
        if (stet_view_is(o->items[i].path, path))
            return &o->items[i];
    return NULL;
}

TEST(the_order_of_a_map_does_not_matter)
{
    struct stet_buf a = STET_BUF_INIT, b = STET_BUF_INIT;
    struct stet_options x, y;

    text_override(&a, "one", "1");
    text_override(&a, "two", "2");
    text_override(&b, "two", "2");
    text_override(&b, "one", "1");
    x = read_all(&a);
    y = read_all(&b);
    EXPECT(stet_hash_eq(x.hash, y.hash));
    EXPECT(stet_view_is(x.canonical, "stet.options/2\n7[3:one]=0a0131\n7[3:two]=0a0132\n"));
    stet_options_release(&x);
    stet_options_release(&y);
}

/* Debug option `field`, which may be unknown, given with each of these texts; its hash. */
static struct stet_hash hash_of_repeated(uint32_t field, const char *const *texts)
{
    struct stet_buf debug = STET_BUF_INIT, b;
    struct stet_options o;
    struct stet_hash hash;

    for (; *texts; texts++)
        text(&debug, field, stet_view_str(*texts));
    b = with_debug(stet_buf_as_view(&debug));
    o = read_all(&b);
    hash = o.hash;
    stet_options_release(&o);
    stet_buf_release(&debug);
    return hash;
}

TEST(the_order_of_repeated_fields_matters_known_or_not)
{
    static const char *const forth[] = {"a", "b", NULL}, *const back[] = {"b", "a", NULL};
    static const uint32_t fields[] = {30, 5000};

    for (size_t i = 0; i < 2; i++) {
        EXPECT(
            stet_hash_eq(hash_of_repeated(fields[i], forth), hash_of_repeated(fields[i], forth)));
        EXPECT(
            !stet_hash_eq(hash_of_repeated(fields[i], forth), hash_of_repeated(fields[i], back)));
    }
}

TEST(options_that_name_files_are_distinguished_from_the_hash)
{
    struct stet_buf debug = STET_BUF_INIT, none = STET_BUF_INIT, b, c, files = STET_BUF_INIT;
    struct stet_hash with, without;

    text(&debug, 223, STET_VIEW("/tmp/results"));
    b = with_debug(stet_buf_as_view(&debug));
    c = with_debug(stet_buf_as_view(&none));
    text_override(&b, "xla_gpu_cuda_data_dir", "/cuda");
    text_override(&b, "xla_new_profile_file", "f");
    EXPECT_INT(STET_OK, stet_options_hash(stet_buf_as_view(&b), &with, &files, NULL));
    EXPECT_INT(STET_OK, stet_options_hash(stet_buf_as_view(&c), &without, NULL, NULL));
    EXPECT(stet_hash_eq(with, without));
    EXPECT(stet_view_eq(stet_buf_as_view(&files),
                        STET_VIEW("xla_gpu_load_autotune_results_from\0/tmp/results\0"
                                  "xla_gpu_cuda_data_dir\0/cuda\0xla_new_profile_file\0f\0")));
    EXPECT_INT(STET_OK, stet_options_hash(stet_buf_as_view(&b), &with, NULL, NULL));
    EXPECT(!stet_hash_eq(with, without));
    stet_buf_release(&debug);
    stet_buf_release(&b);
    stet_buf_release(&c);
    stet_buf_release(&files);
}

TEST(fields_that_do_not_count_are_kept_with_their_reason)
{
    struct stet_buf debug = STET_BUF_INIT, none = STET_BUF_INIT, b;
    struct stet_options x, y;

    text(&debug, 310, STET_VIEW("/home/me/.cache"));
    text(&debug, 109, STET_VIEW("/tmp/dump"));
    b = with_debug(stet_buf_as_view(&debug));
    x = read_all(&b);
    b = with_debug(stet_buf_as_view(&none));
    y = read_all(&b);
    EXPECT(stet_hash_eq(x.hash, y.hash));
    EXPECT_INT(2, x.count);
    EXPECT(find(&x, "executable_build_options.debug_options.xla_gpu_per_fusion_autotune_cache_dir")
               ->dropped != NULL);
    EXPECT_STR("where and how XLA writes dumps",
               find(&x, "executable_build_options.debug_options.xla_dump_to")->dropped);
    stet_options_release(&x);
    stet_options_release(&y);
    stet_buf_release(&debug);
}

TEST(a_dropped_name_is_dropped_as_an_override_too)
{
    struct stet_buf b = STET_BUF_INIT;
    struct stet_options o;

    text_override(&b, "xla_dump_to", "/tmp");
    o = read_all(&b);
    EXPECT(stet_view_is(o.canonical, "stet.options/2\n"));
    stet_options_release(&o);
}

TEST(a_debug_flag_set_to_false_counts)
{
    struct stet_buf debug = STET_BUF_INIT, b;
    struct stet_options o;

    varint(&debug, 9, 0);
    b = with_debug(stet_buf_as_view(&debug));
    o = read_all(&b);
    EXPECT(stet_view_is(o.canonical, "stet.options/2\n3.3.9=0\n"));
    stet_options_release(&o);
    stet_buf_release(&debug);
}

TEST(unknown_fields_are_kept_by_number_and_count)
{
    struct stet_buf a = STET_BUF_INIT, b = STET_BUF_INIT;
    struct stet_options x, y;

    varint(&a, 900, 7);
    text(&a, 901, STET_VIEW("\x01\x02"));
    varint(&b, 900, 8);
    x = read_all(&a);
    y = read_all(&b);
    EXPECT(!stet_hash_eq(x.hash, y.hash));
    EXPECT(stet_view_is(find(&x, "#900")->value, "7"));
    EXPECT(stet_view_is(find(&x, "#901")->value, "0102"));
    stet_options_release(&x);
    stet_options_release(&y);
}

struct seen {
    int count;
    char last[256];
};

static void see(void *context, struct stet_view path, struct stet_view from, struct stet_view to)
{
    struct seen *s = context;

    s->count++;
    snprintf(s->last, sizeof s->last, "%.*s: %.*s -> %.*s", STET_FMT(path), STET_FMT(from),
             STET_FMT(to));
}

TEST(two_options_differ_by_field_name)
{
    struct stet_buf a = STET_BUF_INIT, b = STET_BUF_INIT;
    struct stet_options x, y;
    struct seen s = {0, ""};

    varint(&a, 4, 1);
    varint(&a, 5, 3);
    varint(&b, 4, 1);
    varint(&b, 5, 4);
    x = read_all(&a);
    y = read_all(&b);
    stet_options_diff(&x, &y, see, &s);
    EXPECT_INT(1, s.count);
    EXPECT_STR("profile_version: 3 -> 4", s.last);
    stet_options_diff(&x, &x, see, &s);
    EXPECT_INT(1, s.count);
    stet_options_release(&x);
    stet_options_release(&y);
}

static struct stet_file captured(void)
{
    struct stet_file f = {0};

    EXPECT_INT(STET_OK, stet_file_open(&f, STET_SOURCE_DIR "/tests/data/options/jax.pb", NULL));
    return f;
}

TEST(options_of_jax_have_names_throughout)
{
    struct stet_file f = captured();
    struct stet_options o;

    EXPECT_INT(STET_OK, stet_options_decode(&o, f.bytes, NULL));
    EXPECT(o.count > 100);
    EXPECT(stet_view_is(find(&o, "executable_build_options.num_partitions")->value, "2"));
    EXPECT(stet_view_is(find(&o, "executable_build_options.device_assignment.computation_devices[1]"
                                 ".replica_device_ids")
                            ->value,
                        "1"));
    EXPECT(stet_view_is(find(&o, "env_option_overrides[an_integer]")->value, "3"));
    EXPECT(stet_view_is(find(&o, "env_option_overrides[a_flag]")->value, "true"));
    EXPECT(stet_view_is(find(&o, "executable_build_options.debug_options.xla_dump_to")->value,
                        "\"/tmp/dump\""));
    EXPECT(find(&o, "executable_build_options.debug_options.xla_dump_to")->dropped != NULL);
    stet_options_release(&o);
    stet_file_close(&f);
}

/* Golden: this hash is part of keys in stores. Changing it needs a new version line. */
TEST(the_canonical_form_is_stable)
{
    struct stet_file f = captured();
    char hash[STET_HASH_TEXT];
    struct stet_options o;

    EXPECT_INT(STET_OK, stet_options_decode(&o, f.bytes, NULL));
    stet_hash_format(o.hash, hash);
    EXPECT_STR("b5c5e7a5f6246ffcf55543f88aa1f9ca", hash);
    stet_options_release(&o);
    stet_file_close(&f);
}

/* ---- hostile input ---- */

/* Read, or refused with a place inside; the bytes end where their memory ends. */
static void expect_sane(struct stet_view bytes)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_options o;
    char *copy = malloc(bytes.len ? bytes.len : 1);

    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    if (stet_options_decode(&o, stet_view_of(copy, bytes.len), &err) == STET_OK)
        stet_options_release(&o);
    else
        EXPECT(err.offset <= bytes.len && err.text[0]);
    free(copy);
}

static void cut_and_flip_everywhere(struct stet_view v)
{
    char *copy = malloc(v.len);

    for (size_t n = 0; n < v.len; n++)
        expect_sane(stet_view_of(v.ptr, n));
    for (size_t n = 0; n < v.len; n++) {
        memcpy(copy, v.ptr, v.len);
        copy[n] ^= (char)(1 << n % 8);
        expect_sane(stet_view_of(copy, v.len));
    }
    free(copy);
}

/* What JAX sends, the seeds of the fuzz target, and more and more overrides: twenty in all. */
TEST(truncated_and_flipped_options_do_no_harm)
{
    static const char *const seeds[] = {"build", "debug", "layouts", "overrides", "unknown"};
    struct stet_buf more = STET_BUF_INIT;
    struct stet_file f = captured();
    char path[512];

    cut_and_flip_everywhere(f.bytes);
    stet_file_close(&f);
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/options/%s", STET_SOURCE_DIR, seeds[i]);
        EXPECT_INT(STET_OK, stet_file_open(&f, path, NULL));
        cut_and_flip_everywhere(f.bytes);
        stet_file_close(&f);
    }
    for (unsigned i = 0; i < 14; i++) {
        char key[32];

        snprintf(key, sizeof key, "xla_some_option_%u", i);
        text_override(&more, key, i % 2 ? "true" : "some/path");
        varint(&more, 4, i); /* field 4: profile_version */
        cut_and_flip_everywhere(stet_buf_as_view(&more));
    }
    stet_buf_release(&more);
}

TEST(huge_lengths_and_deep_nesting_are_refused)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf b = STET_BUF_INIT;
    struct stet_options o;

    EXPECT(stet_options_decode(&o, STET_VIEW("\x1a\xff\xff\xff\xff\xff\xff\xff\x7f"), &err) !=
           STET_OK);
    EXPECT(err.offset <= 9 && err.text[0]);
    for (int i = 0; i < 4000;
         i++) { /* groups, which protobuf has not used for long, nest as well */
        unsigned char start = 1 << 3 | 3;

        stet_buf_add(&b, &start, 1);
    }
    err = (struct stet_err)STET_ERR_INIT;
    EXPECT(stet_options_decode(&o, stet_buf_as_view(&b), &err) != STET_OK);
    EXPECT(err.offset <= b.len && err.text[0]);
    b.len = 0;
    for (int i = 0; i < 1000; i++) { /* a message in a message in a message */
        struct stet_buf outer = STET_BUF_INIT;

        text(&outer, 3, stet_buf_as_view(&b));
        stet_buf_release(&b);
        b = outer;
    }
    expect_sane(stet_buf_as_view(&b));
    stet_buf_release(&b);
}
