// libcurl, loaded on first use, so that a daemon that opens no URL does not load it and its libraries (TLS, HTTP/2,
// Kerberos, LDAP). Types and constants are those of curl. Variadic functions have one wrapper for each argument type.
#ifndef PLAYHEAD_CCURL_H
#define PLAYHEAD_CCURL_H

#include <curl/curl.h>
#include <stddef.h>

/// Loads and initialises libcurl once per process; later calls return the same result. Threading: any thread. May take
/// milliseconds.
///
/// Returns null, or the reason for the failure. No other function may be called before this one has returned null.
const char *ccurl_load(void);

/// Receives a chunk of a body, or a line of a header. Returns `count`, `CURL_WRITEFUNC_PAUSE`, or another value to
/// abort.
typedef size_t (*ccurl_data_callback)(char *data, size_t size, size_t count, void *context);

/// Creates the socket of a connection. Returns `CURL_SOCKET_BAD` for an address that must not be connected to.
typedef curl_socket_t (*ccurl_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

/// The address in curl's structure: its first `addrlen` bytes.
const struct sockaddr *ccurl_address(const struct curl_sockaddr *address);

/// Called when a connection is ready, before the request is sent. Returns `CURL_PREREQFUNC_OK` to proceed.
typedef int (*ccurl_ready_callback)(
    void *context, char *peer_address, char *own_address, int peer_port, int own_port);

CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *easy);
CURLcode ccurl_easy_pause(CURL *easy, int bitmask);
const char *ccurl_easy_strerror(CURLcode code);

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *list);
/// Sets the buffer for curl's error text: CURL_ERROR_SIZE bytes that must outlive the handle.
CURLcode ccurl_set_error_buffer(CURL *easy, char *buffer);
/// Sets the callbacks and their `context`.
CURLcode ccurl_set_callbacks(
    CURL *easy, ccurl_data_callback body, ccurl_data_callback header, ccurl_ready_callback ready,
    ccurl_socket_callback make_socket, void *context);

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value);
/// The string is valid until the next transfer of the handle or its cleanup.
CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value);

struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text);
void ccurl_list_free(struct curl_slist *list);

/// Creates a store of TLS sessions for the transfers of one thread; null without memory. It must outlive the handles
/// that use it.
CURLSH *ccurl_share_tls_sessions(void);
void ccurl_share_cleanup(CURLSH *share);
CURLcode ccurl_set_share(CURL *easy, CURLSH *share);

/// Creates a multi handle that keeps up to `idle_connection_count` idle connections. A connection carries one request
/// at a time, because before curl 8.0 a paused HTTP/2 stream blocks the other streams of its connection.
CURLM *ccurl_multi_init(long idle_connection_count);
CURLMcode ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_perform(CURLM *multi, int *running_count);
CURLMcode ccurl_multi_poll(CURLM *multi, int timeout_milliseconds);
/// Wakes `ccurl_multi_poll`. Threading: any thread.
CURLMcode ccurl_multi_wakeup(CURLM *multi);
/// The handle of a finished transfer and its result; null when no further one is finished.
CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result);

/// Resolves a `Location` field against the address of the response (RFC 3986, section 5.2).
///
/// Returns null for an invalid reference. The caller releases the text with `ccurl_free`.
char *ccurl_resolve(const char *base, const char *reference);
void ccurl_free(void *memory);

#endif
