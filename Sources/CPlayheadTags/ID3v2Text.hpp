// Repairs the texts of ID3v2 frames before TagLib parses them.
#ifndef PLAYHEAD_ID3V2TEXT_HPP
#define PLAYHEAD_ID3V2TEXT_HPP

#include <taglib/tbytevector.h>

#include <string>

namespace playhead {

/// Whether a frame begins with the encoding of its texts. The name may be that of any version.
bool holdsText(const std::string &id);

/// Marks UTF-16 texts without a byte order mark as little-endian. TagLib drops such texts. mutagen, and players on
/// Windows, where the writing programs run, read them as little-endian. Returns whether `data` was changed.
bool addByteOrderMarks(const std::string &id, TagLib::ByteVector &data);

/// Whether the first text of a frame without further fields is empty.
bool beginsWithEmptyText(const TagLib::ByteVector &data);

}  // namespace playhead

#endif
