// The little C that Swift cannot say: the receiving end of FFmpeg's log, which comes as a `va_list`; thread names; events; descriptors over sockets;
// the allocator and the pages of loaded code.
#ifndef PLAYHEAD_CMEDIASHIMS_H
#define PLAYHEAD_CMEDIASHIMS_H

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

/// Sends an open descriptor over a Unix socket, with one byte; 0, or -1 with `errno`.
int media_shims_send_descriptor(int socket, int descriptor);

/// Takes what waits on a Unix socket, without blocking: the one descriptor that comes with it, closed on exec. -1 with `errno`:
/// `EBADMSG` when there is none with it, or more than one; those are closed.
int media_shims_receive_descriptor(int socket);

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

#endif
