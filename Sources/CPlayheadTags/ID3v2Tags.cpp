#include <taglib/attachedpictureframe.h>
#include <taglib/commentsframe.h>
#include <taglib/generalencapsulatedobjectframe.h>
#include <taglib/id3v1genres.h>
#include <taglib/id3v2framefactory.h>
#include <taglib/id3v2header.h>
#include <taglib/id3v2synchdata.h>
#include <taglib/podcastframe.h>
#include <taglib/popularimeterframe.h>
#include <taglib/privateframe.h>
#include <taglib/relativevolumeframe.h>
#include <taglib/textidentificationframe.h>
#include <taglib/uniquefileidentifierframe.h>
#include <taglib/unknownframe.h>
#include <taglib/unsynchronizedlyricsframe.h>
#include <taglib/urllinkframe.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "ID3v2Text.hpp"
#include "Readers.hpp"
#include "Text.hpp"

using namespace TagLib;

namespace playhead {

namespace {

/// The ID of a frame that TagLib must not parse.
const char *const ignoredFrameID = "----";

/// The maximum expansion by zlib (zlib.net, zlib_tech).
constexpr int64_t greatestDeflateRatio = 1032;

/// Gives frame factories access to the argument type of a function that they override, which only frames can name.
class FrameAccess : public ID3v2::Frame {
 public:
  using Header = ID3v2::Frame::Header;
  static bool isEncrypted(const ID3v2::Frame &frame) { return (frame.*&FrameAccess::header)()->encryption(); }
};

std::string string(const ByteVector &bytes) { return std::string(bytes.data(), bytes.size()); }

/// The digits in the first bytes of a text frame, in any encoding.
std::string digits(const ByteVector &data) {
  std::string result;
  for (unsigned int i = 1; i < data.size() && i < 16; i++) {
    const char byte = data[static_cast<int>(i)];
    if (byte >= '0' && byte <= '9') result += byte;
  }
  return result;
}

std::string withoutZeros(const ByteVector &bytes) { return string(bytes).substr(0, string(bytes).find('\0')); }

/// Lets TagLib parse a frame, unless the cost could exceed the limits.
class BoundedFrames final : public ID3v2::FrameFactory {
 public:
  explicit BoundedFrames(ItemSink &sink) : sink(sink) {}

 protected:
  bool updateFrame(FrameAccess::Header *header) const override {
    const std::string id = string(header->frameID());
    const int64_t size = header->frameSize();
    if (header->compression()) {
      inflatedByteCount += size * greatestDeflateRatio;
      if (inflatedByteCount > sink.limits.byte_count) {
        sink.limit(tags_space_id3v2, id, "the frame is compressed and may be too large");
        // Without its flags, so that TagLib leaves it unchanged.
        ByteVector plain = ignoredFrameID;
        const unsigned int byteCount = header->frameSize();
        plain.append(header->version() == 4 ? syncSafe(byteCount) : ByteVector::fromUInt(byteCount));
        plain.append(ByteVector(2, '\0'));
        header->setData(plain, header->version());
        return false;
      }
    }
    // These frames nest to any depth. FFmpeg reads chapters.
    if (id == "CHAP" || id == "CTOC") return false;
    // TagLib would parse these into lists of all parts, which are not used.
    if (id == "SYLT" || id == "ETCO" || id == "SLT" || id == "ETC") return false;
    if (!id.empty() && (id[0] == 'T' || id[0] == 'M' || id[0] == 'G' || id[0] == 'I' || id == "WFED" || id == "WFD") &&
        id != "GEOB" && id != "GEO" && id != "MCDI" && id != "MCI") {
      textByteCount += size;
      if (textByteCount > sink.limits.text_byte_count) {
        sink.limit(tags_space_id3v2, id, "the tag's texts have more than " +
                                               std::to_string(sink.limits.text_byte_count) + " bytes");
        return false;
      }
    }
    return ID3v2::FrameFactory::updateFrame(header);
  }

 private:
  ItemSink &sink;
  mutable int64_t inflatedByteCount = 0;
  mutable int64_t textByteCount = 0;

