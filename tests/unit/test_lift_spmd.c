/* Lifting programs for several devices: an argument is whole on every device, and what could
 * compute something else on another device is refused. A row is one text in which @1, @2 … are
 * replaced. */
#include "lift_help.h"

#include "base/mem.h"

#define DEVICES(n) "module @m attributes {mhlo.num_partitions = " #n " : i32} {\n"
#define MESH       "sdy.mesh @mesh = <[\"d\"=2]>\n"
#define CUT        "{sdy.sharding = #sdy.sharding<@mesh, [{\"d\"}]>}"
#define HLO_CUT    "{mhlo.sharding = \"{devices=[2]<=[2]}\"}"
#define MAIN(attr) "func.func public @main(%arg0: tensor<4xf32> " attr ") -> tensor<4xf32> {\n"
#define CONSTANT   "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
#define SCALE      CONSTANT "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
#define RETURN(v)  "return %" v " : tensor<4xf32>\n}\n"

static const char shardy[] = DEVICES(2) MESH MAIN(CUT)
SCALE RETURN("0") "}\n";
static const char hlo[] = DEVICES(2) MAIN(HLO_CUT) SCALE RETURN("0") "}\n";
static const char replicas[] =
    "module @m attributes {mhlo.num_replicas = 2 : i32} {\n" MAIN("") SCALE RETURN("0") "}\n";

#define SUM(groups)                                                                                \
    "%s = \"stablehlo.all_reduce\"(%m) <{replica_groups = dense<" groups                           \
    ">, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, "                        \
    "use_global_device_ids}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"                        \
    "%y = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %y : tensor<f32>\n}) : "            \
    "(tensor<2xf32>) -> tensor<2xf32>\n"
#define REGION(mesh, axis, groups)                                                                 \
    MAIN(CUT)                                                                                      \
    "%0 = sdy.manual_computation(%arg0) in_shardings=[<" mesh ", [{\"" axis "\"}]>] "              \
    "out_shardings=[<" mesh ", [{\"" axis "\"}]>] manual_axes={\"" axis                            \
    "\"} (%x: tensor<2xf32>) {\n"                                                                  \
    "%c = stablehlo.constant dense<@1> : tensor<f32>\n"                                            \
    "%w = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"             \
    "%m = stablehlo.multiply %x, %w : tensor<2xf32>\n" SUM(groups) "sdy.return %s : "              \
                                                                   "tensor<2xf32>\n} : "           \
                                                                   "(tensor<4xf32>) -> "           \
                                                                   "tensor<4xf32>\n" RETURN("0")

#define PAIR "[[0, 1]]> : tensor<1x2xi64"
static const char manual[] = DEVICES(2) MESH REGION("@mesh", "d", PAIR) "}\n";
static const char groups[] = DEVICES(2) MESH REGION("@mesh", "d", "@2> : tensor<@3xi64") "}\n";
#define OTHER_MESH "sdy.mesh @other = <[\"e\"=2]>\n"
static const char two_meshes[] = DEVICES(2) MESH OTHER_MESH REGION("@other", "e", PAIR) "}\n";
static const char numbered[] = DEVICES(2) MESH MAIN(CUT) SCALE
    "%p = stablehlo.partition_id : tensor<ui32>\n" RETURN("0") "}\n";

#define ENTER "stablehlo.custom_call @SPMDFullToShardShape"
#define LEAVE "stablehlo.custom_call @SPMDShardToFullShape"
#define BODY                                                                                       \
    "func.func private @body(%x: tensor<2xf32>) -> tensor<2xf32> {\n"                              \
    "%c = stablehlo.constant dense<@1> : tensor<2xf32>\n"                                          \
    "%m = stablehlo.multiply %x, %c : tensor<2xf32>\n" SUM(PAIR) "return %s : tensor<2xf32>\n}\n"
#define MAPPED(sharding)                                                                           \
    DEVICES(2)                                                                                     \
    MAIN(HLO_CUT)                                                                                  \
    "%0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = \"{devices=[2]<=[2]}\"} : "      \
    "(tensor<4xf32>) -> tensor<4xf32>\n"                                                           \
    "%1 = " ENTER "(%0) {mhlo.sharding = \"" sharding "\"} : (tensor<4xf32>) -> tensor<2xf32>\n"   \
    "%2 = call @body(%1) : (tensor<2xf32>) -> tensor<2xf32>\n"                                     \
    "%3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = \"" sharding "\"} : "               \
    "(tensor<2xf32>) -> tensor<2xf32>\n"                                                           \
    "%4 = " LEAVE "(%3) {mhlo.sharding = \"{devices=[2]<=[2]}\"} : (tensor<2xf32>) -> "            \
    "tensor<4xf32>\n" RETURN("4") BODY "}\n"

