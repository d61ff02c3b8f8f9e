// The messages about a video whose frames a worker process decodes.
import PlayheadLibAV
import PlayheadMediaCore

/// Parameters of opening a video for its frames.
struct FramesParameters: Codable {
  /// The track; nil for the first enabled one.
  var trackID: Int?
  /// The number of pixels of the largest image to which frames are enlarged; 0 if they are not.
  var pixelCount: Int
  /// Whether this worker has the memory for the largest frames.
  var isLarge: Bool
}

/// An open video.
struct FramesDescription: Codable {
  /// As `VideoTrackReader.format`.
  var format: FormatDescription.Video
  /// The range of the track, according to the container.
  var timeRange: TimeRange
  /// As `VideoReader.assetDuration`.
  var assetDuration: MediaTime
  /// Whether the frames need a worker with more memory. The video is not open then.
  var needsLargeWorker: Bool

  /// Whether all numbers are possible for a file, so that computations with them do not overflow.
  var isPlausible: Bool { format.isPlausible }
}

/// A call of the worker's reader.
enum FrameCommand: Codable {
  /// As the functions of `VideoReader`. The outcome is `moved`, except where stated otherwise.
  case next
  case seek(MediaTime)
  case seekToKey(near: MediaTime, latest: MediaTime)
  case releaseMemory
  /// The outcome is `keyTimes`.
  case keyTimes(around: MediaTime)
  /// The outcome is `fault`.
  case popFault
  /// Makes the image of the current frame in BGRA. The outcome is `converted`.
  case image(ImageSettings)
  /// Converts the current frame. The outcome is `converted`.
  case pixels(VideoReadSettings)
  /// Copies the next chunk of the converted image into the shared memory. The outcome is `bytes`.
  case readPixels
}

/// The result of a command.
struct FrameReading: Codable {
  enum Outcome: Codable {
    /// Whether the call returned a frame.
    case moved(isFound: Bool)
    case keyTimes(before: MediaTime?, after: MediaTime?)
    case fault(MediaError?)
    /// The colour space of the converted pixels.
    case converted(FormatDescription.Video.ColorProperties)
    /// The number of bytes in the shared memory.
    case bytes(Int)
    case failed(MediaError)
  }

  var outcome: Outcome
  /// The reader's current frame after the command.
  var current: WorkerFrame?
}

/// A frame that a worker has decoded.
struct WorkerFrame: Codable {
  var properties: Frame.VideoProperties
  var time: MediaTime
  var duration: MediaTime
  var hasTimestamp: Bool

  /// Whether a worker can have decoded such a frame.
  var isPlausible: Bool {
    let (width, height) = (properties.width, properties.height)
    return PixelBuffer.supportedSizes.contains(width) && PixelBuffer.supportedSizes.contains(height)
      && width * height <= Decoder.maximumPixelCount && properties.pixelAspectRatio?.isPlausible != false
      && properties.color.isPlausible && time.isNumeric && time.epoch == 0
      && duration.isNumeric && duration.epoch == 0 && duration >= .zero
  }
}

/// The limit of numbers that describe pixels.
private let pixelNumbers = 1...(1 << 31)

extension FormatDescription.Video {
  /// Whether all numbers are possible for a file, so that computations with them do not overflow.
  var isPlausible: Bool {
    let sizes = [cleanAperture?.width, cleanAperture?.height].compactMap(\.self)
    let offsets = [cleanAperture?.horizontalOffset, cleanAperture?.verticalOffset].compactMap(\.self)
    return [width, height].allSatisfy { (0...pixelNumbers.upperBound).contains($0) }
      && sizes.allSatisfy(pixelNumbers.contains)
      && offsets.allSatisfy { (-pixelNumbers.upperBound...pixelNumbers.upperBound).contains($0) }
      && [0, 90, 180, 270].contains(rotationDegrees) && pixelAspectRatio?.isPlausible != false && color.isPlausible
      && (bitRate.map { (0...1 << 53).contains($0) } ?? true)
      && (!frameDuration.isValid || frameDuration.isNumeric && frameDuration.epoch == 0 && frameDuration > .zero)
  }
}

extension FormatDescription.Video.PixelAspectRatio {
  fileprivate var isPlausible: Bool { pixelNumbers.contains(horizontal) && pixelNumbers.contains(vertical) }
}

extension FormatDescription.Video.ColorProperties {
  /// Whether all code points are possible.
  var isPlausible: Bool { [primaries, transfer, matrix].allSatisfy { (0...1 << 16).contains($0) } }
}
