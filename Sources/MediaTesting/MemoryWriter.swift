import MediaCore
import RealtimeAudio

/// A `SampleWriter` that keeps what it is given, and fails when told to.
///
/// Threading: the sink writes, the test reads; `signal` joins them.
public final class MemoryWriter: SampleWriter, Sendable {
  /// What the writer has seen.
  public struct Content: Sendable {
    public var format: AudioFormat?
    /// Everything written: interleaved float32.
    public var samples: [Float] = []
    public var finishCount = 0
    /// The number of samples after which every further `write` fails; nil: never.
    public var sampleLimit: Int?
  }

  /// Changes with every call; wait on it for what a sink's thread writes.
  public let signal: WakeSignal<Content>

  /// What a full writer throws.
  public static let failure = MediaError(.writeFailed, "the writer is full", operation: "write")

  public init(sampleLimit: Int? = nil) {
    var content = Content()
    content.sampleLimit = sampleLimit
    signal = WakeSignal(content)
  }

  /// A copy of what has been seen so far.
  public var content: Content { signal.withState { $0 } }

  public func begin(format: AudioFormat) throws(MediaError) { signal.update { $0.format = format } }

  public func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    let written = signal.update { content -> Bool in
      let count = frameCount * (content.format?.channelCount ?? 1)
      if let limit = content.sampleLimit, content.samples.count + count > limit { return false }
      content.samples.append(contentsOf: UnsafeBufferPointer(start: samples, count: count))
      return true
    }
    if !written { throw Self.failure }
  }

  public func finish() { signal.update { $0.finishCount += 1 } }
}
