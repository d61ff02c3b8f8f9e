import PlayheadMediaCore

/// A seekable byte source in memory.
package final class BytesInMemory: ByteSource {
  private let bytes: [UInt8]
  package var byteCount: Int64? { Int64(bytes.count) }
  package let isSeekable = true

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    let rest = bytes.dropFirst(Int(offset)).prefix(buffer.count)
    buffer.copyBytes(from: rest)
    return rest.count
  }

  package func cancel() {}
  package func resume() {}
}
