// FFmpeg's log: receives a va_list and outputs complete lines. No lock, no allocation; the only shared state is two
// atomics. It uses the declaration of AVClass and calls no function of FFmpeg, so nothing needs to be linked.
#include "CPlayheadMediaShims.h"

#include <libavutil/log.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LINE_CAPACITY = 1024, NAME_CAPACITY = 64 };

/// The line that this thread is assembling.
static _Thread_local struct {
  char text[LINE_CAPACITY];
  char class_name[NAME_CAPACITY];
  char item_name[NAME_CAPACITY];
  size_t length;
  int level;
  void *item;  // only compared, never dereferenced: it may no longer exist
} line;

static _Atomic(media_shims_log_sink) current_sink;
static _Atomic int current_highest_level = AV_LOG_QUIET;

void media_shims_set_log_sink(media_shims_log_sink sink, int highest_level) {
  atomic_store_explicit(&current_sink, sink, memory_order_release);
  atomic_store_explicit(&current_highest_level, highest_level, memory_order_release);
}

/// Outputs the line if it contains text, and begins an empty one.
static void finish_line(void) {
  media_shims_log_sink sink = atomic_load_explicit(&current_sink, memory_order_acquire);
  if (line.length > 0 && sink) sink(line.level, line.class_name, line.item_name, line.text);
  line.length = 0;
  line.text[0] = 0;
}

/// Begins a line and records the object that logs.
static void begin_line(void *item, int level) {
  const AVClass *class = item ? *(const AVClass **)item : NULL;
  const char *item_name = class && class->item_name ? class->item_name(item) : NULL;
  snprintf(line.class_name, NAME_CAPACITY, "%s", class && class->class_name ? class->class_name : "");
  snprintf(line.item_name, NAME_CAPACITY, "%s", item_name ? item_name : "");
  line.item = item;
  line.level = level;
}

static void log_callback(void *item, int level, const char *format, va_list arguments) {
  if (level >= 0) level &= 0xff;  // the upper bits are a colour
  if (level > atomic_load_explicit(&current_highest_level, memory_order_acquire)) return;
  if (line.length > 0 && (line.item != item || line.level != level)) finish_line();
  if (line.length == 0) begin_line(item, level);

  char piece[LINE_CAPACITY];
  if (vsnprintf(piece, sizeof piece, format, arguments) < 0) return;
  for (const char *byte = piece; *byte; byte++) {
    if (*byte == '\n' || *byte == '\r') {
      if (line.length > 0) {
        finish_line();
        begin_line(item, level);
      }
    } else if (line.length < LINE_CAPACITY - 1) {
      line.text[line.length++] = *byte;
      line.text[line.length] = 0;
    }
  }
}

media_shims_function media_shims_log_callback(void) { return (media_shims_function)log_callback; }
