// libebur128, loaded when it is first used: a daemon that measures nothing does not pay for it. Types and constants are its
// own; functions go through here.
#ifndef PLAYHEAD_CEBUR128_H
#define PLAYHEAD_CEBUR128_H

#include <ebur128.h>

/// Loads libebur128, once a process; later calls answer the same. From any thread; may take milliseconds.
///
/// Null, or why there is none. Nothing below may be called before this answered null.
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
