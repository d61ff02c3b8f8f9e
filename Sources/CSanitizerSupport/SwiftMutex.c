// Reports the operations of Swift's `Mutex` to the thread sanitizer.
//
// On Linux a `Mutex` is a futex with priority inheritance. The uncontended path is inlined at its use, so the sanitizer
// sees its atomics. The slow path is in libswiftSynchronization, which is not built for the sanitizer. In that path the
// kernel passes the lock from one thread to the next. The sanitizer would then report a race for all data that a
// contended lock protects. So under the sanitizer these two functions replace the library's functions, call them, and
// report the lock operations.
//
// Source: stdlib/public/Synchronization/Mutex/LinuxImpl.swift of Swift; futex(2), FUTEX_LOCK_PI;
// sanitizer/tsan_interface.h.
#define _GNU_SOURCE
#include "CSanitizerSupport.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// `_MutexHandle._lockSlow(_ selfId: UInt32)`
SWIFT void playhead_lock_slow(uint32_t thread, SELF mutex) __asm__(LOCK_SLOW);
// `_MutexHandle._unlockSlow()`
SWIFT void playhead_unlock_slow(SELF mutex) __asm__(UNLOCK_SLOW);

static SWIFT void (*library_lock_slow)(uint32_t, SELF);
static SWIFT void (*library_unlock_slow)(SELF);

__attribute__((constructor)) static void find_library(void) {
  library_lock_slow = dlsym(RTLD_NEXT, LOCK_SLOW);
  library_unlock_slow = dlsym(RTLD_NEXT, UNLOCK_SLOW);
}

SWIFT void playhead_lock_slow(uint32_t thread, SELF mutex) {
  library_lock_slow(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT void playhead_unlock_slow(SELF mutex) {
  __tsan_release(mutex);
  library_unlock_slow(mutex);
}

#endif
#endif
