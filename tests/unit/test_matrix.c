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
    stet_bundle_inventory_put(v, g, stet_view_str(name), stet_view_str(value));
}

static bool fits(const struct stet_inventory *v, const char *detector)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_matrix m;
    char text[1024];
    bool yes = false;

    snprintf(text, sizeof text, good, detector);
    stet_bundle_matrix_init(&m);
    EXPECT_INT(STET_OK, stet_bundle_matrix_add(&m, stet_view_str(text), "t", &err));
    EXPECT_STR("", err.text);
    if (m.count == 1)
        yes = stet_bundle_row_fits(&m.rows[0], v, NULL);
    stet_bundle_matrix_release(&m);
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
        int got = stet_bundle_version_cmp(stet_view_str(cases[i].a), stet_view_str(cases[i].b));

        EXPECT_INT(cases[i].order, (got > 0) - (got < 0));
        got = stet_bundle_version_cmp(stet_view_str(cases[i].b), stet_view_str(cases[i].a));
        EXPECT_INT(-cases[i].order, (got > 0) - (got < 0));
    }
}

TEST(detectors_parse_and_match)
{
    struct stet_inventory v;

    stet_bundle_inventory_init(&v);
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
    stet_bundle_inventory_release(&v);
}

static void refused(const char *text, const char *place)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_matrix m;

    stet_bundle_matrix_init(&m);
    EXPECT(stet_bundle_matrix_add(&m, stet_view_str(text), "t", &err) != STET_OK);
    EXPECT_STR(place, err.text);
    stet_bundle_matrix_release(&m);
}

TEST(errors_have_line_and_column)
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
    refused("[a]\ndo =  \n", "t:2:1: do: the field has no text");
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

TEST(a_users_row_replaces_the_built_in_one_of_its_name)
{
    struct stet_matrix m;
    char text[1024];

    stet_bundle_matrix_init(&m);
    snprintf(text, sizeof text, good, "package.jax");
    EXPECT_INT(STET_OK, stet_bundle_matrix_add(&m, stet_view_str(text), "first", NULL));
    EXPECT_STR("something that goes on", m.rows[0].field[STET_ROW_SYMPTOM].ptr);
    EXPECT_INT(2, m.rows[0].line);
    EXPECT_INT(STET_OK, stet_bundle_matrix_add(&m, stet_view_str(text), "second", NULL));
    EXPECT_INT(1, m.count);
    EXPECT_STR("second", m.rows[0].source);
    stet_bundle_matrix_release(&m);
}

TEST(the_built_in_rows_are_whole_and_fit_nothing_in_an_empty_bundle)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_inventory nothing;
    struct stet_matrix m;

    stet_bundle_inventory_init(&nothing);
    stet_bundle_matrix_init(&m);
    EXPECT_INT(STET_OK, stet_bundle_matrix_built_in(&m, &err));
    EXPECT_STR("", err.text);
    EXPECT(m.count >= 25);
    for (size_t i = 0; i < m.count; i++) {
        for (int f = 0; f < STET_ROW_FIELDS; f++)
            EXPECT(m.rows[i].field[f].len > 0);
        EXPECT(!stet_bundle_row_fits(&m.rows[i], &nothing, NULL));
    }
    stet_bundle_matrix_release(&m);
    stet_bundle_inventory_release(&nothing);
}

