// The parts of FFmpeg for LibAV (libavformat, libavcodec, libavutil, libswresample, libswscale), and shims for macros.
// The comment of each `shim_NAME` states its reason.
#ifndef PLAYHEAD_CFFMPEG_SHIM_H
#define PLAYHEAD_CFFMPEG_SHIM_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/vorbis_parser.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avutil.h>
#include <libavutil/base64.h>
#include <libavutil/channel_layout.h>
#include <libavutil/crc.h>
#include <libavutil/dict.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/// `AVERROR(e)` is a function-like macro.
static inline int shim_AVERROR(int error) { return AVERROR(error); }

/// `AVERROR_EOF` is built by a function-like macro.
static inline int shim_AVERROR_EOF(void) { return AVERROR_EOF; }

/// `AVERROR_EXIT` is built by a function-like macro.
static inline int shim_AVERROR_EXIT(void) { return AVERROR_EXIT; }

/// `AVERROR_INVALIDDATA` is built by a function-like macro.
static inline int shim_AVERROR_INVALIDDATA(void) { return AVERROR_INVALIDDATA; }

/// `AVERROR_DECODER_NOT_FOUND` is built by a function-like macro.
static inline int shim_AVERROR_DECODER_NOT_FOUND(void) { return AVERROR_DECODER_NOT_FOUND; }

/// `AVERROR_ENCODER_NOT_FOUND` is built by a function-like macro.
static inline int shim_AVERROR_ENCODER_NOT_FOUND(void) { return AVERROR_ENCODER_NOT_FOUND; }

/// `AVERROR_MUXER_NOT_FOUND` is built by a function-like macro.
static inline int shim_AVERROR_MUXER_NOT_FOUND(void) { return AVERROR_MUXER_NOT_FOUND; }

/// `AV_NOPTS_VALUE` is a cast inside a macro.
static inline int64_t shim_AV_NOPTS_VALUE(void) { return AV_NOPTS_VALUE; }

/// FFmpeg's open callback would let a media file name further files; this one opens nothing.
static inline int shim_refuse_io_open(AVFormatContext *context, AVIOContext **io, const char *url, int flags,
                                      AVDictionary **options) {
  (void)context, (void)url, (void)flags, (void)options;
  *io = 0;
  return AVERROR(EACCES);
}

/// Sets `io_open`. Swift imports its type (AVDictionary is opaque) in a form that no Swift function matches.
static inline void shim_refuse_further_files(AVFormatContext *context) { context->io_open = shim_refuse_io_open; }

/// The file that a muxer reads again, and the read position.
typedef struct shim_rereading {
  int descriptor;
  int64_t offset;
} shim_rereading;

/// The read callback of `shim_reread_io_open`.
static inline int shim_reread(void *opaque, uint8_t *buffer, int count) {
  shim_rereading *reading = opaque;
  ssize_t got;
  do got = pread(reading->descriptor, buffer, (size_t)count, (off_t)reading->offset);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return got < 0 ? AVERROR(errno) : AVERROR_EOF;
  reading->offset += got;
  return (int)got;
}

/// The seek callback of `shim_reread_io_open`.
static inline int64_t shim_reread_seek(void *opaque, int64_t offset, int whence) {
  if (whence != SEEK_SET) return AVERROR(ENOSYS);
  return ((shim_rereading *)opaque)->offset = offset;
}

/// The open callback of a muxer that moves its index to the front, and opens its file again for reading. Opens only the
/// descriptor in `context->opaque`, which is stored plus one.
static inline int shim_reread_io_open(AVFormatContext *context, AVIOContext **io, const char *url, int flags,
                                      AVDictionary **options) {
  (void)url, (void)options;
  *io = 0;
  if (flags != AVIO_FLAG_READ || context->opaque == 0) return AVERROR(EACCES);
  shim_rereading *reading = calloc(1, sizeof *reading);
  uint8_t *buffer = av_malloc(65536);
  if (reading && buffer) *io = avio_alloc_context(buffer, 65536, 0, reading, shim_reread, 0, shim_reread_seek);
  if (*io == 0) {
    free(reading);
    av_free(buffer);
    return AVERROR(ENOMEM);
  }
  reading->descriptor = (int)(intptr_t)context->opaque - 1;
  return 0;
}

