#define _GNU_SOURCE
#include "CPlayheadMediaShims.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

// Read-only segments only: writable ones contain the linker's relocations, which would be lost.
static int unmap_pages(struct dl_phdr_info *library, size_t size, void *page_size) {
  (void)size;
  const ElfW(Addr) page = *(const ElfW(Addr) *)page_size;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
    const ElfW(Addr) start = library->dlpi_addr + segment->p_vaddr;
    const ElfW(Addr) first = start & ~(page - 1);
    const ElfW(Addr) end = (start + segment->p_filesz + page - 1) & ~(page - 1);
    // Only advice: where the kernel rejects it (its vdso), the pages stay, which is harmless.
    (void)madvise((void *)first, end - first, MADV_DONTNEED);
  }
  return 0;
}

void media_shims_unmap_code_of_start(void) {
  ElfW(Addr) page_size = (ElfW(Addr))sysconf(_SC_PAGESIZE);
  dl_iterate_phdr(unmap_pages, &page_size);
}
