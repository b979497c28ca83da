/* The descriptions of GPUs that are found in a plugin's bytes. */
#include "test.h"

#include "fit/fit_target.h"

#include <string.h>

#define GPU(platform, name)                                                                        \
    "gpu_device_info { core_count: 1 }\nplatform_name: \"" platform "\"\n"                         \
    "device_description_str: \"" name "\"\n"

/* A plugin: other bytes, texts that end with 0, one of another platform, and the bare field. */
static const char plugin[] =
    "\177ELF\0\1\2\0" GPU("CUDA", "NVIDIA GB200") "\0" GPU("CUDA", "NVIDIA B200 MIG") "\0" GPU(
        "CUDA",
        "NVIDIA B200") "\0" GPU("ROCM",
                                "MI300X") "\0" GPU("CUDA",
                                                   "NVIDIA H100 80GB HBM3") "\0" GPU("CUDA",
                                                                                     "NVIDIA H100 "
                                                                                     "PCIe") "\0dev"
                                                                                             "ice_"
                                                                                             "descr"
                                                                                             "iptio"
                                                                                             "n_"
                                                                                             "str: "
                                                                                             "\"bar"
                                                                                             "e\"\0"
                                                                                             "devic"
                                                                                             "e_"
                                                                                             "descr"
                                                                                             "iptio"
                                                                                             "n_"
                                                                                             "str: "
                                                                                             "\"une"
                                                                                             "nded";

static struct stet_err err;

static const char *find(const char *asked)
{
    static char text[256];
    struct stet_view out;

    err = (struct stet_err)STET_ERR_INIT;
    if (stet_fit_target_find(stet_view_of(plugin, sizeof plugin - 1), asked, &out, &err) != STET_OK)
        return "none";
    snprintf(text, sizeof text, "%.*s", STET_FMT(out));
    return text;
}

TEST(the_end_of_a_name_is_enough)
{
    EXPECT_STR(GPU("CUDA", "NVIDIA B200"), find("b200"));
    EXPECT_STR(GPU("CUDA", "NVIDIA B200"), find("NVIDIA B200"));
    EXPECT_STR(GPU("CUDA", "NVIDIA GB200"), find("GB200"));
    EXPECT_STR(GPU("CUDA", "NVIDIA H100 80GB HBM3"), find("h100 80gb hbm3"));
}

TEST(words_that_one_name_has_are_enough)
{
    EXPECT_STR(GPU("CUDA", "NVIDIA H100 80GB HBM3"), find("h100 80GB"));
    EXPECT_STR("none", find("h100"));
    EXPECT_STR("--target h100 may be NVIDIA H100 80GB HBM3, NVIDIA H100 PCIe", err.text);
}

TEST(other_names_are_refused_with_those_that_there_are)
{
    static const char *const no[] = {"", "h10", "100", "MI300X", "bare", "unended", "h200"};

    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        EXPECT_STR("none", find(no[i]));
    EXPECT_STR(
        "--target h200 is neither a file nor a GPU of the plugin: NVIDIA GB200, NVIDIA B200 MIG, "
        "NVIDIA B200, NVIDIA H100 80GB HBM3, NVIDIA H100 PCIe",
        err.text);
}

TEST(a_plugin_without_descriptions)
{
    struct stet_view out;

    err = (struct stet_err)STET_ERR_INIT;
    EXPECT_INT(STET_NOT_FOUND, stet_fit_target_find((struct stet_view){0}, "h100", &out, &err));
    EXPECT_STR("--target h100 is neither a file nor a GPU of the plugin", err.text);
}
