import MediaCore

/// The previous streams of a decode thread whose last frames are still in a converter.
///
/// The stream of a new job is spliced at a frame of the previous stream. The mixer switches only when it has rendered
/// all earlier frames, so these must be written although decoding into that stream has ended. If the ring of the stream
/// is full, they are written when it has free space.
///
/// Threading: the decode thread only.
struct UnfinishedStreams {
  private struct Stream {
    let writer: StreamWriter
    let itemID: PlayerItem.ID
    /// Whether the converter failed. Silence then replaces the missing frames.
    var isSilent = false
  }

  private var streams: [Stream] = []

  /// Adds the stream of `writer` if frames before `streamFrame` are missing. `itemID` is the item that errors refer to.
  mutating func add(_ writer: StreamWriter, of itemID: PlayerItem.ID, upTo streamFrame: Int64) {
    if writer.writtenFrame < streamFrame { streams.append(Stream(writer: writer, itemID: itemID)) }
  }

  mutating func removeAll() { streams = [] }

  /// Writes as much as the rings have space for, and requests a wakeup for the rest.
  ///
  /// - Parameter onError: called for a converter that fails. Silence replaces its frames.
  mutating func write(onError: (PlayerItem.ID, MediaError) -> Void) {
    guard !streams.isEmpty else { return }
    finish(onError: onError)
    guard !streams.isEmpty else { return }
    for stream in streams { stream.writer.requestSpaceWakeup() }
    // Free space may have appeared before the request.
    finish(onError: onError)
  }

  private mutating func finish(onError: (PlayerItem.ID, MediaError) -> Void) {
    var unfinished: [Stream] = []
    for var stream in streams {
      do throws(MediaError) {
        if !stream.isSilent, try stream.writer.finish() { continue }
      } catch {
        stream.isSilent = true
        onError(stream.itemID, error)
      }
      if stream.isSilent, stream.writer.fillWithSilence() { continue }
      unfinished.append(stream)
    }
    streams = unfinished
  }
}
