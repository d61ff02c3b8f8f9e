#include <taglib/apefooter.h>
#include <taglib/apeitem.h>
#include <taglib/id3v1tag.h>

#include "Readers.hpp"
#include "Text.hpp"

using namespace TagLib;

namespace playhead {

namespace {

constexpr long id3v1ByteCount = 128;
/// Of value, flags, a key of two letters and its end (APEv2 tag item).
constexpr unsigned int smallestAPEItemByteCount = 11;

void readID3v1(PlainFile &file, long offset, ItemSink &sink) {
  const ID3v1::Tag tag(&file, offset);
  const auto give = [&sink](const char *key, const std::string &text) {
    if (!text.empty()) sink.text(tags_space_id3v1, key, text);
  };
  give("title", utf8OrLatin1(tag.title()));
  give("artist", utf8OrLatin1(tag.artist()));
  give("album", utf8OrLatin1(tag.album()));
  if (tag.year() > 0) give("year", std::to_string(tag.year()));
  give("comment", utf8OrLatin1(tag.comment()));
  if (tag.track() > 0) sink.number(tags_space_id3v1, "track", tag.track());
  give("genre", utf8(tag.genre()));
}

void giveAPEItem(const APE::Item &item, ItemSink &sink) {
  const std::string key = utf8(item.key());
  if (item.type() == APE::Item::Text) {
    for (const String &value : item.values()) {
      const std::string text = utf8(value);
      if (text.empty()) sink.warning(tags_space_ape, key, "the text is empty, or not UTF-8");
      else sink.text(tags_space_ape, key, text);
    }
    return;
  }
  const ByteVector data = item.binaryData();
  if (item.type() == APE::Item::Locator) {
    sink.text(tags_space_ape, key, repairedUTF8(data.data(), data.size()));
    return;
  }
  if (item.key().upper().startsWith("COVER ART")) {
    // A file name, a zero, the picture.
    const int end = data.find('\0');
    const std::string name = end > 0 ? repairedUTF8(data.data(), static_cast<size_t>(end)) : std::string();
    Details details;
    details.description = &name;
    sink.picture(tags_space_ape, key, data.mid(end < 0 ? 0 : static_cast<unsigned int>(end) + 1), details);
  } else {
    sink.data(tags_space_ape, key, data);
  }
}

/// The items of an APEv2 tag, each parsed by TagLib; that walks them as its APE::Tag does, but within bounds.
void readAPEItems(const ByteVector &data, unsigned int count, ItemSink &sink) {
  unsigned int position = 0;
  for (unsigned int i = 0; i < count && data.size() - position >= smallestAPEItemByteCount; i++) {
    if (i >= sink.limits.item_count || sink.isFull()) {
      return sink.limit(tags_space_ape, "APEv2", "the tag has more than " + std::to_string(i) + " items");
    }
    const unsigned int valueSize = data.toUInt(position, false);
    const int end = data.find('\0', position + 8);
    if (end < 0 || valueSize > data.size() - static_cast<unsigned int>(end) - 1) {
      return sink.warning(tags_space_ape, "APEv2", "an item says that it has more bytes than the tag");
    }
    const unsigned int next = static_cast<unsigned int>(end) + 1 + valueSize;
    const ByteVector whole = data.mid(position, next - position);
    const ByteVector value = data.mid(static_cast<unsigned int>(end) + 1, valueSize);
    position = next;
    // TagLib makes an object of each part.
    int64_t parts = 1;
    const bool isText = (whole.toUInt(4U, false) >> 1 & 3) == APE::Item::Text;
    if (isText) {
      for (const char byte : value) parts += byte == '\0' ? 1 : 0;
    }
    if (parts > sink.limits.value_count) {
      sink.limit(tags_space_ape, "APEv2", "an item has " + std::to_string(parts) + " values");
      continue;
    }
    const std::string key(whole.data() + 8, static_cast<size_t>(whole.size() - 9 - valueSize));
    if (key.size() < 2 || key.size() > 255 || !isUTF8(key.data(), key.size())) {
      sink.warning(tags_space_ape, "APEv2", "an item has no proper key");
      continue;
    }
    if (isText && !isUTF8(value.data(), value.size())) {
      // TagLib would drop it.
      sink.text(tags_space_ape, key, repairedUTF8(value.data(), value.size()));
      continue;
    }
    APE::Item item;
    item.parse(whole);
    giveAPEItem(item, sink);
  }
}

/// The APEv2 tag whose footer begins at `offset`, if there is one.
void readAPE(PlainFile &file, long offset, ItemSink &sink) {
  if (offset < 0) return;
  const ByteVector bytes = file.bytes(offset, APE::Footer::size());
  if (bytes.size() < APE::Footer::size() || !bytes.startsWith(APE::Footer::fileIdentifier())) return;
  const APE::Footer footer(bytes);
  const long itemByteCount = static_cast<long>(footer.tagSize()) - static_cast<long>(APE::Footer::size());
  if (itemByteCount < 0 || itemByteCount > offset) {
    return sink.warning(tags_space_ape, "APEv2", "the tag says that it has " + std::to_string(footer.tagSize()) +
                                                     " bytes, which the file has not");
  }
  const ByteVector items = file.bytes(offset - itemByteCount, static_cast<unsigned long>(itemByteCount));
  readAPEItems(items, footer.itemCount(), sink);
}

}  // namespace

void readTail(PlainFile &file, ItemSink &sink) {
  const long last = file.length() - id3v1ByteCount;
  const bool hasID3v1 = last >= 0 && file.bytes(last, 3) == ID3v1::Tag::fileIdentifier();
  readAPE(file, (hasID3v1 ? last : file.length()) - static_cast<long>(APE::Footer::size()), sink);
  if (hasID3v1) readID3v1(file, last, sink);
}

void readEdges(BoundedStream &stream, ItemSink &sink) {
  PlainFile file(&stream);
  // Several tags may follow each other.
  long offset = 0;
  for (int i = 0; i < 8 && !sink.isFull(); i++) {
    const long size = readID3v2(file, offset, sink);
    if (size == 0) break;
    offset += size;
  }
  readTail(file, sink);
}

}  // namespace playhead