static const char mapped[] = MAPPED("{manual}");

static const struct {
    const char *name, *text, *to, *expected; /* what the lifted program contains */
} lifted[] = {
    {"Shardy", shardy, "2.0", "tensor<4xf32>, tensor<f32>"},
    {"Shardy's sharding", shardy, "2.0", "{sdy.sharding = #sdy.sharding<@mesh, []>}]"},
    {"an array in Shardy", shardy, "[1.0,2.0,3.0,4.0]",
     "{sdy.sharding = #sdy.sharding<@mesh, [{}]>}]"},
    {"XLA's sharding", hlo, "2.0", "{mhlo.sharding = \"{replicated}\"}]"},
    {"replicas", replicas, "2.0", "tensor<4xf32>, tensor<f32>"},
    {"a manual computation", manual, "2.0", "[<@mesh, [{\"d\"}]>, <@mesh, []>]"},
    {"XLA's manual region", mapped, "2.0", "(tensor<f32>) -> tensor<f32>"},
    {"two meshes, the argument", two_meshes, "2.0", "{sdy.sharding = #sdy.sharding<@mesh, []>}]"},
    {"two meshes, the region", two_meshes, "2.0", "[<@other, [{\"e\"}]>, <@other, []>]"},
    {"the number of a device", numbered, "2.0", "stablehlo.partition_id"},
    {"the same collective", groups, "2.0 [[0,1]] 1x2", "stablehlo.all_reduce"},
};

TEST(values_of_programs_for_several_devices_become_whole_arguments)
{
    for (size_t i = 0; i < sizeof lifted / sizeof *lifted; i++) {
        struct stet_buf out = STET_BUF_INIT;
        struct stet_err why = STET_ERR_INIT;
        struct pair p;
        int n = -1;

        EXPECT(read_pair(&p, lifted[i].text, "1.0 [[0,1]] 1x2", lifted[i].text, lifted[i].to));
        if (!stet_test_failures)
            n = lift(&p, &out, &why);
        EXPECT_INT(1, n);
        EXPECT(out.ptr && strstr(out.ptr, lifted[i].expected));
        if (stet_test_failures) {
            fprintf(stderr, "%s: %s\n%s\n", lifted[i].name, why.text, out.ptr ? out.ptr : "");
            return;
        }
        stet_buf_release(&out);
        release_pair(&p);
    }
}

/* Shardings name a mesh, so two meshes that swap their names are another program. */
TEST(meshes_that_swap_their_names_are_another_program)
{
    static const char first[] =
        DEVICES(2) MESH "sdy.mesh @other = <[\"e\"=2]>\n" MAIN(CUT) SCALE RETURN("0") "}\n";
    static const char second[] =
        DEVICES(2) "sdy.mesh @other = <[\"d\"=2]>\n"
                   "sdy.mesh @mesh = <[\"e\"=2]>\n" MAIN(CUT) SCALE RETURN("0") "}\n";
    struct stet_lift_match match;
    struct pair p;

    EXPECT(read_pair(&p, first, "1.0", second, "2.0"));
    EXPECT_INT(STET_NOT_FOUND, stet_lift_match(&match, &p.program[0], &p.program[1], NULL));
    release_pair(&p);
}

/* ---- what is refused ---- */

static const char cut_constant[] = DEVICES(2) MESH MAIN(
    CUT) "%c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"d\"}]>]>} "
         "dense<@1> : tensor<4xf32>\n"
         "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n" RETURN("0") "}\n";
static const char nameless_mesh[] = DEVICES(2) MESH REGION("mesh<[\"d\"=2]>", "d", PAIR) "}\n";
static const char one_device[] =
    DEVICES(2) MESH "sdy.mesh @one = <[], device_ids=[0]>\n" MAIN(CUT) SCALE RETURN("0") "}\n";
static const char two_languages[] = DEVICES(2) MESH MAIN(CUT) SCALE
    "%1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = \"{replicated}\"} : "
    "(tensor<4xf32>) -> tensor<4xf32>\n" RETURN("1") "}\n";
static const char both[] =
    "module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {\n" MESH
    MAIN(CUT)
SCALE RETURN("0") "}\n";
static const char part_manual[] =
    MAPPED("{devices=[1,1,2]<=[2] last_tile_dims={manual, replicated}}");
