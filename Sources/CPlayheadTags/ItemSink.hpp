// Sends items to the caller, up to the limits of their number and size, and reports skipped items.
#ifndef PLAYHEAD_ITEMSINK_HPP
#define PLAYHEAD_ITEMSINK_HPP

#include <taglib/tbytevector.h>
#include <taglib/tstring.h>

#include <string>
#include <vector>

#include "include/CPlayheadTags.h"

namespace playhead {

/// Optional properties of a value.
struct Details {
  const std::string *description = nullptr;
  const std::string *language = nullptr;
  const std::string *owner = nullptr;
  const std::string *mediaType = nullptr;
  int64_t counter = -1;
  int pictureType = -1;
};

/// The caller's sink, for one reading.
class ItemSink {
 public:
  ItemSink(const tags_sink &sink, const tags_limits &limits) : limits(limits), sink(sink) {}

  const tags_limits limits;

  void text(tags_space space, const std::string &key, const std::string &value, const Details &details = Details());
  /// Sends a text without a declared encoding: as UTF-8 if it is valid UTF-8, otherwise as Latin-1 until it is
  /// corrected. The same applies to its description, which `details` need not contain.
  void legacyText(tags_space space, const std::string &key, const TagLib::String &value, const Details &details = Details(),
                  const TagLib::String *description = nullptr);
  /// Corrects the texts of `legacyText` after all of them were sent. A null `charset` detects the encoding.
  void decodeLegacyTexts(const char *charset);
  void number(tags_space space, const std::string &key, int64_t value, const Details &details = Details());
  void data(tags_space space, const std::string &key, const TagLib::ByteVector &value,
            const Details &details = Details());
  void picture(tags_space space, const std::string &key, const TagLib::ByteVector &value, const Details &details);
  /// Reports an ignored part and the reason.
  void warning(tags_space space, const std::string &key, const std::string &reason) { warn(space, key, reason, false); }
  /// Reports a part that was ignored because of a limit.
  void limit(tags_space space, const std::string &key, const std::string &reason) { warn(space, key, reason, true); }

  /// Whether no more items are accepted.
  bool isFull() const { return full; }

 private:
  /// The bytes of a text and a description that are neither UTF-8 nor ASCII; otherwise empty.
  struct LegacyText {
    int64_t itemNumber;
    std::string text, description;
  };

  const tags_sink sink;
  std::vector<LegacyText> legacyTexts;
  int64_t legacyByteCount = 0;
  int64_t itemCount = 0;
  int64_t warningCount = 0;
  int64_t givenByteCount = 0;
  bool full = false;

  void warn(tags_space space, const std::string &key, const std::string &reason, bool isLimit);
  bool admits(int64_t byteCount);
  void giveBytes(tags_kind kind, tags_space space, const std::string &key, const TagLib::ByteVector &value,
                 const Details &details);
  void give(tags_item &item, const std::string &key, const Details &details);
};

}  // namespace playhead

#endif
