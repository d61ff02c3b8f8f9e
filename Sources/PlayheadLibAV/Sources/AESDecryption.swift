import CPlayheadFFmpeg
import Glibc

/// AES-128 decryption in CBC mode with PKCS #7 padding (RFC 8216, section 4.3.2.4).
package enum AESDecryption {
  /// Returns the decrypted bytes; nil when the length is not a positive multiple of 16, or the padding is invalid.
  ///
  /// - Parameters:
  ///   - key: 16 bytes.
  ///   - initializationVector: 16 bytes.
  package static func decrypt(_ bytes: [UInt8], key: [UInt8], initializationVector: [UInt8]) throws(AVFailure)
    -> [UInt8]?
  {
    precondition(
      key.count == 16 && initializationVector.count == 16, "the key and the initialization vector must have 16 bytes")
    guard !bytes.isEmpty, bytes.count.isMultiple(of: 16), let blockCount = Int32(exactly: bytes.count / 16) else {
      return nil
    }
    let context = try check(av_aes_alloc(), "av_aes_alloc")
    defer { av_free(UnsafeMutableRawPointer(context)) }
    try check(av_aes_init(context, key, 128, 1), "av_aes_init")
    var vector = initializationVector
    var plain = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, filled in
      av_aes_crypt(context, buffer.baseAddress, bytes, blockCount, &vector, 1)
      filled = bytes.count
    }
    guard let padding = plain.last.map(Int.init), (1...16).contains(padding),
      plain.suffix(padding).allSatisfy({ Int($0) == padding })
    else { return nil }
    plain.removeLast(padding)
    return plain
  }
}
