// One function for each kind of tag, and one for each kind of file. They read the same as TagLib's file classes, but
// only tags: no search for the first audio frame, no seek tables, no padding.
#ifndef PLAYHEAD_READERS_HPP
#define PLAYHEAD_READERS_HPP

#include <taglib/flacpicture.h>
#include <taglib/tfile.h>

#include "BoundedStream.hpp"
#include "ItemSink.hpp"

namespace playhead {

/// A file that is used only for its bytes.
class PlainFile final : public TagLib::File {
 public:
  explicit PlainFile(TagLib::IOStream *stream) : TagLib::File(stream) {}
  TagLib::Tag *tag() const override { return nullptr; }
  TagLib::AudioProperties *audioProperties() const override { return nullptr; }
  bool save() override { return false; }

  /// Bytes from `offset` on; fewer at the end.
  TagLib::ByteVector bytes(long offset, unsigned long count) {
    seek(offset);
    return readBlock(count);
  }
};

/// Reads the ID3v2 tag at `offset`. Returns its size with header and footer; 0 if there is none.
long readID3v2(TagLib::File &file, long offset, ItemSink &sink);

/// Reads APEv2 and ID3v1 at the end of a file.
void readTail(PlainFile &file, ItemSink &sink);

/// Reads all consecutive ID3v2 tags from `offset` on.
void readID3v2Tags(TagLib::File &file, long offset, ItemSink &sink);

/// Reads a Vorbis comment: vendor, then entries (xiph.org, Vorbis I, 5).
void readVorbisComment(const TagLib::ByteVector &block, ItemSink &sink);

/// Sends artwork in FLAC's form.
void givePicture(const TagLib::FLAC::Picture &picture, ItemSink &sink);

/// Reads tags at the beginning and the end; with `isAPEFirst`, APEv2 precedes ID3v2.
void readEdges(BoundedStream &stream, bool isAPEFirst, ItemSink &sink);
void readFLAC(BoundedStream &stream, ItemSink &sink);
void readOgg(BoundedStream &stream, ItemSink &sink);
void readMP4(BoundedStream &stream, ItemSink &sink);
void readRIFF(BoundedStream &stream, bool isAIFF, ItemSink &sink);
void readASF(BoundedStream &stream, ItemSink &sink);
void readDSD(BoundedStream &stream, ItemSink &sink);

}  // namespace playhead

#endif
