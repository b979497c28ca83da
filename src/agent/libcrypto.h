/* RSA signatures with OpenSSL's libcrypto, opened at run time. */
#ifndef STET_AGENT_LIBCRYPTO_H
#define STET_AGENT_LIBCRYPTO_H

#include "base/buf.h"
#include "base/err.h"

/* Appends the signature of `text` (RSA, PKCS #1 v1.5, SHA-256) by a private key in PEM.
 * STET_UNSUPPORTED if this machine has no libcrypto, STET_BAD_INPUT if the key cannot sign. From
 * any thread. */
enum stet_rc stet_libcrypto_sign(struct stet_view pem, struct stet_view text, struct stet_buf *out,
                                 struct stet_err *err);

#endif
