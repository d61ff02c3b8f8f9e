#include "BoundedStream.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace playhead {

namespace {
/// Minimum number of bytes per read of the source.
constexpr long bufferByteCount = 8192;
/// Reads beyond the limit until an exception stops a parser that ignores the end of the file. The parser may leak
/// memory then. ASF's 16-bit attribute counts stay below this number.
constexpr int64_t patience = 1000000;
}  // namespace

BoundedStream::BoundedStream(const tags_source &source, const tags_limits &limits)
    : source(source), limits(limits), stackBase(static_cast<const char *>(__builtin_frame_address(0))) {}

bool BoundedStream::isWithinBounds(long count) {
  const char *here = static_cast<const char *>(__builtin_frame_address(0));
  readCount++;
  if (readCount > limits.read_count + patience) throw std::runtime_error("a parser does not end");
  // Stacks grow downwards.
  if (readCount > limits.read_count || count > limits.byte_count - givenByteCount ||
      stackBase - here > limits.stack_byte_count) {
    exhausted = true;
  }
  return !exhausted && !failed;
}

TagLib::ByteVector BoundedStream::readBlock(unsigned long length) {
  const long rest = static_cast<long>(source.byte_count) - position;
  const long count = rest <= 0 ? 0 : static_cast<long>(std::min(length, static_cast<unsigned long>(rest)));
  if (!isWithinBounds(count) || count == 0) return TagLib::ByteVector();
  TagLib::ByteVector result(static_cast<unsigned int>(count), '\0');
  const long filled = fill(result.data(), count);
  if (filled < count) result.resize(static_cast<unsigned int>(filled));
  position += filled;
  givenByteCount += filled;
  return result;
}

long BoundedStream::fill(char *target, long count) {
  long filled = 0;
  while (filled < count) {
    const long start = position + filled - bufferOffset;
    const long present = static_cast<long>(buffer.size()) - start;
    if (start >= 0 && present > 0) {
      const long piece = std::min(present, count - filled);
      std::memcpy(target + filled, buffer.data() + start, static_cast<size_t>(piece));
      filled += piece;
      continue;
    }
    const long missing = count - filled;
    int64_t got;
    if (missing >= bufferByteCount) {
      got = source.read(source.context, position + filled, reinterpret_cast<uint8_t *>(target + filled), missing);
      if (got > 0) filled += std::min(static_cast<long>(got), missing);
    } else {
      // Tags at the end of the file follow each other, so the bytes before the end are read together.
      const long last = std::max(0L, static_cast<long>(source.byte_count) - bufferByteCount);
      bufferOffset = std::min(position + filled, last);
      buffer.resize(static_cast<size_t>(bufferByteCount));
      got = source.read(source.context, bufferOffset, buffer.data(), bufferByteCount);
      buffer.resize(static_cast<size_t>(std::clamp(got, int64_t(0), int64_t(bufferByteCount))));
      if (got > 0 && position + filled - bufferOffset >= static_cast<long>(buffer.size())) break;
    }
    if (got < 0) failed = true;
    if (got <= 0) break;
  }
  return filled;
}

void BoundedStream::seek(long offset, Position p) {
  const long base = p == Beginning ? 0 : p == Current ? position : length();
  long target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) target = 0;
  position = target;
}

}  // namespace playhead
