// System calls that would affect another process, for tests of the filter of system calls.
#ifndef PLAYHEAD_CSYSTEMCALLS_PROCESSCALLS_H
#define PLAYHEAD_CSYSTEMCALLS_PROCESSCALLS_H

/// The name of the call `index`, from 0 on; null after the last.
const char *process_call_name(int index);

/// Makes the call `index` on a process. The calls send no signal (signal number 0), but the priority of the process
/// becomes the lowest. Returns 0 if the call succeeded, otherwise the error number.
int process_call_make(int index, int process);

#endif
