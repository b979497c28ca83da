/* What an optimized program costs: loops, fusions, collectives and buffers, against numbers counted
 * by hand. */
#include "test.h"

#include "base/fs.h"
#include "footprint/footprint.h"

#include <stdio.h>
#include <stdlib.h>

static struct stet_footprint f;
static struct stet_err last;

static enum stet_rc read_text(const char *text)
{
    last = (struct stet_err)STET_ERR_INIT;
    stet_footprint_init(&f);
    return stet_footprint_read_program(&f, stet_view_str(text), &last);
}

static const struct stet_footprint_instruction *named(const char *name)
{
    for (size_t i = 0; i < f.instruction_count; i++) {
        if (stet_view_is(f.instructions[i].name, name))
            return &f.instructions[i];
    }
    return NULL;
}

static uint64_t signature_of(const char *body, const char *layout)
{
    char text[1024];
    uint64_t signature;

    snprintf(text, sizeof text,
             "HloModule m, is_scheduled=true\n\n"
             "%%inner (p: f32[64,32], q: f32[64,32]) -> f32[64,32] {\n"
             "  %%p = f32[64,32]%s parameter(0)\n"
             "  %%q = f32[64,32]%s parameter(1)\n%s"
             "}\n\n"
             "ENTRY %%main (a: f32[64,32], b: f32[64,32]) -> f32[64,32] {\n"
             "  %%a = f32[64,32]%s parameter(0)\n"
             "  %%b = f32[64,32]%s parameter(1)\n"
             "  ROOT %%out = f32[64,32]%s fusion(%%a, %%b), kind=kLoop, calls=%%inner\n"
             "}\n",
             layout, layout, body, layout, layout, layout);
    EXPECT_INT(STET_OK, read_text(text));
    EXPECT(f.root == named("out"));
    signature = f.root ? f.root->signature : 0;
    stet_footprint_release(&f);
    return signature;
}

TEST(a_signature_is_that_of_the_operations_alone)
{
    static const char one[] = "  %x = f32[64,32] add(%p, %q)\n  %y = f32[64,32] negate(%p)\n"
                              "  ROOT %z = f32[64,32] multiply(%x, %y)\n";
    static const char renamed[] = "  %k = f32[64,32] negate(%p)\n  %l = f32[64,32] add(%p, %q)\n"
                                  "  ROOT %m = f32[64,32] multiply(%l, %k)\n";
    static const char other[] = "  %x = f32[64,32] add(%p, %q)\n  %y = f32[64,32] tanh(%p)\n"
                                "  ROOT %z = f32[64,32] multiply(%x, %y)\n";
    uint64_t first = signature_of(one, "{1,0}");

    EXPECT(first != 0);
    EXPECT(first == signature_of(renamed, "{1,0}"));
    EXPECT(first == signature_of(one, "{0,1}"));
    EXPECT(first != signature_of(other, "{1,0}"));
}

/* A loop of `condition` iterations over one product of 64x32 by 32x32. */
static void loop(char *out, size_t room, const char *condition, const char *next)
{
    snprintf(
        out, room,
        "HloModule m, is_scheduled=true\n\n"
        "%%cond (p: (s32[], f32[64,32], f32[32,32], s32[])) -> pred[] {\n"
        "  %%p = (s32[], f32[64,32], f32[32,32], s32[]) parameter(0)\n"
        "  %%i = s32[] get-tuple-element(%%p), index=0\n"
        "  %%limit = s32[] get-tuple-element(%%p), index=3\n"
        "  %%ten = s32[] constant(10)\n"
        "  ROOT %%lt = pred[] %s\n"
        "}\n\n"
        "%%body (q: (s32[], f32[64,32], f32[32,32], s32[])) -> (s32[], f32[64,32], f32[32,32], "
        "s32[]) {\n"
        "  %%q = (s32[], f32[64,32], f32[32,32], s32[]) parameter(0)\n"
        "  %%i.1 = s32[] get-tuple-element(%%q), index=0\n"
        "  %%two = s32[] constant(2)\n"
        "  %%next = s32[] %s\n"
        "  %%h = f32[64,32]{1,0} get-tuple-element(%%q), index=1\n"
        "  %%w = f32[32,32]{1,0} get-tuple-element(%%q), index=2\n"
        "  %%dot = f32[64,32]{1,0} dot(%%h, %%w), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}\n"
        "  %%end = s32[] get-tuple-element(%%q), index=3\n"
        "  ROOT %%t = (s32[], f32[64,32], f32[32,32], s32[]) tuple(%%next, %%dot, %%w, "
        "%%end)\n"
        "}\n\n"
        "ENTRY %%main (a: f32[64,32], b: f32[32,32]) -> f32[64,32] {\n"
        "  %%a = f32[64,32]{1,0} parameter(0)\n"
        "  %%b = f32[32,32]{1,0} parameter(1)\n"
        "  %%zero = s32[] constant(0)\n"
        "  %%twenty = s32[] constant(20)\n"
        "  %%begin = (s32[], f32[64,32], f32[32,32], s32[]) tuple(%%zero, %%a, %%b, "
        "%%twenty)\n"
        "  %%while = (s32[], f32[64,32], f32[32,32], s32[]) while(%%begin), condition=%%cond, "
        "body=%%body\n"
        "  ROOT %%r = f32[64,32]{1,0} get-tuple-element(%%while), index=1\n"
        "}\n",
        condition, next);
}