  /// 28 bits in four bytes (ID3v2.4, 6.2).
  static ByteVector syncSafe(unsigned int value) {
    ByteVector bytes(4, '\0');
    for (int i = 0; i < 4; i++) bytes[i] = static_cast<char>(value >> (7 * (3 - i)) & 0x7F);
    return bytes;
  }
};

std::string genreName(const std::string &text) {
  if (text.empty() || text.size() > 3 || text.find_first_not_of("0123456789") != std::string::npos) return text;
  const std::string name = utf8(ID3v1::genre(std::stoi(text)));
  return name.empty() ? text : name;
}

/// Sends the texts of a frame and their description, which have the encoding `encoding`. Some programs write other code
/// pages as Latin-1.
void giveTexts(const std::string &id, const StringList &fields, const Details &details, String::Type encoding,
               const String *description, ItemSink &sink) {
  int64_t count = 0;
  bool hasText = false;
  std::string describing;
  Details all = details;
  if (description) {
    describing = utf8(*description);
    all.description = &describing;
  }
  for (const String &field : fields) {
    const std::string text = utf8(field);
    if (text.empty()) continue;
    hasText = true;
    if (++count > sink.limits.value_count) {
      sink.limit(tags_space_id3v2, id, "the frame has more than " + std::to_string(sink.limits.value_count) + " values");
      return;
    }
    if (id == "TCON" && genreName(text) != text) {
      sink.text(tags_space_id3v2, id, genreName(text), all);
    } else if (encoding == String::Latin1) {
      sink.legacyText(tags_space_id3v2, id, field, details, description);
    } else {
      sink.text(tags_space_id3v2, id, text, all);
    }
  }
  // TagLib drops a text that does not have its declared encoding.
  if (!hasText && !fields.isEmpty()) sink.warning(tags_space_id3v2, id, "the text is empty, or not in its encoding");
}

/// Sends pairs of a role and a person.
void givePeople(const std::string &id, const StringList &fields, String::Type encoding, ItemSink &sink) {
  int64_t count = 0;
  for (auto field = fields.begin(); field != fields.end() && ++count <= sink.limits.value_count; ++field) {
    const String role = *field;
    if (++field == fields.end()) return;
    if (!utf8(*field).empty()) giveTexts(id, StringList(*field), Details(), encoding, &role, sink);
  }
}

void giveFrame(const ID3v2::Frame &frame, bool hasEmptyDescription, ItemSink &sink) {
  const std::string id = string(frame.frameID());
  std::string description, language, owner, mediaType;
  Details details;
  if (auto user = dynamic_cast<const ID3v2::UserTextIdentificationFrame *>(&frame)) {
    StringList fields = user->fieldList();
    if (!hasEmptyDescription && !fields.isEmpty()) fields.erase(fields.begin());
    const String described = hasEmptyDescription ? String() : user->description();
    giveTexts(id, fields, details, user->textEncoding(), &described, sink);
  } else if (auto text = dynamic_cast<const ID3v2::TextIdentificationFrame *>(&frame)) {
    if (id == "TIPL" || id == "TMCL" || id == "IPLS") {
      return givePeople(id, text->fieldList(), text->textEncoding(), sink);
    }
    giveTexts(id, text->fieldList(), details, text->textEncoding(), nullptr, sink);
  } else if (auto comment = dynamic_cast<const ID3v2::CommentsFrame *>(&frame)) {
    const String described = comment->description();
    language = withoutZeros(comment->language());
    if (isUTF8(language.data(), language.size())) details.language = &language;
    giveTexts(id, StringList(comment->text()), details, comment->textEncoding(), &described, sink);
  } else if (auto lyrics = dynamic_cast<const ID3v2::UnsynchronizedLyricsFrame *>(&frame)) {
    const String described = lyrics->description();
    language = withoutZeros(lyrics->language());
    if (isUTF8(language.data(), language.size())) details.language = &language;
    giveTexts(id, StringList(lyrics->text()), details, lyrics->textEncoding(), &described, sink);
  } else if (auto rating = dynamic_cast<const ID3v2::PopularimeterFrame *>(&frame)) {
    owner = utf8(rating->email());
    details.owner = &owner;
    details.counter = rating->counter();
    sink.number(tags_space_id3v2, id, rating->rating(), details);
  } else if (auto picture = dynamic_cast<const ID3v2::AttachedPictureFrame *>(&frame)) {
    description = utf8(picture->description());
    mediaType = utf8(picture->mimeType());
    details.description = &description;
    details.mediaType = &mediaType;
    details.pictureType = static_cast<int>(picture->type());
    sink.picture(tags_space_id3v2, "APIC", picture->picture(), details);
  } else if (auto identifier = dynamic_cast<const ID3v2::UniqueFileIdentifierFrame *>(&frame)) {
    owner = utf8(identifier->owner());
    details.owner = &owner;
    sink.data(tags_space_id3v2, id, identifier->identifier(), details);
  } else if (auto link = dynamic_cast<const ID3v2::UserUrlLinkFrame *>(&frame)) {
    const String described = link->description();
    giveTexts(id, StringList(link->url()), details, link->textEncoding(), &described, sink);
  } else if (auto link = dynamic_cast<const ID3v2::UrlLinkFrame *>(&frame)) {
    giveTexts(id, StringList(link->url()), details, String::Latin1, nullptr, sink);
  } else if (auto object = dynamic_cast<const ID3v2::GeneralEncapsulatedObjectFrame *>(&frame)) {
    description = utf8(object->description());
    mediaType = utf8(object->mimeType());
    details.description = &description;
    details.mediaType = &mediaType;
    sink.data(tags_space_id3v2, id, object->object(), details);
  } else if (auto data = dynamic_cast<const ID3v2::PrivateFrame *>(&frame)) {
    owner = utf8(data->owner());
    details.owner = &owner;
    sink.data(tags_space_id3v2, id, data->data(), details);
  } else if (auto volume = dynamic_cast<const ID3v2::RelativeVolumeFrame *>(&frame)) {
    description = utf8(volume->identification());
    details.description = &description;
    char text[32];
    std::snprintf(text, sizeof text, "%+.2f dB", static_cast<double>(volume->volumeAdjustment()));
    sink.text(tags_space_id3v2, id, text, details);
  } else if (dynamic_cast<const ID3v2::PodcastFrame *>(&frame)) {
    sink.number(tags_space_id3v2, id, 1);
  } else if (auto unknown = dynamic_cast<const ID3v2::UnknownFrame *>(&frame)) {
    // A warning for the unparsed text has already been sent.
    if (id.empty() || id[0] == 'T' || id == "CHAP" || id == "CTOC" || id == ignoredFrameID) return;
    if (FrameAccess::isEncrypted(frame)) return sink.warning(tags_space_id3v2, id, "the frame is encrypted");
    sink.data(tags_space_id3v2, id, unknown->data(), details);
  }
}

/// A frame of a tag, as parsed by TagLib.
struct ParsedFrame {
  std::unique_ptr<ID3v2::Frame> frame;
  /// Whether a user text has an empty description. TagLib treats its first value as the description.
  bool hasEmptyDescription = false;
};

/// Iterates over the frames of one tag. The iteration matches `ID3v2::Tag`, but also skips empty frames. It passes each
/// frame to TagLib separately, so that the frame can be repaired first.
class FrameWalk {
 public:
  FrameWalk(const ID3v2::Header &tagHeader, ItemSink &sink)
      : version(tagHeader.majorVersion()), tagHeader(tagHeader), frames(sink), sink(sink) {
    plainTagHeader.setMajorVersion(version);
  }