/* What each row fires on, and a bundle that is nearly so: group.name=value, separated by "; ". */
static const struct {
    const char *id, *fires, *silent;
} built_in[] = {
    {"jaxlib-newer-than-jax", "package.jax=0.10.1; package.jaxlib=0.10.2",
     "package.jax=0.10.2; package.jaxlib=0.10.2"},
    {"jaxlib-too-old", "commit.jax needs jaxlib=0.10.1; package.jaxlib=0.9.9",
     "commit.jax needs jaxlib=0.10.1; package.jaxlib=0.10.1"},
    {"cuda-plugin-skew", "package.jax_cuda13_plugin=0.10.1; package.jaxlib=0.10.2",
     "package.jax_cuda13_plugin=0.10.2; package.jaxlib=0.10.2"},
    {"cuda-pjrt-skew", "package.jax_cuda12_plugin=0.10.1; package.jax_cuda12_pjrt=0.10.2",
     "package.jax_cuda12_plugin=0.10.2; package.jax_cuda12_pjrt=0.10.2"},
    {"torch-xla-torch-skew", "package.torch=2.8.0; package.torch_xla=2.9.0",
     "package.torch=2.9.1+cpu; package.torch_xla=2.9.0"},
    {"torch-tpu-torch-range", "package.torch_tpu=0.2.0; package.torch=2.10.0",
     "package.torch_tpu=0.2.0; package.torch=2.13.0"},
    {"torch-tpu-libtpu-old", "package.torch_tpu=0.2.0; compiler.libtpu=0.0.49",
     "package.torch_tpu=0.2.0; compiler.libtpu=0.0.51"},
    {"numpy-2-with-old-jaxlib", "package.jaxlib=0.4.20; other.numpy=2.0.0",
     "package.jaxlib=0.4.20; other.numpy=1.26.4"},
    {"glibc-too-old-for-jaxlib", "package.jaxlib=0.5.0; system.glibc=2.17",
     "package.jaxlib=0.5.0; system.glibc=2.36"},
    {"driver-too-old-for-cuda13", "package.jax_cuda13_pjrt=0.12; driver.nvidia=570.86",
     "package.jax_cuda13_pjrt=0.12; driver.nvidia=580.82.07"},
    {"driver-too-old-for-cuda12", "package.jax_cuda12_pjrt=0.10; driver.nvidia=515.65",
     "package.jax_cuda12_pjrt=0.10; driver.nvidia=535.54"},
    {"cuda-plugin-without-driver", "package.jax_cuda13_pjrt=0.12",
     "package.jax_cuda13_pjrt=0.12; driver.nvidia=580.82.07"},
    {"cuda-libraries-from-ld-library-path",
     "package.nvidia_cublas=13; env.LD_LIBRARY_PATH=/usr/local/cuda/lib64",
     "package.nvidia_cublas=13; env.LD_LIBRARY_PATH=/opt/lib"},
    {"cuda-toolkit-not-visible", "package.jax_cuda13_pjrt=0.12",
     "package.jax_cuda13_pjrt=0.12; package.nvidia_cuda_nvcc=13.4"},
    {"no-tpu-on-the-bus", "compiler.libtpu=0.0.51; probe.tpus=0",
     "compiler.libtpu=0.0.51; probe.tpus=4"},
    {"tpu-in-use", "probe.libtpu.so client=failed: the TPU is already in use by pid 7",
     "probe.libtpu.so client=fine"},
    {"multiple-libtpu-load", "env.ALLOW_MULTIPLE_LIBTPU_LOAD=1; probe.tpus=4",
     "env.ALLOW_MULTIPLE_LIBTPU_LOAD=1; probe.tpus=0"},
    {"tpu-library-path-missing",
     "env.TPU_LIBRARY_PATH=/x; probe.x found by TPU_LIBRARY_PATH file=failed: no such file",
     "env.TPU_LIBRARY_PATH=/x; probe.x found by TPU_LIBRARY_PATH file=fine"},
    {"plugin-api-too-old", "plugin.a.so api=0.28", "plugin.a.so api=0.29"},
    {"plugin-api-0-56", "plugin.a.so api=0.56", "plugin.a.so api=0.57"},
    {"memory-statistics-missing", "probe.a.so memory=missing: UNIMPLEMENTED",
     "probe.a.so memory=fine"},
    {"memory-of-a-virtual-device", "package.torch_xla=2.9.0; env.XLA_USE_SPMD=1",
     "package.torch_xla=2.9.0; env.XLA_USE_SPMD=0"},
    {"torch-xla-cache-never-read", "package.torch_xla=2.9.0; env.XLA_PERSISTENT_CACHE_PATH=/x",
     "package.torch_xla=2.9.0"},
    {"jax-cache-threshold", "env.JAX_COMPILATION_CACHE_DIR=/x",
     "env.JAX_COMPILATION_CACHE_DIR=/x; env.JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0"},
    {"jax-cache-path-in-key", "env.JAX_COMPILATION_CACHE_DIR=/x; package.jax=0.10.2",
     "env.JAX_COMPILATION_CACHE_DIR=/x; package.jax=0.10.2; "
     "env.JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES=none"},
    {"jax-cache-remote", "env.JAX_COMPILATION_CACHE_DIR=gs://bucket/x",
     "env.JAX_COMPILATION_CACHE_DIR=/gs/x"},
    {"jax-cpu-cache-moved", "env.JAX_COMPILATION_CACHE_DIR=/x; env.JAX_PLATFORMS=cpu",
     "env.JAX_COMPILATION_CACHE_DIR=/x; env.JAX_PLATFORMS=tpu"},
    {"jax-cpu-cache-rejected",
     "env.JAX_COMPILATION_CACHE_DIR=/x; env.JAX_PLATFORMS=cpu; package.jaxlib=0.10.1",
     "env.JAX_COMPILATION_CACHE_DIR=/x; env.JAX_PLATFORMS=cpu; package.jaxlib=0.8.2"},
    {"jax-cpu-cache-crash-on-macos",
     "env.JAX_COMPILATION_CACHE_DIR=/x; package.jaxlib=0.9.2; system.kernel=Darwin 25.1",
     "env.JAX_COMPILATION_CACHE_DIR=/x; package.jaxlib=0.9.2; system.kernel=Linux 6.1"},
    {"jax-cache-enabled-late", "env.JAX_ENABLE_COMPILATION_CACHE=1",
     "env.JAX_ENABLE_COMPILATION_CACHE=1; env.JAX_COMPILATION_CACHE_DIR=/x"},
    {"jax-cache-remote-autotune",
     "env.JAX_COMPILATION_CACHE_DIR=s3://b/x; package.jax_cuda13_pjrt=0.12",
     "env.JAX_COMPILATION_CACHE_DIR=s3://b/x; package.jax_cuda13_pjrt=0.12; "
     "env.JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES=none"},
    {"gpu-compile-not-reproducible",
     "package.jax_cuda12_pjrt=0.7.1; flag.xla_gpu_deterministic_ops=true",
     "package.jax_cuda12_pjrt=0.7.1; flag.xla_gpu_deterministic_ops=true; "
     "env.JAX_COMPILATION_CACHE_DIR=/x"},
    {"vllm-cache-key-has-an-address",
     "package.vllm=0.20.0; env.VLLM_NIXL_SIDE_CHANNEL_HOST=10.4.2.17",
     "package.vllm=0.20.0; env.VLLM_NIXL_SIDE_CHANNEL_HOST=0.0.0.0"},
    {"vllm-cache-wrong-hit", "package.vllm=0.20.0; package.speculators=0.3",
     "package.vllm=0.20.0; package.speculators=0.3; env.VLLM_DISABLE_COMPILE_CACHE=1"},
    {"fusion-autotuner-slow", "package.jax_cuda13_pjrt=0.12; run.longest compile=104",
     "package.jax_cuda13_pjrt=0.12; run.longest compile=3"},
    {"blackwell-compiles-slowly",
     "topology.gpu 0=NVIDIA RTX PRO 6000 Blackwell Server Edition; run.longest compile=99",
     "topology.gpu 0=NVIDIA H200; run.longest compile=99"},
    {"autotuner-waits-for-ranks", "package.jax_cuda13_pjrt=0.12; env.JAX_NUM_PROCESSES=8",
     "package.jax_cuda13_pjrt=0.12; env.JAX_NUM_PROCESSES=1"},
    {"jax-cache-and-rebuilt-plugin",
     "env.JAX_COMPILATION_CACHE_DIR=/x; env.PJRT_NAMES_AND_LIBRARY_PATHS=a:/a.so",
     "env.JAX_COMPILATION_CACHE_DIR=/x"},
    {"inductor-cache-off", "env.TORCHINDUCTOR_FX_GRAPH_CACHE=0",
     "env.TORCHINDUCTOR_FX_GRAPH_CACHE=1"},
    {"tpu-flags-in-xla-flags", "env.XLA_FLAGS=--xla_a=1 --xla_tpu_b=2",
     "env.XLA_FLAGS=--xla_gpu_b=2"},
    {"tpu-flags-without-libtpu", "env.LIBTPU_INIT_ARGS=--xla_tpu_a=1",
     "env.LIBTPU_INIT_ARGS=--xla_tpu_a=1; compiler.libtpu=0.0.51"},
    {"optimization-off", "flag.xla_backend_optimization_level=0",
     "flag.xla_backend_optimization_level=3"},
    {"autotuning-off", "flag.xla_gpu_autotune_level=0", "flag.xla_gpu_autotune_level=4"},
    {"deterministic-ops-on", "flag.xla_gpu_deterministic_ops=true",
     "flag.xla_gpu_deterministic_ops=false"},
    {"dump-left-on", "flag.xla_dump_to=/tmp/d", "flag.xla_gpu_autotune_level=4"},
    {"torch-xla-debug-left-on", "env.XLA_IR_DEBUG=1", "env.XLA_IR_DEBUG=0"},
    {"jax-debug-left-on", "env.JAX_DISABLE_JIT=1", "env.JAX_DISABLE_JIT=0"},
    {"torch-compile-disabled", "env.TORCH_COMPILE_DISABLE=1", "env.TORCH_COMPILE_DISABLE=0"},
    {"verbose-logs-left-on", "env.TF_CPP_VMODULE=a=3", "env.TF_CPP_MIN_LOG_LEVEL=0"},
    {"sync-wait-left-on", "env.XLA_SYNC_WAIT=1", "env.XLA_SYNC_WAIT=0"},
    {"xla-use-bf16", "env.XLA_USE_BF16=1", "env.XLA_USE_BF16=0"},
    {"torch-xla-cuda-gone", "package.torch_xla=2.9.0; env.PJRT_DEVICE=CUDA",
     "package.torch_xla=2.7.0; env.PJRT_DEVICE=CUDA"},
    {"library-device-in-launch", "package.torch_xla=2.9.0; env.PJRT_DEVICE=LIBRARY",
     "package.torch_xla=2.9.0; env.PJRT_DEVICE=TPU"},
    {"torch-compile-on-xla", "run.torch compiles=2; run.lazy programs=4",
     "run.torch compiles=2; run.lazy programs=0"},
    {"scan-layers-absent", "package.torch_xla=2.5.1", "package.torch_xla=2.6.0"},
    {"layers-not-scanned", "run.scannable blocks=12", "run.scannable blocks=2"},
};

