/* Lists of what a command asked for. */
#include "folder_help.h"
#include "test.h"

#include "store/order.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[128];
static const struct stet_hash name = {1, 2};

static struct stet_store new_store(void)
{
    struct stet_store s;

    make_folder("order");
    snprintf(path, sizeof path, "%s/orders/00000000000000010000000000000002", folder);
    EXPECT_INT(STET_OK, stet_store_open(&s, folder, NULL));
    return s;
}

static struct stet_store_order of(size_t count)
{
    struct stet_store_order o = {.count = count};

    for (size_t i = 0; i < count; i++)
        o.keys[i] = (struct stet_hash){i + 7, i * 3};
    return o;
}

static size_t found(const struct stet_store *s)
{
    struct stet_store_order o;

    stet_store_order_read(s, name, &o);
    return o.count;
}

TEST(a_list_reads_back_as_it_was_written)
{
    struct stet_store s = new_store();
    const size_t counts[] = {1, 3, 0, STET_ORDER_MAX};

    EXPECT_INT(0, found(&s));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct stet_store_order o = of(counts[i]), back;

        stet_store_order_write(&s, name, &o);
        stet_store_order_read(&s, name, &back);
        EXPECT_INT(counts[i], back.count);
        EXPECT(!memcmp(o.keys, back.keys, back.count * sizeof *o.keys));
    }
    EXPECT(stet_store_order_has(&(struct stet_store_order){.count = 1, .keys = {{5, 6}}},
                                (struct stet_hash){5, 6}));
    EXPECT(!stet_store_order_has(&(struct stet_store_order){0}, (struct stet_hash){0}));
    remove_folder();
}

TEST(a_truncated_list_is_ignored)
{
    struct stet_store s = new_store();
    struct stet_store_order o = of(5);
    char bytes[256];
    ssize_t n;
    int fd;

    stet_store_order_write(&s, name, &o);
    fd = open(path, O_RDWR);
    n = read(fd, bytes, sizeof bytes);
    EXPECT_INT(8 + 4 + 4 + 5 * 16 + 16, n);
    for (ssize_t i = 0; i < n; i++) {
        char turned = (char)(bytes[i] ^ 0x10);

        EXPECT_INT(1, pwrite(fd, &turned, 1, i));
        EXPECT_INT(0, found(&s));
        EXPECT_INT(1, pwrite(fd, &bytes[i], 1, i));
    }
    EXPECT_INT(5, found(&s));
    for (ssize_t i = n - 1; i >= 0; i--) {
        EXPECT_INT(0, ftruncate(fd, i));
        EXPECT_INT(0, found(&s));
    }
    close(fd);
    remove_folder();
}

TEST(a_read_only_store_gets_no_list)
{
    struct stet_store s = new_store();
    struct stet_store_order o = of(2);

    s.read_only = true;
    stet_store_order_write(&s, name, &o);
    EXPECT(!stet_fs_exists(path));
    remove_folder();
}

TEST(unused_lists_are_removed)
{
    struct stet_store s = new_store();
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct stet_store_order o = of(2);

    stet_store_order_write(&s, name, &o);
    EXPECT_INT(0, utimensat(AT_FDCWD, path, old, 0));
    stet_store_order_touch(&s, name);
    stet_store_hints_gc(&s, 0);
    EXPECT_INT(2, found(&s));
    EXPECT_INT(0, utimensat(AT_FDCWD, path, old, 0));
    stet_store_hints_gc(&s, 0);
    EXPECT_INT(0, found(&s));
    remove_folder();
}

TEST(the_name_of_a_list_depends_on_the_command_and_not_on_its_programs)
{
    struct stet_key_parts parts = {0};
    struct stet_hash first, second;

    EXPECT(stet_store_order_name(&parts, &first));
    parts.part[STET_COMPONENT_PROGRAM] = parts.part[STET_COMPONENT_OPTIONS] = STET_VIEW("x");
    EXPECT(stet_store_order_name(&parts, &second) && stet_hash_eq(first, second));
    for (size_t i = 0; i < STET_COMPONENTS; i++) {
        struct stet_key_parts other = {0};

        if (i == STET_COMPONENT_PROGRAM || i == STET_COMPONENT_OPTIONS)
            continue;
        other.part[i] = STET_VIEW("x");
        EXPECT(stet_store_order_name(&other, &second) && !stet_hash_eq(first, second));
    }
}
