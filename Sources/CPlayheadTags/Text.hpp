// Text conversion to valid UTF-8, for any content of a tag.
#ifndef PLAYHEAD_TEXT_HPP
#define PLAYHEAD_TEXT_HPP

#include <taglib/tbytevector.h>
#include <taglib/tstring.h>

#include <string>

namespace playhead {

/// Converts TagLib's text (UTF-16) to UTF-8. Unpaired surrogates become U+FFFD, and zeros at the end are removed.
std::string utf8(const TagLib::String &text);

/// Repairs bytes that should be UTF-8: invalid bytes become U+FFFD.
std::string repairedUTF8(const char *bytes, size_t count);

/// Converts a text that was read as Latin-1 and may have been UTF-8. Valid UTF-8 is read as such. Otherwise
/// `legacyBytes` gets the bytes, which may have any encoding.
std::string utf8OrLatin1(const TagLib::String &text, std::string *legacyBytes = nullptr);

/// Whether bytes are UTF-8.
bool isUTF8(const char *bytes, size_t count);

}  // namespace playhead

#endif
