import CFFmpeg
import Glibc

/// Texts of a file's tags, which may be of any length.
enum TagText {
  /// Bytes of UTF-8 that are taken of one; the rest is left out.
  static let maximumByteCount = 1_024

  /// What a dictionary of FFmpeg's says under a name, in any case; nil when it does not.
  static func value(_ name: String, in dictionary: OpaquePointer?) -> String? {
    guard let value = av_dict_get(dictionary, name, nil, 0)?.pointee.value else { return nil }
    var count = strnlen(value, maximumByteCount + 1)
    if count > maximumByteCount {
      count = maximumByteCount
      // Not amid a character.
      while count > 0, UInt8(bitPattern: value[count]) & 0xc0 == 0x80 { count -= 1 }
    }
    return String(decoding: UnsafeRawBufferPointer(start: value, count: count), as: UTF8.self)
  }
}
