// Waiting for descriptors and times: <sys/epoll.h> and <sys/timerfd.h> are not part of Swift's Glibc module.
#include "CPlayheadMediaShims.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

_Static_assert(MEDIA_SHIMS_POLL_IN == EPOLLIN && MEDIA_SHIMS_POLL_OUT == EPOLLOUT && MEDIA_SHIMS_POLL_ERROR == EPOLLERR &&
                   MEDIA_SHIMS_POLL_HANG_UP == EPOLLHUP,
               "what epoll_ctl(2) calls events");

int media_shims_poll_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int poll, int operation, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  return epoll_ctl(poll, operation, descriptor, &event);
}

int media_shims_poll_add(int poll, int descriptor, uint32_t events, uint64_t token) {
  return control(poll, EPOLL_CTL_ADD, descriptor, events, token);
}

int media_shims_poll_change(int poll, int descriptor, uint32_t events, uint64_t token) {
  return control(poll, EPOLL_CTL_MOD, descriptor, events, token);
}

int media_shims_poll_remove(int poll, int descriptor) { return control(poll, EPOLL_CTL_DEL, descriptor, 0, 0); }

int media_shims_poll_wait(int poll, struct media_shims_poll_event *events, int capacity, int milliseconds) {
  struct epoll_event found[64];
  const int most = capacity < 64 ? capacity : 64;
  const int count = epoll_wait(poll, found, most, milliseconds);
  for (int index = 0; index < count; index++) {
    events[index].token = found[index].data.u64;
    events[index].events = found[index].events;
  }
  return count < 0 && errno == EINTR ? 0 : count;
}

int media_shims_timer_open(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int media_shims_timer_set(int timer, int64_t nanoseconds) {
  // A time of 0 would disarm the timer.
  const int64_t time = nanoseconds > 0 ? nanoseconds : 1;
  const struct itimerspec value = {.it_value = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &value, NULL);
}

int media_shims_clock_changes_open(void) {
  const int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer < 0) return -1;
  // The latest time, which the clock never reaches. Only a change of the clock makes the descriptor readable.
  const struct itimerspec value = {.it_value = {.tv_sec = LONG_MAX}};
  // ECANCELED: the clock was changed between the two calls. The timer is armed (timerfd_create(2)).
  if (timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &value, NULL) == 0 || errno == ECANCELED) return timer;
  const int error = errno;
  close(timer);
  errno = error;
  return -1;
}

int media_shims_clock_changes_read(int descriptor) {
  uint64_t count;
  return read(descriptor, &count, sizeof count) < 0 && errno == ECANCELED;
}
