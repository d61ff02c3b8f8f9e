import CPlayheadFFmpeg
import Glibc

/// Texts of a file's tags, which may be of any length.
enum TagText {
  /// The maximum number of UTF-8 bytes of a text; the rest is discarded.
  static let maximumByteCount = 1_024

  /// Returns the value of a name in FFmpeg's dictionary, ignoring case; nil if there is none.
  static func value(_ name: String, in dictionary: OpaquePointer?) -> String? {
    guard let value = av_dict_get(dictionary, name, nil, 0)?.pointee.value else { return nil }
    var count = strnlen(value, maximumByteCount + 1)
    if count > maximumByteCount {
      count = maximumByteCount
      // Do not split a character.
      while count > 0, UInt8(bitPattern: value[count]) & 0xc0 == 0x80 { count -= 1 }
    }
    return String(decoding: UnsafeRawBufferPointer(start: value, count: count), as: UTF8.self)
  }
}
