// One function for each kind of tag, and one for each kind of file. They read what TagLib's own file classes would, but only tags:
// no search for the first frame of sound, no seek tables, no padding.
#ifndef PLAYHEAD_READERS_HPP
#define PLAYHEAD_READERS_HPP

#include <taglib/flacpicture.h>
#include <taglib/tfile.h>

#include "BoundedStream.hpp"
#include "ItemSink.hpp"

namespace playhead {

/// A file of which only bytes are asked.
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

/// The ID3v2 tag that begins at `offset`; answers its size with header and footer, 0 when there is none.
long readID3v2(TagLib::File &file, long offset, ItemSink &sink);

/// APEv2 and ID3v1 at the end of a file.
void readTail(PlainFile &file, ItemSink &sink);

/// All ID3v2 tags that follow each other from `offset` on.
void readID3v2Tags(TagLib::File &file, long offset, ItemSink &sink);

/// A Vorbis comment: vendor, then entries (xiph.org, Vorbis I, 5).
void readVorbisComment(const TagLib::ByteVector &block, ItemSink &sink);

/// A picture as FLAC has it.
void givePicture(const TagLib::FLAC::Picture &picture, ItemSink &sink);

/// Tags at the beginning and the end; `isAPEFirst` puts APEv2 before ID3v2.
void readEdges(BoundedStream &stream, bool isAPEFirst, ItemSink &sink);
void readFLAC(BoundedStream &stream, ItemSink &sink);
void readOgg(BoundedStream &stream, ItemSink &sink);
void readMP4(BoundedStream &stream, ItemSink &sink);
void readRIFF(BoundedStream &stream, bool isAIFF, ItemSink &sink);
void readASF(BoundedStream &stream, ItemSink &sink);
void readDSD(BoundedStream &stream, ItemSink &sink);

}  // namespace playhead

#endif
