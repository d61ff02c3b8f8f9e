import PlayheadMediaCore

/// A seekable byte source in memory.
public final class BytesInMemory: ByteSource {
  private let bytes: [UInt8]
  public var byteCount: Int64? { Int64(bytes.count) }
  public let isSeekable = true

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    let rest = bytes.dropFirst(Int(offset)).prefix(buffer.count)
    buffer.copyBytes(from: rest)
    return rest.count
  }

  public func cancel() {}
  public func resume() {}
}
