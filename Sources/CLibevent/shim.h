#pragma once
// Must come before event2: event2/event-config.h defines _GNU_SOURCE, and then fd_set would differ
// between this module and Glibc ("not present in definition of fd_set").
#include <sys/select.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <event2/thread.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Built from function-like macros, which Swift does not import.
static const uint64_t countersign_ssl_options = SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION;
