#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ts.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/x509_vfy.h>

// OSSL_PARAM keeps the pointer to its name, and a Swift string lends one for a single call only.
// Returns NULL when the point is not on the curve of that name; the caller owns the key.
static inline EVP_PKEY *countersign_ec_from_point(
    const char *curve, const unsigned char *point, size_t length) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, length),
        OSSL_PARAM_construct_end(),
    };
    if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

// EVP_PKEY_Q_keygen is variadic, which Swift cannot call. The caller owns the key.
static inline EVP_PKEY *countersign_p256_generate(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}
static inline EVP_PKEY *countersign_ed25519_generate(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

// The caller owns the key; NULL when OpenSSL takes no such numbers. Both are big-endian.
static inline EVP_PKEY *countersign_rsa_from_numbers(
    const unsigned char *modulus, int modulus_length,
    const unsigned char *exponent, int exponent_length) {
    EVP_PKEY *key = NULL;
    BIGNUM *n = BN_bin2bn(modulus, modulus_length, NULL);
    BIGNUM *e = BN_bin2bn(exponent, exponent_length, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    if (n != NULL && e != NULL && builder != NULL && context != NULL &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1 &&
        (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL &&
        EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(e);
    BN_free(n);
    return key;
}

// The stacks of OpenSSL are macros with casts, which Swift cannot call.
static inline int countersign_general_name_count(const GENERAL_NAMES *names) {
    return sk_GENERAL_NAME_num(names);
}
// The directory name at that place, lent by the stack; NULL when the name is of another kind.
static inline X509_NAME *countersign_directory_name(const GENERAL_NAMES *names, int index) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    return name != NULL && name->type == GEN_DIRNAME ? name->d.directoryName : NULL;
}
static inline int countersign_key_usage_count(const EXTENDED_KEY_USAGE *usages) {
    return sk_ASN1_OBJECT_num(usages);
}
static inline ASN1_OBJECT *countersign_key_usage(const EXTENDED_KEY_USAGE *usages, int index) {
    return sk_ASN1_OBJECT_value(usages, index);
}
static inline STACK_OF(X509) *countersign_x509_stack(void) { return sk_X509_new_null(); }
static inline int countersign_x509_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate) > 0;
}
static inline int countersign_x509_count(const STACK_OF(X509) *stack) {
    return stack == NULL ? 0 : sk_X509_num(stack);
}
static inline X509 *countersign_x509_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
// Only the stack: the certificates are lent to it.
static inline void countersign_x509_stack_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
// Lets the issuer of the leaf be a certificate that is no CA, or whose key usage does not say that it
// signs certificates; every other rule stays.
static inline int countersign_leaf_issuer_callback(int ok, X509_STORE_CTX *context) {
    int error = X509_STORE_CTX_get_error(context);
    if (ok || X509_STORE_CTX_get_error_depth(context) != 1 ||
        (error != X509_V_ERR_INVALID_CA && error != X509_V_ERR_KEYUSAGE_NO_CERTSIGN)) {
        return ok;
    }
    X509_STORE_CTX_set_error(context, X509_V_OK);
    return 1;
}
static inline void countersign_allow_any_leaf_issuer(X509_STORE_CTX *context) {
    X509_STORE_CTX_set_verify_cb(context, countersign_leaf_issuer_callback);
}
static inline int countersign_is_ca(const BASIC_CONSTRAINTS *constraints) {
    return constraints->ca != 0;
}

// A request of version 1 for a timestamp over a SHA-256, with the certificate, and with a nonce unless that
// is empty. The caller owns it; NULL without memory. In C, because each of the parts has to be freed again.
static inline TS_REQ *countersign_ts_request(
    const unsigned char *digest, const unsigned char *nonce, size_t nonce_length) {
    TS_REQ *request = TS_REQ_new();
    TS_MSG_IMPRINT *imprint = TS_MSG_IMPRINT_new();
    X509_ALGOR *algorithm = X509_ALGOR_new();
    BIGNUM *number = BN_bin2bn(nonce, (int)nonce_length, NULL);
    ASN1_INTEGER *integer = number == NULL ? NULL : BN_to_ASN1_INTEGER(number, NULL);
    if (request == NULL || imprint == NULL || algorithm == NULL || integer == NULL ||
        X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_sha256), V_ASN1_NULL, NULL) != 1 ||
        TS_MSG_IMPRINT_set_algo(imprint, algorithm) != 1 ||
        TS_MSG_IMPRINT_set_msg(imprint, (unsigned char *)digest, 32) != 1 ||
        TS_REQ_set_version(request, 1) != 1 || TS_REQ_set_msg_imprint(request, imprint) != 1 ||
        TS_REQ_set_cert_req(request, 1) != 1 ||
        (nonce_length > 0 && TS_REQ_set_nonce(request, integer) != 1)) {
        TS_REQ_free(request);
        request = NULL;
    }
    ASN1_INTEGER_free(integer);
    BN_free(number);
    X509_ALGOR_free(algorithm);
    TS_MSG_IMPRINT_free(imprint);
    return request;
}
// The flag is a macro with a cast.
static inline void countersign_ts_demand_signature(TS_VERIFY_CTX *context) {
    TS_VERIFY_CTX_add_flags(context, TS_VFY_SIGNATURE);
}
// The hash that the only signer of a token used; NID_undef when there is none.
static inline int countersign_ts_digest(PKCS7 *token) {
    PKCS7_SIGNER_INFO *info =
        token == NULL ? NULL : sk_PKCS7_SIGNER_INFO_value(PKCS7_get_signer_info(token), 0);
    return info == NULL ? NID_undef : OBJ_obj2nid(info->digest_alg->algorithm);
}
// ERR_GET_LIB and ERR_GET_REASON in one: the reason when the last error is of that library, else 0.
static inline int countersign_last_reason(int library) {
    unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == library ? ERR_GET_REASON(error) : 0;
}
