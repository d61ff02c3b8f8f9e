// libcurl, loaded when it is first used: a daemon that opens no URL does not pay for it and its libraries (TLS, HTTP/2,
// Kerberos, LDAP). Types and constants are curl's own; functions go through here. Variadic ones have a shim for each type.
#ifndef PLAYHEAD_CCURL_H
#define PLAYHEAD_CCURL_H

#include <curl/curl.h>
#include <stddef.h>

/// Loads and initialises libcurl, once a process; later calls answer the same. From any thread; may take milliseconds.
///
/// Null, or why there is none. Nothing below may be called before this answered null.
const char *ccurl_load(void);

/// Receives a piece of a body, or a line of a header; answers `count`, `CURL_WRITEFUNC_PAUSE`, or anything else to break off.
typedef size_t (*ccurl_data_callback)(char *data, size_t size, size_t count, void *context);

/// Called to make the socket of a connection; answers `CURL_SOCKET_BAD` for an address that is not to be connected to.
typedef curl_socket_t (*ccurl_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

/// The address in curl's structure: the first `addrlen` bytes of it.
const struct sockaddr *ccurl_address(const struct curl_sockaddr *address);

/// Called when a connection stands and the request is about to be sent; answers `CURL_PREREQFUNC_OK`.
typedef int (*ccurl_ready_callback)(
    void *context, char *peer_address, char *own_address, int peer_port, int own_port);

CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *easy);
CURLcode ccurl_easy_pause(CURL *easy, int bitmask);
const char *ccurl_easy_strerror(CURLcode code);

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *list);
/// curl writes what went wrong there: CURL_ERROR_SIZE bytes, which must outlive the handle.
CURLcode ccurl_set_error_buffer(CURL *easy, char *buffer);
/// Sets the functions that are called with `context`.
CURLcode ccurl_set_callbacks(
    CURL *easy, ccurl_data_callback body, ccurl_data_callback header, ccurl_ready_callback ready,
    ccurl_socket_callback make_socket, void *context);

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value);
/// The string lives as long as the handle, or until its next transfer.
CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value);

struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text);
void ccurl_list_free(struct curl_slist *list);

/// A store of TLS sessions for the transfers of one thread; null without memory. It must outlive the handles that use it.
CURLSH *ccurl_share_tls_sessions(void);
void ccurl_share_cleanup(CURLSH *share);
CURLcode ccurl_set_share(CURL *easy, CURLSH *share);

/// A multi handle that keeps as many idle connections open, and sends one request at a time over a connection: in curl before 8.0
/// a paused HTTP/2 stream blocks the other streams of its connection.
CURLM *ccurl_multi_init(long idle_connection_count);
CURLMcode ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_perform(CURLM *multi, int *running_count);
CURLMcode ccurl_multi_poll(CURLM *multi, int timeout_milliseconds);
/// From any thread.
CURLMcode ccurl_multi_wakeup(CURLM *multi);
/// The handle of a transfer that is over and what came of it; null when there is none (any more).
CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result);

/// The address that a `Location` field names, resolved against the address of the response (RFC 3986, section 5.2).
///
/// Null when the reference is no address. The caller releases the text with `ccurl_free`.
char *ccurl_resolve(const char *base, const char *reference);
void ccurl_free(void *memory);

#endif
