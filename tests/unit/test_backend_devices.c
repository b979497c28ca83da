/* Programs of several devices: collectives against plain loops, shardings in both languages, and
 * what is wrong in either is refused. */
#include "backend/sharding.h"
#include "backend_help.h"

#include <pthread.h>

enum { LANES = 4, MOST = 64 };

/* Each lane's input and output. */
struct io {
    float in[LANES][MOST], out[LANES][MOST];
};

static struct stet_plan *plan_of(const char *text, struct stet_program *p, uint32_t replicas,
                                 uint32_t partitions)
{
    struct stet_plan *plan = NULL;

    last = (struct stet_err)STET_ERR_INIT;
    if (stet_decode(p, stet_view_str(text), &last) != STET_OK)
        return NULL;
    if (stet_plan_new_on(&plan, p, &(struct stet_plan_devices){replicas, partitions}, &last) !=
        STET_OK)
        stet_program_release(p);
    return plan;
}

static void run_plan(const struct stet_plan *plan, struct io *io, struct stet_pool *pool)
{
    const struct stet_plan_info *info = stet_plan_info(plan);
    _Alignas(64) float in[LANES][MOST], out[LANES][MOST];
    void *scratch = aligned_alloc(64, (size_t)(info->scratch_bytes + 64) / 64 * 64);
    struct stet_err err = STET_ERR_INIT;
    const void *ins[LANES];
    void *outs[LANES];

    EXPECT_INT(LANES, info->input_count);
    EXPECT_INT(LANES, info->output_count);
    for (int i = 0; i < LANES; i++) {
        memcpy(in[i], io->in[i], sizeof in[i]);
        ins[i] = in[i], outs[i] = out[i];
    }
    EXPECT_INT(STET_OK, stet_plan_run(plan, ins, outs, scratch, pool, &err));
    memcpy(io->out, out, sizeof out);
    free(scratch);
}

static void fill_io(struct io *io)
{
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < MOST; k++)
            io->in[i][k] = (float)(100 * i + k);
    }
}

/* One operation of f32[4] to f32[`to`], by each of four replicas. */
static bool run_collective(const char *op, int to, struct io *io)
{
    struct stet_program p;
    struct stet_plan *plan;
    char text[2048];

    snprintf(text, sizeof text,
             "module @m { func.func @main(%%a: tensor<4xf32>) -> tensor<%dxf32> { %%0 = %s : "
             "(tensor<4xf32>) -> "
             "tensor<%dxf32> return %%0 : tensor<%dxf32> } }",
             to, op, to, to);
    plan = plan_of(text, &p, LANES, 1);
    if (!plan) {
        fprintf(stderr, "%s\n", last.text);
        return false;
    }
    fill_io(io);
    run_plan(plan, io, NULL);
    stet_plan_free(plan);
    stet_program_release(&p);
    return true;
}

#define ADD                                                                                        \
    "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : tensor<f32> "          \
    "stablehlo.return %s : tensor<f32> })"
#define GROUPS "replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>"

/* The lane that shares a group with `lane` above, and which of the two comes first. */
static const int partner[LANES] = {2, 3, 0, 1}, first[LANES] = {0, 3, 0, 3},
                 second[LANES] = {2, 1, 2, 1};

