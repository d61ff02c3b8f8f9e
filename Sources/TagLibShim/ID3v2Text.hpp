// Repairs the texts of ID3v2 frames before TagLib parses them.
#ifndef PLAYHEAD_ID3V2TEXT_HPP
#define PLAYHEAD_ID3V2TEXT_HPP

#include <taglib/tbytevector.h>

#include <string>

namespace playhead {

/// Whether a frame begins with the encoding of its texts. The name is that of any version.
bool holdsText(const std::string &id);

/// Marks the texts of a frame that are UTF-16 without a byte order mark as little-endian. TagLib drops such texts; mutagen and the
/// players of Windows, where the programs that write them run, read them as little-endian. Returns whether `data` was changed.
bool addByteOrderMarks(const std::string &id, TagLib::ByteVector &data);

/// Whether the first text of a frame without further fields is empty.
bool beginsWithEmptyText(const TagLib::ByteVector &data);

}  // namespace playhead

#endif
