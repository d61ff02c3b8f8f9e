// libcurl, with what Swift cannot import: its variadic functions have one wrapper for each argument type.
#ifndef PLAYHEAD_CCURL_H
#define PLAYHEAD_CCURL_H

#include <curl/curl.h>
#include <stddef.h>

/// Initialises libcurl once per process; later calls return the same result. Threading: any thread. May take
/// milliseconds.
CURLcode ccurl_initialize(void);

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

/// Creates a store of TLS sessions for the transfers of one thread; null without memory. It must outlive the handles
/// that use it.
CURLSH *ccurl_share_tls_sessions(void);
CURLcode ccurl_set_share(CURL *easy, CURLSH *share);

/// Creates a multi handle that keeps up to `idle_connection_count` idle connections. A connection carries one request
/// at a time, because before curl 8.0 a paused HTTP/2 stream blocks the other streams of its connection.
CURLM *ccurl_multi_init(long idle_connection_count);
/// The handle of a finished transfer and its result; null when no further one is finished.
CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result);

/// Resolves a `Location` field against the address of the response (RFC 3986, section 5.2).
///
/// Returns null for an invalid reference. The caller releases the text with `curl_free`.
char *ccurl_resolve(const char *base, const char *reference);

#endif
