// Event descriptors: <sys/eventfd.h> is not part of Swift's Glibc module.
#include "CPlayheadMediaShims.h"

#include <sys/eventfd.h>

int media_shims_event_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void media_shims_event_signal(int descriptor) { (void)eventfd_write(descriptor, 1); }

void media_shims_event_clear(int descriptor) {
  eventfd_t count;
  (void)eventfd_read(descriptor, &count);
}
