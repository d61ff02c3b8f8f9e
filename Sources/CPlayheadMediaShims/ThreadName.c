#define _GNU_SOURCE
#include "CPlayheadMediaShims.h"

#include <pthread.h>

void media_shims_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }
