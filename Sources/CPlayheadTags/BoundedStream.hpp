// TagLib's input: the caller's bytes, with limits for the number of bytes, the number of reads, and the stack depth.
// Beyond a limit the file appears to end, which every parser of TagLib handles. Writing is not supported.
#ifndef PLAYHEAD_BOUNDEDSTREAM_HPP
#define PLAYHEAD_BOUNDEDSTREAM_HPP

#include <taglib/tiostream.h>

#include <vector>

#include "include/CPlayheadTags.h"

namespace playhead {

/// One file, read once.
class BoundedStream final : public TagLib::IOStream {
 public:
  BoundedStream(const tags_source &source, const tags_limits &limits);

  /// Whether a limit was reached.
  bool isExhausted() const { return exhausted; }
  /// Whether the source failed.
  bool hasFailed() const { return failed; }

  TagLib::FileName name() const override { return ""; }
  TagLib::ByteVector readBlock(unsigned long length) override;
  void seek(long offset, Position p = Beginning) override;
  long tell() const override { return position; }
  long length() override { return static_cast<long>(source.byte_count); }
  bool readOnly() const override { return true; }
  bool isOpen() const override { return true; }
  void writeBlock(const TagLib::ByteVector &) override {}
  void insert(const TagLib::ByteVector &, unsigned long, unsigned long) override {}
  void removeBlock(unsigned long, unsigned long) override {}
  void truncate(long) override {}

 private:
  const tags_source source;
  const tags_limits limits;
  /// An address in the stack at the start of the reading.
  const char *const stackBase;
  long position = 0;
  int64_t givenByteCount = 0;
  int64_t readCount = 0;
  bool exhausted = false;
  bool failed = false;
  /// The last bytes that were read, from `bufferOffset` on: TagLib reads a few bytes at a time.
  std::vector<uint8_t> buffer;
  long bufferOffset = 0;

  bool isWithinBounds(long count);
  /// Fills `target` and returns the number of bytes.
  long fill(char *target, long count);
};

}  // namespace playhead

#endif
