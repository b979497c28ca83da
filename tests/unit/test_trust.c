/* Keys and archives: what is signed by a trusted key comes in, and nothing else. */
#include "folder_help.h"
#include "test.h"

#include "agent/entry_check.h"
#include "base/fs.h"
#include "trust/seal.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char key_path[96], trusted_path[96];
static struct stet_store store;
static struct stet_signer signer;
static struct stet_trust trust;

static void begin(void)
{
    unsetenv("STET_TRUST");
    make_folder("trust");
    snprintf(key_path, sizeof key_path, "%s/conf/signing.key", folder);
    snprintf(trusted_path, sizeof trusted_path, "%s/conf/trusted.keys", folder);
    EXPECT_INT(STET_OK, stet_store_open(&store, folder, NULL));
    EXPECT_INT(STET_OK, stet_trust_signer_make(&signer, key_path, NULL));
    EXPECT_INT(STET_OK, stet_trust_add(trusted_path, &signer.public, "own", NULL));
    EXPECT_INT(STET_OK, stet_trust_open(&trust, trusted_path, NULL));
    EXPECT_INT(1, (int)trust.count);
}

static void end(void)
{
    stet_trust_release(&trust);
    stet_trust_signer_release(&signer);
    remove_folder();
}

static struct stet_buf entry_of(const char *program)
{
    struct stet_kept k = {
        .name = STET_VIEW("../../../evil"), /* a name is for people, never a path */
        .format = STET_VIEW("mlir"),
        .program = stet_view_str(program),
        .executable = STET_VIEW("an executable"),
    };
    struct stet_buf out = STET_BUF_INIT;

    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k.parts.part[i] = stet_view_str(stet_store_component_name((enum stet_component)i));
    k.parts.part[STET_COMPONENT_PROGRAM] = stet_view_str(program);
    EXPECT_INT(STET_OK, stet_store_entry_pack(&out, &k, NULL));
    return out;
}

static struct stet_hash key_of(struct stet_view entry)
{
    struct stet_entry_file f;

    EXPECT_INT(STET_OK, stet_store_entry_read(&f, entry, NULL));
    return f.key;
}

/* Three entries, signed. */
static struct stet_buf archive_of(const struct stet_signer *by)
{
    struct stet_buf e[3] = {entry_of("one"), entry_of("two"), entry_of("three")};
    struct stet_archive_item items[3];
    struct stet_buf out = STET_BUF_INIT;

    for (int i = 0; i < 3; i++)
        items[i] =
            (struct stet_archive_item){key_of(stet_buf_as_view(&e[i])), stet_buf_as_view(&e[i])};
    EXPECT_INT(STET_OK, stet_trust_archive_head(&out, items, 3, by, NULL));
    for (int i = 0; i < 3; i++) {
        stet_buf_view(&out, stet_buf_as_view(&e[i]));
        stet_buf_release(&e[i]);
    }
    return out;
}

/* How many entries come in; -1 when the head is not believed. */
static int admitted(struct stet_view bytes, const struct stet_trust *by)
{
    struct stet_archive_item item;
    struct stet_archive a;
    enum stet_rc rc;
    int n = 0;

    if (stet_trust_archive_read(&a, bytes, by, NULL) != STET_OK)
        return -1;
    while ((rc = stet_trust_archive_next(&a, &item, NULL)) != STET_NOT_FOUND)
        n += rc == STET_OK;
    return n;
}

TEST(entries_signed_by_a_trusted_key_are_imported)
{
    struct stet_buf archive;
    struct stet_signer again;

    begin();
    archive = archive_of(&signer);
    EXPECT_INT(3, admitted(stet_buf_as_view(&archive), &trust));
    EXPECT_INT(STET_OK, stet_trust_signer_open(&again, key_path, NULL));
    EXPECT(!memcmp(&again, &signer, sizeof again));
    EXPECT_INT(STET_USAGE,
               stet_trust_signer_make(&again, key_path, NULL)); /* never over an old one */
    stet_buf_release(&archive);
    end();
}

