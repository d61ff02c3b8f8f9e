// C code that Swift cannot express: the receiver of FFmpeg's log, which has a `va_list`; thread names; events;
// descriptors over sockets; the allocator and the pages of loaded code; checksums.
#ifndef PLAYHEAD_CMEDIASHIMS_H
#define PLAYHEAD_CMEDIASHIMS_H

#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/// Receives one complete line of FFmpeg's log. Called on the logging thread; the strings are valid until it returns.
/// `class_name` and `item_name` are never null; `message` has no line end and is valid UTF-8 only if FFmpeg's was.
typedef void (*media_shims_log_sink)(int level, const char *class_name, const char *item_name, const char *message);

/// Sets the receiver of lines and the highest AV_LOG level that it receives. Atomic; may be called at any time.
void media_shims_set_log_sink(media_shims_log_sink sink, int highest_level);

/// The function to install with `av_log_set_callback`, as a plain pointer, because its type contains a `va_list`.
///
/// FFmpeg logs lines in parts. They are joined per thread, so that threads share nothing. A line has at most 1,023
/// bytes; the rest is discarded.
typedef void (*media_shims_function)(void);
media_shims_function media_shims_log_callback(void);

/// Names the calling thread; at most 15 bytes. A GNU extension, which Swift does not import (pthread_setname_np(3)).
void media_shims_set_thread_name(const char *name);

/// `eventfd(2)`, close-on-exec, non-blocking: a new descriptor, or -1 with `errno`.
int media_shims_event_open(void);

/// Makes an event descriptor readable until it is cleared.
void media_shims_event_signal(int descriptor);

/// Makes an event descriptor unreadable.
void media_shims_event_clear(int descriptor);

/// The events of a descriptor, including those that are reported without a request (epoll_ctl(2)).
enum {
  MEDIA_SHIMS_POLL_IN = 0x001,
  MEDIA_SHIMS_POLL_OUT = 0x004,
  MEDIA_SHIMS_POLL_ERROR = 0x008,
  MEDIA_SHIMS_POLL_HANG_UP = 0x010,
};

/// The events of a descriptor, with the token that it was added with.
struct media_shims_poll_event {
  uint64_t token;
  uint32_t events;
};

/// `epoll_create1(2)`, close-on-exec: a new descriptor, or -1 with `errno`.
int media_shims_poll_open(void);

/// `epoll_ctl(2)`: 0, or -1 with `errno`. Level-triggered.
int media_shims_poll_add(int poll, int descriptor, uint32_t events, uint64_t token);
int media_shims_poll_change(int poll, int descriptor, uint32_t events, uint64_t token);
int media_shims_poll_remove(int poll, int descriptor);

/// `epoll_wait(2)`: the number of events that were written, at most 64; 0 after a signal; -1 with `errno`.
/// `milliseconds`: -1 waits indefinitely.
int media_shims_poll_wait(int poll, struct media_shims_poll_event *events, int capacity, int milliseconds);

/// `timerfd_create(2)` on CLOCK_MONOTONIC, close-on-exec, non-blocking: a new descriptor, or -1 with `errno`.
int media_shims_timer_open(void);

/// Makes a timer readable at a time of CLOCK_MONOTONIC, and unreadable before it; 0, or -1 with `errno`.
int media_shims_timer_set(int timer, int64_t nanoseconds);

/// `timerfd_create(2)` on CLOCK_REALTIME, close-on-exec, non-blocking: a descriptor that becomes readable when the
/// clock is set, or when the computer resumes from suspension (TFD_TIMER_CANCEL_ON_SET); -1 with `errno`.
int media_shims_clock_changes_open(void);

/// Makes a descriptor of `media_shims_clock_changes_open` unreadable until the next change. Returns 1 if the clock has
/// changed since the last call, else 0.
int media_shims_clock_changes_read(int descriptor);

/// Sends an open descriptor over a Unix socket, with one byte; 0, or -1 with `errno`.
int media_shims_send_descriptor(int socket, int descriptor);

/// The maximum number of descriptors in one message.
#define MEDIA_SHIMS_DESCRIPTOR_LIMIT 4

