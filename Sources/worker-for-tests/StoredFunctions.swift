// Functions on the stored samples of a file, whose replies depend on the file name: most of them are lies.
import Glibc
import PlayheadIsolation
import PlayheadMediaCore

/// Has the cases of `StoredCommand`.
private enum StoredCommand: Codable {
  case start(TimeRange)
  case read
  case readBytes
  case popFault
}

/// Has the cases of `StoredReply`.
private enum StoredReply: Codable {
  case started
  case samples([StoredSample], end: StoredEnd?)
  case bytes(Int)
  case fault(MediaError?)
  case failed(MediaError)
}

/// Has the fields of `StoredEnd`.
private struct StoredEnd: Codable {
  var error: MediaError?
}

/// Has the fields of `StoredSample`.
private struct StoredSample: Codable {
  var byteCount = 100
  var sampleCount = 1
  var presentationTime = MediaTime.zero
  var decodeTime = MediaTime.invalid
  var duration = MediaTime.invalid
  var attachments = SampleBuffer.Attachments()
}

/// The functions on the stored samples of one file.
struct StoredFunctions {
  /// The name of the file without its folder.
  let name: String
  private var hasRead = false

  init(name: String) { self.name = name }

  /// Performs `AssetWorkerFunction.openStored`.
  func open() -> [UInt8] {
    if name == "crash-open" { abort() }
    var format = FormatDescription(mediaType: .video, codecName: "h264", video: .init(width: 4, height: 2))
    if name == "claims-rotation" { format.video?.rotationDegrees = -90 }
    return MessageEncoder.bytes(of: format)
  }

  /// Performs `AssetWorkerFunction.performOnStored`.
  mutating func perform(_ parameters: [UInt8]) -> [UInt8] {
    guard let command = try? MessageDecoder.value(StoredCommand.self, from: parameters) else { abort() }
    return MessageEncoder.bytes(of: reply(to: command))
  }

  private mutating func reply(to command: StoredCommand) -> StoredReply {
    switch command {
    case .start: return name == "fails" ? .failed(MediaError(.readFailed, "no start", operation: "test")) : .started
    case .popFault: return .fault(nil)
    case .readBytes:
      switch name {
      case "crash-bytes": abort()
      case "short-chunk": return .bytes(99)
      case "long-chunk": return .bytes(101)
      case "negative-chunk": return .bytes(-100)
      case "claims-large-batch": return .bytes(1 << 20)
      default: return .bytes(100)
      }
    case .read:
      defer { hasRead = true }
      var sample = StoredSample()
      switch name {
      case "crash-read": abort()
      case "claims-bytes": sample.byteCount = 1 << 40
      case "claims-no-bytes": sample.byteCount = -1
      case "claims-samples": sample.sampleCount = -1
      case "claims-more-samples-than-bytes": (sample.byteCount, sample.sampleCount) = (0, 1 << 60)
      case "claims-time": sample.presentationTime = .indefinite
      case "claims-trim": sample.attachments.trimAtStart = MediaTime(value: -1, timescale: 1)
      case "claims-large-batch":
        return .samples(Array(repeating: StoredSample(byteCount: 1 << 26), count: 64), end: nil)
      case "sends-nothing": return .samples([], end: nil)
      case "sends-too-much": return .samples(Array(repeating: StoredSample(byteCount: 0), count: 65), end: nil)
      case "wrong-reply": return .started
      default: break
      }
      return hasRead ? .samples([], end: StoredEnd()) : .samples([sample], end: nil)
    }
  }
}
