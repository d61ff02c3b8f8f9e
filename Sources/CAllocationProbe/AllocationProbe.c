// Replacements of the C library's allocation and locking functions. They count calls of armed threads and forward them.
//
// The symbols of the executable precede those of the C library, so every module of the process calls these. Memory
// comes from glibc's second names of the same functions, because looking them up would allocate. Locks come from the
// next definition in the search order.
#define _GNU_SOURCE
#include "CAllocationProbe.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define PROBE_IS_AVAILABLE 0
#endif
#endif
#ifndef PROBE_IS_AVAILABLE
#define PROBE_IS_AVAILABLE 1
#endif

#if PROBE_IS_AVAILABLE

// Initial-exec: the first access of a thread must not allocate its block.
static __thread int armed __attribute__((tls_model("initial-exec")));
static __thread allocation_probe_counts counts __attribute__((tls_model("initial-exec")));

// Bytes that are currently allocated from allocations while armed; negative when older memory was freed.
static __thread long held __attribute__((tls_model("initial-exec")));

int allocation_probe_is_available(void) { return 1; }

void allocation_probe_arm(void) {
  counts = (allocation_probe_counts){0};
  held = 0;
  armed = 1;
}

allocation_probe_counts allocation_probe_disarm(void) {
  armed = 0;
  return counts;
}

static inline void count_allocation(void) {
  if (armed) counts.allocation_count += 1;
}

static inline void *count_bytes(void *pointer, size_t size) {
  if (armed && pointer != NULL) {
    counts.byte_count += (long)size;
    held += (long)malloc_usable_size(pointer);
    if (held > counts.peak_byte_count) counts.peak_byte_count = held;
  }
  return pointer;
}

static inline void count_free(void *pointer) {
  if (armed && pointer != NULL) held -= (long)malloc_usable_size(pointer);
}

static inline void count_lock(void) {
  if (armed) counts.lock_count += 1;
}

// MARK: Allocation

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *pointer);

void *malloc(size_t size) {
  count_allocation();
  return count_bytes(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size) {
  count_allocation();
  return count_bytes(__libc_calloc(count, size), count * size);
}

void *realloc(void *pointer, size_t size) {
  count_allocation();
  count_free(pointer);
  return count_bytes(__libc_realloc(pointer, size), size);
}

void free(void *pointer) {
  count_allocation();
  count_free(pointer);
  __libc_free(pointer);
}

void *memalign(size_t alignment, size_t size) {
  count_allocation();
  return count_bytes(__libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count_allocation();
  return count_bytes(__libc_memalign(alignment, size), size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count_allocation();
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *pointer = __libc_memalign(alignment, size);
  if (pointer == NULL) return ENOMEM;
  *result = count_bytes(pointer, size);
  return 0;
}

// MARK: Locks

// Looked up on the first call, which may come from a library's constructor before main. A constructor here would run
// too late. Two threads that look up concurrently find the same function.
#define NEXT(name)                                                                      \
  ({                                                                                    \
    static __typeof__(&name) _Atomic next;                                              \
    __typeof__(&name) found = atomic_load_explicit(&next, memory_order_relaxed);        \
    if (found == NULL) {                                                                \
      found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                               \
      atomic_store_explicit(&next, found, memory_order_relaxed);                        \
    }                                                                                   \
    found;                                                                              \
  })

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  count_lock();
  return NEXT(pthread_mutex_lock)(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  count_lock();
  return NEXT(pthread_mutex_trylock)(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  count_lock();
  return NEXT(pthread_rwlock_rdlock)(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  count_lock();
  return NEXT(pthread_rwlock_wrlock)(lock);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  count_lock();
  return NEXT(pthread_cond_wait)(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
  count_lock();
  return NEXT(pthread_cond_timedwait)(condition, mutex, deadline);
}

int sem_wait(sem_t *semaphore) {
  count_lock();
  return NEXT(sem_wait)(semaphore);
}

unsigned long allocation_probe_heap_byte_count(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

#else

int allocation_probe_is_available(void) { return 0; }

unsigned long allocation_probe_heap_byte_count(void) { return 0; }

void allocation_probe_arm(void) {}

allocation_probe_counts allocation_probe_disarm(void) {
  allocation_probe_counts nothing = {0};
  return nothing;
}

#endif
