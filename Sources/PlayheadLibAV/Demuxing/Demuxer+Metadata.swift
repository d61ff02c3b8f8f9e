import CPlayheadFFmpeg
import Glibc

/// An entry of FFmpeg's dictionary of a file or stream.
package struct MetadataEntry: Sendable, Hashable {
  /// FFmpeg's name of the entry, such as `title`, or the name in the file.
  package var key: String
  /// The value as stored in the file; FFmpeg does not ensure that it is UTF-8.
  package var value: [UInt8]

  /// The value as text; invalid UTF-8 becomes U+FFFD.
  package var text: String { String(decoding: value, as: UTF8.self) }

  package init(key: String, value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

/// An image that belongs to the file.
package struct AttachedPicture: Sendable, Hashable {
  /// The image file; only its first bytes if it is too large.
  package var data: [UInt8]
  /// The size of the image file, in bytes.
  package var byteCount: Int
  /// The file's description of the image, such as `title`, `filename` or `mimetype`; FFmpeg stores its role under
  /// `comment`.
  package var entries: [MetadataEntry]
}

extension Demuxer {
  /// The maximum number of entries that are read from one dictionary.
  package static let maximumEntryCount = 10_000

  /// The container's tags as FFmpeg reads them: one value per key.
  package var metadata: [MetadataEntry] { Self.entries(of: context.pointee.metadata) }

  /// Returns a stream's tags; empty if there is no such stream.
  package func metadata(ofStream index: Int) -> [MetadataEntry] {
    guard streams.indices.contains(index), let stream = context.pointee.streams[index] else { return [] }
    return Self.entries(of: stream.pointee.metadata)
  }

  /// The number of bytes returned of an image that is too large. They identify its format.
  private static let headByteCount = 64

  /// Returns the images that FFmpeg found; only the first bytes of images larger than `maximumByteCount`.
  package func attachedPictures(maximumByteCount: Int) -> [AttachedPicture] {
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
