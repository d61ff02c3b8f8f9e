import PlayheadLibAV
import PlayheadMediaCore

/// Reads the audio of one track of a file, a stream or a composition. `AudioTrackReader` wraps it and documents its
/// functions.
protocol AudioReader: AnyObject {
  var format: AudioFormat { get }
  /// The format of the delivered samples; interleaved.
  var sampleFormat: SampleFormat { get }
  var trackID: AssetTrack.ID { get }
  var channelMask: UInt64? { get }
  var position: Int64 { get }
  var positionDoubt: PositionDoubt? { get }
  var lastSeekTimings: SeekTimings { get }
  var startTrim: EdgeTrim { get }
  var endTrim: EdgeTrim { get }
  var end: AudioTrackReader.TrackEnd? { get }

  func cancel()
  func resetCancellation()
  /// Returns the metadata that applies from a position before `position` and was not returned yet, in order.
  func popTimedMetadata() -> [TimedMetadataGroup]
  func popTitles() -> [(time: MediaTime, title: StreamTitle)]
  func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)?
  func popWarning() -> (time: MediaTime, error: MediaError)?
  func read(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError)
    -> AudioTrackReader.ReadResult
  /// Ensures that audio is available from `position` on; returns false at the end or if cancelled.
  func advance() throws(MediaError) -> Bool
  /// Delivers some of the available audio. Returns the number of frames, `capacityFrames` at most.
  func copyAvailable(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError) -> Int
  func seek(to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime) throws(MediaError) -> MediaTime
  func exactFrameCount() throws(MediaError) -> Int64
}

extension AudioReader {
  /// The size of a delivered frame in bytes.
  var frameByteCount: Int { sampleFormat.byteCount * format.channelCount }

  /// The byte value that silence consists of.
  var silentByte: UInt8 { sampleFormat == .unsigned8 ? 0x80 : 0 }

  /// Returns no metadata; only streams have any.
  func popTimedMetadata() -> [TimedMetadataGroup] { [] }

  /// Fills `output` until it is full or no audio is available.
  ///
  /// - Returns: the number of frames, and the error that followed them.
  func fillBuffer(_ output: UnsafeMutableRawPointer, _ capacityFrames: Int) -> (count: Int, error: MediaError?) {
    var count = 0
    do throws(MediaError) {
      while count < capacityFrames, try advance() {
        count += try copyAvailable(into: output + count * frameByteCount, capacityFrames: capacityFrames - count)
      }
    } catch {
      return (count, error)
    }
    return (count, nil)
  }
}
