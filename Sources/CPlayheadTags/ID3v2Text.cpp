#include "ID3v2Text.hpp"

using namespace TagLib;

namespace playhead {

namespace {

/// Encodings of ID3v2.4, section 4.
constexpr char utf16WithMark = 1;
constexpr char utf16BigEndian = 2;

bool is(const std::string &id, const char *name, const char *oldName) { return id == name || id == oldName; }

/// Where the texts of a frame begin, and how many of them end with a zero.
struct TextFields {
  unsigned int position = 1;
  /// The number of texts that need a mark. TagLib applies the first mark of a list to all its texts.
  int count = 1;
};

TextFields textFields(const std::string &id, const ByteVector &data) {
  TextFields fields;
  if (is(id, "COMM", "COM") || is(id, "USLT", "ULT")) {
    // A language, a description, the text.
    fields.position = 4;
    fields.count = 2;
  } else if (id == "PIC") {
    // A three-letter format, an image type, a description.
    fields.position = 5;
  } else if (id == "APIC" || is(id, "GEOB", "GEO")) {
    // A Latin-1 media type, an image type (APIC) or a file name (GEOB), a description.
    const int end = data.find('\0', 1);
    fields.position = end < 0 ? data.size() : static_cast<unsigned int>(end) + (id == "APIC" ? 2 : 1);
    if (id != "APIC") fields.count = 2;
  }
  return fields;
}

/// The position of the two zeros that end a UTF-16 text; the end of the data if there are none.
unsigned int endOfText(const ByteVector &data, unsigned int position) {
  for (; position + 1 < data.size(); position += 2) {
    if (data[static_cast<int>(position)] == 0 && data[static_cast<int>(position) + 1] == 0) return position;
  }
  return data.size();
}

}  // namespace

bool holdsText(const std::string &id) {
  if (id.empty()) return false;
  return id[0] == 'T' || is(id, "COMM", "COM") || is(id, "USLT", "ULT") || is(id, "APIC", "PIC") ||
         is(id, "GEOB", "GEO") || is(id, "WXXX", "WXX") || is(id, "IPLS", "IPL") || is(id, "WFED", "WFD") ||
         is(id, "MVNM", "MVN") || is(id, "MVIN", "MVI") || is(id, "GRP1", "GP1");
}

bool addByteOrderMarks(const std::string &id, ByteVector &data) {
  if (data.isEmpty() || data[0] != utf16WithMark) return false;
  const TextFields fields = textFields(id, data);
  const ByteVector mark("\xFF\xFE", 2);
  bool isChanged = false;
  unsigned int position = fields.position;
  for (int i = 0; i < fields.count && position + 1 < data.size(); i++) {
    const unsigned char first = static_cast<unsigned char>(data[static_cast<int>(position)]);
    const unsigned char second = static_cast<unsigned char>(data[static_cast<int>(position) + 1]);
    const bool isEmpty = first == 0 && second == 0;
    if (!isEmpty && !(first == 0xFF && second == 0xFE) && !(first == 0xFE && second == 0xFF)) {
      ByteVector marked = data.mid(0, position);
      marked.append(mark);
      marked.append(data.mid(position));
      data = marked;
      isChanged = true;
    }
    position = endOfText(data, position) + 2;
  }
  return isChanged;
}

bool beginsWithEmptyText(const ByteVector &data) {
  if (data.size() < 2) return false;
  if (data[0] != utf16WithMark && data[0] != utf16BigEndian) return data[1] == 0;
  const ByteVector first = data.mid(1, 4);
  return first.startsWith(ByteVector(2, '\0')) || first == ByteVector("\xFF\xFE\0\0", 4) ||
         first == ByteVector("\xFE\xFF\0\0", 4);
}

}  // namespace playhead
