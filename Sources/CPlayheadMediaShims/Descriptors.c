// Open descriptors over a Unix socket: control messages consist of macros (cmsg(3)), which Swift does not import. Also
// Linux calls without a function, or with a GNU function only.
#define _GNU_SOURCE
#include "CPlayheadMediaShims.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Stores the descriptors of a received message and closes those beyond `capacity`. Returns the number in the message.
static int store_descriptors(struct msghdr *message, int *descriptors, int capacity) {
  int count = 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t size = header->cmsg_len - CMSG_LEN(0);
    for (size_t offset = 0; offset + sizeof(int) <= size; offset += sizeof(int)) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + offset, sizeof descriptor);
      if (count < capacity) descriptors[count] = descriptor;
      else close(descriptor);
      count++;
    }
  }
  return count;
}

int media_shims_send_descriptor(int socket, int descriptor) {
  char byte = 0;
  return media_shims_send_message(socket, &byte, 1, &descriptor, 1);
}

int media_shims_send_message(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
  if (descriptor_count < 0 || descriptor_count > MEDIA_SHIMS_DESCRIPTOR_LIMIT) {
    errno = EINVAL;
    return -1;
  }
  size_t size = (size_t)descriptor_count * sizeof(int);
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(MEDIA_SHIMS_DESCRIPTOR_LIMIT * sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (size) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(size);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(&control.header), descriptors, size);
  }
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)count ? 0 : -1;
}

ssize_t media_shims_receive_message(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count) {
  *descriptor_count = 0;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(MEDIA_SHIMS_DESCRIPTOR_LIMIT * sizeof(int))];
  } control;
  struct iovec piece = {.iov_base = bytes, .iov_len = capacity};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t count;
  do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -1;
  int received = store_descriptors(&message, descriptors, MEDIA_SHIMS_DESCRIPTOR_LIMIT);
  *descriptor_count = received < MEDIA_SHIMS_DESCRIPTOR_LIMIT ? received : MEDIA_SHIMS_DESCRIPTOR_LIMIT;
  return count;
}

int media_shims_shared_memory(size_t byte_count) {
  int descriptor = memfd_create("playhead", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  if (ftruncate(descriptor, (off_t)byte_count) == 0 &&
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int media_shims_spawn_closing_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int media_shims_receive_descriptor(int socket) {
  char bytes[256];
  struct iovec piece = {.iov_base = bytes, .iov_len = sizeof bytes};
  // If there are several descriptors, the kernel closes those that do not fit; only the first message is read.
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(4 * sizeof(int))];
  } control;
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t count;
  do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -1;
  int result = -1;
  int received = store_descriptors(&message, &result, 1);
  int is_truncated = message.msg_flags & MSG_CTRUNC;
  if (received == 1 && !is_truncated) return result;
  if (result >= 0) close(result);
  // The kernel installs no descriptor if the process has no free one.
  errno = received == 0 && is_truncated ? EMFILE : received == 0 && count == 0 ? ENODATA : EBADMSG;
  return -1;
}

int media_shims_open_resolving(int folder, const char *path, int flags, unsigned mode, int stays_beneath) {
  struct open_how how = {.flags = (unsigned)flags, .mode = mode, .resolve = RESOLVE_NO_MAGICLINKS};
  if (stays_beneath) how.resolve |= RESOLVE_BENEATH;
  // Another process moved folders while the kernel resolved the path, so the result is uncertain: try again.
  for (int attempt = 0;; attempt++) {
    long opened = syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (opened >= 0 || (errno != EAGAIN && errno != EINTR) || attempt == 64) return (int)opened;
  }
}

int media_shims_fstat(int descriptor, struct stat *status) {
  // On x86-64 and arm64, glibc's structure is that of the kernel.
  return (int)syscall(SYS_fstat, descriptor, status);
}

int media_shims_peer_groups(int socket, unsigned *groups, int capacity) {
  socklen_t size = (socklen_t)capacity * sizeof *groups;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) return -1;
  return (int)(size / sizeof *groups);
}

int media_shims_accept(int listener) {
  int accepted;
  do accepted = accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
  while (accepted < 0 && (errno == EINTR || errno == ECONNABORTED));
  return accepted;
}

int media_shims_unsent_bytes(int socket) {
  int count = 0;
  return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}