static double times_of(const char *condition, const char *next)
{
    char text[4096];
    double times;

    loop(text, sizeof text, condition, next);
    EXPECT_INT(STET_OK, read_text(text));
    times = named("dot") ? named("dot")->times : -1;
    EXPECT(f.flops == times * 2 * 64 * 32 * 32);
    EXPECT_INT(times == 1, f.open_loops);
    stet_footprint_release(&f);
    return times;
}

TEST(a_loop_counts_for_each_iteration)
{
    const char *one = "add(%i.1, %two)";

    EXPECT_INT(5, (int)times_of("compare(%i, %ten), direction=LT", one));
    EXPECT_INT(6, (int)times_of("compare(%i, %ten), direction=LE", one));
    EXPECT_INT(10, (int)times_of("compare(%i, %limit), direction=LT", one)); /* carried */
    EXPECT_INT(5, (int)times_of("compare(%i, %ten), direction=NE", one));
}

TEST(a_loop_of_unknown_length_counts_once_and_is_reported)
{
    EXPECT_INT(1, (int)times_of("compare(%ten, %i), direction=LT", "add(%i.1, %two)"));
    EXPECT_INT(1, (int)times_of("compare(%i, %ten), direction=LT", "multiply(%i.1, %two)"));
}

TEST(products_with_padding_and_gaps_are_not_counted)
{
    /* a batch of four matrix products, as libtpu writes it */
    EXPECT_INT(STET_OK,
               read_text("HloModule m\n\nENTRY %main (a: f32[4,16,8], b: f32[4,8,32]) -> "
                         "f32[4,16,32] {\n"
                         "  %a = f32[4,16,8]{2,1,0} parameter(0)\n"
                         "  %b = f32[4,8,32]{2,1,0} parameter(1)\n"
                         "  ROOT %c = f32[4,16,32]{2,1,0} convolution(%a, %b), window={size=4 "
                         "stride=3 lhs_dilate=4}, dim_labels=0bf_0io->0bf\n}\n"));
    EXPECT(f.flops == 2.0 * 4 * 16 * 8 * 32);
    stet_footprint_release(&f);
    /* a 3x3 convolution: the border has fewer products */
    EXPECT_INT(STET_OK,
               read_text("HloModule m\n\nENTRY %main (a: f32[1,4,4,2], b: f32[3,3,2,5]) -> "
                         "f32[1,4,4,5] {\n"
                         "  %a = f32[1,4,4,2]{3,2,1,0} parameter(0)\n"
                         "  %b = f32[3,3,2,5]{3,2,1,0} parameter(1)\n"
                         "  ROOT %c = f32[1,4,4,5]{3,2,1,0} convolution(%a, %b), window={size=3x3 "
                         "pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n}\n"));
    EXPECT(f.flops == 2.0 * 10 * 10 * 2 * 5);
    stet_footprint_release(&f);
}

