#include "CMediaShims.h"

#include <malloc.h>

void media_shims_map_large_blocks(void) { mallopt(M_MMAP_THRESHOLD, 256 * 1024); }
