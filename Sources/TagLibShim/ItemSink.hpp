// Gives items to the caller, up to the bounds on their number and size, and says what it left out.
#ifndef PLAYHEAD_ITEMSINK_HPP
#define PLAYHEAD_ITEMSINK_HPP

#include <taglib/tbytevector.h>
#include <taglib/tstring.h>

#include <string>
#include <vector>

#include "include/TagLibShim.h"

namespace playhead {

/// What may stand beside a value.
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
  /// A text whose encoding the tag does not say. It is given as UTF-8 where it is that, else as Latin-1 for the time being.
  /// So is its description, which `details` need not have.
  void legacyText(tags_space space, const std::string &key, const TagLib::String &value, const Details &details = Details(),
                  const TagLib::String *description = nullptr);
  /// Corrects the texts of `legacyText` when all are known. `charset` is null when it is to be detected.
  void decodeLegacyTexts(const char *charset);
  void number(tags_space space, const std::string &key, int64_t value, const Details &details = Details());
  void data(tags_space space, const std::string &key, const TagLib::ByteVector &value,
            const Details &details = Details());
  void picture(tags_space space, const std::string &key, const TagLib::ByteVector &value, const Details &details);
  /// Says that something was ignored, and why.
  void warning(tags_space space, const std::string &key, const std::string &reason) { warn(space, key, reason, false); }
  /// Says that something was ignored because it is more than a bound allows.
  void limit(tags_space space, const std::string &key, const std::string &reason) { warn(space, key, reason, true); }

  /// No more items are taken.
  bool isFull() const { return full; }

 private:
  /// The bytes of a text and a description that are neither UTF-8 nor ASCII; empty where they are.
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
