// Makes every system call of Linux with a path, for tests of the filter of system calls. The calls are made without the
// functions of glibc, which use only some of them, and with arguments that would change or read a file.
#ifndef PLAYHEAD_CSYSTEMCALLS_PATHCALLS_H
#define PLAYHEAD_CSYSTEMCALLS_PATHCALLS_H

/// The name of the call `index`, from 0 on; null after the last. A call with several forms has one entry for each:
/// `newfstatat` and `newfstatat, AT_EMPTY_PATH`.
const char *path_call_name(int index);

/// Makes the call `index` with a path. Returns 0 if it succeeded, otherwise the error number.
int path_call_make(int index, const char *path);

/// Sends one byte over a socket, with the path as the address of the receiver (sendto(2)). Returns 1, or -1 with
/// `errno`.
int path_call_send(int socket, unsigned char byte, const char *path);

#endif