TEST(collectives_count_by_kind_with_their_groups)
{
    EXPECT_INT(
        STET_OK,
        read_text(
            "HloModule m\n\n%add (x: f32[], y: f32[]) -> f32[] {\n"
            "  %x = f32[] parameter(0)\n  %y = f32[] parameter(1)\n"
            "  ROOT %s = f32[] add(%x, %y)\n}\n\n"
            "ENTRY %main (a: f32[1024]) -> f32[4096] {\n"
            "  %a = f32[1024]{0} parameter(0)\n"
            "  %r = f32[1024]{0} all-reduce(%a), replica_groups=[2,4]<=[8], to_apply=%add\n"
            "  %s = (f32[1024]{0}, f32[4096]{0}) all-gather-start(%r), dimensions={0}, "
            "replica_groups={{0,1,2,3},{4,5,6,7}}\n"
            "  %d = f32[4096]{0} all-gather-done(%s)\n"
            "  %m = f32[4096]{0} all-to-all(%d), dimensions={0}, replica_groups=mesh['x'=4,'y'=2] "
            "{'y'}\n"
            "  ROOT %p = f32[4096]{0} collective-permute(%m), source_target_pairs={{0,1},{1,0}}\n"
            "}\n"));
    EXPECT_INT(1, f.traffic[STET_ALL_REDUCE].sites);
    EXPECT(f.traffic[STET_ALL_REDUCE].payload == 4096);
    EXPECT(f.traffic[STET_ALL_REDUCE].wire == 2 * 4096 * 3.0 / 4); /* groups of four */
    EXPECT_INT(1, f.traffic[STET_ALL_GATHER].sites); /* the start; the end moves nothing */
    EXPECT(f.traffic[STET_ALL_GATHER].payload == 16384);
    EXPECT(f.traffic[STET_ALL_GATHER].wire == 16384 * 3.0 / 4);
    EXPECT(f.traffic[STET_ALL_TO_ALL].wire == 16384 / 2.0); /* groups of two */
    EXPECT(f.traffic[STET_COLLECTIVE_PERMUTE].wire == 16384);
    EXPECT_INT(0, f.traffic[STET_REDUCE_SCATTER].sites);
    stet_footprint_release(&f);
}

TEST(a_fusion_that_takes_a_part_reads_that_part)
{
    EXPECT_INT(STET_OK,
               read_text("HloModule m\n\n"
                         "%fused (p0: f32[80,64,64], p1: s32[]) -> f32[1,64,64] {\n"
                         "  %p0 = f32[80,64,64]{2,1,0} parameter(0)\n"
                         "  %p1 = s32[] parameter(1)\n"
                         "  %z = s32[] constant(0)\n"
                         "  ROOT %d = f32[1,64,64]{2,1,0} dynamic-slice(%p0, %p1, %z, %z), "
                         "dynamic_slice_sizes={1,64,64}\n}\n\n"
                         "ENTRY %main (a: f32[80,64,64], i: s32[]) -> f32[1,64,64] {\n"
                         "  %a = f32[80,64,64]{2,1,0} parameter(0)\n"
                         "  %i = s32[] parameter(1)\n"
                         "  %n = f32[1,64,64]{2,1,0:T(8,128)S(1)} fusion(%a, %i), kind=kLoop, "
                         "calls=%fused\n"
                         "  ROOT %c = f32[1,64,64]{2,1,0} negate(%n)\n}\n"));
    /* the slice is read and the index, and the result of the negation is written; what is between
     * them is in the vector memory */
    EXPECT(f.memory_bytes == 2 * 64 * 64 * 4 + 4);
    stet_footprint_release(&f);
}

TEST(an_instruction_without_a_line_has_that_of_what_it_is_made_of)
{
    EXPECT_INT(STET_OK, read_text("HloModule m\n\nENTRY %main (a: f32[8]) -> f32[8] {\n"
                                  "  %a = f32[8]{0} parameter(0)\n"
                                  "  %n = f32[8]{0} negate(%a), metadata={op_name=\"jit(f)/neg\" "
                                  "source_file=\"/home/user/f.py\" source_line=12}\n"
                                  "  %c = f32[8]{0} copy(%n)\n"
                                  "  ROOT %d = f32[8]{0} copy(%c)\n}\n"));
    EXPECT_INT(12, named("n")->line);
    EXPECT(stet_view_is(named("n")->op_name, "jit(f)/neg"));
    EXPECT_INT(12, named("d")->line);
    EXPECT(stet_view_is(named("d")->file, "/home/user/f.py"));
    stet_footprint_release(&f);
}

TEST(kernels_are_named_because_their_arithmetic_is_not_known)
{
    EXPECT_INT(STET_OK, read_text("HloModule m\n\nENTRY %main (a: f32[8]) -> f32[8] {\n"
                                  "  %a = f32[8]{0} parameter(0)\n"
                                  "  %b = f32[8]{0} custom-call(%a), "
                                  "custom_call_target=\"AllocateBuffer\"\n"
                                  "  ROOT %k = f32[8]{0} custom-call(%b), "
                                  "custom_call_target=\"tpu_custom_call\"\n}\n"));
    EXPECT_INT(1, f.kernels);
    EXPECT(stet_view_is(f.kernel, "tpu_custom_call"));
    stet_footprint_release(&f);
}

/* ---- what libtpu wrote: a product in a scan of five, on eight devices ---- */

static struct stet_file program, buffers;

static void open_sample(void)
{
    EXPECT_INT(STET_OK, stet_file_open(
                            &program,
                            STET_SOURCE_DIR "/tests/data/footprint/step.hlo_with_config.pb", NULL));
    EXPECT_INT(
        STET_OK,
        stet_file_open(&buffers, STET_SOURCE_DIR "/tests/data/footprint/step.buffers.pb", NULL));
}

TEST(a_program_of_libtpu_is_read_with_its_buffers)
{
    open_sample();
    stet_footprint_init(&f);
    EXPECT_INT(STET_OK, stet_footprint_read_program(&f, program.bytes, &last));
    EXPECT(f.flops == 5 * 2.0 * 4096 * 1024 * 128);
    EXPECT_INT(2, f.traffic[STET_ALL_GATHER].sites);
    EXPECT(f.traffic[STET_ALL_GATHER].times == 6);
    EXPECT_INT(STET_OK, stet_footprint_read_assignment(&f, buffers.bytes, &last));
    EXPECT(f.assigned && f.timed);
    EXPECT_INT(4 * 1024 * 128 + 4 * 4096 * 1024, f.memory.arguments);
    EXPECT_INT(4 * 4096 * 1024, f.memory.outputs);
    EXPECT_INT(0, f.memory.aliased);
    EXPECT(f.buffer_count > 0 && f.buffers[0].made_by != NULL);
    EXPECT(f.peak <= f.memory.temporaries);
    stet_footprint_release(&f);
    stet_file_close(&program);
    stet_file_close(&buffers);
}

TEST(damaged_bytes_are_refused_and_do_no_harm)
{
    char *copy;

    open_sample();
    copy = malloc(program.bytes.len + buffers.bytes.len);
    EXPECT(copy != NULL);
    for (size_t n = 0; n < buffers.bytes.len; n += 7) {
        stet_footprint_init(&f);
        last = (struct stet_err)STET_ERR_INIT;
        EXPECT_INT(STET_OK, stet_footprint_read_program(&f, program.bytes, &last));
        stet_footprint_read_assignment(&f, stet_view_of(buffers.bytes.ptr, n), &last);
        memcpy(copy, buffers.bytes.ptr, buffers.bytes.len);
        copy[n] = (char)(copy[n] ^ 0x55);
        stet_footprint_read_assignment(&f, stet_view_of(copy, buffers.bytes.len), &last);
        stet_footprint_release(&f);
    }
    for (size_t n = 1; n < program.bytes.len; n += 37) {
        stet_footprint_init(&f);
        stet_footprint_read_program(&f, stet_view_of(program.bytes.ptr, n), NULL);
        stet_footprint_release(&f);
        memcpy(copy, program.bytes.ptr, program.bytes.len);
        copy[n] = (char)(copy[n] ^ 0x2a);
        stet_footprint_init(&f);
        stet_footprint_read_program(&f, stet_view_of(copy, program.bytes.len), NULL);
        stet_footprint_release(&f);
    }
    free(copy);
    stet_file_close(&program);
    stet_file_close(&buffers);
}