TEST(collectives_agree_with_plain_loops)
{
    struct io io;

    EXPECT(run_collective("\"stablehlo.all_reduce\"(%a) <{" GROUPS "}> " ADD, 4, &io));
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < 4; k++)
            EXPECT(io.out[i][k] == io.in[i][k] + io.in[partner[i]][k]);
    }
    EXPECT(run_collective("\"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 0 : i64, " GROUPS
                          "}> " ADD,
                          2, &io));
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < 2; k++) {
            int at = k + (first[i] == i ? 0 : 2);

            EXPECT(io.out[i][k] == io.in[i][at] + io.in[partner[i]][at]);
        }
    }
    EXPECT(run_collective("\"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, " GROUPS "}>",
                          8, &io));
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < 8; k++)
            EXPECT(io.out[i][k] == (k < 4 ? io.in[first[i]][k] : io.in[second[i]][k - 4]));
    }
    EXPECT(run_collective("\"stablehlo.all_to_all\"(%a) <{split_dimension = 0 : i64, "
                          "concat_dimension = 0 : i64, split_count "
                          "= 2 : i64, " GROUPS "}>",
                          4, &io));
    for (int i = 0; i < LANES; i++) {
        int mine = first[i] == i ? 0 : 2;

        for (int k = 0; k < 4; k++)
            EXPECT(io.out[i][k] ==
                   (k < 2 ? io.in[first[i]][mine + k] : io.in[second[i]][mine + k - 2]));
    }
    EXPECT(run_collective(
        "\"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1], [1, 3]]> : "
        "tensor<2x2xi64>}>",
        4, &io));
    for (int k = 0; k < 4; k++)
        EXPECT(io.out[0][k] == 0 && io.out[2][k] == 0 && io.out[1][k] == io.in[0][k] &&
               io.out[3][k] == io.in[1][k]);
    EXPECT(run_collective("\"stablehlo.collective_broadcast\"(%a) <{replica_groups = dense<[[2, "
                          "1]]> : tensor<1x2xi64>}>",
                          4, &io));
    for (int k = 0; k < 4; k++)
        EXPECT(io.out[0][k] == 0 && io.out[3][k] == 0 && io.out[1][k] == io.in[2][k] &&
               io.out[2][k] == io.in[2][k]);
}

#define SHARDED(sharding, body)                                                                    \
    "module @m { func.func @main(%a: tensor<8x4xf32> {mhlo.sharding = \"" sharding                 \
    "\"}) -> (tensor<8x4xf32> {mhlo.sharding = \"" sharding "\"}) { " body                         \
    " return %0 : tensor<8x4xf32> } }"
#define DOUBLE "%0 = stablehlo.add %a, %a : tensor<8x4xf32>"
#define ROLL                                                                                       \
    "%1 = stablehlo.slice %a [1:8, 0:4] : (tensor<8x4xf32>) -> tensor<7x4xf32> "                   \
    "%2 = stablehlo.slice %a [0:1, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32> "                   \
    "%0 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<7x4xf32>, tensor<1x4xf32>) -> "          \
    "tensor<8x4xf32>"

/* Where element (r, c) of an 8x4 array is: its lane and place, for tiles of `rows` by `columns`. */
static float *at(float tiles[LANES][MOST], const int *lane_of_tile, int rows, int columns, int r,
                 int c)
{
    int across = 4 / columns;

    return &tiles[lane_of_tile[r / rows * across + c / columns]][r % rows * columns + c % columns];
}

static void check_roll(const char *text, const int *lane_of_tile, int rows, int columns)
{
    struct stet_program p;
    struct stet_plan *plan = plan_of(text, &p, 1, LANES);
    struct io io;

    EXPECT(plan);
    if (!plan) {
        fprintf(stderr, "%s\n", last.text);
        return;
    }
    fill_io(&io);
    run_plan(plan, &io, NULL);
    for (int r = 0; r < 8; r++) {
        for (int c = 0; c < 4; c++)
            EXPECT(*at(io.out, lane_of_tile, rows, columns, r, c) ==
                   *at(io.in, lane_of_tile, rows, columns, (r + 1) % 8, c));
    }
    stet_plan_free(plan);
    stet_program_release(&p);
}

