// Restrictions that a process applies to itself: no new privileges, Landlock, seccomp, resource limits. These are
// system calls without glibc functions, and a filter program that Swift cannot express. Restrictions apply to the
// calling thread, and to the threads and processes that it creates later. So a process restricts itself before it
// creates threads.
#ifndef PLAYHEAD_CSANDBOX_H
#define PLAYHEAD_CSANDBOX_H

#include <sys/types.h>
#include <spawn.h>
#include <stdint.h>
#include <stddef.h>

/// Sets `no_new_privs` (prctl(2)): no program that is executed later gains privileges. Returns 0, or -1 with `errno`.
int sandbox_set_no_new_privileges(void);

/// The kernel's version of the Landlock interface (landlock(7)); 0 if the kernel has no Landlock.
int sandbox_landlock_version(void);

/// The file access rights of a version of the Landlock interface, as a mask (`LANDLOCK_ACCESS_FS_*`, linux/landlock.h).
uint64_t sandbox_landlock_rights(int version);

/// Creates a ruleset that forbids every file access that the version can forbid. From version 6 on, it also forbids
/// signals to processes outside. Returns a descriptor, or -1 with `errno`.
int sandbox_landlock_create(int version);

/// Allows access rights to the file of a descriptor (`O_PATH`) and, for a folder, to everything below it. Returns 0, or
/// -1 with `errno`. `EBADFD` is for a file without a path, such as a pipe, which Landlock never restricts.
int sandbox_landlock_allow(int ruleset, int descriptor, uint64_t rights);

/// Restricts the calling thread to a ruleset. `no_new_privs` must be set. Returns 0, or -1 with `errno`.
int sandbox_landlock_restrict(int ruleset);

/// Receives the path of a loaded object, or of the dynamic loader of the program.
typedef void (*sandbox_object_visitor)(const char *path, int is_loader, void *context);

/// Visits the absolute paths of all shared objects of the process, and the path of its dynamic loader.
void sandbox_visit_loaded_objects(sandbox_object_visitor visitor, void *context);

/// Forbids every file system access by path. Also forbids TCP ports (from version 4 on), and abstract sockets and
/// signals to other processes (from version 6 on). Open descriptors stay usable. Returns 0, or -1 with `errno`.
int sandbox_landlock_forbid_all(void);

/// Installs the filter of a worker process. It allows the system calls of `sandbox_worker_call`, and new threads, but
/// no new processes. Calls that open or inspect a path fail with `EACCES` (`sandbox_denied_path_call`). Other calls,
/// and executable memory, kill the process with SIGSYS. Returns 0, or -1 with `errno`.
int sandbox_restrict_worker_calls(void);

/// The name of the allowed system call `index` of a worker, from 0 on; null after the last.
const char *sandbox_worker_call(int index);

/// The name of the system call `index` that fails with `EACCES` in a worker, from 0 on; null after the last.
const char *sandbox_denied_path_call(int index);

/// Sets the soft and hard limits of a resource of the calling process (setrlimit(2)). Returns 0, or -1 with `errno`.
int sandbox_limit_core(uint64_t bytes);
int sandbox_limit_address_space(uint64_t bytes);
int sandbox_limit_data(uint64_t bytes);
int sandbox_limit_open_files(uint64_t count);
int sandbox_limit_file_size(uint64_t bytes);

/// Limits the additional processor time of another process of the same user to `seconds` (prlimit(2)). After that it
/// gets SIGXCPU. Returns 0, or -1 with `errno`.
int sandbox_allow_processor_time(pid_t process, uint64_t seconds);

/// Makes a spawned process close every descriptor from `first` on. glibc declares
/// posix_spawn_file_actions_addclosefrom_np(3) for GNU programs only. Returns 0, or an error number.
int sandbox_spawn_closing_from(posix_spawn_file_actions_t *actions, int first);

/// Makes a system call that the filter of a worker forbids, for the test of that filter.
void sandbox_make_forbidden_call(void);

#endif
