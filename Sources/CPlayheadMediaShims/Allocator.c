#include "CPlayheadMediaShims.h"

#include <malloc.h>
#include <stdlib.h>

void media_shims_configure_allocator(void) {
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  mallopt(M_MXFAST, 0);
}

void media_shims_sort_freed_memory(void) {
  // The request is larger than the blocks in the lists of one size, therefore `malloc` sorts all unsorted blocks. The
  // compiler may not remove a volatile variable.
  void *volatile block = malloc(8 * 1024);
  free(block);
}