TEST(a_program_on_tiles_is_the_program_on_the_whole)
{
    static const int plain[] = {0, 1, 2, 3}, turned[] = {0, 2, 1, 3}, listed[] = {3, 1, 0, 2};

    check_roll(SHARDED("{devices=[4,1]<=[4]}", ROLL), plain, 2, 4);
    check_roll(SHARDED("{devices=[2,2]<=[4]}", ROLL), plain, 4, 2);
    check_roll(SHARDED("{devices=[2,2]<=[2,2]T(1,0)}", ROLL), turned, 4, 2);
    check_roll(SHARDED("{devices=[4,1]3,1,0,2}", ROLL), listed, 2, 4);
    check_roll("module @m attributes {mhlo.frontend_attributes = {xla.sdy.meshes = \"{mesh = "
               "#sdy.mesh<[\\22x\\22=2, "
               "\\22y\\22=2]>}\"}} { func.func @main(%a: tensor<8x4xf32> {sdy.sharding = "
               "#sdy.sharding<@mesh, "
               "[{\"y\", \"x\"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, "
               "[{\"y\", \"x\"}, "
               "{}]>}) { " ROLL " return %0 : tensor<8x4xf32> } }",
               turned, 2, 4);
}

TEST(a_result_that_has_no_equal_tiles_is_whole_on_every_device)
{
    struct stet_program p;
    struct stet_plan *plan =
        plan_of("module @m { func.func @main(%a: tensor<8x4xf32> {mhlo.sharding = "
                "\"{devices=[4,1]<=[4]}\"}) "
                "-> tensor<7x4xf32> { %1 = stablehlo.slice %a [1:8, 0:4] : (tensor<8x4xf32>) -> "
                "tensor<7x4xf32> %0 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "
                "\"{devices=[4,1]<=[4]}\"} : (tensor<7x4xf32>) -> tensor<7x4xf32> return %0 : "
                "tensor<7x4xf32> } }",
                &p, 1, LANES);
    struct io io;

    EXPECT(plan);
    if (!plan) {
        fprintf(stderr, "%s\n", last.text);
        return;
    }
    fill_io(&io);
    run_plan(plan, &io, NULL);
    EXPECT_INT(7, stet_plan_info(plan)->outputs[0].dims[0]);
    for (int lane = 0; lane < LANES; lane++) {
        for (int k = 0; k < 28; k++)
            EXPECT(io.out[lane][k] == io.in[(k + 4) / 8][(k + 4) % 8]);
    }
    stet_plan_free(plan);
    stet_program_release(&p);
}

static void refused(const char *text, uint32_t replicas, uint32_t partitions, const char *why)
{
    struct stet_program p;
    struct stet_plan *plan = plan_of(text, &p, replicas, partitions);

    EXPECT(!plan);
    if (!strstr(last.text, why))
        fprintf(stderr, "\"%s\" instead of \"%s\"\n", last.text, why);
    EXPECT(strstr(last.text, why) != NULL);
    if (plan) {
        stet_plan_free(plan);
        stet_program_release(&p);
    }
}

#define REDUCE(groups)                                                                             \
    "module @m { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = "                      \
    "\"stablehlo.all_reduce\"(%a) <{"                                                              \
    "replica_groups = dense<" groups "i64>}> " ADD                                                 \
    " : (tensor<4xf32>) -> tensor<4xf32> return %0 : tensor<4xf32> } }"
#define MESH(axes, dims)                                                                           \
    "module @m { sdy.mesh @mesh = <" axes "> func.func @main(%a: tensor<8x4xf32> {sdy.sharding = " \
    "#sdy.sharding<@mesh, [" dims "]>}) -> tensor<8x4xf32> { " DOUBLE                              \
    " return %0 : tensor<8x4xf32> } }"

