#include "CMediaShims.h"

#include <malloc.h>

void media_shims_configure_allocator(void) {
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  mallopt(M_MXFAST, 0);
}
