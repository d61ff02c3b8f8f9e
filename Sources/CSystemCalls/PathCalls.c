#define _GNU_SOURCE
#include "PathCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

// Debian 12's headers end at Linux 6.1. Since Linux 5.1 new calls have one number on all processors.
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#define __NR_getxattrat 464
#define __NR_listxattrat 465
#define __NR_removexattrat 466
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif
#ifndef __NR_file_getattr
#define __NR_file_getattr 468
#define __NR_file_setattr 469
#endif

/// An argument of a call.
enum argument {
  ZERO,
  PATH,
  /// A path that does not exist, in the same folder.
  NEW_PATH,
  /// `AT_FDCWD`.
  CURRENT_FOLDER,
  /// The descriptor of the worker's socket.
  DESCRIPTOR,
  /// An address of a Unix socket with the path.
  ADDRESS,
  ADDRESS_LENGTH,
  /// The name of an extended attribute.
  ATTRIBUTE,
  /// Memory of `MEMORY_LENGTH` bytes, all zeros.
  MEMORY,
  MEMORY_LENGTH,
  HOW,
  HOW_LENGTH,
  WRITE_FLAGS,
  MODE,
  EMPTY_PATH,
  STATX_MASK,
  ARGUMENT_VECTOR,
};

static const struct {
  const char *name;
  long number;
  enum argument arguments[6];
} calls[] = {
#define CALL(name, ...) {#name, __NR_##name, {__VA_ARGS__}}
// Calls that exist on x86-64, and not on arm64.
#ifdef __NR_open
    CALL(open, PATH, WRITE_FLAGS, MODE), CALL(creat, PATH, MODE), CALL(stat, PATH, MEMORY), CALL(lstat, PATH, MEMORY),
    CALL(access, PATH), CALL(readlink, PATH, MEMORY, MEMORY_LENGTH), CALL(mkdir, NEW_PATH, MODE), CALL(rmdir, PATH),
    CALL(unlink, PATH), CALL(rename, PATH, NEW_PATH), CALL(link, PATH, NEW_PATH), CALL(symlink, PATH, NEW_PATH),
    CALL(chmod, PATH, MODE), CALL(chown, PATH), CALL(lchown, PATH), CALL(mknod, NEW_PATH, MODE), CALL(utime, PATH),
    CALL(utimes, PATH), CALL(futimesat, CURRENT_FOLDER, PATH), CALL(uselib, PATH),
#endif
    CALL(openat, CURRENT_FOLDER, PATH, WRITE_FLAGS, MODE), CALL(openat2, CURRENT_FOLDER, PATH, HOW, HOW_LENGTH),
    CALL(newfstatat, CURRENT_FOLDER, PATH, MEMORY),
    {"newfstatat, AT_EMPTY_PATH", __NR_newfstatat, {CURRENT_FOLDER, PATH, MEMORY, EMPTY_PATH}},
    CALL(statx, CURRENT_FOLDER, PATH, ZERO, STATX_MASK, MEMORY),
    {"statx, AT_EMPTY_PATH", __NR_statx, {CURRENT_FOLDER, PATH, EMPTY_PATH, STATX_MASK, MEMORY}},
    CALL(faccessat, CURRENT_FOLDER, PATH), CALL(faccessat2, CURRENT_FOLDER, PATH),
    CALL(readlinkat, CURRENT_FOLDER, PATH, MEMORY, MEMORY_LENGTH), CALL(statfs, PATH, MEMORY),
    CALL(name_to_handle_at, CURRENT_FOLDER, PATH, MEMORY, MEMORY), CALL(getxattr, PATH, ATTRIBUTE, MEMORY, MEMORY_LENGTH),
    CALL(lgetxattr, PATH, ATTRIBUTE, MEMORY, MEMORY_LENGTH), CALL(listxattr, PATH, MEMORY, MEMORY_LENGTH),
    CALL(llistxattr, PATH, MEMORY, MEMORY_LENGTH), CALL(getxattrat, CURRENT_FOLDER, PATH, ZERO, ATTRIBUTE, MEMORY),
    CALL(listxattrat, CURRENT_FOLDER, PATH, ZERO, MEMORY, MEMORY_LENGTH),
    CALL(file_getattr, CURRENT_FOLDER, PATH, MEMORY, MEMORY_LENGTH),
    // Calls that change files.
    CALL(mkdirat, CURRENT_FOLDER, NEW_PATH, MODE), CALL(mknodat, CURRENT_FOLDER, NEW_PATH, MODE),
    CALL(unlinkat, CURRENT_FOLDER, PATH), CALL(renameat2, CURRENT_FOLDER, PATH, CURRENT_FOLDER, NEW_PATH),
#ifdef __NR_renameat
    CALL(renameat, CURRENT_FOLDER, PATH, CURRENT_FOLDER, NEW_PATH),
#endif
    CALL(linkat, CURRENT_FOLDER, PATH, CURRENT_FOLDER, NEW_PATH), CALL(symlinkat, PATH, CURRENT_FOLDER, NEW_PATH),
    CALL(fchmodat, CURRENT_FOLDER, PATH, MODE), CALL(fchmodat2, CURRENT_FOLDER, PATH, MODE),
    CALL(fchownat, CURRENT_FOLDER, PATH), CALL(truncate, PATH), CALL(utimensat, CURRENT_FOLDER, PATH),
    CALL(setxattr, PATH, ATTRIBUTE, MEMORY, MEMORY_LENGTH), CALL(lsetxattr, PATH, ATTRIBUTE, MEMORY, MEMORY_LENGTH),
    CALL(removexattr, PATH, ATTRIBUTE), CALL(lremovexattr, PATH, ATTRIBUTE),
    CALL(setxattrat, CURRENT_FOLDER, PATH, ZERO, ATTRIBUTE, MEMORY),
    CALL(removexattrat, CURRENT_FOLDER, PATH, ZERO, ATTRIBUTE),
    CALL(file_setattr, CURRENT_FOLDER, PATH, MEMORY, MEMORY_LENGTH),
    // Programs, folders and mounts.
    CALL(execve, PATH, ARGUMENT_VECTOR, ARGUMENT_VECTOR),
    CALL(execveat, CURRENT_FOLDER, PATH, ARGUMENT_VECTOR, ARGUMENT_VECTOR), CALL(chdir, PATH), CALL(chroot, PATH),
    CALL(pivot_root, PATH, PATH), CALL(mount, PATH, PATH), CALL(umount2, PATH), CALL(move_mount, CURRENT_FOLDER, PATH, CURRENT_FOLDER, PATH),
    CALL(open_tree, CURRENT_FOLDER, PATH), CALL(open_tree_attr, CURRENT_FOLDER, PATH), CALL(fspick, CURRENT_FOLDER, PATH),
    CALL(mount_setattr, CURRENT_FOLDER, PATH), CALL(swapon, PATH), CALL(swapoff, PATH), CALL(acct, PATH),
    CALL(quotactl, ZERO, PATH), CALL(inotify_add_watch, DESCRIPTOR, PATH, MODE),
    CALL(fanotify_mark, DESCRIPTOR, ZERO, ZERO, CURRENT_FOLDER, PATH), CALL(mq_open, PATH), CALL(mq_unlink, PATH),
    // Sockets. The worker has one, and cannot create another.
    CALL(bind, DESCRIPTOR, ADDRESS, ADDRESS_LENGTH), CALL(connect, DESCRIPTOR, ADDRESS, ADDRESS_LENGTH),
};