static const char open_region[] = DEVICES(2) MAIN(
    HLO_CUT) "%1 = " ENTER
             "(%arg0) {mhlo.sharding = \"{manual}\"} : (tensor<4xf32>) -> tensor<2xf32>\n"
             "%c = stablehlo.constant dense<@1> : tensor<2xf32>\n"
             "%2 = stablehlo.multiply %1, %c : tensor<2xf32>\n"
             "%3 = " LEAVE
             "(%2) {mhlo.sharding = \"{replicated}\"} : (tensor<2xf32>) -> tensor<4xf32>\n" RETURN(
                 "3") "}\n";
static const char effect[] = DEVICES(2) MAIN(HLO_CUT) SCALE
    "%1 = stablehlo.custom_call @log(%0) {has_side_effect = true, mhlo.sharding = "
    "\"{replicated}\"} : (tensor<4xf32>) -> tensor<4xf32>\n" RETURN("1") "}\n";
static const char other_sharding[] =
    DEVICES(2) MAIN("{mhlo.sharding = \"@2\"}") SCALE RETURN("0") "}\n";
static const char alias[] =
    DEVICES(2) MESH MAIN("{sdy.sharding = #sdy.sharding<@mesh, [{\"d\"}]>, jax.buffer_donor = @2}")
        SCALE RETURN("0") "}\n";

static const struct {
    const char *name, *text, *from, *to, *reason;
} refused[] = {
    {"another group", groups, "1.0 [[0,1]] 1x2", "2.0 [[1,0]] 1x2", "attribute of stablehlo.all_r"},
    {"other groups", groups, "1.0 [[0,1]] 1x2", "2.0 [[0],[1]] 2x1",
     "attribute of stablehlo.all_r"},
    {"a constant with a sharding", cut_constant, "1.0", "2.0", "a constant with a sharding"},
    {"a region whose mesh has no name", nameless_mesh, "1.0", "2.0", "without a mesh"},
    {"an array on one device", one_device, "1.0", "2.0", "on one of several devices"},
    {"two languages", two_languages, "1.0", "2.0", "shardings of two languages"},
    {"replicas and partitions", both, "1.0", "2.0", "replicas of several partitions"},
    {"a region of some axes", part_manual, "1.0", "2.0", "a manual region"},
    {"a region without a function", open_region, "1.0", "2.0", "a manual region"},
    {"a custom call with an effect", effect, "1.0", "2.0", "a side effect"},
    {"another sharding", other_sharding, "1.0 {replicated}", "2.0 {devices=[2]<=[2]}",
     "attribute of func.func"},
    {"another donation", alias, "1.0 true", "2.0 false", "attribute of func.func"},
};

TEST(what_could_differ_between_devices_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct stet_buf out = STET_BUF_INIT;
        struct stet_err why = STET_ERR_INIT;
        struct pair p;
        bool read = read_pair(&p, refused[i].text, refused[i].from, refused[i].text, refused[i].to);

        EXPECT(read);
        EXPECT_INT(-1, read ? lift(&p, &out, &why) : 0);
        EXPECT(strstr(why.text, refused[i].reason) != NULL);
        if (stet_test_failures) {
            fprintf(stderr, "%s: %s\n", refused[i].name, why.text);
            return;
        }
        stet_buf_release(&out);
        release_pair(&p);
    }
}

#ifdef STET_FAULT_INJECTION
/* Each allocation fails in turn: the pair is lifted or refused, and nothing else happens. */
TEST(no_failed_allocation_lifts_a_wrong_program)
{
    static const char *const texts[] = {shardy, hlo, manual, two_meshes, mapped, replicas};

    for (size_t i = 0; i < sizeof texts / sizeof *texts && !stet_test_failures; i++) {
        struct stet_buf whole = STET_BUF_INIT;
        struct stet_err why = STET_ERR_INIT;
        struct pair p;
        long n = 0;
        bool made;

        EXPECT(read_pair(&p, texts[i], "1.0", texts[i], "2.0"));
        EXPECT_INT(1, lift(&p, &whole, &why));
        do {
            struct stet_buf out = STET_BUF_INIT;

            stet_mem_fail_after(n++, true);
            made = lift(&p, &out, &why) == 1;
            stet_mem_fail_after(-1, false);
            EXPECT(!made || stet_view_eq(stet_buf_as_view(&out), stet_buf_as_view(&whole)));
            stet_buf_release(&out);
        } while (!made && n < 100000 && !stet_test_failures);
        EXPECT(made);
        stet_buf_release(&whole);
        release_pair(&p);
    }
}
#endif
