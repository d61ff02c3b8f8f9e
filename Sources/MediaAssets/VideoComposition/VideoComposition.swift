import MediaCore

/// How the video tracks of an asset become one picture: as AVVideoComposition. A value.
public struct VideoComposition: Sendable, Hashable {
  /// The pixels of a picture, which are square.
  public var renderSize: VideoReadSettings.Size
  /// What each picture lasts: one begins at every multiple of it.
  public var frameDuration: MediaTime
  /// In order, without overlaps. Where there is none the picture is black.
  public var instructions: [VideoCompositionInstruction]

  public init(
    renderSize: VideoReadSettings.Size, frameDuration: MediaTime, instructions: [VideoCompositionInstruction]
  ) {
    (self.renderSize, self.frameDuration, self.instructions) = (renderSize, frameDuration, instructions)
  }

  /// What is to be done at a time; nil: nothing.
  public func instruction(at time: MediaTime) -> VideoCompositionInstruction? {
    instructions.last { $0.timeRange.start <= time }.flatMap { $0.timeRange.contains(time) ? $0 : nil }
  }

  /// The tracks that are to be seen at some time.
  public var trackIDs: Set<AssetTrack.ID> { Set(instructions.flatMap { $0.layers.map(\.trackID) }) }

  /// Errors: `invalidArgument` for a size that no picture has, without instructions, and for instructions that overlap or are not in order;
  /// `invalidTime` for a duration that is none, and ranges that are none.
  public func check() throws(MediaError) {
    guard PixelBuffer.supportedSizes.contains(renderSize.width), PixelBuffer.supportedSizes.contains(renderSize.height)
    else {
      throw MediaError(
        .invalidArgument, "there is no picture of \(renderSize.width) x \(renderSize.height) pixels",
        operation: "videoComposition")
    }
    guard frameDuration.isNumeric, frameDuration > .zero else {
      throw MediaError(.invalidTime, "no picture lasts \(frameDuration)", operation: "videoComposition")
    }
    guard !instructions.isEmpty else {
      throw MediaError(.invalidArgument, "there is no instruction", operation: "videoComposition")
    }
    var end = MediaTime.zero
    for instruction in instructions {
      let range = instruction.timeRange
      guard range.start.isNumeric, range.duration.isNumeric || range.duration.isPositiveInfinity,
        range.duration > .zero, range.start >= .zero
      else { throw MediaError(.invalidTime, "an instruction has no range \(range)", operation: "videoComposition") }
      guard range.start >= end else {
        throw MediaError(
          .invalidArgument, "instructions follow each other and do not overlap", operation: "videoComposition")
      }
      end = range.end
    }
  }
}

/// What is to be seen for a while: as AVVideoCompositionInstruction.
public struct VideoCompositionInstruction: Sendable, Hashable {
  /// A colour, with how opaque it is.
  public struct Color: Sendable, Hashable {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8
    public var alpha: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
      (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    public static let black = Color(red: 0, green: 0, blue: 0)
  }

  /// When; the last may be infinite.
  public var timeRange: TimeRange
  /// Behind all layers.
  public var backgroundColor: Color
  /// From the one at the bottom to the one on top.
  public var layers: [VideoCompositionLayer]

  public init(timeRange: TimeRange, backgroundColor: Color = .black, layers: [VideoCompositionLayer] = []) {
    (self.timeRange, self.backgroundColor, self.layers) = (timeRange, backgroundColor, layers)
  }
}

/// How one track is laid over what is below it: as AVVideoCompositionLayerInstruction.
///
/// Times are those of the asset. The track's pictures have square pixels and their clean aperture, and are not turned;
/// `PictureTransform.upright` turns them. Where the track has no picture, nothing is laid.
public struct VideoCompositionLayer: Sendable, Hashable {
  /// The track.
  public let trackID: AssetTrack.ID
  /// Where its pixels go; as they are before the first.
  public private(set) var transforms = VideoRamps<PictureTransform>()
  /// From 0, not to be seen, to 1; 1 before the first.
  public private(set) var opacities = VideoRamps<Double>()
  /// The part of its pictures that is to be seen; all of them before the first.
  public private(set) var crops = VideoRamps<PictureRectangle>()

  /// A track as it is, from the top left on.
  public init(trackID: AssetTrack.ID) { self.trackID = trackID }

  /// From a time on pixels go there. Errors: those of `VideoRamps`: `invalidTime`, `invalidArgument`.
  public mutating func setTransform(_ transform: PictureTransform, at time: MediaTime) throws(MediaError) {
    try transforms.insert(transform, transform, TimeRange(start: time, duration: .zero))
  }

  /// Over a range the transform goes from one to another, number by number. Errors: as `setTransform`.
  public mutating func setTransformRamp(
    from start: PictureTransform, to end: PictureTransform, timeRange: TimeRange
  ) throws(MediaError) { try transforms.insert(start, end, timeRange) }

  /// From a time on it is so opaque. Errors: as `setTransform`; `invalidArgument` for what is not from 0 to 1.
  public mutating func setOpacity(_ opacity: Double, at time: MediaTime) throws(MediaError) {
    try setOpacityRamp(from: opacity, to: opacity, timeRange: TimeRange(start: time, duration: .zero))
  }

  /// Over a range it becomes more opaque, or less. Errors: as `setOpacity`.
  public mutating func setOpacityRamp(
    from start: Double, to end: Double, timeRange: TimeRange
  ) throws(MediaError) {
    for opacity in [start, end] where !(opacity >= 0 && opacity <= 1) {
      throw MediaError(.invalidArgument, "opacity is from 0 to 1, not \(opacity)", operation: "videoComposition")
    }
    try opacities.insert(start, end, timeRange)
  }

  /// From a time on only a part of its pictures is seen, where that lies anyway. Errors: as `setTransform`.
  public mutating func setCrop(_ rectangle: PictureRectangle, at time: MediaTime) throws(MediaError) {
    try crops.insert(rectangle, rectangle, TimeRange(start: time, duration: .zero))
  }

  /// Over a range that part goes from one to another. Errors: as `setTransform`.
  public mutating func setCropRamp(
    from start: PictureRectangle, to end: PictureRectangle, timeRange: TimeRange
  ) throws(MediaError) { try crops.insert(start, end, timeRange) }
}
