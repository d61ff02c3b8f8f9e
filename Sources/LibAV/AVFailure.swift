import CFFmpeg
import Glibc
import MediaCore

/// A call into FFmpeg, or into the system on FFmpeg's behalf, that failed. Mapped to `MediaError` once, by MediaAssets.
public struct AVFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it is, for those who map it. Open: any other code is `other`.
  public enum Kind: Sendable, Hashable {
    /// The bytes make no sense to the demuxer or decoder (`AVERROR_INVALIDDATA`, or an end of file inside a header).
    case invalidData
    /// No decoder for this codec is in this FFmpeg (`AVERROR_DECODER_NOT_FOUND`).
    case noDecoder
    /// No encoder or muxer of this name is in this FFmpeg (`AVERROR_ENCODER_NOT_FOUND`, `AVERROR_MUXER_NOT_FOUND`).
    case noEncoder
    /// A limit that we set was reached (`AVERROR(ENOMEM)`, `AVERROR(ENOSPC)`).
    case limit
    /// The call was interrupted by `Interrupt.cancel()`.
    case cancelled
    /// A path that no file has (`ENOENT`, `ENOTDIR`, `ELOOP`, `ENAMETOOLONG`).
    case noSuchFile
    /// A folder, pipe, socket or device (`EISDIR`, `ESPIPE`).
    case notAFile
    /// `EACCES`, `EPERM`.
    case permissionDenied
    /// What lies outside the folders that may be read (`EXDEV`).
    case outsideRoots
    case other
  }

  /// FFmpeg's code: negative, an `AVERROR`.
  public let code: Int32
  /// The C function that failed.
  public let call: String
  /// FFmpeg's text for the code (`av_strerror`).
  public let text: String
  /// What a byte source said, when it was one that failed: that is the error then.
  public let sourceError: MediaError?

  /// A failure of `call` with an `AVERROR` code.
  public init(code: Int32, call: String) { self.init(code: code, call: call, sourceError: nil) }

  /// A failure of a byte source.
  public init(_ error: MediaError) {
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

  /// A failure of `call` with a positive `errno`.
  public init(errno: Int32, call: String) { self.init(code: shim_AVERROR(errno), call: call) }

  /// Whether a write would have used space that is reserved (``WritableSpace``), or the user's disk quota.
  public var isQuota: Bool { code == shim_AVERROR(EDQUOT) }

  /// What was found to be wrong with the data after `call`, though no code said so.
  public init(invalidDataIn call: String) { self.init(code: shim_AVERROR_INVALIDDATA(), call: call) }

  /// `call` was interrupted.
  public init(cancelledIn call: String) { self.init(code: shim_AVERROR_EXIT(), call: call) }

  /// What kind of failure it is.
  public var kind: Kind {
    switch code {
    case shim_AVERROR_INVALIDDATA(), shim_AVERROR_EOF(): .invalidData
    case shim_AVERROR_DECODER_NOT_FOUND(): .noDecoder
    case shim_AVERROR_ENCODER_NOT_FOUND(), shim_AVERROR_MUXER_NOT_FOUND(): .noEncoder
    case shim_AVERROR_EXIT(): .cancelled
    case shim_AVERROR(ENOMEM), shim_AVERROR(ENOSPC): .limit
    case shim_AVERROR(ENOENT), shim_AVERROR(ENOTDIR), shim_AVERROR(ELOOP), shim_AVERROR(ENAMETOOLONG): .noSuchFile
    case shim_AVERROR(EISDIR), shim_AVERROR(ESPIPE): .notAFile
    case shim_AVERROR(EACCES), shim_AVERROR(EPERM): .permissionDenied
    case shim_AVERROR(EXDEV): .outsideRoots
    default: .other
    }
  }

  /// What happened, in words for a message; with the system's number where it was the system that failed (`errno` is below
  /// 4096, FFmpeg's own codes are not, and their numbers tell nobody anything).
  public var reason: String {
    let words = text.isEmpty ? "unknown error \(code)" : text
    return (-4_095..<0).contains(code) ? "\(words) (errno \(-code))" : words
  }

  public var description: String { "\(call): \(reason)" }
}

/// Returns a call's result, or throws when it is negative.
@discardableResult
func check(_ result: Int32, _ call: @autoclosure () -> String) throws(AVFailure) -> Int32 {
  guard result >= 0 else { throw AVFailure(code: result, call: call()) }
  return result
}

/// Returns an allocation, or throws when there was no memory.
func check<Object>(_ allocation: Object?, _ call: @autoclosure () -> String) throws(AVFailure) -> Object {
  guard let allocation else { throw AVFailure(errno: ENOMEM, call: call()) }
  return allocation
}
