import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A `SampleWriter` that stores its samples, and fails on request.
///
/// Threading: the sink writes and the test reads; `sharedContent` synchronizes them.
package final class MemoryWriter: SampleWriter, Sendable {
  /// The calls that the writer received.
  package struct Content: Sendable {
    package var format: AudioFormat?
    /// All written samples: interleaved float32.
    package var samples: [Float] = []
    package var finishCount = 0
    /// The number of samples after which each further `write` fails; nil: no limit.
    package var sampleLimit: Int?
  }

  /// Changes with every call, so a test can wait for a sink's thread.
  package let sharedContent: ConditionMutex<Content>

  /// The error of a full writer.
  package static let failure = MediaError(.writeFailed, "the writer is full", operation: "write")

  package init(sampleLimit: Int? = nil) {
    var content = Content()
    content.sampleLimit = sampleLimit
    sharedContent = ConditionMutex(content)
  }

  /// A copy of the content so far.
  package var content: Content { sharedContent.withState { $0 } }

  package func begin(format: AudioFormat) throws(MediaError) { sharedContent.update { $0.format = format } }

  package func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    let written = sharedContent.update { content -> Bool in
      let count = frameCount * (content.format?.channelCount ?? 1)
      if let limit = content.sampleLimit, content.samples.count + count > limit { return false }
      content.samples.append(contentsOf: UnsafeBufferPointer(start: samples, count: count))
      return true
    }
    if !written { throw Self.failure }
  }

  package func finish() { sharedContent.update { $0.finishCount += 1 } }
}