TEST(unsigned_entries_and_unknown_keys_are_refused_unless_anyone_is_trusted)
{
    struct stet_trust nobody = {0}, anyone = {.anyone = true};
    struct stet_signer other;
    struct stet_buf foreign, bare;
    struct stet_archive a;
    char path[96];

    begin();
    snprintf(path, sizeof path, "%s/other.key", folder);
    EXPECT_INT(STET_OK, stet_trust_signer_make(&other, path, NULL));
    foreign = archive_of(&other);
    bare = archive_of(NULL);
    EXPECT_INT(STET_REFUSED, stet_trust_archive_read(&a, stet_buf_as_view(&foreign), &trust, NULL));
    EXPECT_INT(STET_REFUSED, stet_trust_archive_read(&a, stet_buf_as_view(&bare), &trust, NULL));
    EXPECT_INT(STET_REFUSED, stet_trust_archive_read(&a, stet_buf_as_view(&bare), &nobody, NULL));
    EXPECT_INT(3, admitted(stet_buf_as_view(&foreign), &anyone));
    EXPECT_INT(3, admitted(stet_buf_as_view(&bare), &anyone));
    /* a stranger's signature under a trusted name */
    memcpy(foreign.ptr + 16, signer.public.bytes, STET_PUBLIC_KEY);
    EXPECT_INT(STET_BAD_INPUT,
               stet_trust_archive_read(&a, stet_buf_as_view(&foreign), &trust, NULL));
    /* and the flag that says there is a signature taken off */
    memcpy(foreign.ptr + 12, "\0\0\0\0", 4);
    EXPECT_INT(STET_REFUSED, stet_trust_archive_read(&a, stet_buf_as_view(&foreign), &trust, NULL));
    stet_buf_release(&foreign);
    stet_buf_release(&bare);
    end();
}

TEST(every_truncation_and_every_flipped_bit_is_detected)
{
    struct stet_buf archive;
    struct stet_view whole;
    size_t head;

    begin();
    archive = archive_of(&signer);
    whole = stet_buf_as_view(&archive);
    head = 56 + 3 * 56 + 64;
    for (size_t n = 0; n < whole.len; n++) {
        char *cut = malloc(n + 1); /* its own size, so that a sanitizer sees reading behind it */
        int in;

        EXPECT(cut != NULL);
        memcpy(cut, whole.ptr, n);
        in = admitted(stet_view_of(cut, n), &trust);
        EXPECT(n < head ? in == -1 : in >= 0 && in < 3);
        free(cut);
    }
    for (size_t i = 0; i < whole.len; i++) {
        for (int bit = 0; bit < 8; bit += 3) {
            int in;

            archive.ptr[i] = (char)(archive.ptr[i] ^ (1 << bit));
            in = admitted(whole, &trust);
            EXPECT(i < head ? in == -1 : in == 2);
            archive.ptr[i] = (char)(archive.ptr[i] ^ (1 << bit));
        }
    }
    EXPECT_INT(3, admitted(whole, &trust));
    stet_buf_release(&archive);
    end();
}

TEST(counts_and_lengths_beyond_the_bytes_are_refused)
{
    static const uint64_t huge[] = {4, 1u << 20, UINT32_MAX, UINT64_MAX / 56 + 2, UINT64_MAX};
    struct stet_trust anyone = {.anyone = true};
    struct stet_buf archive;

    begin();
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        archive = archive_of(NULL);
        for (int b = 0; b < 8; b++) /* count */
            archive.ptr[48 + b] = (char)(huge[i] >> (8 * b));
        EXPECT(admitted(stet_buf_as_view(&archive), &anyone) <= 0);
        stet_buf_release(&archive);
        archive = archive_of(NULL);
        for (int b = 0; b < 8; b++) /* length of the second */
            archive.ptr[56 + 56 + 16 + b] = (char)(huge[i] >> (8 * b));
        EXPECT_INT(1, admitted(stet_buf_as_view(&archive), &anyone));
        stet_buf_release(&archive);
    }
    end();
}

/* Refused for this reason, or accepted (STET_REFUSALS). */
static enum stet_refusal checked(const struct stet_buf *bytes, struct stet_hash key)
{
    struct stet_outside o;

    return stet_agent_outside_check(&o, stet_buf_as_view(bytes), key, &trust, NULL) ? STET_REFUSALS
                                                                                    : o.why;
}

TEST(a_remote_answer_must_be_the_entry_asked_for)
{
    struct stet_buf one, two, sealed = STET_BUF_INIT, longer = STET_BUF_INIT, three;
    struct stet_hash key;

    begin();
    one = entry_of("one");
    two = entry_of("two");
    key = key_of(stet_buf_as_view(&one));
    EXPECT_INT(STET_OK, stet_trust_archive_seal(&sealed, stet_buf_as_view(&one), &signer, NULL));
    /* replayed under another key */
    EXPECT_INT(STET_REFUSAL_OTHER_KEY, checked(&sealed, key_of(stet_buf_as_view(&two))));
    stet_buf_view(&longer, stet_buf_as_view(&sealed));
    stet_buf_char(&longer, 'x');
    EXPECT_INT(STET_REFUSAL_DAMAGED, checked(&longer, key));
    three = archive_of(&signer);
    EXPECT_INT(STET_REFUSAL_DAMAGED, checked(&three, key));
    EXPECT_INT(STET_REFUSALS, checked(&sealed, key));
    stet_buf_release(&one);
    stet_buf_release(&two);
    stet_buf_release(&three);
    stet_buf_release(&sealed);
    stet_buf_release(&longer);
    end();
}

