// The parts of Rubber Band for Swift. The library is under the GPL: only TimeStretch imports it, and only with the
// trait RubberBand.
#ifndef PLAYHEAD_CRUBBERBAND_SHIM_H
#define PLAYHEAD_CRUBBERBAND_SHIM_H

#include <rubberband/rubberband-c.h>

/// The options are an enumeration whose members are meant to be combined by "or"; Swift imports them as single values.
static inline RubberBandOptions shim_RubberBandOptions_realTimeFiner(void) {
  return RubberBandOptionProcessRealTime | RubberBandOptionThreadingNever | RubberBandOptionEngineFiner
         | RubberBandOptionChannelsTogether;
}

#endif
