#define _GNU_SOURCE
#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// curl's header defines these functions as macros.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

static struct {
  CURLcode (*global_init)(long);
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *);
  CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
  CURLcode (*easy_pause)(CURL *, int);
  const char *(*easy_strerror)(CURLcode);
  struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
  void (*slist_free_all)(struct curl_slist *);
  CURLSH *(*share_init)(void);
  CURLSHcode (*share_setopt)(CURLSH *, CURLSHoption, ...);
  CURLSHcode (*share_cleanup)(CURLSH *);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
  CURLMcode (*multi_cleanup)(CURLM *);
  CURLMcode (*multi_add_handle)(CURLM *, CURL *);
  CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
  CURLMcode (*multi_perform)(CURLM *, int *);
  CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned int, int, int *);
  CURLMcode (*multi_wakeup)(CURLM *);
  CURLMsg *(*multi_info_read)(CURLM *, int *);
  CURLU *(*url)(void);
  void (*url_cleanup)(CURLU *);
  CURLUcode (*url_set)(CURLU *, CURLUPart, const char *, unsigned int);
  CURLUcode (*url_get)(CURLU *, CURLUPart, char **, unsigned int);
  void (*free)(void *);
} curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

static int find(void *library, const char *name, void *place) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    snprintf(failure, sizeof failure, "libcurl has no %s", name);
    return 0;
  }
  *(void **)place = symbol;
  return 1;
}

static void load(void) {
  // The GnuTLS build first, because FFmpeg's libraries have already loaded it; then the other name of the library.
  static const char *const names[] = {"libcurl-gnutls.so.4", "libcurl.so.4"};
  void *library = NULL;
  for (size_t index = 0; index < sizeof names / sizeof *names && library == NULL; index += 1) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    const char *reason = dlerror();
    snprintf(failure, sizeof failure, "%s", reason == NULL ? "libcurl is not installed" : reason);
    return;
  }
  if (!find(library, "curl_global_init", &curl.global_init) || !find(library, "curl_easy_init", &curl.easy_init)
      || !find(library, "curl_easy_cleanup", &curl.easy_cleanup)
      || !find(library, "curl_easy_setopt", &curl.easy_setopt)
      || !find(library, "curl_easy_getinfo", &curl.easy_getinfo)
      || !find(library, "curl_easy_pause", &curl.easy_pause)
      || !find(library, "curl_easy_strerror", &curl.easy_strerror)
      || !find(library, "curl_slist_append", &curl.slist_append)
      || !find(library, "curl_slist_free_all", &curl.slist_free_all)
      || !find(library, "curl_share_init", &curl.share_init)
      || !find(library, "curl_share_setopt", &curl.share_setopt)
      || !find(library, "curl_share_cleanup", &curl.share_cleanup)
      || !find(library, "curl_multi_init", &curl.multi_init)
      || !find(library, "curl_multi_setopt", &curl.multi_setopt)
      || !find(library, "curl_multi_cleanup", &curl.multi_cleanup)
      || !find(library, "curl_multi_add_handle", &curl.multi_add_handle)
      || !find(library, "curl_multi_remove_handle", &curl.multi_remove_handle)
      || !find(library, "curl_multi_perform", &curl.multi_perform)
      || !find(library, "curl_multi_poll", &curl.multi_poll)
      || !find(library, "curl_multi_wakeup", &curl.multi_wakeup)
      || !find(library, "curl_multi_info_read", &curl.multi_info_read)
      || !find(library, "curl_url", &curl.url) || !find(library, "curl_url_cleanup", &curl.url_cleanup)
      || !find(library, "curl_url_set", &curl.url_set) || !find(library, "curl_url_get", &curl.url_get)
      || !find(library, "curl_free", &curl.free)) {
    return;
  }
  CURLcode code = curl.global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) { snprintf(failure, sizeof failure, "curl_global_init: %s", curl.easy_strerror(code)); }
}

const char *ccurl_load(void) {
  pthread_once(&once, load);
  return failure[0] == 0 ? NULL : failure;
}