TEST(key_files_that_others_can_write_are_not_used)
{
    struct stet_signer s;
    struct stet_trust t;

    begin();
    EXPECT_INT(0, chmod(key_path, 0640));
    EXPECT_INT(STET_REFUSED, stet_trust_signer_open(&s, key_path, NULL));
    EXPECT_INT(0, chmod(trusted_path, 0666));
    EXPECT_INT(STET_REFUSED, stet_trust_open(&t, trusted_path, NULL));
    EXPECT_INT(0, chmod(trusted_path, 0644));
    EXPECT_INT(STET_OK, stet_trust_open(&t, trusted_path, NULL));
    stet_trust_release(&t);
    EXPECT_INT(STET_OK,
               stet_fs_write(trusted_path, STET_VIEW("# a comment\n\ned25519:12\n"), NULL));
    EXPECT_INT(STET_BAD_INPUT, stet_trust_open(&t, trusted_path, NULL));
    EXPECT_INT(0, unlink(trusted_path));
    EXPECT_INT(STET_OK, stet_trust_open(&t, trusted_path, NULL)); /* no file: nobody is trusted */
    EXPECT_INT(0, (int)t.count);
    stet_trust_release(&t);
    end();
}

/* The archive of one that `by` would send, read back. */
static void sealed_by(struct stet_buf *out, struct stet_view entry, const struct stet_signer *by,
                      struct stet_seal *seal)
{
    struct stet_trust anyone = {.anyone = true};
    struct stet_archive_item item;
    struct stet_archive a;

    EXPECT_INT(STET_OK, stet_trust_archive_seal(out, entry, by, NULL));
    EXPECT_INT(STET_OK, stet_trust_archive_read(&a, stet_buf_as_view(out), &anyone, NULL));
    EXPECT_INT(STET_OK, stet_trust_archive_next(&a, &item, NULL));
    stet_trust_seal_make(seal, &a, &item);
}

TEST(an_entry_from_elsewhere_keeps_its_makers_signature)
{
    struct stet_buf one, again = STET_BUF_INIT, sealed = STET_BUF_INIT;
    struct stet_archive_item item;
    struct stet_archive a;
    struct stet_seal seal;

    begin();
    one = entry_of("one");
    stet_trust_seal_find(&store, stet_buf_as_view(&one), &seal);
    EXPECT_INT(STET_ORIGIN_HERE, seal.origin);
    sealed_by(&sealed, stet_buf_as_view(&one), &signer, &seal);
    EXPECT_INT(STET_OK, stet_trust_seal_put(&store, &seal, NULL));
    memset(&seal, 0, sizeof seal);
    stet_trust_seal_find(&store, stet_buf_as_view(&one), &seal);
    EXPECT_INT(STET_ORIGIN_SEALED, seal.origin);
    EXPECT(!memcmp(seal.signer.bytes, signer.public.bytes, STET_PUBLIC_KEY));
    /* seal and entry make the archive again that its maker signed */
    stet_buf_add(&again, seal.bytes, sizeof seal.bytes);
    stet_buf_view(&again, stet_buf_as_view(&one));
    EXPECT_INT(STET_OK, stet_trust_archive_read(&a, stet_buf_as_view(&again), &trust, NULL));
    EXPECT_INT(STET_OK, stet_trust_archive_next(&a, &item, NULL));
    /* of other bytes it says nothing */
    one.ptr[one.len - 1] ^= 1;
    stet_trust_seal_find(&store, stet_buf_as_view(&one), &seal);
    EXPECT_INT(STET_ORIGIN_HERE, seal.origin);
    stet_buf_release(&one);
    stet_buf_release(&again);
    stet_buf_release(&sealed);
    end();
}

