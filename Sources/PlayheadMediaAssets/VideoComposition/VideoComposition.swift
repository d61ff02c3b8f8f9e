import PlayheadMediaCore

/// Combines the video tracks of an asset to one video, as AVVideoComposition. A value.
public struct VideoComposition: Sendable, Hashable {
  /// The size of the frames in square pixels.
  public var renderSize: PixelSize
  /// The duration of a frame. A frame begins at every multiple of it.
  public var frameDuration: MediaTime
  /// The instructions, in order and without overlaps. Without an instruction the frame is black.
  public var instructions: [VideoCompositionInstruction]

  /// Creates a composition. ``check()`` states whether its values are valid.
  public init(
    renderSize: PixelSize, frameDuration: MediaTime, instructions: [VideoCompositionInstruction]
  ) {
    (self.renderSize, self.frameDuration, self.instructions) = (renderSize, frameDuration, instructions)
  }

  /// Returns the instruction at a time; nil if there is none.
  public func instruction(at time: MediaTime) -> VideoCompositionInstruction? {
    instructions.last { $0.timeRange.start <= time }.flatMap { $0.timeRange.contains(time) ? $0 : nil }
  }

  /// The tracks of all layers.
  public var trackIDs: Set<AssetTrack.ID> { Set(instructions.flatMap { $0.layers.map(\.trackID) }) }

  /// Checks the values.
  ///
  /// - Throws: `invalidArgument` for an unsupported size, without instructions, and for instructions that overlap or
  ///   are out of order; `invalidTime` for an invalid frame duration and for invalid ranges.
  public func check() throws(MediaError) {
    guard PixelBuffer.supportedSizes.contains(renderSize.width), PixelBuffer.supportedSizes.contains(renderSize.height)
    else {
      throw MediaError(
        .invalidArgument, "unsupported render size: \(renderSize.width) x \(renderSize.height) pixels",
        operation: "videoComposition")
    }
    guard frameDuration.isNumeric, frameDuration > .zero else {
      throw MediaError(
        .invalidTime, "the frame duration must be positive (got \(frameDuration))", operation: "videoComposition")
    }
    guard !instructions.isEmpty else {
      throw MediaError(
        .invalidArgument, "a video composition needs at least one instruction", operation: "videoComposition")
    }
    var end = MediaTime.zero
    for instruction in instructions {
      let range = instruction.timeRange
      guard range.start.isNumeric, range.duration.isNumeric || range.duration.isPositiveInfinity,
        range.duration > .zero, range.start >= .zero
      else {
        throw MediaError(
          .invalidTime, "the range of an instruction is invalid: \(range)", operation: "videoComposition")
      }
      guard range.start >= end else {
        throw MediaError(
          .invalidArgument, "instructions must be in order and must not overlap", operation: "videoComposition")
      }
      end = range.end
    }
  }
}

/// The layers and background of a time range, as AVVideoCompositionInstruction.
public struct VideoCompositionInstruction: Sendable, Hashable {
  /// The time range. The last instruction may have an infinite one.
  public var timeRange: TimeRange
  /// The colour below all layers. Default: black.
  public var backgroundColor: RGBColor
  /// The layers, from bottom to top.
  public var layers: [VideoCompositionLayer]

  /// Creates an instruction, by default a black frame.
  public init(timeRange: TimeRange, backgroundColor: RGBColor = .black, layers: [VideoCompositionLayer] = []) {
    (self.timeRange, self.backgroundColor, self.layers) = (timeRange, backgroundColor, layers)
  }
}

/// Draws one track over the layers below it, as AVVideoCompositionLayerInstruction.
///
/// Times are those of the asset. The track's frames have square pixels and their clean aperture, and are not rotated;
/// ``ImageTransform/upright(rotationDegrees:width:height:)`` rotates them. Where the track has no frame, nothing is
/// drawn.
public struct VideoCompositionLayer: Sendable, Hashable {
  /// The track.
  public let trackID: AssetTrack.ID
  /// The transforms from the track's pixels to those of the composition; the identity before the first one.
  public private(set) var transforms = VideoRamps<ImageTransform>()
  /// The opacities, from 0 (invisible) to 1 (opaque); 1 before the first one.
  public private(set) var opacities = VideoRamps<Double>()
  /// The visible parts of the track's frames; whole frames before the first one.
  public private(set) var crops = VideoRamps<ImageRectangle>()

  /// Creates a layer that draws a track unchanged, from the top left.
  public init(trackID: AssetTrack.ID) { self.trackID = trackID }

  /// Sets the transform from a time.
  ///
  /// - Throws: The errors of ``VideoRamps``: `invalidTime`, `invalidArgument`.
  public mutating func setTransform(_ transform: ImageTransform, at time: MediaTime) throws(MediaError) {
    try transforms.insert(transform, transform, TimeRange(start: time, duration: .zero))
  }

  /// Changes the transform over a range. Each value is interpolated linearly.
  ///
  /// - Throws: The errors of ``setTransform(_:at:)``.
  public mutating func setTransformRamp(
    from start: ImageTransform, to end: ImageTransform, timeRange: TimeRange
  ) throws(MediaError) { try transforms.insert(start, end, timeRange) }

  /// Sets the opacity from a time.
  ///
  /// - Throws: The errors of ``setTransform(_:at:)``; `invalidArgument` for an opacity outside 0 to 1.
  public mutating func setOpacity(_ opacity: Double, at time: MediaTime) throws(MediaError) {
    try setOpacityRamp(from: opacity, to: opacity, timeRange: TimeRange(start: time, duration: .zero))
  }

  /// Changes the opacity linearly over a range.
  ///
  /// - Throws: The errors of ``setOpacity(_:at:)``.
  public mutating func setOpacityRamp(
    from start: Double, to end: Double, timeRange: TimeRange
  ) throws(MediaError) {
    for opacity in [start, end] where !(opacity >= 0 && opacity <= 1) {
      throw MediaError(
        .invalidArgument, "opacity must be between 0 and 1 (got \(opacity))", operation: "videoComposition")
    }
    try opacities.insert(start, end, timeRange)
  }

  /// Sets the visible part of the frames from a time. Cropping does not move the frames.
  ///
  /// - Throws: The errors of ``setTransform(_:at:)``.
  public mutating func setCrop(_ rectangle: ImageRectangle, at time: MediaTime) throws(MediaError) {
    try crops.insert(rectangle, rectangle, TimeRange(start: time, duration: .zero))
  }

  /// Changes the visible part linearly over a range.
  ///
  /// - Throws: The errors of ``setTransform(_:at:)``.
  public mutating func setCropRamp(
    from start: ImageRectangle, to end: ImageRectangle, timeRange: TimeRange
  ) throws(MediaError) { try crops.insert(start, end, timeRange) }
}
