import MediaCore

/// What reads the sound of a track behind `AudioTrackReader`, whose functions these are: a file's, or a stream's.
protocol SoundReader: AnyObject {
  var format: AudioFormat { get }
  var trackID: AssetTrack.ID { get }
  var channelMask: UInt64? { get }
  var position: Int64 { get }
  var isPlaceEstimated: Bool { get }
  var lastSeekTimings: SeekTimings { get }
  var startTrim: EdgeTrim { get }
  var endTrim: EdgeTrim { get }
  var end: AudioTrackReader.TrackEnd? { get }

  func cancel()
  func resetCancellation()
  func takeTitles() -> [(time: MediaTime, title: StreamTitle)]
  func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)?
  func takeWarning() -> (time: MediaTime, error: MediaError)?
  func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError)
    -> AudioTrackReader.ReadResult
  func seek(to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime) throws(MediaError) -> MediaTime
  func exactFrameCount() throws(MediaError) -> Int64
}
