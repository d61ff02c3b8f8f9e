// Text as every caller wants it: UTF-8 that is valid, whatever the tag had.
#ifndef PLAYHEAD_TEXT_HPP
#define PLAYHEAD_TEXT_HPP

#include <taglib/tbytevector.h>
#include <taglib/tstring.h>

#include <string>

namespace playhead {

/// A text of TagLib's (UTF-16) as UTF-8; half surrogate pairs become U+FFFD, zeros at the end go.
std::string utf8(const TagLib::String &text);

/// Bytes that should be UTF-8, with U+FFFD for what is not.
std::string repairedUTF8(const char *bytes, size_t count);

/// A text that was read as Latin-1 and may have been UTF-8: it is when it reads so. When it does not, its bytes go to `legacyBytes`:
/// they may be of any encoding.
std::string utf8OrLatin1(const TagLib::String &text, std::string *legacyBytes = nullptr);

/// Whether bytes are UTF-8.
bool isUTF8(const char *bytes, size_t count);

}  // namespace playhead

#endif
