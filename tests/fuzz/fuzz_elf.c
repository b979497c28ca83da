/* Shared objects as files: whatever the bytes are, they are read within their bounds. */
#include "fuzz.h"

#include "bundle/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_elf e;

    stet_bundle_elf_look(&e, stet_view_of(data, size));
    CHECK(strlen(e.build_id) < sizeof e.build_id);
    CHECK(!e.has_entry || e.has_symbols);
    return 0;
}
