// Restrictions that a process puts on itself: no new privileges, Landlock, seccomp, resource limits. Linux system calls that glibc
// has no functions for, and a filter program that Swift cannot write. Restrictions hold for the calling thread and the threads and
// processes that it makes later: a process restricts itself before it makes threads.
#ifndef PLAYHEAD_CSANDBOX_H
#define PLAYHEAD_CSANDBOX_H

#include <sys/types.h>
#include <spawn.h>
#include <stdint.h>
#include <stddef.h>

/// Sets `no_new_privs` (prctl(2)): no program that is executed later gains privileges. 0, or -1 with `errno`.
int sandbox_set_no_new_privileges(void);

/// The version of Landlock's interface that the kernel has (landlock(7)); 0 where there is none.
int sandbox_landlock_version(void);

/// The access rights to files that a version of Landlock's interface has, as a mask (`LANDLOCK_ACCESS_FS_*`, linux/landlock.h).
uint64_t sandbox_landlock_rights(int version);

/// Creates a ruleset that forbids every access to files that the version can forbid, and signals to processes outside (from version 6
/// on). A descriptor, or -1 with `errno`.
int sandbox_landlock_create(int version);

/// Allows access rights to the file of a descriptor (`O_PATH`) and, for a folder, to everything below it. 0, or -1 with `errno`: `EBADFD`
/// for a file without a path, such as a pipe, which Landlock never restricts.
int sandbox_landlock_allow(int ruleset, int descriptor, uint64_t rights);

/// Restricts the calling thread to a ruleset, once `no_new_privs` is set. 0, or -1 with `errno`.
int sandbox_landlock_restrict(int ruleset);

/// Receives the path of a loaded object, or of the dynamic loader of the program.
typedef void (*sandbox_object_visitor)(const char *path, int is_loader, void *context);

/// Visits the absolute paths of all shared objects of the process, and the path of its dynamic loader.
void sandbox_visit_loaded_objects(sandbox_object_visitor visitor, void *context);

/// Forbids every access to file systems by path; also TCP ports (from version 4 on), and abstract sockets and signals to other
/// processes (from version 6 on). Open descriptors stay usable. 0, or -1 with `errno`.
int sandbox_landlock_forbid_all(void);

/// Installs the filter of a worker process: it may make the system calls of `sandbox_worker_call`, and threads, but no processes.
/// Calls that open or inspect a path fail with `EACCES`. Any other call, and making memory executable, kills the process with SIGSYS.
/// 0, or -1 with `errno`.
int sandbox_restrict_worker_calls(void);

/// The name of a system call that a worker may make, from 0 on; null after the last.
const char *sandbox_worker_call(int index);

/// Sets both limits of a resource (setrlimit(2)) of the calling process. 0, or -1 with `errno`.
int sandbox_limit_core(uint64_t bytes);
int sandbox_limit_address_space(uint64_t bytes);
int sandbox_limit_data(uint64_t bytes);
int sandbox_limit_open_files(uint64_t count);
int sandbox_limit_file_size(uint64_t bytes);

/// Lets another process of the same user use so many seconds of processor time from now on (prlimit(2)); then it gets SIGXCPU. 0, or -1 with
/// `errno`.
int sandbox_allow_processor_time(pid_t process, uint64_t seconds);

/// Has a spawned process close every descriptor from `first` on (posix_spawn_file_actions_addclosefrom_np(3), which Glibc shows to GNU programs
/// only). 0, or an error number.
int sandbox_spawn_closing_from(posix_spawn_file_actions_t *actions, int first);

/// Makes a system call that the filter of a worker forbids: for the test of that filter.
void sandbox_make_forbidden_call(void);

#endif
