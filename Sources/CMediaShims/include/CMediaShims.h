// The little C that Swift cannot say: the receiving end of FFmpeg's log, which comes as a `va_list`; thread names; events; descriptors over sockets;
// the allocator and the pages of loaded code; checksums.
#ifndef PLAYHEAD_CMEDIASHIMS_H
#define PLAYHEAD_CMEDIASHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Receives one finished line of FFmpeg's log. Called on whatever thread logged; the strings live until it returns.
/// `class_name` and `item_name` are never null, `message` has no line end and is valid UTF-8 only if FFmpeg's was.
typedef void (*media_shims_log_sink)(int level, const char *class_name, const char *item_name, const char *message);

/// Sets where lines go and the highest AV_LOG level that still goes there. Atomic; may be called at any time.
void media_shims_set_log_sink(media_shims_log_sink sink, int highest_level);

/// The function to install with `av_log_set_callback`, as a plain pointer: its type has a `va_list`.
///
/// FFmpeg logs lines in pieces; they are put together per thread, at most 1,023 bytes a line (the rest is cut), so
/// that nothing is shared between threads.
typedef void (*media_shims_function)(void);
media_shims_function media_shims_log_callback(void);

/// Names the calling thread; at most 15 bytes. A GNU extension, which Swift does not see (pthread_setname_np(3)).
void media_shims_set_thread_name(const char *name);

/// `eventfd(2)`, closed on exec, never blocking: a new descriptor, or -1 with `errno`.
int media_shims_event_open(void);

/// Makes an event descriptor readable until it is cleared.
void media_shims_event_signal(int descriptor);

/// Makes an event descriptor unreadable.
void media_shims_event_clear(int descriptor);

/// What can be waited for at a descriptor, and what is said unasked (epoll_ctl(2)).
enum {
  MEDIA_SHIMS_POLL_IN = 0x001,
  MEDIA_SHIMS_POLL_OUT = 0x004,
  MEDIA_SHIMS_POLL_ERROR = 0x008,
  MEDIA_SHIMS_POLL_HANG_UP = 0x010,
};

/// What has happened at a descriptor, by the token that it was added with.
struct media_shims_poll_event {
  uint64_t token;
  uint32_t events;
};

/// `epoll_create1(2)`, closed on exec: a new descriptor, or -1 with `errno`.
int media_shims_poll_open(void);

/// `epoll_ctl(2)`: 0, or -1 with `errno`. Level-triggered.
int media_shims_poll_add(int poll, int descriptor, uint32_t events, uint64_t token);
int media_shims_poll_change(int poll, int descriptor, uint32_t events, uint64_t token);
int media_shims_poll_remove(int poll, int descriptor);

/// `epoll_wait(2)`: how many events were written, at most 64; 0 when a signal came; -1 with `errno`. `milliseconds`: -1 waits for ever.
int media_shims_poll_wait(int poll, struct media_shims_poll_event *events, int capacity, int milliseconds);

/// `timerfd_create(2)` on CLOCK_MONOTONIC, closed on exec, never blocking: a new descriptor, or -1 with `errno`.
int media_shims_timer_open(void);

/// Makes a timer readable at a time of CLOCK_MONOTONIC, and until then unreadable; 0, or -1 with `errno`.
int media_shims_timer_set(int timer, int64_t nanoseconds);

/// Sends an open descriptor over a Unix socket, with one byte; 0, or -1 with `errno`.
int media_shims_send_descriptor(int socket, int descriptor);

/// The most descriptors that one message takes.
#define MEDIA_SHIMS_DESCRIPTOR_LIMIT 4

/// Sends one message over a Unix socket, with so many open descriptors; 0, or -1 with `errno`.
int media_shims_send_message(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Receives one message from a Unix socket, with the descriptors that come with it, closed on exec. Blocks. Returns the message's bytes, of which
/// those beyond `capacity` are lost; 0 when the other end is gone; -1 with `errno`.
///
/// `descriptors` has room for MEDIA_SHIMS_DESCRIPTOR_LIMIT; further ones are closed.
ssize_t media_shims_receive_message(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count);

/// Memory that processes can share: a descriptor of so many bytes, all 0, whose size cannot change (memfd_create(2)); -1 with `errno`.
int media_shims_shared_memory(size_t byte_count);

/// Takes what waits on a Unix socket, without blocking: the one descriptor that comes with it, closed on exec. -1 with `errno`:
/// `EBADMSG` when there is none with it, or more than one; those are closed.
int media_shims_receive_descriptor(int socket);

/// Takes a connection from a listening socket that does not block: closed on exec, and not blocking either; -1 with `errno`.
int media_shims_accept(int listener);

/// `openat2(2)`, which glibc has no function for: no link of /proc that leads to what a process has open is followed; `stays_beneath`: nothing
/// on the way, no `..`, no link, leads out of `folder`, or it fails with `EXDEV`. -1 with `errno`.
int media_shims_open_resolving(int folder, const char *path, int flags, unsigned mode, int stays_beneath);

/// The groups of the process at the other end of a Unix socket besides its own one (`SO_PEERGROUPS`): how many there are, -1 with `errno`
/// when they cannot be told or are more than `capacity`.
int media_shims_peer_groups(int socket, unsigned *groups, int capacity);

/// Bytes written to a socket that the other end has not read, with what the kernel needs for them (`SIOCOUTQ`); -1 with `errno`.
int media_shims_unsent_bytes(int socket);

/// Lets `malloc` take each block of 256 KiB or more from the system, and give it back when it is freed. Process-wide; once,
/// before there are threads.
///
/// Left to itself it does so only until the first such block is freed; from then on they are cut from heaps, which they leave
/// in pieces (mallopt(3), M_MMAP_THRESHOLD). Each seek makes a ring of 2 MiB.
void media_shims_map_large_blocks(void);

/// Unmaps every page of code and constants, of the executable and of all libraries. What is needed again is mapped again when it
/// is reached, from the page cache; what only starting needed (the dynamic linker's tables, the constructors of FFmpeg's 150
/// libraries, the command line's parser) stays away. From any thread, at any time; takes less than a millisecond (madvise(2),
/// MADV_DONTNEED of private file mappings that were never written to).
void media_shims_unmap_code_of_start(void);

/// Makes 64 bytes of the first of many whose remainder by x^16 + x^15 + x^2 + 1 is that of theirs, the first byte having the highest powers;
/// answers for how many they stand: 0 where there are few, or the processor has no instruction for it.
size_t media_shims_fold_crc16(const uint8_t *bytes, size_t count, uint8_t residue[64]);

#endif