/// Sends one message over a Unix socket, with `descriptor_count` open descriptors; 0, or -1 with `errno`.
int media_shims_send_message(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Receives one message from a Unix socket, with its descriptors, close-on-exec. Blocks. Returns the size of the
/// message, whose bytes beyond `capacity` are lost; 0 when the peer has closed; -1 with `errno`.
///
/// `descriptors` has space for MEDIA_SHIMS_DESCRIPTOR_LIMIT; further ones are closed.
ssize_t media_shims_receive_message(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count);

/// Creates memory that processes can share: a descriptor of `byte_count` zero bytes, whose size cannot change
/// (memfd_create(2)); -1 with `errno`.
int media_shims_shared_memory(size_t byte_count);

/// Makes a spawned process close every descriptor from `first` on. glibc declares
/// posix_spawn_file_actions_addclosefrom_np(3) for GNU programs only. Returns 0, or an error number.
int media_shims_spawn_closing_from(posix_spawn_file_actions_t *actions, int first);

/// Receives the single descriptor of a pending message on a Unix socket, close-on-exec, without blocking. -1 with
/// `errno`: `EBADMSG` if the message has none, or more than one, which are closed; `EMFILE` if the process has no free
/// descriptor; `ENODATA` at the end of the connection.
int media_shims_receive_descriptor(int socket);

/// Accepts a connection from a non-blocking listening socket: close-on-exec and non-blocking; -1 with `errno`.
int media_shims_accept(int listener);

/// `openat2(2)`, for which glibc has no function. Magic links of /proc, which lead to open files of a process, are not
/// followed. `stays_beneath`: fails with `EXDEV` when a part of the path (`..`, a link) leads out of `folder`. -1 with
/// `errno`.
int media_shims_open_resolving(int folder, const char *path, int flags, unsigned mode, int stays_beneath);

/// `fstat(2)` as the system call of that name, which worker processes may make. Until version 2.39, glibc's function
/// makes `newfstatat`, whose path a system call filter cannot check. 0, or -1 with `errno`.
int media_shims_fstat(int descriptor, struct stat *status);

/// Gets the supplementary groups of the peer process of a Unix socket (`SO_PEERGROUPS`). Returns their number; -1 with
/// `errno` when they are unavailable or more than `capacity`.
int media_shims_peer_groups(int socket, unsigned *groups, int capacity);

/// Returns the bytes written to a socket that the peer has not read, including the kernel's overhead (`SIOCOUTQ`); -1
/// with `errno`.
int media_shims_unsent_bytes(int socket);

/// Configures `malloc` for a process that runs for a long time and must react quickly. Process-wide; once, before there
/// are threads.
///
/// - Each block of at least 256 KiB comes from the system, and returns to it when it is freed. By default blocks
///   that follow the first freed one come from heaps, which become fragmented (mallopt(3), M_MMAP_THRESHOLD). Each seek
///   allocates a ring of 2 MiB.
/// - Small freed blocks are merged with their neighbours at once (M_MXFAST). By default they are merged together later:
///   after a large queue was freed, in a pause of 8 ms.
void media_shims_configure_allocator(void);

/// Makes `malloc` sort the blocks that this thread has freed. Otherwise a later request sorts up to 10,000 blocks,
/// which takes longer than a millisecond. Call it after each part of a long release. Thread-safe.
void media_shims_sort_freed_memory(void);

/// Unmaps every page of code and constants, of the executable and of all libraries. Pages that are needed again are
/// mapped from the page cache on access. Pages that only startup needed stay unmapped: the dynamic linker's tables, the
/// constructors of FFmpeg's 150 libraries, the command line's parser.
///
/// Any thread, at any time. Takes less than a millisecond (madvise(2), MADV_DONTNEED of private file mappings that were
/// never written to).
void media_shims_unmap_code_of_start(void);

/// Folds the first part of `bytes` to 64 bytes with the same remainder by x^16 + x^15 + x^2 + 1; the first byte has the
/// highest powers. Returns the number of folded bytes; 0 when there are few, or the processor has no instruction for
/// it.
size_t media_shims_fold_crc16(const uint8_t *bytes, size_t count, uint8_t residue[64]);

#endif
