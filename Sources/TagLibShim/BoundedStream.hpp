// What TagLib reads from: the caller's bytes, up to bounds on how many, in how many pieces, and how deep in the stack.
// Behind a bound the file seems to have ended, which every parser of TagLib takes for an answer. It writes nothing.
#ifndef PLAYHEAD_BOUNDEDSTREAM_HPP
#define PLAYHEAD_BOUNDEDSTREAM_HPP

#include <taglib/tiostream.h>

#include <vector>

#include "include/TagLibShim.h"

namespace playhead {

/// One file, read once.
class BoundedStream final : public TagLib::IOStream {
 public:
  BoundedStream(const tags_source &source, const tags_limits &limits);

  /// A bound was reached.
  bool isExhausted() const { return exhausted; }
  /// The source failed.
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
  /// An address in the stack where reading began.
  const char *const stackBase;
  long position = 0;
  int64_t givenByteCount = 0;
  int64_t readCount = 0;
  bool exhausted = false;
  bool failed = false;
  /// The latest bytes read, from `bufferOffset` on: TagLib asks for a few at a time.
  std::vector<uint8_t> buffer;
  long bufferOffset = 0;

  bool isWithinBounds(long count);
  /// Fills `target`; answers how many bytes there were.
  long fill(char *target, long count);
};

}  // namespace playhead

#endif
