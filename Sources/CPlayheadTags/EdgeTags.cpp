#include <taglib/apefooter.h>
#include <taglib/apeitem.h>
#include <taglib/id3v1tag.h>
#include <taglib/id3v2header.h>
#include <taglib/id3v2synchdata.h>

#include <algorithm>

#include "Readers.hpp"
#include "Text.hpp"

using namespace TagLib;

namespace playhead {

namespace {

constexpr long id3v1ByteCount = 128;
/// Bytes at the beginning and the end of a file in which an ID3v2 tag is searched for.
constexpr unsigned long id3v2SearchByteCount = 1 << 16;
/// Maximum number of consecutive tags.
constexpr int maximumID3v2TagCount = 8;
/// Size, flags, a key of two letters and its terminator (APEv2 tag item).
constexpr unsigned int smallestAPEItemByteCount = 11;

void readID3v1(PlainFile &file, long offset, ItemSink &sink) {
  const ID3v1::Tag tag(&file, offset);
  const auto give = [&sink](const char *key, const String &text) {
    if (!utf8(text).empty()) sink.legacyText(tags_space_id3v1, key, text);
  };
  give("title", tag.title());
  give("artist", tag.artist());
  give("album", tag.album());
  if (tag.year() > 0) give("year", String::number(static_cast<int>(tag.year())));
  give("comment", tag.comment());
  if (tag.track() > 0) sink.number(tags_space_id3v1, "track", tag.track());
  give("genre", tag.genre());
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
    // A file name, a zero, the image.
    const int end = data.find('\0');
    const std::string name = end > 0 ? repairedUTF8(data.data(), static_cast<size_t>(end)) : std::string();
    Details details;
    details.description = &name;
    sink.picture(tags_space_ape, key, data.mid(end < 0 ? 0 : static_cast<unsigned int>(end) + 1), details);
  } else {
    sink.data(tags_space_ape, key, data);
  }
}

/// Reads the items of an APEv2 tag. TagLib parses each item; the iteration matches APE::Tag, with limits.
void readAPEItems(const ByteVector &data, unsigned int count, ItemSink &sink) {
  unsigned int position = 0;
  for (unsigned int i = 0; i < count && data.size() - position >= smallestAPEItemByteCount; i++) {
    if (i >= sink.limits.item_count || sink.isFull()) {
      return sink.limit(tags_space_ape, "APEv2", "the tag has more than " + std::to_string(i) + " items");
    }
    const unsigned int valueSize = data.toUInt(position, false);
    const int end = data.find('\0', position + 8);
    if (end < 0 || valueSize > data.size() - static_cast<unsigned int>(end) - 1) {
      return sink.warning(tags_space_ape, "APEv2", "the stated size of an item exceeds the tag");
    }
    const unsigned int next = static_cast<unsigned int>(end) + 1 + valueSize;
    const ByteVector whole = data.mid(position, next - position);
    const ByteVector value = data.mid(static_cast<unsigned int>(end) + 1, valueSize);
    position = next;
    // TagLib allocates an object for each part.
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
      // TagLib would drop the text.
      sink.text(tags_space_ape, key, repairedUTF8(value.data(), value.size()));
      continue;
    }
    APE::Item item;
    item.parse(whole);
    giveAPEItem(item, sink);
  }
}

/// Reads the APEv2 tag with its header or footer at `offset`. Returns the start of the tag; -1 if there is none.
long readAPE(PlainFile &file, long offset, ItemSink &sink) {
  if (offset < 0) return -1;
  const ByteVector bytes = file.bytes(offset, APE::Footer::size());
  if (bytes.size() < APE::Footer::size() || !bytes.startsWith(APE::Footer::fileIdentifier())) return -1;
  const APE::Footer footer(bytes);
  const long itemByteCount = static_cast<long>(footer.tagSize()) - static_cast<long>(APE::Footer::size());
  const long begin = footer.isHeader() ? offset + static_cast<long>(APE::Footer::size()) : offset - itemByteCount;
  if (itemByteCount < 0 || begin < 0 || itemByteCount > file.length() - begin) {
    sink.warning(tags_space_ape, "APEv2", "the tag states a size of " + std::to_string(footer.tagSize()) +
                                              " bytes; the file is shorter");
    return -1;
  }
  const ByteVector items = file.bytes(begin, static_cast<unsigned long>(itemByteCount));
  readAPEItems(items, footer.itemCount(), sink);
  return begin - (!footer.isHeader() && footer.headerPresent() ? static_cast<long>(APE::Footer::size()) : 0);
}

/// The start of the Lyrics3v2 lyrics that end at `end`; `end` if there are none (id3.org, Lyrics3v2).
long beginOfLyrics3(PlainFile &file, long end) {
  const long tailByteCount = 15;
  if (end < tailByteCount) return end;
  const ByteVector tail = file.bytes(end - tailByteCount, tailByteCount);
  if (tail.size() < tailByteCount || tail.mid(6) != "LYRICS200") return end;
  long byteCount = 0;
  for (int i = 0; i < 6; i++) {
    if (tail[i] < '0' || tail[i] > '9') return end;
    byteCount = byteCount * 10 + (tail[i] - '0');
  }
  return byteCount + tailByteCount > end ? end : end - tailByteCount - byteCount;
}

