// The entry point of libFuzzer for programs with a custom main function (LLVM, "Using libFuzzer as a library").
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Allocations of this thread between these calls are not reported as leaks (sanitizer/lsan_interface.h).
void __lsan_disable(void);
void __lsan_enable(void);

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
