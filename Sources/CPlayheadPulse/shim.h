// The parts of libpulse for Swift, and of related system headers that the Glibc module lacks. Only PulseIO imports it.
#ifndef PLAYHEAD_CPULSE_SHIM_H
#define PLAYHEAD_CPULSE_SHIM_H

#include <pulse/pulseaudio.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

/// PA_SAMPLE_FLOAT32 is defined by another macro, which Swift does not import.
static inline pa_sample_format_t shim_PA_SAMPLE_FLOAT32(void) { return PA_SAMPLE_FLOAT32NE; }

#endif
