#define _GNU_SOURCE
#include "CPlayheadSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int sandbox_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// MARK: - Landlock

// Debian 12's headers describe version 2 of the interface. The structure grows at its end. The kernel accepts any size
// and rejects unknown bits that are set (landlock_create_ruleset(2)).
struct ruleset {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#endif
#ifndef __NR_landlock_add_rule
#define __NR_landlock_add_rule 445
#endif
#ifndef __NR_landlock_restrict_self
#define __NR_landlock_restrict_self 446
#endif

int sandbox_landlock_version(void) {
  long version = syscall(__NR_landlock_create_ruleset, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  return version < 0 ? 0 : (int)version;
}

uint64_t sandbox_landlock_rights(int version) {
  // Access rights by version: 13 in version 1, REFER in 2, TRUNCATE in 3, IOCTL_DEV in 5.
  int rights = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : version == 1 ? 13 : 0;
  return (1ull << rights) - 1;
}

static int create_ruleset(int version, uint64_t ports, uint64_t scoped) {
  struct ruleset ruleset = {sandbox_landlock_rights(version), version >= 4 ? ports : 0, version >= 6 ? scoped : 0};
  size_t size = version >= 6 ? sizeof ruleset : version >= 4 ? 16 : 8;
  return (int)syscall(__NR_landlock_create_ruleset, &ruleset, size, 0);
}

int sandbox_landlock_create(int version) { return create_ruleset(version, 0, 2 /* LANDLOCK_SCOPE_SIGNAL */); }

int sandbox_landlock_allow(int ruleset, int descriptor, uint64_t rights) {
  struct {
    uint64_t allowed_access;
    int32_t parent_fd;
  } __attribute__((packed)) rule = {rights, descriptor};
  return (int)syscall(__NR_landlock_add_rule, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0);
}

int sandbox_landlock_restrict(int ruleset) { return (int)syscall(__NR_landlock_restrict_self, ruleset, 0); }

int sandbox_landlock_forbid_all(void) {
  int version = sandbox_landlock_version();
  if (version == 0) {
    errno = ENOSYS;
    return -1;
  }
  int descriptor = create_ruleset(version, 3, 3);
  if (descriptor < 0) return -1;
  int result = sandbox_landlock_restrict(descriptor);
  int error = errno;
  close(descriptor);
  errno = error;
  return result;
}

// MARK: - Loaded objects

struct visit {
  sandbox_object_visitor visitor;
  void *context;
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct visit *visit = context;
  if (info->dlpi_name && info->dlpi_name[0] == '/') visit->visitor(info->dlpi_name, 0, visit->context);
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[index];
    if (header->p_type == PT_INTERP) visit->visitor((const char *)(info->dlpi_addr + header->p_vaddr), 1, visit->context);
  }
  return 0;
}

void sandbox_visit_loaded_objects(sandbox_object_visitor visitor, void *context) {
  struct visit visit = {visitor, context};
  dl_iterate_phdr(visit_object, &visit);
}

// MARK: - System calls

#define CALL(name) {#name, __NR_##name}

static const struct {
  const char *name;
  int number;
} worker_calls[] = {
    // Input and output on the descriptors that the worker received. `fcntl` is checked separately.
    CALL(read), CALL(pread64), CALL(lseek), CALL(write), CALL(writev), CALL(sendmsg), CALL(recvmsg), CALL(sendto), CALL(recvfrom),
    CALL(close), CALL(dup), CALL(fstat), CALL(ftruncate), CALL(fsync), CALL(pwrite64), CALL(poll), CALL(ppoll),
    CALL(eventfd2),
    // Memory. `mmap` and `mprotect` are checked separately.
    CALL(munmap), CALL(mremap), CALL(madvise), CALL(brk),
    // Threads, clocks and locks. `clone` and `setpriority` are checked separately.
    CALL(futex), CALL(sched_yield), CALL(sched_getaffinity), CALL(set_robust_list), CALL(rseq), CALL(gettid), CALL(getpid),
    CALL(nanosleep), CALL(clock_nanosleep), CALL(clock_gettime), CALL(clock_getres), CALL(gettimeofday), CALL(getcpu), CALL(membarrier),
    CALL(prctl),
    // Signals, and the end of the process. `tgkill` is checked separately.
    CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(sigaltstack), CALL(restart_syscall), CALL(exit),
    CALL(exit_group),
    // Information about the process and the system.
    CALL(getrandom), CALL(sysinfo), CALL(uname), CALL(getrusage),
};

static const size_t worker_call_count = sizeof worker_calls / sizeof *worker_calls;

/// Calls that open or inspect a path. Libraries handle their failure.
static const struct {
  const char *name;
  int number;
} path_calls[] = {
#ifdef __NR_open
    CALL(open), CALL(access), CALL(readlink), CALL(stat), CALL(lstat),
#endif
    CALL(openat), CALL(openat2), CALL(faccessat), CALL(faccessat2), CALL(readlinkat), CALL(statx), CALL(newfstatat),
};

static const size_t path_call_count = sizeof path_calls / sizeof *path_calls;

const char *sandbox_worker_call(int index) {
  return index >= 0 && (size_t)index < worker_call_count ? worker_calls[index].name : NULL;
}

const char *sandbox_denied_path_call(int index) {
  return index >= 0 && (size_t)index < path_call_count ? path_calls[index].name : NULL;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls knows x86-64 and arm64"
#endif

#define MAXIMUM_LENGTH 256

struct program {
  struct sock_filter code[MAXIMUM_LENGTH];
  unsigned short count;
};

static void add(struct program *program, struct sock_filter instruction) {
  if (program->count < MAXIMUM_LENGTH) program->code[program->count++] = instruction;
}

static void load(struct program *program, size_t offset) {
  add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void finish(struct program *program, unsigned result) {
  add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result));
}

/// If the loaded system call number is `number`, returns `result`.
static void match(struct program *program, int number, unsigned result) {
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1));
  finish(program, result);
}

