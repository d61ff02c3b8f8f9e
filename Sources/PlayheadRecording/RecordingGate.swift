import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Selects the captured audio that is kept: drops audio before the start level, and shortens silence. A pure value,
/// except for its buffers.
///
/// The gate decides for windows of 10 ms. A window that cannot be decided yet is buffered, then kept or counted as
/// skipped.
struct RecordingGate {
  /// The thresholds.
  struct Settings: Sendable, Hashable {
    /// Start level in dBFS. Audio before the first sample of this level is skipped, except the last quarter of a
    /// second. Default: nil, no start level.
    var startLevel: Float?
    /// Level in dBFS below which audio counts as silence; nil: no audio is skipped.
    var silenceLevel: Float?
    /// Seconds of each silent range that are kept: half, at most a quarter of a second, at its end, the
    /// rest at its start.
    var longestSilence = 1.0

    var keepsAllAudio: Bool { startLevel == nil && silenceLevel == nil }
  }

  /// The maximum number of windows that are kept before audible audio: a quarter of a second.
  private static let maximumLeadWindows = 25

  private let channelCount: Int
  private let windowFrames: Int
  private let startMagnitude: Float?
  private let silenceMagnitude: Float?
  /// The number of windows kept at the start of a silent range, and at its end.
  private let tailWindows: Int
  private let leadWindows: Int
  private var isWaiting: Bool
  private var quietWindows = 0
  /// The window that is being filled.
  private var window: [Float] = []
  /// The last quiet windows, which are kept if audible audio follows.
  private var bufferedWindows: [[Float]] = []
  private(set) var skippedFrameCount: Int64 = 0

  init(_ settings: Settings, format: AudioFormat) {
    channelCount = format.channelCount
    windowFrames = max(1, format.sampleRateHz / 100)
    startMagnitude = settings.startLevel.map(Self.magnitude)
    silenceMagnitude = settings.silenceLevel.map(Self.magnitude)
    let longest = max(2, Int(min(settings.longestSilence, 3_600) * 100))
    leadWindows = settings.silenceLevel == nil ? Self.maximumLeadWindows : min(Self.maximumLeadWindows, longest / 2)
    tailWindows = longest - min(Self.maximumLeadWindows, longest / 2)
    isWaiting = settings.startLevel != nil
    window.reserveCapacity(windowFrames * channelCount)
  }

  private static func magnitude(_ decibels: Float) -> Float { MeterLevels.magnitude(decibels) }

  /// Whether no sample has reached the start level yet.
  var isWaitingForLevel: Bool { isWaiting }

  /// Adds frames. Calls `keep` with the kept audio, in order.
  mutating func add(_ samples: UnsafeBufferPointer<Float>, keep: (UnsafeBufferPointer<Float>) -> Void) {
    var rest = samples[...]
    while !rest.isEmpty {
      let part = rest.prefix(windowFrames * channelCount - window.count)
      window.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
      if window.count == windowFrames * channelCount {
        decide(keep)
        window.removeAll(keepingCapacity: true)
      }
    }
  }

  /// Ends the audio: decides for the incomplete window, and skips the buffered windows.
  mutating func finish(keep: (UnsafeBufferPointer<Float>) -> Void) {
    if !window.isEmpty { decide(keep) }
    window.removeAll(keepingCapacity: true)
    skip(bufferedWindows)
    bufferedWindows = []
  }

  private mutating func decide(_ keep: (UnsafeBufferPointer<Float>) -> Void) {
    let peak = window.reduce(Float(0)) { max($0, $1.magnitude) }
    if isWaiting {
      guard let startMagnitude, peak >= startMagnitude else { return bufferWindow() }
      isWaiting = false
    } else if let silenceMagnitude, peak < silenceMagnitude {
      quietWindows += 1
      guard quietWindows <= tailWindows else { return bufferWindow() }
      return window.withUnsafeBufferPointer(keep)
    }
    quietWindows = 0
    for window in bufferedWindows { window.withUnsafeBufferPointer(keep) }
    bufferedWindows = []
    window.withUnsafeBufferPointer(keep)
  }

  private mutating func bufferWindow() {
    bufferedWindows.append(window)
    guard bufferedWindows.count > leadWindows else { return }
    skip([bufferedWindows.removeFirst()])
  }

  private mutating func skip(_ windows: [[Float]]) {
    skippedFrameCount += windows.reduce(0) { $0 + Int64($1.count / channelCount) }
  }
}
