#include <taglib/mp4atom.h>
#include <taglib/mp4coverart.h>
#include <taglib/mp4item.h>
#include <taglib/mp4tag.h>

#include "Readers.hpp"
#include "Text.hpp"

using namespace TagLib;

namespace playhead {

namespace {

/// How TagLib reads an item, by its name.
enum class Kind { text, pair, flag, number, wide, unsignedNumber, byte, rating, pictures, freeForm };

Kind kind(const std::string &name) {
  static const struct {
    const char *name;
    Kind kind;
  } kinds[] = {
      {"trkn", Kind::pair}, {"disk", Kind::pair}, {"cpil", Kind::flag}, {"pgap", Kind::flag}, {"pcst", Kind::flag},
      {"hdvd", Kind::flag}, {"shwm", Kind::flag}, {"tmpo", Kind::number}, {"\251mvi", Kind::number},
      {"\251mvc", Kind::number}, {"rate", Kind::rating}, {"tvsn", Kind::unsignedNumber},
      {"tves", Kind::unsignedNumber}, {"cnID", Kind::unsignedNumber}, {"sfID", Kind::unsignedNumber},
      {"atID", Kind::unsignedNumber}, {"geID", Kind::unsignedNumber}, {"cmID", Kind::unsignedNumber},
      {"plID", Kind::wide}, {"stik", Kind::byte}, {"rtng", Kind::byte}, {"akID", Kind::byte},
      {"covr", Kind::pictures}, {"----", Kind::freeForm},
  };
  for (const auto &entry : kinds) {
    if (name == entry.name) return entry.kind;
  }
  return Kind::text;
}

/// The number of values of an item; TagLib allocates objects for each.
int64_t valueCount(PlainFile &file, const MP4::Atom &atom, int64_t most) {
  int64_t count = 0;
  long position = atom.offset + 8;
  while (position < atom.offset + atom.length && count <= most) {
    const ByteVector header = file.bytes(position, 4);
    const unsigned int size = header.toUInt();
    if (header.size() < 4 || size < 12) break;
    count++;
    position += static_cast<long>(size);
  }
  return count;
}

void giveTexts(const std::string &key, const StringList &values, ItemSink &sink) {
  for (const String &value : values) {
    const std::string text = utf8(value);
    if (text.empty()) sink.warning(tags_space_itunes, key, "the text is empty, or not UTF-8");
    else sink.text(tags_space_itunes, key, text);
  }
}

void giveItem(const std::string &atom, const std::string &key, const MP4::Item &item, ItemSink &sink) {
  switch (kind(atom)) {
    case Kind::pair: {
      const MP4::Item::IntPair pair = item.toIntPair();
      Details details;
      details.counter = pair.second;
      return sink.number(tags_space_itunes, key, pair.first, details);
    }
    case Kind::flag: return sink.number(tags_space_itunes, key, item.toBool() ? 1 : 0);
    case Kind::number: return sink.number(tags_space_itunes, key, item.toInt());
    case Kind::wide: return sink.number(tags_space_itunes, key, item.toLongLong());
    case Kind::unsignedNumber: return sink.number(tags_space_itunes, key, item.toUInt());
    case Kind::byte: return sink.number(tags_space_itunes, key, item.toByte());
    case Kind::rating:
      if (item.toStringList().isEmpty()) return sink.number(tags_space_itunes, key, item.toInt());
      return giveTexts(key, item.toStringList(), sink);
    case Kind::pictures:
      for (const MP4::CoverArt &picture : item.toCoverArtList()) {
        const char *type = picture.format() == MP4::CoverArt::JPEG ? "image/jpeg"
                           : picture.format() == MP4::CoverArt::PNG ? "image/png"
                                                                    : "";
        const std::string mediaType = type;
        Details details;
        details.mediaType = &mediaType;
        sink.picture(tags_space_itunes, key, picture.data(), details);
      }
      return;
    case Kind::freeForm:
      if (item.atomDataType() != MP4::TypeUTF8) {
        for (const ByteVector &value : item.toByteVectorList()) sink.data(tags_space_itunes, key, value);
        return;
      }
      return giveTexts(key, item.toStringList(), sink);
    case Kind::text: return giveTexts(key, item.toStringList(), sink);
  }
}

/// Removes all children of an atom except this one. Returns the removed list, which owns the children.
MP4::AtomList leaveOnly(MP4::Atom *child, MP4::AtomList &children) {
  MP4::AtomList all = children;
  children.clear();
  children.append(child);
  return all;
}

/// Maximum size of a user data box in bytes.
constexpr long maximumUserDataByteCount = 1 << 16;

/// A 3GPP text: UTF-16 with a byte order mark, or else UTF-8, with a terminating zero.
std::string userDataText(const ByteVector &bytes) {
  if (bytes.startsWith(ByteVector("\xFE\xFF", 2)) || bytes.startsWith(ByteVector("\xFF\xFE", 2))) {
    const std::string text = utf8(String(bytes, String::UTF16));
    return text.substr(0, text.find('\0'));
  }
  const int end = bytes.find('\0');
  return repairedUTF8(bytes.data(), end < 0 ? bytes.size() : static_cast<size_t>(end));
}

/// Sends a user data box as defined by 3GPP (TS 26.244, section 8): version and flags, a language, a text.
void giveUserData(const std::string &name, const ByteVector &content, ItemSink &sink) {
  // QuickTime has texts of a different format with other names.
  if (content.size() < 6 || content.toUInt(0U) != 0) return;
  const auto give = [&](unsigned int position) {
    const unsigned int code = content.toUShort(position - 2);
    std::string language;
    for (int shift = 10; shift >= 0; shift -= 5) language += static_cast<char>(0x60 + (code >> shift & 0x1F));
    Details details;
    if (isUTF8(language.data(), language.size())) details.language = &language;
    const std::string text = userDataText(content.mid(position));
    if (!text.empty()) sink.text(tags_space_user_data, name, text, details);
  };
  if (name == "titl" || name == "auth" || name == "perf" || name == "gnre" || name == "dscp" || name == "cprt" ||
      name == "albm") {
    give(6);
  } else if (name == "yrrc") {
    sink.number(tags_space_user_data, name, content.toUShort(4U));
  } else if (name == "kywd" && content.size() > 7) {
    // A language, a count, and a size and a text for each keyword.
    unsigned int position = 7;
    for (int count = static_cast<unsigned char>(content[6]); count > 0 && position < content.size(); count--) {
      const unsigned int size = static_cast<unsigned char>(content[static_cast<int>(position)]);
      const std::string text = userDataText(content.mid(position + 1, size));
      if (!text.empty()) sink.text(tags_space_user_data, name, text);
      position += 1 + size;
    }
  }
}

void readUserData(PlainFile &file, const MP4::AtomList &boxes, ItemSink &sink) {
  int64_t count = 0;
  for (const MP4::Atom *box : boxes) {
    if (sink.isFull() || ++count > sink.limits.item_count) return;
    if (box->length <= 8 || box->length > maximumUserDataByteCount) continue;
    const ByteVector content = file.bytes(box->offset + 8, static_cast<unsigned long>(box->length) - 8);
    giveUserData(std::string(box->name.data(), box->name.size()), content, sink);
  }
}

}  // namespace

void readMP4(BoundedStream &stream, ItemSink &sink) {
  PlainFile file(&stream);
  MP4::Atoms atoms(&file);
  MP4::Atom *moov = atoms.find("moov");
  MP4::Atom *udta = moov ? moov->find("udta") : nullptr;
  MP4::Atom *meta = udta ? udta->find("meta") : nullptr;
  MP4::Atom *list = meta ? meta->find("ilst") : nullptr;
  if (!list) {
    if (udta) readUserData(file, udta->children, sink);
    return;
  }
  const MP4::AtomList userData = udta->children;
  // TagLib searches for the list from the top each time.
  const MP4::AtomList top = leaveOnly(moov, atoms.atoms), second = leaveOnly(udta, moov->children),
                      third = leaveOnly(meta, udta->children), fourth = leaveOnly(list, meta->children);
  const MP4::AtomList items = leaveOnly(nullptr, list->children);
  int64_t count = 0;
  // One at a time, because TagLib keeps only the first of several items with the same name.
  for (MP4::Atom *item : items) {
    const std::string name(item->name.data(), item->name.size());
    const std::string shownName = utf8(String(item->name, String::Latin1));
    if (sink.isFull() || ++count > sink.limits.item_count) {
      sink.limit(tags_space_itunes, "ilst", "there are more than " + std::to_string(count - 1) + " items");
      break;
    }
    if (item->length < 8) continue;
    if (item->length > file.length() - item->offset) {
      sink.warning(tags_space_itunes, shownName, "the item states a size of " + std::to_string(item->length) +
                                                     " bytes; the file is shorter");
    }
    if (valueCount(file, *item, sink.limits.value_count) > sink.limits.value_count) {
      sink.limit(tags_space_itunes, shownName,
                   "the item has more than " + std::to_string(sink.limits.value_count) + " values");
      continue;
    }
    list->children.clear();
    list->children.append(item);
    const MP4::Tag tag(&file, &atoms);
    for (const auto &entry : tag.itemMap()) giveItem(name, utf8(entry.first), entry.second, sink);
  }
  list->children.clear();
  readUserData(file, userData, sink);
}

}  // namespace playhead
