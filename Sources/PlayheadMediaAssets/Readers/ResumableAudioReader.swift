import PlayheadLibAV
import PlayheadMediaCore

/// A reader that continues at its position after a cancellation. An error ends the track until the next seek.
protocol ResumableAudioReader: AudioReader {
  var interrupt: Interrupt { get }
  /// Whether the track has ended, or an error ended it.
  var isAtEnd: Bool { get set }
  /// Whether the decoder must be moved to `position` before the next read.
  var mustReposition: Bool { get }
  /// The error after the last delivered frame. The next read throws it.
  var pendingError: MediaError? { get set }

  /// Moves the decoder to `position`.
  func reposition() throws(MediaError)
}

extension ResumableAudioReader {
  /// Reads as `AudioTrackReader.read` does.
  func readFrames(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> AudioTrackReader.ReadResult {
    precondition(capacityFrames > 0, "the capacity must be at least one frame")
    if interrupt.isCancelled { return .cancelled }
    if let error = pendingError {
      pendingError = nil
      isAtEnd = true
      throw error
    }
    if mustReposition {
      do throws(MediaError) { try reposition() } catch {
        if error.code == .cancelled { return .cancelled }
        throw error
      }
    }
    let start = position
    let (count, error) = fillBuffer(output, capacityFrames)
    if let error, count == 0 {
      isAtEnd = error.code != .cancelled
      throw error
    }
    pendingError = error
    if count > 0 { return .frames(count, position: start) }
    return mustReposition ? .cancelled : .endOfTrack
  }
}
