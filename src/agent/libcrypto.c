/* See libcrypto.h. */
#include "agent/libcrypto.h"

#include "agent/shared_library.h"

#include <limits.h>
#include <pthread.h>

typedef int (*stet_pem_password)(char *out, int room, int writing, void *context);

static struct {
#define CRYPTO(result, name, arguments) result(*name) arguments;
#include "agent/libcrypto.def"
#undef CRYPTO
} crypto;

static struct stet_agent_library library = {
    .name = "libcrypto.so.3", .other = "libcrypto.so.1.1", .title = "OpenSSL"};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_it(void)
{
    if (!stet_agent_library_open(&library))
        return;
#define CRYPTO(result, name, arguments) stet_agent_library_find(&library, #name, &crypto.name);
#include "agent/libcrypto.def"
#undef CRYPTO
}

/* Without it OpenSSL would ask the terminal for the password of an encrypted key. */
static int no_password(char *out, int room, int writing, void *context)
{
    (void)out;
    (void)room;
    (void)writing;
    (void)context;
    return -1;
}

static struct evp_pkey_st *read_key(struct stet_view pem)
{
    struct bio_st *bio = pem.len <= INT_MAX ? crypto.BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
    struct evp_pkey_st *key =
        bio ? crypto.PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;

    if (bio)
        crypto.BIO_free(bio);
    return key;
}

enum stet_rc stet_libcrypto_sign(struct stet_view pem, struct stet_view text, struct stet_buf *out,
                                 struct stet_err *err)
{
    struct evp_pkey_st *key;
    struct evp_md_ctx_st *context;
    size_t length = 0;
    bool good;

    pthread_once(&once, open_it);
    if (library.why[0])
        return stet_fail(err, STET_UNSUPPORTED, "%s", library.why);
    key = read_key(pem);
    context = key ? crypto.EVP_MD_CTX_new() : NULL;
    good = context && crypto.EVP_DigestSignInit(context, NULL, crypto.EVP_sha256(), NULL, key) == 1;
    good = good && crypto.EVP_DigestSign(context, NULL, &length, (const unsigned char *)text.ptr,
                                         text.len) == 1;
    if (good) {
        char *room = stet_buf_reserve(out, length);

        good = room && crypto.EVP_DigestSign(context, (unsigned char *)room, &length,
                                             (const unsigned char *)text.ptr, text.len) == 1;
        if (good)
            stet_buf_grew(out, length);
    }
    if (context)
        crypto.EVP_MD_CTX_free(context);
    if (key)
        crypto.EVP_PKEY_free(key);
    return good ? STET_OK : stet_fail(err, STET_BAD_INPUT, "the private key cannot sign");
}
