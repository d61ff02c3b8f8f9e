// Counts what a thread allocates and locks while it is armed. For tests only: a program that links this target has the
// C library's malloc family and pthread locks replaced by counting ones.
#ifndef PLAYHEAD_CALLOCATIONPROBE_H
#define PLAYHEAD_CALLOCATIONPROBE_H

/// What the calling thread did while it was armed.
typedef struct {
  /// Calls of malloc, calloc, realloc, free, posix_memalign, aligned_alloc, memalign.
  long allocation_count;
  /// Bytes that were asked for by all of these; of realloc all of the new size, for it may have to copy.
  long byte_count;
  /// The most bytes that were held at once of what was allocated since, by what the C library gave for it.
  long peak_byte_count;
  /// Calls that take a pthread mutex or read-write lock, or wait on a condition variable or semaphore.
  long lock_count;
} allocation_probe_counts;

/// 1 when the calls are counted; 0 under the thread and address sanitizers, which replace the same functions.
int allocation_probe_is_available(void);

/// Begins to count on the calling thread, from zero. Not nested.
void allocation_probe_arm(void);

/// Ends counting on the calling thread and tells what was counted; zeros when the probe is not available.
allocation_probe_counts allocation_probe_disarm(void);

#endif
