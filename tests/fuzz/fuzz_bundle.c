/* Bundle files: reading ends in a bundle or an error with words; a bundle equals itself. */
#include "fuzz.h"

#include "bundle/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = {.cap = 16 << 20};
    struct stet_item_changes c;
    struct stet_inventory v;
    struct stet_json j;

    if (stet_bundle_inventory_parse(&v, stet_view_of(data, size), "input", &err) != STET_OK) {
        CHECK(err.rc != STET_OK && err.text[0]);
        return 0;
    }
    CHECK(stet_bundle_inventory_diff(&v, &v, &c, &err) != STET_OK || !c.count);
    stet_json_init(&j, &out);
    stet_bundle_inventory_json(&v, &j, NULL);
    for (size_t i = 1; i < v.count; i++)
        CHECK(v.items[i - 1].group <= v.items[i].group);
    stet_bundle_item_changes_release(&c);
    stet_buf_release(&out);
    stet_bundle_inventory_release(&v);
    return 0;
}
