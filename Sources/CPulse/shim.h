// What Swift sees of libpulse. Only the module PulseIO imports it.
#ifndef PLAYHEAD_CPULSE_SHIM_H
#define PLAYHEAD_CPULSE_SHIM_H

#include <pulse/pulseaudio.h>

#endif
