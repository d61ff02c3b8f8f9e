#include "ItemSink.hpp"

#include <algorithm>

#include "Charset.hpp"
#include "Text.hpp"

namespace playhead {

namespace {

/// Maximum number of warnings for one file.
constexpr int64_t maximumWarningCount = 100;

/// Bytes that are sent of oversized data; they identify its format.
constexpr int64_t headByteCount = 64;

/// Maximum bytes of a name or a detail, and of the subject of a warning.
constexpr size_t maximumNameByteCount = 1 << 16;
constexpr size_t maximumSubjectByteCount = 1 << 10;

/// The first `count` bytes of a UTF-8 text, or fewer to end at a character boundary.
std::string beginning(const std::string &text, size_t count) {
  while (count > 0 && (text[count] & 0xC0) == 0x80) count--;
  return text.substr(0, count);
}

/// The number of bytes that a detail counts towards the limit.
int64_t byteCount(const std::string *text) {
  return text ? static_cast<int64_t>(std::min(text->size(), maximumNameByteCount)) : 0;
}

/// The number of bytes of a key and its details.
int64_t byteCount(const std::string &key, const Details &details) {
  return byteCount(&key) + byteCount(details.description) + byteCount(details.language) + byteCount(details.owner) +
         byteCount(details.mediaType);
}

tags_text view(const std::string &text) { return {text.data(), static_cast<int64_t>(text.size())}; }

tags_text view(const std::string *text) { return text ? view(*text) : tags_text{nullptr, 0}; }

}  // namespace

bool ItemSink::admits(int64_t byteCount) {
  if (full) return false;
  // An empty text has a cost, too.
  if (itemCount >= limits.item_count || byteCount > limits.byte_count - givenByteCount) {
    full = true;
    return false;
  }
  itemCount++;
  givenByteCount += byteCount;
  return true;
}

void ItemSink::give(tags_item &item, const std::string &key, const Details &details) {
  // Cut texts must live until the item has been received.
  std::string cut[5];
  int cutCount = 0;
  const auto bounded = [&](const std::string *text) {
    if (!text || text->size() <= maximumNameByteCount) return view(text);
    cut[cutCount] = beginning(*text, maximumNameByteCount);
    return view(cut[cutCount++]);
  };
  item.key = bounded(&key);
  item.description = bounded(details.description);
  item.language = bounded(details.language);
  item.owner = bounded(details.owner);
  item.media_type = bounded(details.mediaType);
  item.counter = details.counter;
  item.picture_type = details.pictureType;
  sink.take(sink.context, &item);
  if (cutCount > 0) {
    limit(item.space, key, "a name or description has more than " + std::to_string(maximumNameByteCount) + " bytes");
  }
}

void ItemSink::text(tags_space space, const std::string &key, const std::string &value, const Details &details) {
  if (!admits(byteCount(key, details) + static_cast<int64_t>(value.size()))) return;
  tags_item item = {};
  item.space = space;
  item.kind = tags_kind_text;
  item.text = view(value);
  give(item, key, details);
}

void ItemSink::legacyText(tags_space space, const std::string &key, const TagLib::String &value, const Details &details,
                          const TagLib::String *description) {
  LegacyText legacy = {itemCount, "", ""};
  const std::string text = utf8OrLatin1(value, &legacy.text);
  Details all = details;
  std::string descriptionText;
  if (description) {
    descriptionText = utf8OrLatin1(*description, &legacy.description);
    all.description = &descriptionText;
  }
  this->text(space, key, text, all);
  const int64_t byteCount = static_cast<int64_t>(legacy.text.size() + legacy.description.size());
  // The limit is that of other texts.
  if (itemCount == legacy.itemNumber || byteCount == 0 || byteCount > limits.text_byte_count - legacyByteCount) return;
  legacyByteCount += byteCount;
  legacyTexts.push_back(legacy);
}

void ItemSink::decodeLegacyTexts(const char *charset) {
  std::vector<std::string> texts;
  for (const LegacyText &legacy : legacyTexts) {
    if (!legacy.text.empty()) texts.push_back(legacy.text);
    if (!legacy.description.empty()) texts.push_back(legacy.description);
  }
  if (texts.empty()) return;
  const std::string name = charset ? charset : detectCharset(texts);
  if (name.empty()) return;
  for (const LegacyText &legacy : legacyTexts) {
    const std::string text = convertToUTF8(legacy.text, name, false);
    const std::string description = convertToUTF8(legacy.description, name, false);
    tags_item item = {};
    item.kind = tags_kind_correction;
    item.number = legacy.itemNumber;
    item.text = view(text.empty() ? nullptr : &text);
    item.description = view(description.empty() ? nullptr : &description);
    sink.take(sink.context, &item);
  }
  legacyTexts.clear();
}

void ItemSink::number(tags_space space, const std::string &key, int64_t value, const Details &details) {
  if (!admits(byteCount(key, details))) return;
  tags_item item = {};
  item.space = space;
  item.kind = tags_kind_number;
  item.number = value;
  give(item, key, details);
}

void ItemSink::data(
    tags_space space, const std::string &key, const TagLib::ByteVector &value, const Details &details) {
  giveBytes(tags_kind_data, space, key, value, details);
}

void ItemSink::picture(
    tags_space space, const std::string &key, const TagLib::ByteVector &value, const Details &details) {
  if (value.isEmpty()) return warning(space, key, "the image is empty");
  giveBytes(tags_kind_picture, space, key, value, details);
}

void ItemSink::giveBytes(tags_kind kind, tags_space space, const std::string &key, const TagLib::ByteVector &value,
                         const Details &details) {
  const int64_t whole = value.size();
  const bool isTooLarge = whole > limits.picture_byte_count;
  const int64_t given = isTooLarge ? std::min(whole, headByteCount) : whole;
  if (!admits(byteCount(key, details) + given)) return;
  tags_item item = {};
  item.space = space;
  item.kind = kind;
  item.data = reinterpret_cast<const uint8_t *>(value.data());
  item.data_count = given;
  item.number = whole;
  give(item, key, details);
  if (isTooLarge) {
    limit(space, key, std::string(kind == tags_kind_picture ? "the image has " : "the data has ") +
                          std::to_string(whole) + " bytes");
  }
}

void ItemSink::warn(tags_space space, const std::string &key, const std::string &reason, bool isLimit) {
  if (warningCount >= maximumWarningCount) return;
  warningCount++;
  tags_item item = {};
  item.space = space;
  item.kind = tags_kind_warning;
  item.number = isLimit ? 1 : 0;
  item.text = view(reason);
  const std::string subject = key.size() > maximumSubjectByteCount ? beginning(key, maximumSubjectByteCount) : key;
  give(item, subject, Details());
}

}  // namespace playhead
