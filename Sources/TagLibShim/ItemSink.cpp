#include "ItemSink.hpp"

#include <algorithm>

namespace playhead {

namespace {

/// Warnings that one file may cause.
constexpr int64_t maximumWarningCount = 100;

/// Bytes that are given of data that is too large: they tell what it is.
constexpr int64_t headByteCount = 64;

tags_text view(const std::string &text) { return {text.data(), static_cast<int64_t>(text.size())}; }

tags_text view(const std::string *text) { return text ? view(*text) : tags_text{nullptr, 0}; }

}  // namespace

bool ItemSink::admits(int64_t byteCount) {
  if (full) return false;
  // Also an empty text costs something.
  if (itemCount >= limits.item_count || byteCount > limits.byte_count - givenByteCount) {
    full = true;
    return false;
  }
  itemCount++;
  givenByteCount += byteCount;
  return true;
}

void ItemSink::give(tags_item &item, const std::string &key, const Details &details) {
  item.key = view(key);
  item.description = view(details.description);
  item.language = view(details.language);
  item.owner = view(details.owner);
  item.media_type = view(details.mediaType);
  item.counter = details.counter;
  item.picture_type = details.pictureType;
  sink.take(sink.context, &item);
}

void ItemSink::text(tags_space space, const std::string &key, const std::string &value, const Details &details) {
  const size_t extra = details.description ? details.description->size() : 0;
  if (!admits(static_cast<int64_t>(key.size() + value.size() + extra))) return;
  tags_item item = {};
  item.space = space;
  item.kind = tags_kind_text;
  item.text = view(value);
  give(item, key, details);
}

void ItemSink::number(tags_space space, const std::string &key, int64_t value, const Details &details) {
  if (!admits(static_cast<int64_t>(key.size()))) return;
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
  if (value.isEmpty()) return warning(space, key, "the picture is empty");
  giveBytes(tags_kind_picture, space, key, value, details);
}

void ItemSink::giveBytes(tags_kind kind, tags_space space, const std::string &key, const TagLib::ByteVector &value,
                         const Details &details) {
  const int64_t whole = value.size();
  const bool isTooLarge = whole > limits.picture_byte_count;
  const int64_t given = isTooLarge ? std::min(whole, headByteCount) : whole;
  if (!admits(static_cast<int64_t>(key.size()) + given)) return;
  tags_item item = {};
  item.space = space;
  item.kind = kind;
  item.data = reinterpret_cast<const uint8_t *>(value.data());
  item.data_count = given;
  item.number = whole;
  give(item, key, details);
  if (isTooLarge) {
    limit(space, key, std::string(kind == tags_kind_picture ? "the picture has " : "the data has ") +
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
  give(item, key, Details());
}

}  // namespace playhead
