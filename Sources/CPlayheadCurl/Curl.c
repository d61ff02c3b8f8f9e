#include "CPlayheadCurl.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode initialization = CURLE_FAILED_INIT;

static void initialize(void) { initialization = curl_global_init(CURL_GLOBAL_DEFAULT); }

CURLcode ccurl_initialize(void) {
  pthread_once(&once, initialize);
  return initialization;
}

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }

CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
  return curl_easy_setopt(easy, option, list);
}

CURLcode ccurl_set_error_buffer(CURL *easy, char *buffer) { return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer); }

CURLcode ccurl_set_callbacks(
    CURL *easy, ccurl_data_callback body, ccurl_data_callback header, ccurl_ready_callback ready,
    ccurl_socket_callback make_socket, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  if (code == CURLE_OK) { code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context); }
  if (code == CURLE_OK) { code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header); }
  if (code == CURLE_OK) { code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context); }
  if (code == CURLE_OK) { code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, ready); }
  if (code == CURLE_OK) { code = curl_easy_setopt(easy, CURLOPT_PREREQDATA, context); }
  if (code == CURLE_OK) { code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, make_socket); }
  if (code == CURLE_OK) { code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context); }
  return code;
}

const struct sockaddr *ccurl_address(const struct curl_sockaddr *address) { return &address->addr; }

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) { return curl_easy_getinfo(easy, info, value); }

CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}

CURLSH *ccurl_share_tls_sessions(void) {
  CURLSH *share = curl_share_init();
  if (share != NULL && curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK) {
    curl_share_cleanup(share);
    return NULL;
  }
  return share;
}

CURLcode ccurl_set_share(CURL *easy, CURLSH *share) { return curl_easy_setopt(easy, CURLOPT_SHARE, share); }

CURLM *ccurl_multi_init(long idle_connection_count) {
  CURLM *multi = curl_multi_init();
  if (multi != NULL
      && (curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, idle_connection_count) != CURLM_OK
          || curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING) != CURLM_OK)) {
    curl_multi_cleanup(multi);
    return NULL;
  }
  return multi;
}

CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result) {
  int rest = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &rest)) != NULL) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}

char *ccurl_resolve(const char *base, const char *reference) {
  CURLU *url = curl_url();
  char *text = NULL;
  if (url == NULL) { return NULL; }
  const unsigned int flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE;
  if (curl_url_set(url, CURLUPART_URL, base, flags) != CURLUE_OK
      || curl_url_set(url, CURLUPART_URL, reference, flags) != CURLUE_OK
      || curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK) {
    text = NULL;
  }
  curl_url_cleanup(url);
  return text;
}