/// Whether these bytes begin a plausible ID3v2 tag: a known version, a 28-bit size, a frame name.
bool isID3v2(const ByteVector &bytes, unsigned int position) {
  if (bytes.size() < position + 13 || bytes.mid(position, 3) != "ID3") return false;
  const ByteVector head = bytes.mid(position, 13);
  if (head[3] < 2 || head[3] > 4 || head[4] == '\xFF') return false;
  for (int i = 6; i < 10; i++) {
    if ((head[i] & 0x80) != 0) return false;
  }
  // An extended header precedes the frames.
  if ((head[5] & 0x40) != 0) return true;
  for (int i = 10; i < 13; i++) {
    if (!((head[i] >= 'A' && head[i] <= 'Z') || (head[i] >= '0' && head[i] <= '9'))) return false;
  }
  return true;
}

/// The start of the first ID3v2 tag in the first bytes of the file, possibly after other data; -1 if there is none.
long findFirstID3v2(PlainFile &file) {
  if (file.bytes(0, 3) == "ID3") return 0;
  const ByteVector bytes = file.bytes(0, id3v2SearchByteCount);
  for (int i = bytes.find("ID3"); i >= 0; i = bytes.find("ID3", static_cast<unsigned int>(i) + 1)) {
    if (isID3v2(bytes, static_cast<unsigned int>(i))) return i;
  }
  return -1;
}

/// The start of the ID3v2 tag that ends at `end`; -1 if there is none. A footer normally marks such a tag (ID3v2.4,
/// 3.4), but some programs write none.
long findLastID3v2(PlainFile &file, long end) {
  const long footerByteCount = 10;
  if (end < 2 * footerByteCount) return -1;
  const ByteVector footer = file.bytes(end - footerByteCount, footerByteCount);
  if (footer.size() == footerByteCount && footer.startsWith("3DI")) {
    const long size = static_cast<long>(ID3v2::SynchData::toUInt(footer.mid(6, 4)));
    const long begin = end - size - 2 * footerByteCount;
    return begin >= 0 && file.bytes(begin, 3) == "ID3" ? begin : -1;
  }
  const long first = std::max(0L, end - static_cast<long>(id3v2SearchByteCount));
  const ByteVector bytes = file.bytes(first, static_cast<unsigned long>(end - first));
  for (int i = bytes.find("ID3"); i >= 0; i = bytes.find("ID3", static_cast<unsigned int>(i) + 1)) {
    const unsigned int position = static_cast<unsigned int>(i);
    if (isID3v2(bytes, position) &&
        first + i + static_cast<long>(ID3v2::Header(bytes.mid(position, 10)).completeTagSize()) == end) {
      return first + i;
    }
  }
  return -1;
}

/// The tags at the end of a file, in file order: ID3v2, APEv2, Lyrics3v2, ID3v1.
class Tail {
 public:
  Tail(PlainFile &file, ItemSink &sink) : file(file), sink(sink), end(file.length()) {
    const long last = end - id3v1ByteCount;
    if (last >= 0 && file.bytes(last, 3) == ID3v1::Tag::fileIdentifier()) id3v1Offset = end = last;
    end = beginOfLyrics3(file, end);
  }

  void readAPEv2() {
    const long begin = readAPE(file, end - static_cast<long>(APE::Footer::size()), sink);
    if (begin >= 0) end = begin;
    else readAPE(file, 0, sink);
  }

  /// Requires an earlier call of `readAPEv2`.
  void readLastID3v2() {
    const long begin = findLastID3v2(file, end);
    if (begin >= 0) readID3v2(file, begin, sink);
  }

  void readID3v1() {
    if (id3v1Offset >= 0) playhead::readID3v1(file, id3v1Offset, sink);
  }

 private:
  PlainFile &file;
  ItemSink &sink;
  long end;
  long id3v1Offset = -1;
};

}  // namespace

void readTail(PlainFile &file, ItemSink &sink) {
  Tail tail(file, sink);
  tail.readAPEv2();
  tail.readID3v1();
}

void readID3v2Tags(File &file, long offset, ItemSink &sink) {
  for (int i = 0; i < maximumID3v2TagCount && !sink.isFull(); i++) {
    const long size = readID3v2(file, offset, sink);
    if (size == 0) break;
    offset += size;
  }
}

void readEdges(BoundedStream &stream, bool isAPEFirst, ItemSink &sink) {
  PlainFile file(&stream);
  Tail tail(file, sink);
  if (isAPEFirst) tail.readAPEv2();
  const long first = findFirstID3v2(file);
  if (first >= 0) readID3v2Tags(file, first, sink);
  if (!isAPEFirst) tail.readAPEv2();
  if (first < 0) tail.readLastID3v2();
  tail.readID3v1();
}

}  // namespace playhead
