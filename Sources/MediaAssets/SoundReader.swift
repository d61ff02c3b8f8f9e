import LibAV
import MediaCore

/// What reads the sound of a track behind `AudioTrackReader`, whose functions these are: a file's, or a stream's.
protocol SoundReader: AnyObject {
  var format: AudioFormat { get }
  /// How samples are handed over; interleaved.
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
  /// What holds from a place in front of `position` on, and was not given yet; in order.
  func takeTimedMetadata() -> [TimedMetadataGroup]
  func takeTitles() -> [(time: MediaTime, title: StreamTitle)]
  func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)?
  func takeWarning() -> (time: MediaTime, error: MediaError)?
  func read(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError)
    -> AudioTrackReader.ReadResult
  /// Makes sure that there is something to hand over from `position` on; false at the end or when cancelled.
  func advance() throws(MediaError) -> Bool
  /// Hands over some of that, and answers how much: `capacityFrames` at most.
  func take(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError) -> Int
  func seek(to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime) throws(MediaError) -> MediaTime
  func exactFrameCount() throws(MediaError) -> Int64
}

extension SoundReader {
  /// Bytes of a frame that is handed over.
  var frameByteCount: Int { sampleFormat.byteCount * format.channelCount }

  /// What silence is made of.
  var silentByte: UInt8 { sampleFormat == .unsigned8 ? 0x80 : 0 }

  /// Only streams have any.
  func takeTimedMetadata() -> [TimedMetadataGroup] { [] }

  /// Fills a buffer as far as there is something to hand over. Answers how much that was, and what went wrong behind it.
  func filled(_ output: UnsafeMutableRawPointer, _ capacityFrames: Int) -> (count: Int, error: MediaError?) {
    var count = 0
    do throws(MediaError) {
      while count < capacityFrames, try advance() {
        count += try take(into: output + count * frameByteCount, capacityFrames: capacityFrames - count)
      }
    } catch {
      return (count, error)
    }
    return (count, nil)
  }
}
