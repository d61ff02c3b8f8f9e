#include "Charset.hpp"

#include <uchardet/uchardet.h>
#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/udata.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace playhead {

namespace {

/// Maximum number of bytes for the detector.
constexpr size_t maximumSampleByteCount = 1 << 16;

/// The names of an encoding, and the amount of text that its detection requires.
struct Encoding {
  const char *uchardetName;
  const char *icuName;
  /// Bytes above 127 in all texts. Encodings that resemble others require more.
  size_t leastByteCount;
};

/// The accepted encodings. The other encodings of uchardet are too similar to Latin-1 to be distinguished in a short
/// text.
const Encoding encodings[] = {
    {"GB18030", "GB18030", 4},           {"BIG5", "windows-950", 4},          {"UHC", "windows-949", 4},
    {"EUC-KR", "windows-949", 4},        {"EUC-JP", "EUC-JP", 4},             {"SHIFT_JIS", "windows-31j", 4},
    {"WINDOWS-1251", "windows-1251", 4}, {"WINDOWS-1256", "windows-1256", 6}, {"KOI8-R", "KOI8-R", 6},
    {"WINDOWS-1253", "windows-1253", 8}, {"WINDOWS-1255", "windows-1255", 8}, {"TIS-620", "windows-874", 8},
};

bool isHigh(char byte) { return (byte & 0x80) != 0; }

/// Statistics of the runs of bytes above 127.
struct Runs {
  size_t byteCount = 0;
  /// Bytes in runs of two or more, as in languages with other scripts than Latin.
  size_t joinedByteCount = 0;
  bool areEven = true;
  size_t pairCount = 0;
  /// Pairs that are frequent characters of GB 2312 (its level 1).
  size_t chinesePairCount = 0;
  /// Whether a pair begins with a byte above those of Korean syllables.
  bool hasPairBeyondKorean = false;
  /// Lead bytes of Shift-JIS kana. In Windows code pages they are symbols that titles do not contain.
  size_t kanaByteCount = 0;

  explicit Runs(const std::string &sample) {
    for (size_t i = 0; i < sample.size();) {
      size_t end = i;
      while (end < sample.size() && isHigh(sample[end])) end++;
      add(sample, i, end);
      i = std::max(end, i + 1);
    }
  }

 private:
  void add(const std::string &sample, size_t first, size_t end) {
    const size_t count = end - first;
    byteCount += count;
    if (count > 1) joinedByteCount += count;
    if (count % 2 != 0) areEven = false;
    for (size_t i = first; i < end; i++) kanaByteCount += sample[i] == '\x82' || sample[i] == '\x83' ? 1 : 0;
    for (size_t i = first; i + 1 < end; i += 2) {
      const unsigned char lead = static_cast<unsigned char>(sample[i]);
      const unsigned char trail = static_cast<unsigned char>(sample[i + 1]);
      pairCount++;
      if (lead >= 0xB0 && lead <= 0xD7 && trail >= 0xA1) {
        chinesePairCount++;
        if (lead > 0xC8) hasPairBeyondKorean = true;
      }
    }
  }
};

std::string uchardetName(const std::string &sample) {
  const std::unique_ptr<std::remove_pointer_t<uchardet_t>, decltype(&uchardet_delete)> detector(
      uchardet_new(), uchardet_delete);
  if (!detector || uchardet_handle_data(detector.get(), sample.data(), sample.size()) != 0) return "";
  uchardet_data_end(detector.get());
  return uchardet_get_charset(detector.get());
}

std::string candidate(const std::string &sample) {
  const Runs runs(sample);
  const std::string name = uchardetName(sample);
  // Accented Latin letters are between ASCII letters, but so are some lead bytes of Shift-JIS.
  const bool isKana = name == "SHIFT_JIS" && runs.kanaByteCount >= 2;
  if (!isKana && runs.joinedByteCount * 10 < runs.byteCount * 6) return "";
  const auto known = std::find_if(
      std::begin(encodings), std::end(encodings), [&](const Encoding &entry) { return name == entry.uchardetName; });
  // For a few Chinese characters uchardet's result is arbitrary.
  const bool isWestern = name.find("8859") != std::string::npos || name == "WINDOWS-1252";
  const bool isShortKOI8 = name == "KOI8-R" && runs.byteCount < 16;
  const bool isCommon = known != std::end(encodings) && known->leastByteCount <= 6 && !isShortKOI8;
  if (!isCommon && !isWestern && runs.areEven && runs.pairCount >= 2 && runs.hasPairBeyondKorean &&
      runs.chinesePairCount * 10 >= runs.pairCount * 7) {
    return "GB18030";
  }
  if (known == std::end(encodings) || runs.byteCount < known->leastByteCount) return "";
  return known->icuName;
}

/// Whether a text has only characters that occur in texts.
bool isText(const std::vector<UChar> &text) {
  int32_t position = 0;
  const int32_t count = static_cast<int32_t>(text.size());
  while (position < count) {
    UChar32 character = 0;
    U16_NEXT(text.data(), position, count, character);
    const int8_t type = u_charType(character);
    if (type == U_UNASSIGNED || type == U_PRIVATE_USE_CHAR || type == U_SURROGATE) return false;
    if (type == U_CONTROL_CHAR && character != '\n' && character != '\r' && character != '\t') return false;
  }
  return true;
}

}  // namespace

std::string convertToUTF8(const std::string &text, const std::string &charset, bool isStrict) {
  UErrorCode status = U_ZERO_ERROR;
  // ICU's library contains all encodings; a worker process cannot open files for them.
  udata_setFileAccess(UDATA_NO_FILES, &status);
  const std::unique_ptr<UConverter, decltype(&ucnv_close)> converter(ucnv_open(charset.c_str(), &status), ucnv_close);
  if (U_FAILURE(status) || !converter || text.size() > (1U << 28)) return "";
  if (isStrict) ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
  // At most two UTF-16 units for each byte.
  std::vector<UChar> units(2 * text.size() + 1);
  const int32_t count = ucnv_toUChars(converter.get(), units.data(), static_cast<int32_t>(units.size()), text.data(),
                                      static_cast<int32_t>(text.size()), &status);
  if (U_FAILURE(status)) return "";
  units.resize(static_cast<size_t>(count));
  if (isStrict && !isText(units)) return "";
  std::string result(3 * units.size() + 1, '\0');
  int32_t byteCount = 0;
  u_strToUTF8WithSub(result.data(), static_cast<int32_t>(result.size()), &byteCount, units.data(), count, 0xFFFD,
                     nullptr, &status);
  if (U_FAILURE(status)) return "";
  result.resize(static_cast<size_t>(byteCount));
  return result;
}

std::string detectCharset(const std::vector<std::string> &texts) {
  std::string sample;
  for (const std::string &text : texts) {
    if (sample.size() + text.size() > maximumSampleByteCount) continue;
    sample += text;
    sample += '\n';
  }
  const std::string charset = candidate(sample);
  if (charset.empty()) return "";
  for (const std::string &text : texts) {
    if (convertToUTF8(text, charset, true).empty()) return "";
  }
  return charset;
}

}  // namespace playhead
