import MediaCore
import RealtimeAudio

/// Decides what of the captured sound is kept: from when on it is loud enough, and how much of what is silent. A pure value, but for memory.
///
/// It looks at windows of 10 ms. What it keeps back it gives out later, or counts as skipped.
struct RecordingGate {
  /// What it looks for.
  struct Settings: Sendable, Hashable {
    /// Nothing is kept before a sample has this level, in dBFS, but for the quarter of a second before it; nil: from the first on.
    var startLevel: Float?
    /// What stays below, in dBFS, is silent; nil: nothing is left out.
    var silenceLevel: Float?
    /// So much of each silent stretch is kept, in seconds: half at its beginning, half (a quarter of a second at most) at its end.
    var longestSilence = 1.0

    var isOpen: Bool { startLevel == nil && silenceLevel == nil }
  }

  private static let leadWindows = 25

  private let channelCount: Int
  private let windowFrames: Int
  private let startMagnitude: Float?
  private let silenceMagnitude: Float?
  private let tailWindows: Int
  private let leadWindows: Int
  private var isWaiting: Bool
  private var quietWindows = 0
  /// The window that is being filled.
  private var window: [Float] = []
  /// Windows that may yet be kept: the last ones of what is quiet.
  private var held: [[Float]] = []
  private(set) var skippedFrameCount: Int64 = 0

  init(_ settings: Settings, format: AudioFormat) {
    channelCount = format.channelCount
    windowFrames = max(1, format.sampleRateHz / 100)
    startMagnitude = settings.startLevel.map(Self.magnitude)
    silenceMagnitude = settings.silenceLevel.map(Self.magnitude)
    let longest = max(2, Int(min(settings.longestSilence, 3_600) * 100))
    leadWindows = settings.silenceLevel == nil ? Self.leadWindows : min(Self.leadWindows, longest / 2)
    tailWindows = longest - min(Self.leadWindows, longest / 2)
    isWaiting = settings.startLevel != nil
    window.reserveCapacity(windowFrames * channelCount)
  }

  private static func magnitude(_ decibels: Float) -> Float { MeterLevels.magnitude(decibels) }

  /// Whether it still waits for something loud enough.
  var isWaitingForLevel: Bool { isWaiting }

  /// Takes frames; `keep` gets what is kept, in order.
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

  /// The recording ends, or stands: the window that was begun belongs to what was before it.
  mutating func finish(keep: (UnsafeBufferPointer<Float>) -> Void) {
    if !window.isEmpty { decide(keep) }
    window.removeAll(keepingCapacity: true)
    skip(held)
    held = []
  }

  private mutating func decide(_ keep: (UnsafeBufferPointer<Float>) -> Void) {
    let peak = window.reduce(Float(0)) { max($0, $1.magnitude) }
    if isWaiting {
      guard let startMagnitude, peak >= startMagnitude else { return hold() }
      isWaiting = false
    } else if let silenceMagnitude, peak < silenceMagnitude {
      quietWindows += 1
      guard quietWindows <= tailWindows else { return hold() }
      return window.withUnsafeBufferPointer(keep)
    }
    quietWindows = 0
    for window in held { window.withUnsafeBufferPointer(keep) }
    held = []
    window.withUnsafeBufferPointer(keep)
  }

  private mutating func hold() {
    held.append(window)
    guard held.count > leadWindows else { return }
    skip([held.removeFirst()])
  }

  private mutating func skip(_ windows: [[Float]]) {
    skippedFrameCount += windows.reduce(0) { $0 + Int64($1.count / channelCount) }
  }
}
