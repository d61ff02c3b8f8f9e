// What Tags and the reader over TagLib (TagLibShim) say to each other: one function, its input and what it gives back.
//
// The function is not linked against: `playhead_tags_read` lies in libPlayheadTags.so, which Tags loads when the first tag is
// read. Nothing here outlives the call or callback that it is given to.
#ifndef PLAYHEAD_CTAGS_SHIM_H
#define PLAYHEAD_CTAGS_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where the bytes come from.
typedef struct tags_source {
  void *context;
  /// Bytes in the file.
  int64_t byte_count;
  /// Fills `buffer` from `offset` on; answers how many bytes, fewer than `count` only at the end, or -1 when it cannot.
  int64_t (*read)(void *context, int64_t offset, uint8_t *buffer, int64_t count);
} tags_source;

/// Where in a file tags are looked for.
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
  /// Not an item: `number` is that of an earlier item, from 0; `text` replaces its text, and `description` its description, where
  /// they are not null. Comes when the encoding of the texts has been found.
  tags_kind_correction,
  /// Not an item: `key` is what was ignored, `text` says why, `number` is 1 when a bound was the reason.
  tags_kind_warning,
} tags_kind;

/// Valid UTF-8; `bytes` is null when there is no such text.
typedef struct tags_text {
  const char *bytes;
  int64_t count;
} tags_text;

/// One value of one key.
typedef struct tags_item {
  tags_space space;
  tags_kind kind;
  /// The key as the tag has it; ID3v2.2 and 2.3 names are those of 2.4.
  tags_text key;
  tags_text text;
  /// Of a user text, a comment, lyrics or a picture.
  tags_text description;
  /// ISO 639-2, three letters, as the tag has it.
  tags_text language;
  /// Who set a rating, an identifier or private data.
  tags_text owner;
  /// As the tag has it.
  tags_text media_type;
  const uint8_t *data;
  /// Of a picture or other data that is larger than allowed these are its first bytes only.
  int64_t data_count;
  /// Of a picture or other data: how many bytes it has.
  int64_t number;
  /// Of a rating: how often played. Else -1.
  int64_t counter;
  /// ID3v2's number of a picture's role; -1 when the tag does not say.
  int picture_type;
} tags_item;

typedef struct tags_sink {
  void *context;
  /// Called for each item, in the file's order.
  void (*take)(void *context, const tags_item *item);
} tags_sink;

/// Bounds on one reading.
typedef struct tags_limits {
  /// Bytes given to TagLib in all.
  int64_t byte_count;
  /// Pieces in which TagLib may ask for them.
  int64_t read_count;
  /// Bytes of the stack that parsing may use.
  int64_t stack_byte_count;
  int64_t item_count;
  /// Bytes of a picture, or of other data under one key.
  int64_t picture_byte_count;
  /// Bytes of ID3v2's text frames together: TagLib makes an object of each of their parts.
  int64_t text_byte_count;
  /// Values of one key.
  int64_t value_count;
} tags_limits;

/// How a reading ended.
typedef enum tags_outcome {
  tags_outcome_complete,
  /// A bound was reached: what is behind it was not read.
  tags_outcome_limit,
  /// The source said -1.
  tags_outcome_read_failed,
  tags_outcome_out_of_memory,
  /// TagLib threw something else.
  tags_outcome_failed,
} tags_outcome;

/// Reads all tags of a file. Blocks; any thread. Never throws.
///
/// `charset` is ICU's name of the encoding of texts of which the tag does not say it, or null: it is detected.
typedef tags_outcome (*tags_read_function)(
    const tags_source *source, tags_container container, const char *charset, const tags_limits *limits,
    const tags_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
