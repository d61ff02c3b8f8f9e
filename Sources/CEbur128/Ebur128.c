#define _GNU_SOURCE
#include "CEbur128.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct {
  ebur128_state *(*init)(unsigned int, unsigned long, int);
  void (*destroy)(ebur128_state **);
  int (*set_channel)(ebur128_state *, unsigned int, int);
  int (*add_frames_float)(ebur128_state *, const float *, size_t);
  int (*loudness_global)(ebur128_state *, double *);
  int (*loudness_momentary)(ebur128_state *, double *);
  int (*loudness_range)(ebur128_state *, double *);
  int (*sample_peak)(ebur128_state *, unsigned int, double *);
  int (*true_peak)(ebur128_state *, unsigned int, double *);
} ebur128;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

static int find(void *library, const char *name, void *place) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    snprintf(failure, sizeof failure, "libebur128 has no %s", name);
    return 0;
  }
  *(void **)place = symbol;
  return 1;
}

static void load(void) {
  void *library = dlopen("libebur128.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *reason = dlerror();
    snprintf(failure, sizeof failure, "%s", reason == NULL ? "libebur128 is not installed" : reason);
    return;
  }
  (void)(find(library, "ebur128_init", &ebur128.init) && find(library, "ebur128_destroy", &ebur128.destroy)
         && find(library, "ebur128_set_channel", &ebur128.set_channel)
         && find(library, "ebur128_add_frames_float", &ebur128.add_frames_float)
         && find(library, "ebur128_loudness_global", &ebur128.loudness_global)
         && find(library, "ebur128_loudness_momentary", &ebur128.loudness_momentary)
         && find(library, "ebur128_loudness_range", &ebur128.loudness_range)
         && find(library, "ebur128_sample_peak", &ebur128.sample_peak)
         && find(library, "ebur128_true_peak", &ebur128.true_peak));
}

const char *cebur128_load(void) {
  pthread_once(&once, load);
  return failure[0] == 0 ? NULL : failure;
}

ebur128_state *cebur128_init(unsigned int channels, unsigned long samplerate, int mode) {
  return ebur128.init(channels, samplerate, mode);
}

void cebur128_destroy(ebur128_state *state) { ebur128.destroy(&state); }

int cebur128_set_channel(ebur128_state *state, unsigned int channel, int value) {
  return ebur128.set_channel(state, channel, value);
}

int cebur128_add_frames_float(ebur128_state *state, const float *frames, size_t count) {
  return ebur128.add_frames_float(state, frames, count);
}

int cebur128_loudness_global(ebur128_state *state, double *loudness) {
  return ebur128.loudness_global(state, loudness);
}

int cebur128_loudness_momentary(ebur128_state *state, double *loudness) {
  return ebur128.loudness_momentary(state, loudness);
}

int cebur128_loudness_range(ebur128_state *state, double *range) { return ebur128.loudness_range(state, range); }

int cebur128_sample_peak(ebur128_state *state, unsigned int channel, double *peak) {
  return ebur128.sample_peak(state, channel, peak);
}

int cebur128_true_peak(ebur128_state *state, unsigned int channel, double *peak) {
  return ebur128.true_peak(state, channel, peak);
}