TEST(a_dump_of_the_assignment_is_read)
{
    static const char dump[] =
        "BufferAssignment:\n"
        "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out:\n"
        " value: <1 a @0> (size=64,offset=0): f32[16]{0}\n"
        "allocation 1: size 32, parameter 1, shape |f32[8]| at ShapeIndex {}:\n"
        " value: <2 b @0> (size=32,offset=0): f32[8]{0}\n"
        "allocation 2: size 4, thread-local:\n"
        " value: <3 x @0> (size=4,offset=0): f32[]\n"
        "allocation 3: size 96, preallocated-temp:\n"
        " value: <4 n @0> (size=32,offset=0): f32[8]{0}\n"
        " value: <5 d{1} @0> (size=64,offset=32): f32[16]{0}\n"
        "allocation 4: size 128, color 1, preallocated-temp:\n"
        " value: <6 v @1> (size=128,offset=0): f32[32]{0:S(1)}\n";

    EXPECT_INT(STET_OK,
               read_text("HloModule m\n\nENTRY %main (a: f32[16], b: f32[8]) -> f32[16] {\n"
                         "  %a = f32[16]{0} parameter(0)\n  %b = f32[8]{0} parameter(1)\n"
                         "  %n = f32[8]{0} negate(%b)\n"
                         "  %d = f32[16]{0} negate(%a)\n  ROOT %r = f32[16]{0} negate(%d)\n}\n"));
    EXPECT_INT(STET_OK, stet_footprint_read_dump(&f, stet_view_str(dump), &last));
    EXPECT_INT(96, f.memory.arguments);
    EXPECT_INT(64, f.memory.outputs);
    EXPECT_INT(64, f.memory.aliased);
    EXPECT_INT(96, f.memory.temporaries); /* the vector memory does not count */
    EXPECT_INT(2, f.buffer_count);
    EXPECT_INT(64, f.buffers[0].size);
    EXPECT(f.buffers[0].made_by == named("d"));
    EXPECT(!f.timed);
    EXPECT_INT(96 + 96, stet_footprint_total(&f.memory)); /* donated memory once */
    /* what is in use at the peak, with an argument */
    EXPECT_INT(STET_BAD_INPUT, stet_footprint_read_live(&f, STET_VIEW("HloLiveRange"), &last));
    EXPECT_INT(2, f.buffer_count);
    EXPECT_INT(STET_OK,
               stet_footprint_read_live(
                   &f,
                   STET_VIEW("HloLiveRange (max 4):\n  BufferLiveRange:\n    n{}:1-2\n"
                             "  Live ranges at 3 (peak):\n    a{}: 64 bytes (cumulative: 64)\n"
                             "    d{1}: 64 bytes (cumulative: 128)\n  Stack trace breakdown\n"
                             "    n{}: 32 bytes (cumulative: 160)\n"),
                   &last));
    EXPECT(f.timed);
    EXPECT_INT(1, f.buffer_count);
    EXPECT_INT(64, f.peak);
    EXPECT(f.buffers[0].made_by == named("d"));
    EXPECT_INT(STET_BAD_INPUT, stet_footprint_read_dump(&f, STET_VIEW("nothing"), &last));
    stet_footprint_release(&f);
}

/* Sizes of which two are more than 64 bits can count, and an assignment of nothing. */
TEST(sizes_beyond_all_memory_do_not_overflow_and_nothing_is_not_zero_bytes)
{
    static const char dump[] = "allocation 0: size 18446744073709551615, preallocated-temp:\n"
                               "allocation 1: size 18446744073709551615, preallocated-temp:\n"
                               "allocation 2: size 18446744073709551615, parameter 0:\n"
                               "allocation 3: size 18446744073709551615, maybe-live-out:\n";

    EXPECT_INT(STET_OK, read_text("HloModule m\n\nENTRY %main (a: f32[16]) -> f32[16] {\n"
                                  "  ROOT %a = f32[16]{0} parameter(0)\n}\n"));
    EXPECT_INT(STET_OK, stet_footprint_read_dump(&f, stet_view_str(dump), &last));
    EXPECT(f.memory.temporaries == STET_FOOTPRINT_MOST);
    EXPECT(stet_footprint_total(&f.memory) > f.memory.temporaries);
    EXPECT_INT(STET_BAD_INPUT, stet_footprint_read_assignment(&f, STET_VIEW(""), &last));
    stet_footprint_release(&f);
}

TEST(only_hlo_is_an_optimized_program)
{
    EXPECT_INT(STET_BAD_INPUT, read_text("module { func.func @main() -> tensor<f32> {\n"
                                         "  %0 = stablehlo.constant dense<1.0> : tensor<f32>\n"
                                         "  return %0 : tensor<f32>\n} }\n"));
    stet_footprint_release(&f);
}