/// Allows the loaded system call if its number is `number` and no bit of `mask` is set in an argument. With `all`, all
/// bits must be set. Otherwise returns `refusal` for this number.
static void match_argument(struct program *program, int number, int argument, unsigned mask, int all, unsigned refusal) {
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, all ? 5 : 4));
  load(program, offsetof(struct seccomp_data, args) + 8 * (size_t)argument);
  if (all) {
    add(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mask, 0, 1));
  } else {
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0));
  }
  finish(program, SECCOMP_RET_ALLOW);
  finish(program, refusal);
}

/// Allows the loaded system call if its number is `number` and an argument of 32 bits has one of `count` values.
/// Otherwise returns `refusal` for this number.
static void match_values(struct program *program, int number, int argument, const unsigned *values, int count, unsigned refusal) {
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, (unsigned char)(count + 3)));
  load(program, offsetof(struct seccomp_data, args) + 8 * (size_t)argument);
  for (int index = 0; index < count; index++)
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[index], (unsigned char)(count - index), 0));
  finish(program, refusal);
  finish(program, SECCOMP_RET_ALLOW);
}

/// Allows the loaded system call if its number is `number` and its first two arguments of 32 bits are 0. Otherwise
/// returns `refusal` for this number.
static void match_zeros(struct program *program, int number, unsigned refusal) {
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 6));
  load(program, offsetof(struct seccomp_data, args));
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3));
  load(program, offsetof(struct seccomp_data, args) + 8);
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
  finish(program, SECCOMP_RET_ALLOW);
  finish(program, refusal);
}

int sandbox_restrict_worker_calls(void) {
  struct program program = {.count = 0};
  load(&program, offsetof(struct seccomp_data, arch));
  add(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
  finish(&program, SECCOMP_RET_KILL_PROCESS);
  load(&program, offsetof(struct seccomp_data, nr));
  for (size_t index = 0; index < worker_call_count; index++) match(&program, worker_calls[index].number, SECCOMP_RET_ALLOW);
  // Landlock does not restrict reading the state of a path. A filter cannot read the path, so it also denies the form
  // with AT_EMPTY_PATH, in which older versions of glibc request the state of a descriptor (media_shims_fstat).
  for (size_t index = 0; index < path_call_count; index++)
    match(&program, path_calls[index].number, SECCOMP_RET_ERRNO | EACCES);
  // Executable memory is forbidden, at its creation and afterwards.
  match_argument(&program, __NR_mmap, 2, PROT_EXEC, 0, SECCOMP_RET_KILL_PROCESS);
  match_argument(&program, __NR_mprotect, 2, PROT_EXEC, 0, SECCOMP_RET_KILL_PROCESS);
  // The flags of clone3 are in memory, which a filter cannot read. After ENOSYS glibc uses clone.
  match(&program, __NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  match_argument(&program, __NR_clone, 0, CLONE_THREAD | CLONE_VM, 1, SECCOMP_RET_KILL_PROCESS);
  // Signals to this process only, and the priority of the calling thread only (PRIO_PROCESS of 0). Without the scope of
  // Landlock 6, a worker could otherwise end the daemon or lower its priority.
  unsigned own_process = (unsigned)getpid();
  match_values(&program, __NR_tgkill, 0, &own_process, 1, SECCOMP_RET_ERRNO | EPERM);
  match_zeros(&program, __NR_setpriority, SECCOMP_RET_ERRNO | EPERM);
  // F_SETOWN would send signals, too.
  static const unsigned commands[] = {F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL};
  match_values(&program, __NR_fcntl, 1, commands, sizeof commands / sizeof *commands, SECCOMP_RET_ERRNO | EPERM);
  // glibc reads limits when it creates a thread. Setting them is forbidden.
  match_argument(&program, __NR_prlimit64, 2, ~0u, 0, SECCOMP_RET_ERRNO | EPERM);
  finish(&program, SECCOMP_RET_KILL_PROCESS);
  if (program.count >= MAXIMUM_LENGTH) {
    errno = E2BIG;
    return -1;
  }
  struct sock_fprog filter = {program.count, program.code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

void sandbox_make_forbidden_call(void) { close(socket(AF_UNIX, SOCK_STREAM, 0)); }

// MARK: - Limits

static int limit(__rlimit_resource_t resource, uint64_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return -1;
  // A lower hard limit of the system stays.
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value) value = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = value;
  return setrlimit(resource, &limit);
}

int sandbox_limit_core(uint64_t bytes) { return limit(RLIMIT_CORE, bytes); }
int sandbox_limit_address_space(uint64_t bytes) { return limit(RLIMIT_AS, bytes); }
int sandbox_limit_data(uint64_t bytes) { return limit(RLIMIT_DATA, bytes); }
int sandbox_limit_open_files(uint64_t count) { return limit(RLIMIT_NOFILE, count); }
int sandbox_limit_file_size(uint64_t bytes) { return limit(RLIMIT_FSIZE, bytes); }

int sandbox_allow_processor_time(pid_t process, uint64_t seconds) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
  struct rlimit limit;
  if (prlimit(process, RLIMIT_CPU, NULL, &limit) != 0) return -1;
  limit.rlim_cur = (rlim_t)used.tv_sec + 1 + seconds;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  return prlimit(process, RLIMIT_CPU, &limit, NULL);
}

int sandbox_spawn_closing_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
