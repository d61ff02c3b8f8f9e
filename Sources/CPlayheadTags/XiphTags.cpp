#include <taglib/id3v2header.h>
#include <taglib/oggfile.h>
#include <taglib/xiphcomment.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "Readers.hpp"
#include "Text.hpp"

using namespace TagLib;

namespace playhead {

namespace {

/// Maximum number of bytes in which the name of a field is searched for.
constexpr unsigned int maximumKeyByteCount = 1 << 16;

/// The remaining values of a field.
struct Values {
  StringList::ConstIterator next, end;
  int64_t count = 0;
};

/// Maximum number of packets of an Ogg file that are searched for a comment. Headers of several streams may precede it.
constexpr unsigned int maximumHeaderPacketCount = 8;

class OggPackets final : public Ogg::File {
 public:
  explicit OggPackets(IOStream *stream) : Ogg::File(stream) {}
  Tag *tag() const override { return nullptr; }
  AudioProperties *audioProperties() const override { return nullptr; }
  bool save() override { return false; }
};

/// The comment in a header packet of Vorbis, Opus, Theora or FLAC in Ogg; with `isSpeex`, of Speex.
ByteVector comment(const ByteVector &packet, bool isSpeex) {
  if (packet.startsWith(ByteVector("\x03vorbis", 7)) || packet.startsWith(ByteVector("\x81theora", 7))) {
    return packet.mid(7);
  }
  if (packet.startsWith("OpusTags")) return packet.mid(8);
  // A metadata block, with its header.
  if (packet.size() > 4 && (packet[0] & 0x7F) == 4) return packet.mid(4);
  return isSpeex ? packet : ByteVector();
}

/// The comment with its actual number of entries, in valid UTF-8, because TagLib drops other entries. Adds the name of
/// each entry to `names`, in TagLib's form.
ByteVector repaired(const ByteVector &block, std::vector<String> &names, ItemSink &sink) {
  const auto number = [&block](unsigned int position) { return block.toUInt(position, false); };
  ByteVector entries;
  unsigned int entryCount = 0;
  if (block.size() < 8 || number(0) > block.size() - 8) {
    sink.warning(tags_space_vorbis, "comment", "the comment is cut off");
    return ByteVector(8, '\0');
  }
  unsigned int position = 4 + number(0);
  const unsigned int claimed = number(position);
  position += 4;
  for (; entryCount < claimed; entryCount++) {
    if (entryCount >= sink.limits.item_count) {
      sink.limit(tags_space_vorbis, "comment", "there are more than " + std::to_string(entryCount) + " entries");
      break;
    }
    if (block.size() - position < 4 || number(position) > block.size() - position - 4) {
      sink.warning(tags_space_vorbis, "comment", "the stated size of an entry exceeds the tag");
      break;
    }
    const unsigned int size = number(position);
    const char *bytes = block.data() + position + 4;
    position += 4 + size;
    const char *equals = static_cast<const char *>(std::memchr(bytes, '=', std::min(size, maximumKeyByteCount)));
    const std::string name(bytes, equals ? static_cast<size_t>(equals - bytes) : 0);
    names.push_back(String(name, String::UTF8).upper());
    if (isUTF8(bytes, size)) {
      entries.append(ByteVector::fromUInt(size, false));
      entries.append(ByteVector(bytes, size));
    } else {
      const std::string text = repairedUTF8(bytes, size);
      entries.append(ByteVector::fromUInt(static_cast<unsigned int>(text.size()), false));
      entries.append(ByteVector(text.data(), static_cast<unsigned int>(text.size())));
      sink.warning(tags_space_vorbis, repairedUTF8(name.data(), name.size()), "the text was not UTF-8");
    }
  }
  ByteVector result(4, '\0');
  result.append(ByteVector::fromUInt(entryCount, false));
  result.append(entries);
  return result;
}

/// The size of the comment at `position` by its own counts; 0 if they exceed the file.
unsigned int commentByteCount(PlainFile &file, long position, ItemSink &sink) {
  const auto number = [&file](long offset) -> int64_t {
    const ByteVector bytes = file.bytes(offset, 4);
    return bytes.size() == 4 ? static_cast<int64_t>(bytes.toUInt(0U, false)) : -1;
  };
  const int64_t vendorByteCount = number(position);
  if (vendorByteCount < 0 || vendorByteCount > file.length()) return 0;
  int64_t end = position + 4 + vendorByteCount;
  const int64_t entryCount = number(static_cast<long>(end));
  end += 4;
  if (entryCount < 0 || entryCount > sink.limits.item_count) return 0;
  for (int64_t i = 0; i < entryCount; i++) {
    const int64_t byteCount = number(static_cast<long>(end));
    if (byteCount < 0 || byteCount > file.length() - end - 4) return 0;
    end += 4 + byteCount;
  }
  return end > file.length() ? 0 : static_cast<unsigned int>(end - position);
}

}  // namespace

void givePicture(const FLAC::Picture &picture, ItemSink &sink) {
  const std::string description = utf8(picture.description());
  const std::string mediaType = utf8(picture.mimeType());
  Details details;
  details.description = &description;
  details.mediaType = &mediaType;
  details.pictureType = static_cast<int>(picture.type());
  sink.picture(tags_space_vorbis, "METADATA_BLOCK_PICTURE", picture.data(), details);
}

void readVorbisComment(const ByteVector &block, ItemSink &sink) {
  std::vector<String> names;
  Ogg::XiphComment comment(repaired(block, names, sink));
  std::map<String, Values> rest;
  for (const auto &field : comment.fieldListMap()) rest[field.first] = {field.second.begin(), field.second.end()};
  // TagLib has the fields by name, and the values of each field in the file's order.
  for (const String &name : names) {
    const auto found = rest.find(name);
    if (found == rest.end() || found->second.next == found->second.end) continue;
    Values &values = found->second;
    const String &value = *values.next++;
    if (++values.count <= sink.limits.value_count) {
      sink.text(tags_space_vorbis, utf8(name), utf8(value));
    } else if (values.count == sink.limits.value_count + 1) {
      sink.limit(tags_space_vorbis, utf8(name), "there are more than " + std::to_string(values.count - 1) + " values");
    }
  }
  for (const FLAC::Picture *picture : comment.pictureList()) givePicture(*picture, sink);
}

void readFLAC(BoundedStream &stream, ItemSink &sink) {
  PlainFile file(&stream);
  // FLAC's native tag takes precedence over an ID3v2 tag before it.
  long position = 0;
  const ByteVector head = file.bytes(0, ID3v2::Header::size());
  const bool hasID3v2 = head.size() == ID3v2::Header::size() && head.startsWith(ID3v2::Header::fileIdentifier());
  if (hasID3v2) position = static_cast<long>(ID3v2::Header(head).completeTagSize());
  const bool isFLAC = file.bytes(position, 4) == "fLaC";
  position += 4;
  bool hasComment = false, isLast = !isFLAC;
  // Blocks of metadata: a byte with the kind, three with the size (RFC 9639, 8.1).
  while (!isLast && !sink.isFull()) {
    const ByteVector header = file.bytes(position, 4);
    if (header.size() < 4) break;
    const int kind = header[0] & 0x7F;
    unsigned int size = header.toUInt(1U, 3U);
    // Some programs write a comment and a smaller size of its block. Decoders read such a file by the comment's own
    // counts.
    if (kind == 4 && !hasComment) size = std::max(size, commentByteCount(file, position + 4, sink));
    isLast = (header[0] & 0x80) != 0;
    if ((kind == 4 && !hasComment) || kind == 6) {
      const ByteVector block = file.bytes(position + 4, size);
      if (block.size() < size) {
        sink.warning(tags_space_vorbis, kind == 4 ? "comment" : "METADATA_BLOCK_PICTURE",
                     "the block states a size of " + std::to_string(size) + " bytes; the file is shorter");
      }
      if (kind == 4) {
        hasComment = true;
        readVorbisComment(block, sink);
      } else {
        FLAC::Picture picture;
        if (picture.parse(block)) givePicture(picture, sink);
        else sink.warning(tags_space_vorbis, "METADATA_BLOCK_PICTURE", "the image is damaged");
      }
    }
    position += 4 + static_cast<long>(size);
  }
  if (hasID3v2) readID3v2(file, 0, sink);
  readTail(file, sink);
}

void readOgg(BoundedStream &stream, ItemSink &sink) {
  OggPackets file(&stream);
  bool isSpeex = false;
  for (unsigned int i = 0; i < maximumHeaderPacketCount; i++) {
    const ByteVector packet = file.packet(i);
    if (packet.isEmpty()) return;
    const ByteVector block = comment(packet, isSpeex && i == 1);
    if (!block.isEmpty()) return readVorbisComment(block, sink);
    isSpeex = isSpeex || packet.startsWith("Speex   ");
  }
}

}  // namespace playhead
