#include "Text.hpp"

namespace playhead {

namespace {

constexpr uint32_t replacement = 0xFFFD;

void append(uint32_t code, std::string &out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// Bytes of the well-formed sequence that begins here (Unicode, table 3-7); 0 when there is none.
size_t sequenceLength(const unsigned char *bytes, size_t count) {
  const unsigned char first = bytes[0];
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4 : 0;
  if (length == 0 || length > count) return 0;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (bytes[1] < low || bytes[1] > high) return 0;
  for (size_t i = 2; i < length; i++) {
    if ((bytes[i] & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string utf8(const TagLib::String &text) {
  std::string out;
  const unsigned int count = text.size();
  out.reserve(count);
  for (unsigned int i = 0; i < count; i++) {
    uint32_t code = static_cast<uint32_t>(text[static_cast<int>(i)]) & 0x1FFFFF;
    if (code >= 0xD800 && code <= 0xDBFF && i + 1 < count) {
      const uint32_t next = static_cast<uint32_t>(text[static_cast<int>(i + 1)]);
      if (next >= 0xDC00 && next <= 0xDFFF) {
        code = 0x10000 + ((code - 0xD800) << 10) + (next - 0xDC00);
        i++;
      }
    }
    append((code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF ? replacement : code, out);
  }
  while (!out.empty() && out.back() == '\0') out.pop_back();
  return out;
}

bool isUTF8(const char *bytes, size_t count) {
  const unsigned char *next = reinterpret_cast<const unsigned char *>(bytes);
  const unsigned char *end = next + count;
  while (next < end) {
    const size_t length = sequenceLength(next, static_cast<size_t>(end - next));
    if (length == 0) return false;
    next += length;
  }
  return true;
}

std::string repairedUTF8(const char *bytes, size_t count) {
  std::string out;
  out.reserve(count);
  const unsigned char *next = reinterpret_cast<const unsigned char *>(bytes);
  const unsigned char *end = next + count;
  while (next < end) {
    const size_t length = sequenceLength(next, static_cast<size_t>(end - next));
    if (length == 0) append(replacement, out);
    else out.append(reinterpret_cast<const char *>(next), length);
    next += length == 0 ? 1 : length;
  }
  return out;
}

std::string utf8OrLatin1(const TagLib::String &text, std::string *legacyBytes) {
  std::string bytes;
  for (unsigned int i = 0; i < text.size(); i++) {
    const wchar_t unit = text[static_cast<int>(i)];
    if (unit > 0xFF) return utf8(text);
    bytes += static_cast<char>(unit);
  }
  while (!bytes.empty() && bytes.back() == '\0') bytes.pop_back();
  if (isUTF8(bytes.data(), bytes.size())) return bytes;
  if (legacyBytes) *legacyBytes = bytes;
  return utf8(text);
}

}  // namespace playhead
