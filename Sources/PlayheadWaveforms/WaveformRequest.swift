import PlayheadMediaAssets
import PlayheadMediaCore

/// The range and the resolution of a waveform.
public struct WaveformRequest: Sendable, Hashable {
  /// The division into bins. Default: nil, which means 256 frames per bin, or for a long file the smallest larger power
  /// of two that satisfies the size limit. A scale of `bins` gives fewer bins if the range has fewer frames.
  public var scale: WaveformScale?
  /// The start of the range: the first frame at or after this time. Default: 0.
  public var start: MediaTime
  /// The end of the range: the first frame at or after this time. Default: nil, the end of the file.
  public var end: MediaTime?
  /// Whether the channels are mixed to their mean.
  public var mixesChannels: Bool
  /// The track. Default: nil, the track that would be played.
  public var trackID: AssetTrack.ID?

  /// Creates a request, by default for the whole file.
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

  /// - Throws: `invalidArgument`; `invalidTime`.
  func check() throws(MediaError) {
    switch scale {
    case .bins(let count)? where !(1...Waveform.maximumPointCount).contains(count):
      throw MediaError(
        .invalidArgument, "bin count must be between 1 and \(Waveform.maximumPointCount) (got \(count))",
        operation: "waveform")
    case .framesPerBin(let count)? where !(1...Waveform.maximumFramesPerBin).contains(count):
      throw MediaError(
        .invalidArgument, "samples per bin must be between 1 and \(Waveform.maximumFramesPerBin) (got \(count))",
        operation: "waveform")
    default: break
    }
    guard start.isNumeric, start >= .zero, end.map({ $0.isNumeric && $0 > start }) ?? true else {
      throw MediaError(
        .invalidTime, "a range must start at 0 or later and end after its start", operation: "waveform")
    }
  }
}

/// The result of a scan: the waveform and its origin.
public struct WaveformResult: Sendable, Hashable {
  /// The measured waveform.
  public var waveform: Waveform
  /// A defect of the file that does not prevent playback; nil if the file has no defect. Data that could not be decoded
  /// counts as silence.
  public var fault: MediaError?
  /// Whether the waveform comes from the cache.
  public var isCached: Bool
}
