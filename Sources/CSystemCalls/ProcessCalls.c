#define _GNU_SOURCE

#include "ProcessCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// A socket of the worker.
enum { DESCRIPTOR = 3, LOWEST = 19 };

enum call { TGKILL, SET_PRIORITY, SET_GROUP_PRIORITY, SET_OWNER, SET_SIGNAL };

static const char *const names[] = {
    [TGKILL] = "tgkill",
    [SET_PRIORITY] = "setpriority, PRIO_PROCESS",
    [SET_GROUP_PRIORITY] = "setpriority, PRIO_PGRP",
    [SET_OWNER] = "fcntl, F_SETOWN",
    [SET_SIGNAL] = "fcntl, F_SETSIG",
};

const char *process_call_name(int index) {
  return index < (int)(sizeof names / sizeof *names) ? names[index] : NULL;
}

int process_call_make(int index, int process) {
  long result = -1;
  switch ((enum call)index) {
  case TGKILL: result = syscall(SYS_tgkill, process, process, 0); break;
  case SET_PRIORITY: result = syscall(SYS_setpriority, PRIO_PROCESS, process, LOWEST); break;
  case SET_GROUP_PRIORITY: result = syscall(SYS_setpriority, PRIO_PGRP, 0, LOWEST); break;
  case SET_OWNER: result = syscall(SYS_fcntl, DESCRIPTOR, F_SETOWN, process); break;
  case SET_SIGNAL: result = syscall(SYS_fcntl, DESCRIPTOR, F_SETSIG, 0); break;
  }
  return result < 0 ? errno : 0;
}
