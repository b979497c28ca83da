/* Facts about a compile that the contract forbids: whichever entry it comes through, the plugin is
 * never asked for it. */
#include "test.h"

#include "abi/error.h"
#include "gate/contract.h"
#include "intercept/layer.h"
#include "intercept/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char stet_entry_name[] = "test";

static unsigned compiled;
static char folder[] = "/tmp/stet-refusal-XXXXXX";

/* After the layer's own end, which writes there. */
__attribute__((destructor(101))) static void remove_folder(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", folder);
}

static PJRT_Error *client_compile(PJRT_Client_Compile_Args *args)
{
    (void)args;
    compiled++;
    return NULL;
}

static PJRT_Error *compile(PJRT_Compile_Args *args)
{
    (void)args;
    compiled++;
    return NULL;
}

/* A layer whose contract knows one family, which is not "main". */
static void start_layer(void)
{
    struct stet_contract c;
    struct stet_buf packed = STET_BUF_INIT;
    char path[64];

    EXPECT_INT(STET_OK, stet_gate_contract_parse(
                            &c, STET_VIEW("stet contract 1\nother(a: float32[2])\n"), "c", NULL));
    stet_gate_contract_pack(&packed, &c, false);
    snprintf(path, sizeof path, "%s/contract", folder);
    EXPECT_INT(STET_OK, stet_fs_write(path, stet_buf_as_view(&packed), NULL));
    setenv("STET_CONTRACT", path, 1);
    setenv("STET_DIR", folder, 1);
    unsetenv("STET_STORE");
    EXPECT(stet_layer_start());
    unlink(path);
    stet_buf_release(&packed);
    stet_gate_contract_release(&c);
}

static void expect_refusal(PJRT_Error *error)
{
    EXPECT(stet_pjrt_error_is_ours(error));
    if (error)
        stet_pjrt_error_destroy(error);
    EXPECT_INT(0, compiled);
}

TEST(a_forbidden_compile_never_reaches_the_plugin)
{
    static struct stet_plugin p = {.id = 1, .announced = true};
    static char code[] = "module @jit_step {\n  func.func public @main(%arg0: tensor<4xf32>) -> "
                         "tensor<4xf32> {\n    return %arg0 : tensor<4xf32>\n  }\n}\n";
    static char format[] = "mlir";
    PJRT_Api table = {.struct_size = PJRT_Api_STRUCT_SIZE,
                      .PJRT_Client_Compile = client_compile,
                      .PJRT_Compile = compile};
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = code,
                            .code_size = sizeof code - 1,
                            .format = format,
                            .format_size = sizeof format - 1};
    PJRT_Client_Compile_Args now = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                    .program = &program};
    PJRT_Compile_Args ahead = {.struct_size = PJRT_Compile_Args_STRUCT_SIZE, .program = &program};

    EXPECT(mkdtemp(folder) != NULL);
    start_layer();
    EXPECT(stet_handles_init(&p.handles));
    atomic_store(&p.real, &table);
    expect_refusal(on_PJRT_Client_Compile(&p, &now));
    expect_refusal(on_PJRT_Compile(&p, &ahead));
}
