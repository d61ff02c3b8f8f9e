import CFFmpeg
import Glibc

/// An entry of FFmpeg's dictionary of a file or stream.
public struct MetadataEntry: Sendable, Hashable {
  /// FFmpeg's name for it, such as `title`, or the file's own.
  public var key: String
  /// As the file has it: FFmpeg does not see to it that it is UTF-8.
  public var value: [UInt8]

  /// The value as text; what is not UTF-8 shows as U+FFFD.
  public var text: String { String(decoding: value, as: UTF8.self) }

  public init(key: String, value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

/// A picture that belongs to the file.
public struct AttachedPicture: Sendable, Hashable {
  /// The picture file; of one that is too large its first bytes.
  public var data: [UInt8]
  /// Bytes that the picture file has.
  public var byteCount: Int
  /// What the file says of it, such as its `title`, `filename` or `mimetype`; under `comment` FFmpeg has its role.
  public var entries: [MetadataEntry]
}

extension Demuxer {
  /// Entries of one dictionary that are read.
  public static let maximumEntryCount = 10_000

  /// What the container's tags say, as FFmpeg has it: one value a key.
  public var metadata: [MetadataEntry] { Self.entries(of: context.pointee.metadata) }

  /// What a stream's tags say; none when there is no such stream.
  public func metadata(ofStream index: Int) -> [MetadataEntry] {
    guard streams.indices.contains(index), let stream = context.pointee.streams[index] else { return [] }
    return Self.entries(of: stream.pointee.metadata)
  }

  /// Bytes that are given of a picture that is too large: they tell what it is.
  private static let headByteCount = 64

  /// The pictures that FFmpeg found; of those of more than `maximumByteCount` bytes only the first ones.
  public func attachedPictures(maximumByteCount: Int) -> [AttachedPicture] {
    streams.indices.compactMap { index in
      guard let stream = context.pointee.streams[index], shim_stream_is_attached_picture(stream) != 0 else {
        return nil
      }
      let packet = stream.pointee.attached_pic
      guard let bytes = packet.data, packet.size > 0 else { return nil }
      let byteCount = Int(packet.size)
      let data = Array(
        UnsafeBufferPointer(
          start: bytes, count: byteCount <= maximumByteCount ? byteCount : min(byteCount, Self.headByteCount)))
      return AttachedPicture(data: data, byteCount: byteCount, entries: Self.entries(of: stream.pointee.metadata))
    }
  }

  private static func entries(of dictionary: OpaquePointer?) -> [MetadataEntry] {
    var entries: [MetadataEntry] = []
    var last: UnsafeMutablePointer<AVDictionaryEntry>?
    while entries.count < maximumEntryCount, let next = av_dict_get(dictionary, "", last, AV_DICT_IGNORE_SUFFIX) {
      last = next
      guard let key = next.pointee.key, let value = next.pointee.value else { continue }
      let bytes = UnsafeBufferPointer(start: value, count: strlen(value)).map { UInt8(bitPattern: $0) }
      entries.append(MetadataEntry(key: String(cString: key), value: bytes))
    }
    return entries
  }
}