CURL *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_cleanup(CURL *easy) { curl.easy_cleanup(easy); }
CURLcode ccurl_easy_pause(CURL *easy, int bitmask) { return curl.easy_pause(easy, bitmask); }
const char *ccurl_easy_strerror(CURLcode code) { return curl.easy_strerror(code); }

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return curl.easy_setopt(easy, option, value); }

CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
  return curl.easy_setopt(easy, option, list);
}

CURLcode ccurl_set_error_buffer(CURL *easy, char *buffer) {
  return curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

CURLcode ccurl_set_callbacks(
    CURL *easy, ccurl_data_callback body, ccurl_data_callback header, ccurl_ready_callback ready,
    ccurl_socket_callback make_socket, void *context) {
  CURLcode code = curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  if (code == CURLE_OK) { code = curl.easy_setopt(easy, CURLOPT_WRITEDATA, context); }
  if (code == CURLE_OK) { code = curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, header); }
  if (code == CURLE_OK) { code = curl.easy_setopt(easy, CURLOPT_HEADERDATA, context); }
  if (code == CURLE_OK) { code = curl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, ready); }
  if (code == CURLE_OK) { code = curl.easy_setopt(easy, CURLOPT_PREREQDATA, context); }
  if (code == CURLE_OK) { code = curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, make_socket); }
  if (code == CURLE_OK) { code = curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context); }
  return code;
}

const struct sockaddr *ccurl_address(const struct curl_sockaddr *address) { return &address->addr; }

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) { return curl.easy_getinfo(easy, info, value); }

CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
  return curl.easy_getinfo(easy, info, value);
}

struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text) {
  return curl.slist_append(list, text);
}

void ccurl_list_free(struct curl_slist *list) { curl.slist_free_all(list); }

CURLSH *ccurl_share_tls_sessions(void) {
  CURLSH *share = curl.share_init();
  if (share != NULL && curl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK) {
    curl.share_cleanup(share);
    return NULL;
  }
  return share;
}

void ccurl_share_cleanup(CURLSH *share) { curl.share_cleanup(share); }

CURLcode ccurl_set_share(CURL *easy, CURLSH *share) { return curl.easy_setopt(easy, CURLOPT_SHARE, share); }

CURLM *ccurl_multi_init(long idle_connection_count) {
  CURLM *multi = curl.multi_init();
  if (multi != NULL
      && (curl.multi_setopt(multi, CURLMOPT_MAXCONNECTS, idle_connection_count) != CURLM_OK
          || curl.multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING) != CURLM_OK)) {
    curl.multi_cleanup(multi);
    return NULL;
  }
  return multi;
}

CURLMcode ccurl_multi_cleanup(CURLM *multi) { return curl.multi_cleanup(multi); }
CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy) { return curl.multi_add_handle(multi, easy); }
CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy) { return curl.multi_remove_handle(multi, easy); }
CURLMcode ccurl_multi_perform(CURLM *multi, int *running_count) { return curl.multi_perform(multi, running_count); }

CURLMcode ccurl_multi_poll(CURLM *multi, int timeout_milliseconds) {
  return curl.multi_poll(multi, NULL, 0, timeout_milliseconds, NULL);
}

CURLMcode ccurl_multi_wakeup(CURLM *multi) { return curl.multi_wakeup(multi); }

CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result) {
  int rest = 0;
  CURLMsg *message;
  while ((message = curl.multi_info_read(multi, &rest)) != NULL) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}

char *ccurl_resolve(const char *base, const char *reference) {
  CURLU *url = curl.url();
  char *text = NULL;
  if (url == NULL) { return NULL; }
  const unsigned int flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE;
  if (curl.url_set(url, CURLUPART_URL, base, flags) != CURLUE_OK
      || curl.url_set(url, CURLUPART_URL, reference, flags) != CURLUE_OK
      || curl.url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK) {
    text = NULL;
  }
  curl.url_cleanup(url);
  return text;
}

void ccurl_free(void *memory) { curl.free(memory); }
