/* Notes about lifted families in a store. */
#include "test.h"

#include "base/fs.h"
#include "store/lift_note.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct stet_hash name = {1, 2};
static char folder[PATH_MAX], path[PATH_MAX + 64];

static struct stet_store new_store(void)
{
    struct stet_store s;

    strcpy(folder, "/tmp/stet-lift-note-XXXXXX");
    EXPECT(mkdtemp(folder));
    EXPECT_INT(STET_OK, stet_store_open(&s, folder, NULL));
    snprintf(path, sizeof path, "%s/lifts/00000000000000010000000000000002", folder);
    return s;
}

static void end_store(void)
{
    EXPECT_INT(0, stet_fs_remove_tree(folder));
}

static const struct stet_store_lift sample = {
    .base = {7, 9}, .checked = 3, .kinds = {"\0\2", 2}, .argument_of = {"\0\377\1\1\377", 5}};

static bool is_there(const struct stet_store *s)
{
    struct stet_store_lift back;
    bool there = stet_store_lift_open(s, name, &back);

    if (there)
        stet_store_lift_close(&back);
    return there;
}

TEST(a_note_reads_back_as_it_was_written)
{
    struct stet_store s = new_store();
    struct stet_store_lift back;

    EXPECT(!is_there(&s));
    stet_store_lift_write(&s, name, &sample);
    EXPECT(stet_store_lift_open(&s, name, &back));
    EXPECT(stet_hash_eq(back.base, sample.base));
    EXPECT_INT(sample.checked, back.checked);
    EXPECT(stet_view_eq(back.kinds, sample.kinds));
    EXPECT(stet_view_eq(back.argument_of, sample.argument_of));
    stet_store_lift_close(&back);
    stet_store_lift_write(&s, name, &(struct stet_store_lift){0});
    EXPECT(stet_store_lift_open(&s, name, &back));
    EXPECT(stet_hash_is_zero(back.base));
    stet_store_lift_close(&back);
    end_store();
}

TEST(a_damaged_note_is_ignored)
{
    struct stet_store s = new_store();
    char bytes[256];
    ssize_t n;
    int fd;

    stet_store_lift_write(&s, name, &sample);
    fd = open(path, O_RDWR);
    n = read(fd, bytes, sizeof bytes);
    EXPECT_INT(8 + 4 + 16 + 4 + 4 + 4 + 2 + 5 + 16, n);
    for (ssize_t i = 0; i < n; i++) {
        char turned = (char)(bytes[i] ^ 0x10);

        EXPECT_INT(1, pwrite(fd, &turned, 1, i));
        EXPECT(!is_there(&s));
        EXPECT_INT(1, pwrite(fd, &bytes[i], 1, i));
    }
    EXPECT(is_there(&s));
    for (ssize_t i = n - 1; i >= 0; i--) {
        EXPECT_INT(0, ftruncate(fd, i));
        EXPECT(!is_there(&s));
    }
    close(fd);
    end_store();
}

TEST(a_read_only_store_gets_no_note)
{
    struct stet_store s = new_store();

    s.read_only = true;
    stet_store_lift_write(&s, name, &sample);
    EXPECT(!stet_fs_exists(path));
    end_store();
}

TEST(unused_notes_are_removed)
{
    struct stet_store s = new_store();
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

    stet_store_lift_write(&s, name, &sample);
    EXPECT_INT(0, utimensat(AT_FDCWD, path, old, 0));
    EXPECT(is_there(&s)); /* a use */
    stet_store_hints_gc(&s, 0);
    EXPECT(is_there(&s));
    EXPECT_INT(0, utimensat(AT_FDCWD, path, old, 0));
    stet_store_hints_gc(&s, 0);
    EXPECT(!is_there(&s));
    end_store();
}

TEST(families_and_compilers_have_notes_of_their_own)
{
    struct stet_key_parts parts = {0};
    struct stet_hash first = stet_store_lift_name(name, &parts);

    EXPECT(!stet_hash_eq(first, stet_store_lift_name((struct stet_hash){1, 3}, &parts)));
    parts.part[STET_COMPONENT_PROGRAM] = parts.part[STET_COMPONENT_OPTIONS] = STET_VIEW("x");
    EXPECT(stet_hash_eq(first, stet_store_lift_name(name, &parts)));
    for (size_t i = 0; i < STET_COMPONENTS; i++) {
        struct stet_key_parts other = {0};

        if (i == STET_COMPONENT_PROGRAM || i == STET_COMPONENT_OPTIONS)
            continue;
        other.part[i] = STET_VIEW("x");
        EXPECT(!stet_hash_eq(first, stet_store_lift_name(name, &other)));
    }
}
