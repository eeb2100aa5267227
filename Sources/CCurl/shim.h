#pragma once
#include <curl/curl.h>
// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call.
static inline CURLcode countersign_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode countersign_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode countersign_curl_set_write(CURL *handle, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode countersign_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
// CURL_GLOBAL_DEFAULT is a cast macro, which Swift does not import.
static inline CURLcode countersign_curl_global_init(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}
