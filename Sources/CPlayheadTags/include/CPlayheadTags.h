// Reads tags with TagLib: one function, its input and its output. All data is valid only during the call or callback
// that receives it.
#ifndef PLAYHEAD_CTAGS_H
#define PLAYHEAD_CTAGS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A source of bytes.
typedef struct tags_source {
  void *context;
  /// The number of bytes in the file.
  int64_t byte_count;
  /// Fills `buffer` from `offset` on. Returns the number of bytes, less than `count` only at the end of the file, or -1
  /// on failure.
  int64_t (*read)(void *context, int64_t offset, uint8_t *buffer, int64_t count);
} tags_source;

/// Where a file contains its tags.
typedef enum tags_container {
  /// ID3v2 at the beginning or the end, APEv2 and ID3v1 at the end, in this order of precedence: MP3, ADTS, True Audio.
  tags_container_edges,
  tags_container_flac,
  tags_container_ogg,
  tags_container_mp4,
  tags_container_wav,
  tags_container_aiff,
  tags_container_asf,
  /// The same tags as `tags_container_edges`, APEv2 first: Monkey's Audio, Musepack, WavPack, TAK, OptimFROG.
  tags_container_ape_edges,
  /// DSDIFF and DSF: ID3v2 in a chunk.
  tags_container_dsd,
} tags_container;

/// The kind of tag that an item is from.
typedef enum tags_space {
  tags_space_id3v2,
  tags_space_id3v1,
  tags_space_itunes,
  tags_space_vorbis,
  tags_space_ape,
  tags_space_riff,
  tags_space_asf,
  /// The boxes of 3GPP in MP4's user data.
  tags_space_user_data,
} tags_space;

typedef enum tags_kind {
  tags_kind_text,
  tags_kind_number,
  tags_kind_data,
  tags_kind_picture,
  /// Not an item: corrects the earlier item with index `number`. `text` replaces its text, and `description` its
  /// description, unless they are null. Sent when the encoding of the texts has been detected.
  tags_kind_correction,
  /// Not an item: `key` was ignored, for the reason `text`. `number` is 1 if a limit was the reason.
  tags_kind_warning,
} tags_kind;

/// Valid UTF-8; `bytes` is null if there is no text.
typedef struct tags_text {
  const char *bytes;
  int64_t count;
} tags_text;

/// One value of one key.
typedef struct tags_item {
  tags_space space;
  tags_kind kind;
  /// The key as in the tag; names of ID3v2.2 and 2.3 are converted to those of 2.4.
  tags_text key;
  tags_text text;
  /// For a user text, a comment, lyrics or an image.
  tags_text description;
  /// ISO 639-2, three letters, as in the tag.
  tags_text language;
  /// The owner of a rating, an identifier or private data.
  tags_text owner;
  /// As in the tag.
  tags_text media_type;
  const uint8_t *data;
  /// For an image or other data above the limit, only the first bytes.
  int64_t data_count;
  /// For an image or other data, its size in bytes.
  int64_t number;
  /// For a rating, the play count; otherwise -1.
  int64_t counter;
  /// The ID3v2 number of an image's type; -1 if the tag has none.
  int picture_type;
} tags_item;

typedef struct tags_sink {
  void *context;
  /// Called for each item, in the file's order.
  void (*take)(void *context, const tags_item *item);
} tags_sink;

/// Limits of one reading.
typedef struct tags_limits {
  /// Bytes that TagLib receives in total.
  int64_t byte_count;
  /// The number of reads by TagLib.
  int64_t read_count;
  /// Stack bytes that the parser may use.
  int64_t stack_byte_count;
  int64_t item_count;
  /// Bytes of an image, or of other data with one key.
  int64_t picture_byte_count;
  /// Bytes of the text frames of an ID3v2 tag together: TagLib allocates an object for each part of them.
  int64_t text_byte_count;
  /// Values with one key.
  int64_t value_count;
} tags_limits;

/// The result of a reading.
typedef enum tags_outcome {
  tags_outcome_complete,
  /// A limit was reached; the rest was not read.
  tags_outcome_limit,
  /// The source returned -1.
  tags_outcome_read_failed,
  tags_outcome_out_of_memory,
  /// TagLib threw another exception.
  tags_outcome_failed,
} tags_outcome;

/// Reads all tags of a file. Blocks. Any thread. Never throws.
///
/// `charset` is ICU's name of the encoding of texts without a declared encoding; null detects it.
tags_outcome tags_read(
    const tags_source *source, tags_container container, const char *charset, const tags_limits *limits,
    const tags_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