static enum stet_group group_named(struct stet_view name)
{
    int g = 0;

    while (g < STET_GROUPS && !stet_view_is(name, stet_bundle_group_name((enum stet_group)g)))
        g++;
    EXPECT(g < STET_GROUPS);
    return (enum stet_group)g;
}

static bool row_fits(const struct stet_row *row, const char *items)
{
    struct stet_inventory v;
    bool fits_it;

    stet_bundle_inventory_init(&v);
    for (const char *p = items; *p;) {
        const char *end = strstr(p, "; "), *dot = strchr(p, '.'), *equals;
        size_t len = end ? (size_t)(end - p) : strlen(p);

        equals = memchr(p, '=', len);
        stet_bundle_inventory_put(&v, group_named(stet_view_of(p, (size_t)(dot - p))),
                                  stet_view_of(dot + 1, (size_t)(equals - dot - 1)),
                                  stet_view_of(equals + 1, len - (size_t)(equals + 1 - p)));
        p += end ? len + 2 : len;
    }
    fits_it = stet_bundle_row_fits(row, &v, NULL);
    stet_bundle_inventory_release(&v);
    return fits_it;
}

TEST(every_built_in_row_fires_where_it_should_and_not_beside)
{
    struct stet_matrix m;

    stet_bundle_matrix_init(&m);
    EXPECT_INT(STET_OK, stet_bundle_matrix_built_in(&m, NULL));
    EXPECT_INT(sizeof built_in / sizeof *built_in, m.count);
    for (size_t i = 0; i < m.count; i++) {
        bool known = false;

        for (size_t k = 0; k < sizeof built_in / sizeof *built_in; k++) {
            if (!stet_view_is(m.rows[i].id, built_in[k].id))
                continue;
            known = true;
            if (!row_fits(&m.rows[i], built_in[k].fires) ||
                row_fits(&m.rows[i], built_in[k].silent))
                fprintf(stderr, "row %s\n", built_in[k].id);
            EXPECT(row_fits(&m.rows[i], built_in[k].fires));
            EXPECT(!row_fits(&m.rows[i], built_in[k].silent));
        }
        EXPECT(known);
    }
    stet_bundle_matrix_release(&m);
}