TEST(an_entry_from_an_archive_of_several_has_a_signer_and_no_signature)
{
    struct stet_trust anyone = {.anyone = true};
    struct stet_buf signed_by = STET_BUF_INIT, bare = STET_BUF_INIT;
    struct stet_archive_item item;
    struct stet_archive a;
    struct stet_seal seal;

    begin();
    signed_by = archive_of(&signer);
    EXPECT_INT(STET_OK, stet_trust_archive_read(&a, stet_buf_as_view(&signed_by), &trust, NULL));
    EXPECT_INT(STET_OK, stet_trust_archive_next(&a, &item, NULL));
    stet_trust_seal_make(&seal, &a, &item);
    EXPECT_INT(STET_ORIGIN_NAMED, seal.origin);
    EXPECT(!memcmp(seal.signer.bytes, signer.public.bytes, STET_PUBLIC_KEY));
    EXPECT(stet_trust_archive_read(&a, stet_view_of(seal.bytes, sizeof seal.bytes), &trust, NULL) !=
           STET_OK);
    bare = archive_of(NULL);
    EXPECT_INT(STET_OK, stet_trust_archive_read(&a, stet_buf_as_view(&bare), &anyone, NULL));
    EXPECT_INT(STET_OK, stet_trust_archive_next(&a, &item, NULL));
    stet_trust_seal_make(&seal, &a, &item);
    EXPECT_INT(STET_ORIGIN_UNSIGNED, seal.origin);
    stet_buf_release(&signed_by);
    stet_buf_release(&bare);
    end();
}

TEST(a_torn_seal_still_marks_the_entry_as_not_ours)
{
    struct stet_buf one, sealed = STET_BUF_INIT;
    char path[PATH_MAX + 64], name[33];
    struct stet_seal seal, torn;

    begin();
    one = entry_of("one");
    sealed_by(&sealed, stet_buf_as_view(&one), &signer, &seal);
    EXPECT_INT(STET_OK, stet_trust_seal_put(&store, &seal, NULL));
    for (int i = 0; i < 16; i++) /* of the digest in the row */
        snprintf(name + 2 * i, 3, "%02x", (unsigned char)seal.bytes[80 + i]);
    snprintf(path, sizeof path, "%s/seals/%.2s/%s", folder, name, name);
    for (long n = 0; n < (long)sizeof seal.bytes; n += 25) {
        EXPECT_INT(STET_OK, stet_trust_seal_put(&store, &seal, NULL));
        EXPECT_INT(0, truncate(path, n));
        stet_trust_seal_find(&store, stet_buf_as_view(&one), &torn);
        EXPECT_INT(STET_ORIGIN_UNSIGNED, torn.origin);
    }
    stet_buf_release(&one);
    stet_buf_release(&sealed);
    end();
}

TEST(removing_a_key_removes_its_entries_and_no_others)
{
    struct stet_buf one, two, sealed = STET_BUF_INIT, other = STET_BUF_INIT;
    struct stet_hash first, second;
    struct stet_signer stranger;
    struct stet_entry_file f;
    struct stet_seal seal;
    struct stet_trust left;
    char path[96];

    begin();
    snprintf(path, sizeof path, "%s/other.key", folder);
    EXPECT_INT(STET_OK, stet_trust_signer_make(&stranger, path, NULL));
    EXPECT_INT(STET_OK, stet_trust_add(trusted_path, &stranger.public, "a stranger", NULL));
    one = entry_of("one");
    two = entry_of("two");
    first = key_of(stet_buf_as_view(&one));
    second = key_of(stet_buf_as_view(&two));
    sealed_by(&sealed, stet_buf_as_view(&one), &stranger, &seal);
    EXPECT_INT(STET_OK, stet_trust_seal_put(&store, &seal, NULL));
    EXPECT_INT(STET_OK, stet_store_put_bytes(&store, first, stet_buf_as_view(&one), NULL));
    sealed_by(&other, stet_buf_as_view(&two), &signer, &seal);
    EXPECT_INT(STET_OK, stet_trust_seal_put(&store, &seal, NULL));
    EXPECT_INT(STET_OK, stet_store_put_bytes(&store, second, stet_buf_as_view(&two), NULL));
    EXPECT_INT(STET_OK, stet_trust_remove(trusted_path, &stranger.public, NULL));
    EXPECT_INT(STET_NOT_FOUND, stet_trust_remove(trusted_path, &stranger.public, NULL));
    EXPECT_INT(STET_OK, stet_trust_open(&left, trusted_path, NULL));
    EXPECT(left.count == 1 && stet_trust_has(&left, &signer.public));
    EXPECT_INT(1, stet_trust_seal_remove_signer(&store, &stranger.public));
    EXPECT_INT(STET_NOT_FOUND, stet_store_get(&store, first, &f, NULL));
    EXPECT_INT(STET_OK, stet_store_get(&store, second, &f, NULL));
    stet_store_entry_close(&f);
    stet_trust_release(&left);
    stet_buf_release(&one);
    stet_buf_release(&two);
    stet_buf_release(&sealed);
    stet_buf_release(&other);
    end();
}
