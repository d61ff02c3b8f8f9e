// The entry point of libFuzzer for programs with a custom main (LLVM, "Using libFuzzer as a library").
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Disables leak reports for this thread's allocations between these calls (sanitizer/lsan_interface.h).
void __lsan_disable(void);
void __lsan_enable(void);

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