static const int call_count = sizeof calls / sizeof *calls;

const char *path_call_name(int index) { return index >= 0 && index < call_count ? calls[index].name : NULL; }

static struct sockaddr_un make_address(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return address;
}

int path_call_make(int index, const char *path) {
  char memory[1024] = {0};
  char new_path[1024] = {0};
  if (strlen(path) + 5 > sizeof new_path) return ENAMETOOLONG;
  strcat(strcpy(new_path, path), ".new");
  struct sockaddr_un address = make_address(path);
  struct open_how how = {.flags = O_RDONLY};
  char *vector[] = {NULL};
  long values[6];
  for (int position = 0; position < 6; position++) {
    switch (calls[index].arguments[position]) {
    case ZERO: values[position] = 0; break;
    case PATH: values[position] = (long)path; break;
    case NEW_PATH: values[position] = (long)new_path; break;
    case CURRENT_FOLDER: values[position] = AT_FDCWD; break;
    case DESCRIPTOR: values[position] = 3; break;
    case ADDRESS: values[position] = (long)&address; break;
    case ADDRESS_LENGTH: values[position] = sizeof address; break;
    case ATTRIBUTE: values[position] = (long)"user.test"; break;
    case MEMORY: values[position] = (long)memory; break;
    case MEMORY_LENGTH: values[position] = sizeof memory; break;
    case HOW: values[position] = (long)&how; break;
    case HOW_LENGTH: values[position] = sizeof how; break;
    case WRITE_FLAGS: values[position] = O_RDWR | O_CREAT | O_CLOEXEC; break;
    case MODE: values[position] = 0600; break;
    case EMPTY_PATH: values[position] = AT_EMPTY_PATH; break;
    case STATX_MASK: values[position] = STATX_BASIC_STATS; break;
    case ARGUMENT_VECTOR: values[position] = (long)vector; break;
    }
  }
  long result = syscall(calls[index].number, values[0], values[1], values[2], values[3], values[4], values[5]);
  return result < 0 ? errno : 0;
}

int path_call_send(int socket, unsigned char byte, const char *path) {
  struct sockaddr_un address = make_address(path);
  return (int)sendto(socket, &byte, 1, MSG_NOSIGNAL, (struct sockaddr *)&address, sizeof address);
}
