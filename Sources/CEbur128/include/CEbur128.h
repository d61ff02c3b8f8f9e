// libebur128, loaded on first use, so that a daemon that measures nothing does not load it. Types and constants come
// from libebur128's header; functions are called through this interface.
#ifndef PLAYHEAD_CEBUR128_H
#define PLAYHEAD_CEBUR128_H

#include <ebur128.h>

/// Loads libebur128, once per process; later calls return the same result. Any thread; may take milliseconds.
///
/// Returns null, or the reason why the library is not available. The functions below require that this returned null.
const char *cebur128_load(void);

ebur128_state *cebur128_init(unsigned int channels, unsigned long samplerate, int mode);
void cebur128_destroy(ebur128_state *state);
int cebur128_set_channel(ebur128_state *state, unsigned int channel, int value);
int cebur128_add_frames_float(ebur128_state *state, const float *frames, size_t count);
int cebur128_loudness_global(ebur128_state *state, double *loudness);
int cebur128_loudness_momentary(ebur128_state *state, double *loudness);
int cebur128_loudness_range(ebur128_state *state, double *range);
int cebur128_sample_peak(ebur128_state *state, unsigned int channel, double *peak);
int cebur128_true_peak(ebur128_state *state, unsigned int channel, double *peak);

#endif