/// Closes the context that `shim_reread_io_open` opened.
static inline int shim_reread_io_close(AVFormatContext *context, AVIOContext *io) {
  (void)context;
  free(io->opaque);
  av_free(io->buffer);
  avio_context_free(&io);
  return 0;
}

/// Allows a muxer to read only the file of `descriptor` again; -1: no file. See `shim_refuse_further_files`.
static inline void shim_allow_rereading(AVFormatContext *context, int descriptor) {
  context->opaque = (void *)(intptr_t)(descriptor + 1);
  context->io_open = shim_reread_io_open;
  context->io_close2 = shim_reread_io_close;
}

/// Installs a log callback with a `va_list`, which Swift cannot express; CPlayheadMediaShims provides it as a plain
/// pointer.
static inline void shim_av_log_set_callback(void (*callback)(void)) {
  av_log_set_callback((void (*)(void *, int, const char *, va_list))callback);
}

/// `av_log` is variadic: logs one finished message.
static inline void shim_av_log(void *item, int level, const char *message) { av_log(item, level, "%s", message); }

/// The layout's mask is in an anonymous C union; 0 when the channels have no native order.
static inline uint64_t shim_channel_layout_mask(const AVChannelLayout *layout) {
  return layout->order == AV_CHANNEL_ORDER_NATIVE ? layout->u.mask : 0;
}

/// Sets an unspecified order for `channel_count` channels: a compound value that contains a union.
static inline void shim_channel_layout_unspecified(AVChannelLayout *layout, int channel_count) {
  av_channel_layout_uninit(layout);
  layout->order = AV_CHANNEL_ORDER_UNSPEC;
  layout->nb_channels = channel_count;
}

/// `AV_CODEC_CAP_*`, `AV_DISPOSITION_*` and flags are untyped macros that Swift imports as Int32; this one is unsigned.
static inline int shim_stream_is_attached_picture(const AVStream *stream) {
  return (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

/// `avpriv_new_chapter` is not public; `av_dynarray_add_nofree` requires an untyped pointer to a pointer. The context
/// takes ownership of the chapter and of `metadata`.
static inline int shim_add_chapter(AVFormatContext *context, int64_t id, AVRational time_base, int64_t start, int64_t end,
                                   AVDictionary *metadata) {
  AVChapter *chapter = av_mallocz(sizeof *chapter);
  int count = (int)context->nb_chapters;
  int result = chapter ? av_dynarray_add_nofree(&context->chapters, &count, chapter) : AVERROR(ENOMEM);
  if (result < 0) {
    av_free(chapter);
    av_dict_free(&metadata);
    return result;
  }
  context->nb_chapters = (unsigned)count;
  chapter->id = id;
  chapter->time_base = time_base;
  chapter->start = start;
  chapter->end = end;
  chapter->metadata = metadata;
  return 0;
}

/// Scales a whole video frame. The planes of a frame are C arrays, which Swift imports as tuples.
static inline int shim_sws_scale(struct SwsContext *context, const AVFrame *from, AVFrame *to) {
  return sws_scale(context, (const uint8_t *const *)from->data, from->linesize, 0, from->height, to->data, to->linesize);
}

/// Copies the planes of a frame to one block of memory, one after another, without gaps.
static inline int shim_copy_picture_out(uint8_t *target, int byte_count, const AVFrame *frame, enum AVPixelFormat format) {
  return av_image_copy_to_buffer(target, byte_count, (const uint8_t *const *)frame->data, frame->linesize, format,
                                 frame->width, frame->height, 1);
}

/// Copies the planes from one block of memory to the frame's memory, which must be allocated.
static inline int shim_copy_picture_in(AVFrame *frame, const uint8_t *source) {
  uint8_t *planes[4];
  int strides[4];
  int result = av_image_fill_arrays(planes, strides, source, frame->format, frame->width, frame->height, 1);
  if (result < 0) return result;
  av_image_copy(frame->data, frame->linesize, (const uint8_t **)planes, strides, frame->format, frame->width,
                frame->height);
  return result;
}

#endif
