// Counts the allocations and locks of a thread while it is armed. For tests only: in a program that links this target,
// counting functions replace the C library's malloc family and pthread locks.
#ifndef PLAYHEAD_CALLOCATIONPROBE_H
#define PLAYHEAD_CALLOCATIONPROBE_H

/// The counts of the calling thread while it was armed.
typedef struct {
  /// Calls of malloc, calloc, realloc, free, posix_memalign, aligned_alloc, memalign.
  long allocation_count;
  /// Total bytes of all these calls. A realloc counts its whole new size, because it may copy.
  long byte_count;
  /// The maximum of bytes that were allocated while armed and not freed, in sizes of the C library.
  long peak_byte_count;
  /// Calls that lock a pthread mutex or read-write lock, or wait on a condition variable or semaphore.
  long lock_count;
} allocation_probe_counts;

/// 1 if calls are counted; 0 under the thread and address sanitizers, which replace the same functions.
int allocation_probe_is_available(void);

/// Starts counting on the calling thread, from zero. Calls do not nest.
void allocation_probe_arm(void);

/// Stops counting on the calling thread. Returns the counts; zeros if the probe is not available.
allocation_probe_counts allocation_probe_disarm(void);

/// The bytes of the heap of the process that are in use (mallinfo2(3)); 0 if the probe is not available.
unsigned long allocation_probe_heap_byte_count(void);

#endif
