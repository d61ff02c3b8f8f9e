/// The former streams of a decode thread whose last frames are still in a converter, or reserved for a cross-fade.
///
/// The stream of a new job is spliced at a frame of the former stream. The mixer switches only when it has rendered all
/// frames before, so they must be written even though nothing more is decoded into that stream. If the ring of the
/// stream is full, they are written when it has free space.
///
/// Threading: the decode thread only.
struct UnfinishedStreams {
  private var streams: [(generation: UInt64, writer: StreamWriter, endFrame: Int64)] = []

  /// Adds the stream of a generation if frames before `streamFrame` are missing.
  mutating func add(_ writer: StreamWriter, ofGeneration generation: UInt64, upTo streamFrame: Int64) {
    if writer.passedFrame < streamFrame { streams.append((generation, writer, streamFrame)) }
  }

  /// Removes the streams of later generations: another stream follows the one of `generation` instead of them.
  mutating func removeAll(after generation: UInt64) { streams.removeAll { $0.generation > generation } }

  mutating func removeAll() { streams = [] }

  func contains(_ writer: StreamWriter) -> Bool { streams.contains { $0.writer === writer } }

  /// Writes as much as the rings have space for, and requests a wakeup for the rest.
  ///
  /// - Parameter onFinished: called for each stream of which nothing is missing any more.
  mutating func write(onFinished: (StreamWriter) -> Void) {
    guard !streams.isEmpty else { return }
    finish(onFinished)
    guard !streams.isEmpty else { return }
    for stream in streams { stream.writer.requestSpaceWakeup() }
    // Free space may have appeared before the request.
    finish(onFinished)
  }

  private mutating func finish(_ onFinished: (StreamWriter) -> Void) {
    streams.removeAll { _, writer, endFrame in
      guard writer.finish(upTo: endFrame) else { return false }
      onFinished(writer)
      return true
    }
  }
}
