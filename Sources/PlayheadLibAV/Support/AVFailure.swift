import CPlayheadFFmpeg
import Glibc
import PlayheadMediaCore

/// A failed call of FFmpeg, or of the system on FFmpeg's behalf. MediaAssets maps it to `MediaError`.
package struct AVFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure, for mapping to other errors. Any unknown code is `other`.
  package enum Kind: Sendable, Hashable {
    /// The demuxer or decoder cannot interpret the bytes (`AVERROR_INVALIDDATA`, or an end of file inside a header).
    case invalidData
    /// This FFmpeg has no decoder for the codec (`AVERROR_DECODER_NOT_FOUND`).
    case noDecoder
    /// This FFmpeg has no encoder or muxer of the name (`AVERROR_ENCODER_NOT_FOUND`, `AVERROR_MUXER_NOT_FOUND`).
    case noEncoder
    /// A limit of Playhead or of the system was reached (`AVERROR(ENOMEM)`, `AVERROR(ENOSPC)`, `AVERROR(EFBIG)`).
    case limit
    /// The call was interrupted by `Interrupt.cancel()`.
    case cancelled
    /// No file exists at the path (`ENOENT`, `ENOTDIR`, `ELOOP`, `ENAMETOOLONG`).
    case noSuchFile
    /// A folder, pipe, socket or device (`EISDIR`, `ESPIPE`).
    case notAFile
    /// `EACCES`, `EPERM`.
    case permissionDenied
    /// The path is outside the readable folders (`EXDEV`).
    case outsideRoots
    case other
  }

  /// FFmpeg's code: a negative `AVERROR`.
  package let code: Int32
  /// The C function that failed.
  package let call: String
  /// FFmpeg's text for the code (`av_strerror`).
  package let text: String
  /// The error of the byte source, if a byte source failed; it is then the actual error.
  package let sourceError: MediaError?

  /// Creates a failure of `call` with an `AVERROR` code.
  package init(code: Int32, call: String) { self.init(code: code, call: call, sourceError: nil) }

  /// Creates a failure of a byte source.
  package init(_ error: MediaError) {
    let code = error.code == .cancelled ? shim_AVERROR_EXIT() : shim_AVERROR(EIO)
    self.init(code: code, call: "read", sourceError: error)
  }

  private init(code: Int32, call: String, sourceError: MediaError?) {
    self.code = code
    self.call = call
    self.sourceError = sourceError
    var buffer = [CChar](repeating: 0, count: 128)
    let found = av_strerror(code, &buffer, buffer.count) >= 0
    self.text = found ? String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : ""
  }

  /// Creates a failure of `call` with a positive `errno`.
  package init(errno: Int32, call: String) { self.init(code: shim_AVERROR(errno), call: call) }

  /// Whether a write failed because it would have used reserved space (``WritableSpace``), or would have exceeded the
  /// user's disk quota.
  package var exceedsQuota: Bool { code == shim_AVERROR(EDQUOT) }

  /// Creates a failure for invalid data that was detected after `call`, without an error code.
  package init(invalidDataIn call: String) { self.init(code: shim_AVERROR_INVALIDDATA(), call: call) }

  /// Creates a failure for an interrupted `call`.
  package init(cancelledIn call: String) { self.init(code: shim_AVERROR_EXIT(), call: call) }

  /// The kind of failure.
  package var kind: Kind {
    switch code {
    case shim_AVERROR_INVALIDDATA(), shim_AVERROR_EOF(): .invalidData
    case shim_AVERROR_DECODER_NOT_FOUND(): .noDecoder
    case shim_AVERROR_ENCODER_NOT_FOUND(), shim_AVERROR_MUXER_NOT_FOUND(): .noEncoder
    case shim_AVERROR_EXIT(): .cancelled
    case shim_AVERROR(ENOMEM), shim_AVERROR(ENOSPC), shim_AVERROR(EFBIG): .limit
    case shim_AVERROR(ENOENT), shim_AVERROR(ENOTDIR), shim_AVERROR(ELOOP), shim_AVERROR(ENAMETOOLONG): .noSuchFile
    case shim_AVERROR(EISDIR), shim_AVERROR(ESPIPE): .notAFile
    case shim_AVERROR(EACCES), shim_AVERROR(EPERM): .permissionDenied
    case shim_AVERROR(EXDEV): .outsideRoots
    default: .other
    }
  }

  /// The reason as text, for a message. Includes the number of an error of the system (`errno`, below 4096), but not
  /// the numbers of FFmpeg's codes, which mean nothing to users.
  package var reason: String {
    let message = text.isEmpty ? "unknown error \(code)" : text
    return (-4_095..<0).contains(code) ? "\(message) (errno \(-code))" : message
  }

  package var description: String { "\(call): \(reason)" }
}

/// Returns a call's result, or throws when it is negative.
@discardableResult
func check(_ result: Int32, _ call: @autoclosure () -> String) throws(AVFailure) -> Int32 {
  guard result >= 0 else { throw AVFailure(code: result, call: call()) }
  return result
}

/// Returns an allocation, or throws when no memory was available.
func check<Object>(_ allocation: Object?, _ call: @autoclosure () -> String) throws(AVFailure) -> Object {
  guard let allocation else { throw AVFailure(errno: ENOMEM, call: call()) }
  return allocation
}
