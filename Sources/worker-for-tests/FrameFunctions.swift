// Functions on the video of a file, whose replies depend on the file name: most of them are lies.
import Glibc
import PlayheadIsolation
import PlayheadMediaCore

/// Has the fields of `FramesDescription`.
private struct FramesDescription: Codable {
  var format: FormatDescription.Video
  var timeRange = TimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
  var assetDuration = MediaTime(value: 1, timescale: 1)
  var needsLargeWorker = false
}

/// Has the cases of `FrameCommand`.
private enum FrameCommand: Codable {
  case next
  case seek(MediaTime)
  case seekToKey(near: MediaTime, latest: MediaTime)
  case releaseMemory
  case keyTimes(around: MediaTime)
  case popFault
  case image(ImageSettings)
  case pixels(ReadSettings)
  case readPixels
}

/// Has the fields of `ImageSettings`.
private struct ImageSettings: Codable {
  var maximumWidth: Int?
  var maximumHeight: Int?
  var toleranceBefore: MediaTime
  var toleranceAfter: MediaTime
  var appliesPreferredTrackTransform: Bool
  var apertureMode: String
}

/// Has the fields of `VideoReadSettings`.
private struct ReadSettings: Codable {
  struct Size: Codable {
    var width: Int
    var height: Int
  }

  var pixelFormat: PixelFormat
  var size: Size?
  var appliesPreferredTrackTransform: Bool
}

/// Has the cases of `FrameReading`.
private struct FrameReading: Codable {
  enum Outcome: Codable {
    case moved(isFound: Bool)
    case keyTimes(before: MediaTime?, after: MediaTime?)
    case fault(MediaError?)
    case converted(FormatDescription.Video.ColorProperties)
    case bytes(Int)
    case failed(MediaError)
  }

  var outcome: Outcome
  var current: WorkerFrame?
}

/// Has the fields of `WorkerFrame`.
private struct WorkerFrame: Codable {
  struct Properties: Codable {
    var width = 4
    var height = 2
    var pixelFormatName = "yuv420p"
    var isKey = true
    var isDamaged = false
    var pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?
    var color = FormatDescription.Video.ColorProperties()
  }

  var properties = Properties()
  var time = MediaTime.zero
  var duration = MediaTime(value: 1, timescale: 1)
  var hasTimestamp = true
}

/// The functions on the video of one file.
struct FrameFunctions {
  /// The name of the file without its folder.
  let name: String

  /// Performs `AssetWorkerFunction.openFrames`.
  func open() -> [UInt8] {
    var description = FramesDescription(format: .init(width: 4, height: 2))
    switch name {
    case "crash-open": abort()
    case "claims-rotation": description.format.rotationDegrees = 45
    case "claims-aperture": description.format.cleanAperture = .init(width: .max, height: 1)
    case "claims-rate": description.format.frameDuration = MediaTime(value: -1, timescale: 25)
    case "claims-large": description.needsLargeWorker = true
    default: break
    }
    return MessageEncoder.bytes(of: description)
  }

  /// Performs `AssetWorkerFunction.performOnFrames`.
  func perform(_ parameters: [UInt8]) -> [UInt8] {
    guard let command = try? MessageDecoder.value(FrameCommand.self, from: parameters) else { abort() }
    return MessageEncoder.bytes(of: FrameReading(outcome: outcome(of: command), current: frame))
  }

  private var frame: WorkerFrame? {
    var frame = WorkerFrame()
    switch name {
    case "claims-width": frame.properties.width = 20_000
    case "claims-height": frame.properties.height = -1
    case "claims-pixels": (frame.properties.width, frame.properties.height) = (16_000, 16_000)
    case "claims-ratio": frame.properties.pixelAspectRatio = .init(horizontal: 1, vertical: 0)
    case "claims-color": frame.properties.color.matrix = -1
    case "claims-time": frame.time = .indefinite
    case "claims-epoch": frame.time = MediaTime(value: 0, timescale: 1, epoch: 1)
    case "claims-duration": frame.duration = MediaTime(value: -1, timescale: 1)
    case "no-frame": return nil
    default: break
    }
    return frame
  }

  private func outcome(of command: FrameCommand) -> FrameReading.Outcome {
    switch command {
    case .next, .seek, .seekToKey, .releaseMemory:
      if name == "crash-frame" { abort() }
      return name == "wrong-outcome" ? .bytes(1) : .moved(isFound: true)
    case .keyTimes: return .keyTimes(before: nil, after: nil)
    case .popFault: return .fault(nil)
    case .image, .pixels:
      if name == "fails" { return .failed(MediaError(.decodeFailed, "no image", operation: "test")) }
      return .converted(.init())
    case .readPixels:
      switch name {
      case "crash-image": abort()
      case "no-bytes": return .bytes(0)
      case "short-chunk": return .bytes(31)
      case "long-chunk": return .bytes(33)
      case "endless-chunk": return .bytes(.max)
      case "negative-chunk": return .bytes(-1)
      default: return .bytes(32)
      }
    }
  }
}