TEST(what_is_wrong_is_refused_by_name)
{
    refused(SHARDED("{devices=[8,1]<=[8]}", DOUBLE), 1, LANES,
            "more tiles than the program has devices");
    refused(SHARDED("{devices=[2,1]<=[2]}", DOUBLE), 1, LANES,
            "fewer tiles than the program has devices");
    refused(SHARDED("{devices=[4,1]0,1,2,9}", DOUBLE), 1, LANES,
            "a device is out of range or twice in it");
    refused(SHARDED("{devices=[4,1]0,1,2,2}", DOUBLE), 1, LANES,
            "a device is out of range or twice in it");
    refused(SHARDED("{devices=[4,1]0,1", DOUBLE), 1, LANES, "its list of devices does not fit");
    refused(SHARDED("{devices=[4]<=[4]}", DOUBLE), 1, LANES, "its dimensions do not fit the array");
    refused(SHARDED("{devices=[2,2]<=[2,2]T(1,7)}", DOUBLE), 1, LANES,
            "its list of devices does not fit");
    refused(SHARDED("{devices=[2,2]<=[2,2]T(0,0)}", DOUBLE), 1, LANES,
            "a device is out of range or twice in it");
    refused(SHARDED("{devices=[99999999999999999999,1]<=[4]}", DOUBLE), 1, LANES,
            "its dimensions do not fit");
    refused(SHARDED("{devices=[0,4]<=[4]}", DOUBLE), 1, LANES,
            "more tiles than the program has devices");
    refused(SHARDED("{devices=[1,3]<=[3]}", DOUBLE), 1, 3,
            "dimension 1 of f32[8,4] cannot be divided into 3 equal");
    refused(SHARDED("{maximal device=7}", DOUBLE), 1, LANES, "is not supported");
    refused(MESH("[\"x\"=8]", "{\"x\"}, {}"), 1, LANES,
            "mesh @mesh has more devices than the program");
    refused(MESH("[\"x\"=2]", "{\"x\"}, {}"), 1, LANES,
            "mesh @mesh has 2 devices, but the program has 4");
    refused(MESH("[\"x\"=4], device_ids=[0, 1, 2, 9]", "{\"x\"}, {}"), 1, LANES,
            "mesh @mesh names device 9");
    refused(MESH("[\"x\"=4]", "{\"z\"}, {}"), 1, LANES, "cannot be read");
    refused(MESH("[\"x\"=4]", "{\"x\"}"), 1, LANES, "cannot be read");
    refused(REDUCE("[[0, 9]]> : tensor<1x2x"), LANES, 1, "replica_groups names device 9 of 4");
    refused(REDUCE("[[0, -3]]> : tensor<1x2x"), LANES, 1, "replica_groups names device -3 of 4");
    refused(REDUCE("[[0, 1], [1, 2]]> : tensor<2x2x"), LANES, 1,
            "replica_groups names device 1 twice");
    refused(REDUCE("[[0, 1]]> : tensor<1x2x"), LANES, 1, "replica_groups lacks device 2");
    refused("module @m { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = "
            "\"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1], [2, 1]]> "
            ": tensor<2x2xi64>}> "
            ": (tensor<4xf32>) -> tensor<4xf32> return %0 : tensor<4xf32> } }",
            LANES, 1, "source_target_pairs has target 1 twice");
}

static struct stet_plan *shared;
static struct stet_pool *workers;

static void *run_many(void *arg)
{
    struct io *io = arg;

    for (int i = 0; i < 20; i++)
        run_plan(shared, io, workers);
    return NULL;
}

/* One plan of four devices in six threads at once, on one pool: the same bits. */
TEST(runs_at_once_agree)
{
    static struct io io[6];
    struct stet_program p;
    pthread_t threads[6];

    shared = plan_of(SHARDED("{devices=[2,2]<=[4]}", ROLL), &p, 1, LANES);
    workers = stet_pool_new(3);
    EXPECT(shared && workers);
    for (int i = 0; i < 6; i++) {
        fill_io(&io[i]);
        EXPECT(pthread_create(&threads[i], NULL, run_many, &io[i]) == 0);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < 6; i++) {
        for (int lane = 0; lane < LANES; lane++) /* 8 of the 32 elements are each lane's */
            EXPECT(memcmp(io[0].out[lane], io[i].out[lane], sizeof(float) * 8) == 0);
    }
    stet_pool_free(workers);
    stet_plan_free(shared);
    stet_program_release(&p);
}
