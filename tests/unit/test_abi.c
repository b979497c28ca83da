/* The ABI's own invariants; its layout against the real header is tools/check-abi.sh's business. */
#include "abi/api.h"
#include "abi/error.h"
#include "abi/pjrt_ext.h"
#include "abi/pjrt_ext_abi.h"
#include "base/mem.h"
#include "test.h"

/* Table sizes as real plugins report them: 8 + 8 + 24 bytes, then a pointer an entry. */
enum { SIZE_0_29 = 40 + 92 * 8, SIZE_0_75 = 40 + 115 * 8, SIZE_0_90 = 40 + 128 * 8 };

static size_t entries_known_to(int minor)
{
    size_t n = 0;

    for (size_t i = 0; i < STET_ENTRY_COUNT; i++)
        n += stet_api_entry_since(i) <= minor;
    return n;
}

TEST(the_table_has_the_size_real_plugins_report)
{
    EXPECT_INT(1144, PJRT_Api_STRUCT_SIZE);
    EXPECT_INT(1144, sizeof(PJRT_Api));
    EXPECT_INT(138, STET_ENTRY_COUNT);
    EXPECT_INT(SIZE_0_29, 40 + 8 * entries_known_to(29));
    EXPECT_INT(SIZE_0_75, 40 + 8 * entries_known_to(75));
    EXPECT_INT(SIZE_0_90, 40 + 8 * entries_known_to(90));
}

TEST(an_older_table_is_a_prefix_of_a_newer_one)
{
    for (size_t i = 1; i < STET_ENTRY_COUNT; i++)
        EXPECT(stet_api_entry_since(i - 1) <= stet_api_entry_since(i));
}

TEST(names_follow_the_table)
{
    EXPECT_STR("PJRT_Error_Destroy", stet_api_entry_name(0));
    EXPECT_STR("PJRT_Client_Compile", stet_api_entry_name(STET_ENTRY_PJRT_Client_Compile));
    EXPECT(!stet_api_entry_name(STET_ENTRY_COUNT));
    EXPECT_INT(offsetof(PJRT_Api, PJRT_Client_Compile),
               offsetof(PJRT_Api, PJRT_Error_Destroy) + 8 * STET_ENTRY_PJRT_Client_Compile);
}

TEST(a_struct_size_ends_with_the_last_field_and_not_with_padding)
{
    EXPECT_INT(25, PJRT_Event_IsReady_Args_STRUCT_SIZE);
    EXPECT_INT(16, PJRT_Plugin_Initialize_Args_STRUCT_SIZE);
    EXPECT_INT(24, PJRT_Extension_Base_STRUCT_SIZE);
    EXPECT_INT(56, PJRT_NamedValue_STRUCT_SIZE);
}

TEST(has_asks_the_size_and_the_pointer)
{
    PJRT_Api api;

    stet_pjrt_stubs(&api);
    EXPECT(stet_api_has(&api, PJRT_TopologyDescription_GetMemorySpaceKindIds));
    EXPECT_INT(138, stet_api_entries(&api));
    api.struct_size = SIZE_0_75;
    EXPECT(stet_api_has(&api, PJRT_TopologyDescription_Deserialize));
    EXPECT(!stet_api_has(&api, PJRT_Client_CreateAliasBuffer));
    EXPECT_INT(115, stet_api_entries(&api));
    api.PJRT_Client_Compile = NULL;
    EXPECT(!stet_api_has(&api, PJRT_Client_Compile));
}

TEST(unusable_tables_are_refused)
{
    PJRT_Api api;

    stet_pjrt_stubs(&api);
    EXPECT(stet_api_usable(&api));
    EXPECT(!stet_api_usable(NULL));
    api.pjrt_api_version.minor_version = 28;
    EXPECT(!stet_api_usable(&api));
    api.pjrt_api_version.minor_version = 56;
    EXPECT(!stet_api_usable(&api));
    api.pjrt_api_version.minor_version = 9999;
    api.struct_size += 80;
    EXPECT(stet_api_usable(&api));
    api.pjrt_api_version.major_version = 1;
    EXPECT(!stet_api_usable(&api));
    api.pjrt_api_version.major_version = 0;
    api.struct_size = offsetof(PJRT_Api, PJRT_Client_Create);
    EXPECT(!stet_api_usable(&api));
}

TEST(extensions_are_found_by_type_and_a_loop_ends)
{
    PJRT_Layouts_Extension layouts = {
        .base = {PJRT_Layouts_Extension_STRUCT_SIZE, PJRT_Extension_Type_Layouts, NULL}};
    PJRT_Extension_Base unknown = {24, (PJRT_Extension_Type)4711, &layouts.base};
    PJRT_Api api;

    stet_pjrt_stubs(&api);
    EXPECT(!stet_api_extension(&api, PJRT_Extension_Type_Layouts));
    api.extension_start = &unknown;
    EXPECT(stet_api_extension(&api, PJRT_Extension_Type_Layouts) == &layouts.base);
    layouts.base.next = &unknown;
    EXPECT(!stet_api_extension(&api, PJRT_Extension_Type_Stream));
    api.pjrt_api_version.minor_version = 44;
    EXPECT(!stet_api_extension(&api, PJRT_Extension_Type_Layouts));
}

static void never(const char *key, size_t key_size, const char *value, size_t value_size, void *arg)
{
    (void)key, (void)key_size, (void)value, (void)value_size, (void)arg;
    EXPECT(false && "an error of ours has a payload");
}

TEST(a_stub_returns_its_name)
{
    PJRT_Api api;
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE};
    PJRT_Error_Message_Args text = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE};
    PJRT_Error_Destroy_Args end = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE};

    stet_pjrt_stubs(&api);
    text.error = end.error = api.PJRT_Client_Compile(&args);
    EXPECT(stet_pjrt_error_is_ours(end.error));
    EXPECT_INT(PJRT_Error_Code_UNIMPLEMENTED, end.error->vtable->get_code(end.error));
    api.PJRT_Error_Message(&text);
    EXPECT_STR("PJRT_Client_Compile is not implemented", text.message);
    EXPECT_INT(strlen(text.message), text.message_size);
    /* Callers ask this of every error, errors of this answer included. */
    EXPECT(!api.PJRT_Error_ForEachPayload(
        &(PJRT_Error_ForEachPayload_Args){.error = end.error, .visitor = never}));
    api.PJRT_Error_Destroy(&end);
}

/* A Python callback's traceback: the reason is its last line. */
TEST(a_long_error_is_kept_to_its_end)
{
    PJRT_Error *e = stet_pjrt_error(PJRT_Error_Code_INTERNAL, "%20000s", "ValueError: no");
    const char *text;
    size_t size;

    stet_pjrt_error_message(e, &text, &size);
    EXPECT_INT(20000, size);
    EXPECT_STR("ValueError: no", text + size - strlen("ValueError: no"));
    stet_pjrt_error_destroy(e);
}

#ifdef STET_FAULT_INJECTION
TEST(no_memory_for_an_error_is_still_an_error)
{
    PJRT_Error *e;

    stet_mem_fail_after(0, true);
    e = stet_pjrt_error(PJRT_Error_Code_INTERNAL, "lost");
    stet_mem_fail_after(-1, false);
    EXPECT(e && stet_pjrt_error_is_ours(e));
    stet_pjrt_error_destroy(e);
    stet_pjrt_error_destroy(e); /* the static one may be given back any number of times */
}
#endif
