import MediaAssets
import MediaCore

/// What part of a file is to be seen, and how finely.
public struct WaveformRequest: Sendable, Hashable {
  /// How it is cut; nil: 256 frames a bin, or the least power of two above with which a long file is not too much. Of a number of bins there
  /// are fewer where there are not as many frames.
  public var scale: WaveformScale?
  /// From the frame on that is not before it; 0 unless said.
  public var start: MediaTime
  /// Up to the frame that is not before it; nil: the end.
  public var end: MediaTime?
  /// The mean of all channels in place of each.
  public var mixesChannels: Bool
  /// The track; nil: the one that the file would have played.
  public var trackID: AssetTrack.ID?

  public init(
    scale: WaveformScale? = nil, start: MediaTime = .zero, end: MediaTime? = nil, mixesChannels: Bool = false,
    trackID: AssetTrack.ID? = nil
  ) {
    self.scale = scale
    self.start = start
    self.end = end
    self.mixesChannels = mixesChannels
    self.trackID = trackID
  }

  /// Errors: `invalidArgument`; `invalidTime`.
  func check() throws(MediaError) {
    switch scale {
    case .bins(let count)? where !(1...Waveform.maximumPointCount).contains(count):
      throw MediaError(
        .invalidArgument, "a waveform has 1 to \(Waveform.maximumPointCount) bins", operation: "waveform")
    case .framesPerBin(let count)? where !(1...Waveform.maximumFramesPerBin).contains(count):
      throw MediaError(
        .invalidArgument, "a bin has 1 to \(Waveform.maximumFramesPerBin) samples", operation: "waveform")
    default: break
    }
    guard start.isNumeric, start >= .zero, end.map({ $0.isNumeric && $0 > start }) ?? true else {
      throw MediaError(
        .invalidTime, "a range begins at 0 or later, and ends behind its beginning", operation: "waveform")
    }
  }
}

/// A waveform, and what is to be known of how it came about.
public struct WaveformResult: Sendable, Hashable {
  public var waveform: Waveform
  /// What is wrong with the file, though it plays: silence stands for what did not decode. Nil when nothing is.
  public var fault: MediaError?
  /// It was kept from an earlier time.
  public var isCached: Bool
}