  void walk(const ByteVector &body, unsigned int position) {
    const unsigned int headerSize = ID3v2::Frame::headerSize(version);
    int64_t frameCount = 0;
    while (position < body.size() && body.size() - position > headerSize) {
      // Padding.
      if (body[static_cast<int>(position)] == 0) break;
      if (++frameCount > sink.limits.item_count) {
        sink.limit(tags_space_id3v2, "ID3v2", "the tag has more than " + std::to_string(frameCount - 1) + " frames");
        break;
      }
      const ByteVector rest = body.mid(position);
      const FrameAccess::Header header(rest, version);
      // iTunes writes names of version 2.2, padded with a zero, into tags of version 2.3.
      const std::string id = withoutZeros(header.frameID());
      const unsigned int room = rest.size() - headerSize;
      const unsigned int size = std::min(header.frameSize(), room);
      if (!isFrameID(id)) {
        if (header.frameSize() > room) break;
        position += headerSize + size;
        continue;
      }
      if (header.frameSize() > room) {
        sink.warning(tags_space_id3v2, id, "the frame states a size of " + std::to_string(header.frameSize()) +
                                               " bytes; the tag is shorter");
        // The beginning of a text is useful, that of an image is not.
        if (id[0] == 'T') parse(id, rest, header, size);
        break;
      }
      if (size > 0) parse(id, rest, header, size);
      position += headerSize + size;
    }
  }

  /// Sends the values of all frames.
  void give();

 private:
  const unsigned int version;
  const ID3v2::Header &tagHeader;
  /// The header of a tag without unsynchronisation.
  ID3v2::Header plainTagHeader;
  const BoundedFrames frames;
  ItemSink &sink;
  std::vector<ParsedFrame> parsed;
  /// The digits of the frames `TDAT` (day and month) and `TIME` (hour and minute) of versions before 2.4.
  std::string date, time;

  static bool isFrameID(const std::string &id) {
    for (size_t i = 0; i < id.size(); i++) {
      if (!((id[i] >= 'A' && id[i] <= 'Z') || (id[i] >= '0' && id[i] <= '9'))) return false;
    }
    return id.size() >= 3;
  }

