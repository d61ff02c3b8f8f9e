// The parts of Sonic for Swift. Only TimeStretch imports it.
#ifndef PLAYHEAD_CSONIC_SHIM_H
#define PLAYHEAD_CSONIC_SHIM_H

#include <sonic.h>

#endif
