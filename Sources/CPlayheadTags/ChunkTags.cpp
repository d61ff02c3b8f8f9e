#include <taglib/asffile.h>
#include <taglib/asfpicture.h>
#include <taglib/rifffile.h>

#include "Readers.hpp"
#include "Text.hpp"

using namespace TagLib;

namespace playhead {

namespace {

/// Maximum size in bytes of a text chunk.
constexpr unsigned int maximumTextChunkByteCount = 1 << 20;

/// The chunks of a RIFF or AIFF file.
class Chunks final : public RIFF::File {
 public:
  Chunks(IOStream *stream, bool isAIFF) : RIFF::File(stream, isAIFF ? BigEndian : LittleEndian) {}
  Tag *tag() const override { return nullptr; }
  AudioProperties *audioProperties() const override { return nullptr; }
  bool save() override { return false; }

  void read(bool isAIFF, ItemSink &sink) {
    // ID3v2 takes precedence: its texts have no length limit and a declared encoding.
    for (unsigned int i = 0; i < chunkCount() && !sink.isFull(); i++) {
      const ByteVector name = chunkName(i);
      if (name == "ID3 " || name == "id3 ") readID3v2(*this, static_cast<long>(chunkOffset(i)), sink);
    }
    for (unsigned int i = 0; i < chunkCount() && !sink.isFull(); i++) {
      const ByteVector name = chunkName(i);
      if (!isAIFF && name == "LIST") {
        readList(i, sink);
      } else if (isAIFF && (name == "NAME" || name == "AUTH" || name == "(c) " || name == "ANNO")) {
        if (!isSmall(i, sink)) continue;
        const String text(beforeZero(chunkData(i)), String::Latin1);
        if (!text.isEmpty()) sink.legacyText(tags_space_riff, std::string(name.data(), 4), text);
      }
    }
  }

 private:
  bool isSmall(unsigned int i, ItemSink &sink) {
    if (chunkDataSize(i) <= maximumTextChunkByteCount) return true;
    const ByteVector name = chunkName(i);
    sink.limit(tags_space_riff, repairedUTF8(name.data(), name.size()),
                 "the chunk has " + std::to_string(chunkDataSize(i)) + " bytes");
    return false;
  }

  /// The text in a chunk or field that may be padded with zeros.
  static ByteVector beforeZero(const ByteVector &bytes) {
    const int end = bytes.find('\0');
    return end < 0 ? bytes : bytes.mid(0, static_cast<unsigned int>(end));
  }

  void readList(unsigned int i, ItemSink &sink) {
    seek(static_cast<long>(chunkOffset(i)));
    if (readBlock(4) != "INFO" || !isSmall(i, sink)) return;
    // TagLib's Info::Tag keeps only the last value of each key, and drops invalid UTF-8.
    const ByteVector data = chunkData(i);
    for (unsigned int position = 4; data.size() >= 8 && position <= data.size() - 8;) {
      const unsigned int size = data.toUInt(position + 4, false);
      const std::string key = repairedUTF8(data.data() + position, 4);
      if (size > data.size() - position - 8) {
        return sink.warning(tags_space_riff, key, "the stated size of the text exceeds the list");
      }
      const String text(beforeZero(data.mid(position + 8, size)), String::Latin1);
      if (text.isEmpty()) sink.warning(tags_space_riff, key, "the text is empty");
      else sink.legacyText(tags_space_riff, key, text);
      // Values are padded to an even size.
      position += 8 + size;
      if (size % 2 == 1) position++;
    }
  }
};

void giveAttribute(const std::string &key, const ASF::Attribute &attribute, ItemSink &sink) {
  switch (attribute.type()) {
    case ASF::Attribute::UnicodeType: return sink.text(tags_space_asf, key, utf8(attribute.toString()));
    case ASF::Attribute::BytesType: {
      const ASF::Picture picture = key == "WM/Picture" ? attribute.toPicture() : ASF::Picture::fromInvalid();
      if (!picture.isValid()) return sink.data(tags_space_asf, key, attribute.toByteVector());
      const std::string description = utf8(picture.description());
      const std::string mediaType = utf8(picture.mimeType());
      Details details;
      details.description = &description;
      details.mediaType = &mediaType;
      details.pictureType = static_cast<int>(picture.type());
      return sink.picture(tags_space_asf, key, picture.picture(), details);
    }
    case ASF::Attribute::BoolType: return sink.number(tags_space_asf, key, attribute.toBool() ? 1 : 0);
    case ASF::Attribute::DWordType: return sink.number(tags_space_asf, key, attribute.toUInt());
    case ASF::Attribute::QWordType:
      return sink.number(tags_space_asf, key, static_cast<int64_t>(attribute.toULongLong()));
    case ASF::Attribute::WordType: return sink.number(tags_space_asf, key, attribute.toUShort());
    case ASF::Attribute::GuidType: return sink.data(tags_space_asf, key, attribute.toByteVector());
  }
}

}  // namespace

void readRIFF(BoundedStream &stream, bool isAIFF, ItemSink &sink) {
  Chunks file(&stream, isAIFF);
  file.read(isAIFF, sink);
}

void readDSD(BoundedStream &stream, ItemSink &sink) {
  PlainFile file(&stream);
  const ByteVector head = file.bytes(0, 28);
  if (head.size() == 28 && head.startsWith("DSD ")) {
    // DSF: the header has the position of the tag (DSF file format specification, 1.01).
    const uint64_t position = static_cast<uint64_t>(head.toLongLong(20U, false));
    if (position > 0 && position < static_cast<uint64_t>(file.length())) {
      readID3v2(file, static_cast<long>(position), sink);
    }
    return;
  }
  if (!head.startsWith("FRM8")) return;
  // DSDIFF: chunks with a name and a size of eight bytes, padded to an even size (DSDIFF 1.5, 2.3).
  long position = 16;
  for (int64_t i = 0; i < sink.limits.item_count && !sink.isFull(); i++) {
    const ByteVector chunk = file.bytes(position, 12);
    if (chunk.size() < 12) return;
    const uint64_t size = static_cast<uint64_t>(chunk.toLongLong(4U));
    if (chunk.startsWith("ID3 ")) readID3v2(file, position + 12, sink);
    if (size > static_cast<uint64_t>(file.length() - position)) return;
    position += 12 + static_cast<long>(size + size % 2);
  }
}

void readASF(BoundedStream &stream, ItemSink &sink) {
  ASF::File file(&stream, false);
  const ASF::Tag *tag = file.tag();
  if (!tag) return;
  const auto give = [&sink](const char *key, const String &text) {
    if (!text.isEmpty()) sink.text(tags_space_asf, key, utf8(text));
  };
  give("Title", tag->title());
  give("Author", tag->artist());
  give("Copyright", tag->copyright());
  give("Description", tag->comment());
  give("Rating", tag->rating());
  for (const auto &entry : tag->attributeListMap()) {
    const std::string key = utf8(entry.first);
    if (key.empty()) {
      sink.warning(tags_space_asf, "ASF", "an attribute has no name, or is after the end");
      continue;
    }
    int64_t count = 0;
    for (const ASF::Attribute &attribute : entry.second) {
      if (++count > sink.limits.value_count) {
        sink.limit(tags_space_asf, key, "there are more than " + std::to_string(count - 1) + " values");
        break;
      }
      giveAttribute(key, attribute, sink);
    }
  }
}

}  // namespace playhead
