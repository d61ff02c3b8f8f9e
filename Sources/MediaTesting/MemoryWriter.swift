import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A `SampleWriter` that stores its samples, and fails on request.
///
/// Threading: the sink writes and the test reads; `sharedContent` synchronizes them.
public final class MemoryWriter: SampleWriter, Sendable {
  /// The calls that the writer received.
  public struct Content: Sendable {
    public var format: AudioFormat?
    /// All written samples: interleaved float32.
    public var samples: [Float] = []
    public var finishCount = 0
    /// The number of samples after which each further `write` fails; nil: no limit.
    public var sampleLimit: Int?
  }

  /// Changes with every call, so a test can wait for a sink's thread.
  public let sharedContent: ConditionMutex<Content>

  /// The error of a full writer.
  public static let failure = MediaError(.writeFailed, "the writer is full", operation: "write")

  public init(sampleLimit: Int? = nil) {
    var content = Content()
    content.sampleLimit = sampleLimit
    sharedContent = ConditionMutex(content)
  }

  /// A copy of the content so far.
  public var content: Content { sharedContent.withState { $0 } }

  public func begin(format: AudioFormat) throws(MediaError) { sharedContent.update { $0.format = format } }

  public func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    let written = sharedContent.update { content -> Bool in
      let count = frameCount * (content.format?.channelCount ?? 1)
      if let limit = content.sampleLimit, content.samples.count + count > limit { return false }
      content.samples.append(contentsOf: UnsafeBufferPointer(start: samples, count: count))
      return true
    }
    if !written { throw Self.failure }
  }

  public func finish() { sharedContent.update { $0.finishCount += 1 } }
}