  void parse(const std::string &id, const ByteVector &rest, const FrameAccess::Header &header, unsigned int size) {
    ParsedFrame result;
    const bool isPlain = !header.compression() && !header.encryption();
    const bool isCut = size < header.frameSize();
    if (isPlain && (holdsText(id) || isCut)) {
      ByteVector data = fields(rest, header, size);
      if (id == "TDAT" || id == "TDA") date = digits(data);
      if (id == "TIME" || id == "TIM") time = digits(data);
      const bool isRepaired = addByteOrderMarks(id, data);
      result.hasEmptyDescription = (id == "TXXX" || id == "TXX") && beginsWithEmptyText(data);
      if (isRepaired || isCut) {
        result.frame.reset(frames.createFrame(plainFrame(id, data), &plainTagHeader));
        if (result.frame) parsed.push_back(std::move(result));
        return;
      }
    }
    result.frame.reset(frames.createFrame(rest, &tagHeader));
    if (result.frame) parsed.push_back(std::move(result));
  }

  /// The content of a frame that is neither compressed nor encrypted.
  ByteVector fields(const ByteVector &rest, const FrameAccess::Header &header, unsigned int size) const {
    ByteVector data = rest.mid(ID3v2::Frame::headerSize(version), size);
    if (version < 4) return data;
    if (tagHeader.unsynchronisation() || header.unsynchronisation()) data = ID3v2::SynchData::decode(data);
    return header.dataLengthIndicator() ? data.mid(4) : data;
  }

  /// A frame without flags.
  ByteVector plainFrame(const std::string &id, const ByteVector &data) const {
    ByteVector frame(id.data(), static_cast<unsigned int>(id.size()));
    frame.resize(version == 2 ? 3 : 4, '\0');
    if (version == 2) {
      frame.append(ByteVector::fromUInt(data.size()).mid(1));
    } else {
      frame.append(version == 4 ? ID3v2::SynchData::fromUInt(data.size()) : ByteVector::fromUInt(data.size()));
      frame.append(ByteVector(2, '\0'));
    }
    frame.append(data);
    return frame;
  }

  /// The date of a frame `TDRC`, completed with the day and the time of other frames.
  std::string completeDate(const std::string &year) const {
    if (version >= 4 || year.size() != 4 || date.size() != 4) return year;
    const std::string day = year + "-" + date.substr(2) + "-" + date.substr(0, 2);
    return time.size() == 4 ? day + "T" + time.substr(0, 2) + ":" + time.substr(2) : day;
  }
};

void FrameWalk::give() {
  for (const ParsedFrame &entry : parsed) {
    const auto *text = dynamic_cast<const ID3v2::TextIdentificationFrame *>(entry.frame.get());
    if (text && text->frameID() == "TDRC" && text->fieldList().size() == 1) {
      sink.text(tags_space_id3v2, "TDRC", completeDate(utf8(text->fieldList().front())));
    } else {
      giveFrame(*entry.frame, entry.hasEmptyDescription, sink);
    }
  }
}

/// The size of the extended header in bytes.
unsigned int extendedHeaderByteCount(const ByteVector &body, unsigned int version) {
  if (body.size() < 4 || version < 3) return 0;
  bool isFrameID = true;
  for (int i = 0; i < 4; i++) {
    isFrameID = isFrameID && ((body[i] >= 'A' && body[i] <= 'Z') || (body[i] >= '0' && body[i] <= '9'));
  }
  // Some programs set the flag without writing an extended header.
  if (isFrameID) return 0;
  // The size includes its own four bytes in version 2.4 (structure, 3.2), but not in 2.3 (3.2 there).
  const uint64_t count =
      version == 4 ? ID3v2::SynchData::toUInt(body.mid(0, 4)) : uint64_t(body.toUInt(0U)) + 4;
  return count > body.size() ? 0 : static_cast<unsigned int>(count);
}

}  // namespace

long readID3v2(File &file, long offset, ItemSink &sink) {
  file.seek(offset);
  const ByteVector head = file.readBlock(ID3v2::Header::size());
  if (head.size() < ID3v2::Header::size() || !head.startsWith(ID3v2::Header::fileIdentifier())) return 0;
  const ID3v2::Header header(head);
  if (header.majorVersion() < 2 || header.majorVersion() > 4) {
    sink.warning(tags_space_id3v2, "ID3v2", "version 2." + std::to_string(header.majorVersion()) + " is not known");
    return header.completeTagSize();
  }
  if (static_cast<long>(header.completeTagSize()) > file.length() - offset) {
    sink.warning(tags_space_id3v2, "ID3v2", "the tag states a size of " + std::to_string(header.tagSize()) +
                                                " bytes; the file is shorter");
  }
  ByteVector body = file.readBlock(header.tagSize());
  if (header.unsynchronisation() && header.majorVersion() < 4) body = ID3v2::SynchData::decode(body);
  FrameWalk walk(header, sink);
  walk.walk(body, header.extendedHeader() ? extendedHeaderByteCount(body, header.majorVersion()) : 0);
  body.clear();
  walk.give();
  return header.completeTagSize();
}

}  // namespace playhead
