/* Matrix files: reading ends in whole rows or in an error with a place; detectors always answer. */
#include "fuzz.h"

#include "base/buf.h"
#include "bundle/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf why = {.cap = 1 << 20};
    struct stet_inventory v;
    struct stet_matrix m;

    stet_bundle_inventory_init(&v);
    stet_bundle_inventory_putf(&v, STET_GROUP_package, "jax", "0.10.2");
    stet_bundle_inventory_putf(&v, STET_GROUP_env, "XLA_FLAGS", "--xla_a=1");
    stet_bundle_matrix_init(&m);
    if (stet_bundle_matrix_add(&m, stet_view_of(data, size), "input", &err) == STET_OK) {
        for (size_t i = 0; i < m.count; i++) {
            CHECK(m.rows[i].id.len && m.rows[i].detector);
            for (int f = 0; f < STET_ROW_FIELDS; f++)
                CHECK(m.rows[i].field[f].len);
            stet_bundle_row_fits(&m.rows[i], &v, &why);
        }
    } else {
        CHECK(err.rc != STET_OK && err.text[0]);
    }
    stet_bundle_matrix_release(&m);
    stet_bundle_inventory_release(&v);
    stet_buf_release(&why);
    return 0;
}
