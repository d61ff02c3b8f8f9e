#ifndef PLAYHEAD_CLIBFUZZER_H
#define PLAYHEAD_CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's entry (LLVM, "Using libFuzzer as a library"): runs until told otherwise, calling `callback` with each input.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
