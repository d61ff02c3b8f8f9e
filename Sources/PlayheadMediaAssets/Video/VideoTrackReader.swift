// Reads a file's video: decodes the packets of one track to frames in presentation order, with their times on the
// asset's timeline. One frame is decoded ahead, because its time defines the duration of the previous frame.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Reads the frames of a video track in order, from any time.
///
/// Times are those of the asset: 0 is its presentation start, as for audio. Edit lists are applied as in FFmpeg: frames
/// that they exclude are not returned.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
final class VideoTrackReader: VideoReader, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only `interrupt`, which is Sendable.

  /// The track that is read.
  let track: AssetTrack
  var timeRange: TimeRange { track.timeRange }
  /// The container's description of the frames, which the frames may contradict.
  let format: FormatDescription.Video
  /// The duration of the entire asset; indefinite if unknown.
  let assetDuration: MediaTime
  let displayPath: String
  let interrupt: Interrupt
  /// Whether the source is a stream that cannot seek back.
  private let isForwardOnly: Bool
  private let timeBase: TimeBase
  /// The container's time that is the asset's time 0.
  private let origin: MediaTime
  private let startTicks: Int64?

  private let packets: PacketFrameReader
  var demuxer: Demuxer { packets.demuxer }
  /// Empty frames that may be reused for decoding.
  private var spareFrames: [Frame] = []

  /// The frame that has been reached, and the next frame.
  private(set) var currentFrame: VideoFrame?
  private var nextFrame: VideoFrame?
  /// The time at which reading continues after an interruption.
  private var resumeTime = MediaTime.zero
  /// Whether `currentFrame` has been returned.
  private var isCurrentReturned = false
  /// Whether the demuxer has not been read since it was opened.
  private var isAtStart = true
  /// Whether the next frame is the first one of the file. `firstFrameTime` is the time of that frame, when it is
  /// known.
  private var isNextFrameFirst = true
  private var firstFrameTime: MediaTime?
  /// Whether the demuxer's position is unknown after an interruption.
  private var mustReposition = false
  private var preroll = Preroll.ended
  /// An error found after `currentFrame`. The next read throws it.
  private var pendingError: MediaError?
  private var skips = SkipReport()
  private var timestampFault: MediaError?

  /// The progress from a seek to the first frame. Failures until then are not reported.
  private enum Preroll {
    /// Packets are skipped up to the next key frame.
    case keyFrame
    /// The decoder has not returned a frame yet.
    case firstFrame
    case ended
  }

  /// Number of packets in which `decodeKeyFrame` searches.
  private static let maximumTrialPackets = 256

  /// Opens the asset once more and creates a decoder. Decodes nothing yet. Blocks.
  ///
  /// - Parameter trackID: The track; nil for the first video track that is enabled and decodable.
  /// - Throws: The errors of `Asset.load`; `noPlayableTracks` without video (artwork does not count), `noSuchTrack`,
  ///   `unknownCodec`; `mediaLimitExceeded` for frames that are too large; `unsupportedLocation` for segmented streams.
  init(
    asset: Asset, interrupt: Interrupt, trackID: AssetTrack.ID? = nil, log: NetworkLog? = nil
  ) throws(MediaError) {
    self.interrupt = interrupt
    displayPath = asset.displayPath
    guard case .file(let demuxer, let byteCount) = try MediaFile.open(asset, interrupt: interrupt, log: log) else {
      throw Self.unsupportedStream(asset)
    }
    let properties = try AssetProperties(demuxer: demuxer, byteCount: byteCount, displayPath: asset.displayPath)
    track = try Self.choose(trackID, of: properties, displayPath: asset.displayPath)
    let stream = demuxer.streams[track.id]
    guard var format = stream.video else {
      throw MediaError(.damagedFile, "found no data of the video track in \(asset.displayPath)", operation: "read")
    }
    guard format.width * format.height <= Decoder.maximumPixelCount else {
      throw MediaError(
        .mediaLimitExceeded, "video frames of \(format.width) x \(format.height) pixels are too large: \(displayPath)",
        operation: "read")
    }
    if ContainerFormat(properties.formatName) == .movie {
      format.cleanAperture = MovieCleanAperture.find(trackID: stream.containerID) { demuxer.bytes(at: $0, count: $1) }
    }
    self.format = format
    timeBase = stream.timeBase
    startTicks = stream.startTicks
    origin = properties.timelineOrigin
    assetDuration = properties.duration
    isForwardOnly = !demuxer.source.isSeekable && demuxer.source.byteSource != nil
    do throws(AVFailure) {
      packets = try PacketFrameReader(demuxer: demuxer, streamIndex: stream.index)
      for _ in 0..<2 { spareFrames.append(try Frame()) }
    } catch {
      throw MediaError(error, path: displayPath)
    }
    if let source = demuxer.source.byteSource { asset.noteReading(source) }
  }

  /// Returns the error of a segmented stream.
  static func unsupportedStream(_ asset: Asset) -> MediaError {
    MediaError(
      .unsupportedLocation, "video of an HLS stream cannot be read: \(asset.displayPath)", operation: "read")
  }

  private static func choose(
    _ trackID: AssetTrack.ID?, of properties: AssetProperties, displayPath: String
  ) throws(MediaError) -> AssetTrack {
    let tracks = properties.tracks.filter { $0.mediaType == .video }
    guard !tracks.isEmpty else {
      throw MediaError(.noPlayableTracks, "there is no video in \(displayPath)", operation: "read")
    }
    let chosen =
      if let trackID { tracks.first { $0.id == trackID } } else {
        tracks.first { $0.isEnabled && $0.isDecodable } ?? tracks.first { $0.isDecodable } ?? tracks.first
      }
    guard let chosen else {
      throw MediaError(
        .noSuchTrack, "there is no video track \(trackID ?? -1) in \(displayPath)", operation: "read")
    }
    guard chosen.isDecodable else {
      throw MediaError(
        .unknownCodec, "no decoder for the video (\(chosen.codecName)) of \(displayPath)", operation: "read")
    }
    return chosen
  }

  // MARK: - Cancellation

  /// Makes the current and all later calls return with an error until `resetCancellation()`. Any thread; does not
  /// block.
  func cancel() { interrupt.cancel() }

  /// Allows reading again, which continues at the last position. Any thread.
  func resetCancellation() { interrupt.reset() }

  // MARK: - Faults

  /// Returns the first fault since the last call that did not stop reading: packets that did not decode, or times that
  /// go back.
  func popFault() -> MediaError? {
    defer { timestampFault = nil }
    return skips.drain().map { MediaError(skippedPackets: $0.count, $0.failure, in: displayPath) } ?? timestampFault
  }

  // MARK: - Reading

  /// Returns the next frame; nil at the end. Blocks.
  ///
  /// - Throws: `readFailed`, `damagedFile`; `cancelled`, after which reading continues after the last returned frame.
  func next() throws(MediaError) -> VideoFrame? {
    if interrupt.isCancelled { throw AssetReader.cancelled }
    if mustReposition { try seek(to: resumeTime) }
    if isCurrentReturned || currentFrame == nil { try advance() }
    isCurrentReturned = true
    if let currentFrame { resumeTime = currentFrame.end }
    return currentFrame
  }

  /// Seeks to the frame that is shown at a time; before the first frame, to the first frame. `currentFrame` is then
  /// this frame, and `next` returns it. For a time after the last frame, `currentFrame` is the last frame, and `next`
  /// returns nil. Blocks.
  ///
  /// - Throws: `invalidTime`; the errors of `next`; `onlyInOrder` for a stream that would have to seek back.
  func seek(to time: MediaTime) throws(MediaError) {
    try check(time)
    resumeTime = time
    if try !isNear(time) { try reposition(to: time) }
    if currentFrame == nil { try advance() }
    isCurrentReturned = false
    while let current = try currentWithDuration(), current.end <= time {
      guard nextFrame != nil || pendingError != nil else {
        // The time is after the last frame.
        isCurrentReturned = true
        return
      }
      try advance()
    }
  }

  /// Seeks to the key frame at or before `time` in the container's index. Then `currentFrame` is this frame, whose
  /// duration is not known yet. Returns nil if there is no key frame up to `latest`. Blocks.
  func seekToKey(near time: MediaTime, latest: MediaTime) throws(MediaError) -> VideoFrame? {
    try check(time)
    guard !isForwardOnly, let ticks = ticks(of: time) else { return nil }
    try repositioning { () throws(MediaError) in
      restart()
      do throws(MediaError) { try seekDemuxer(to: ticks) } catch {
        // If the demuxer cannot seek to the time, there is no key frame.
        if error.code == .cancelled { throw error }
        return
      }
      nextFrame = try decode(latest: latest)
    }
    (currentFrame, nextFrame, isCurrentReturned) = (nextFrame, nil, true)
    resumeTime = currentFrame?.end ?? time
    return currentFrame
  }

  /// Decodes one key frame near the beginning; nil if there is none, and for a stream that cannot seek back. Decoding
  /// it needs less memory than reading, which retains the frames that others depend on. Blocks.
  ///
  /// - Throws: The errors of `next`.
  func decodeKeyFrame() throws(MediaError) -> VideoFrame? {
    guard !isForwardOnly else { return nil }
    defer { mustReposition = true }
    restart()
    for _ in 0..<Self.maximumTrialPackets {
      switch try mappingFailures({ () throws(AVFailure) in try packets.readPacket() }) {
      case .packet where packets.packet.isKeyFrame: break
      case .packet, .otherPacket, .skipped: continue
      case .endOfFile, .stopped: return nil
      case .cancelled: throw interrupted
      }
      try mappingFailures { () throws(AVFailure) in try packets.decodeAlone() }
      if let videoFrame = try decode(latest: .zero) { return videoFrame }
      restart()
    }
    return nil
  }

  /// Releases the decoder's memory and all frames, except those that the caller retains. The next seek starts at a key
  /// frame. Has no effect on a stream that cannot seek back.
  func releaseMemory() throws(MediaError) {
    guard !isForwardOnly else { return }
    try mappingFailures { () throws(AVFailure) in try packets.renewDecoder() }
    (currentFrame, nextFrame, spareFrames) = (nil, nil, [])
    mustReposition = true
  }

  /// Returns the times of the key frames before and after a time in the container's index.
  func indexedKeyTimes(around time: MediaTime) -> (before: MediaTime?, after: MediaTime?) {
    guard let ticks = ticks(of: time) else { return (nil, nil) }
    let found = demuxer.indexedKeyTicks(streamIndex: track.id, around: ticks)
    return (found.before.map { self.time(ofTicks: $0) }, found.after.map { self.time(ofTicks: $0) })
  }

  private func check(_ time: MediaTime) throws(MediaError) {
    guard time.isNumeric else { throw MediaError(.invalidTime, "cannot seek to \(time)", operation: "seek") }
    if interrupt.isCancelled {
      mustReposition = true
      throw AssetReader.cancelled
    }
  }

  // MARK: - Seeking

  /// Whether all frames and errors were returned.
  private var isAtEnd: Bool { packets.isFinished && pendingError == nil }

  /// Returns whether decoding from the current position is the shortest way to a time.
  private func isNear(_ time: MediaTime) throws(MediaError) -> Bool {
    if mustReposition { return false }
    guard let currentFrame else { return isAtStart && (isForwardOnly || isBeforeStart(time)) }
    guard time >= currentFrame.time else {
      // Before the first frame, the first frame is shown.
      if currentFrame.time == firstFrameTime { return true }
      guard !isForwardOnly else { throw onlyInOrder }
      return false
    }
    if isForwardOnly || isAtEnd && nextFrame == nil { return true }
    if time < currentFrame.end || time - currentFrame.time < Self.nearDuration { return true }
    guard let targetTicks = ticks(of: time), let current = ticks(of: currentFrame.time),
      let key = demuxer.indexedKeyTicks(streamIndex: track.id, around: targetTicks).before
    else { return false }
    return key <= current
  }

  /// The maximum distance at which decoding is faster than a seek.
  private static let nearDuration = MediaTime(value: 1, timescale: 4)

  private var onlyInOrder: MediaError {
    MediaError(.onlyInOrder, "a stream cannot seek backwards: \(displayPath)", operation: "seek")
  }

  /// Returns whether a time is at or before the start of the track.
  private func isBeforeStart(_ time: MediaTime) -> Bool {
    guard let startTicks, let targetTicks = ticks(of: time) else { return time <= .zero }
    return targetTicks <= startTicks
  }

  /// The limit of seek targets.
  private static let latestTicks: Int64 = 1 << 60

  /// Seeks to a position from which decoding produces the frame at a time: an earlier frame, or the file's first one.
  private func reposition(to time: MediaTime) throws(MediaError) {
    try repositioning { () throws(MediaError) in
      guard !isForwardOnly, !isBeforeStart(time) else { return try rewind() }
      // No file has frames after `latestTicks`.
      let targetTicks = max(-Self.latestTicks, min(ticks(of: time) ?? Self.latestTicks, Self.latestTicks))
      let second = max(1, Int64(timeBase.denominator) / Int64(timeBase.numerator))
      var stepBackTicks: Int64 = 0
      while stepBackTicks == 0 || targetTicks - stepBackTicks > startTicks ?? 0 {
        restart()
        do throws(MediaError) { try seekDemuxer(to: targetTicks - stepBackTicks) } catch {
          if error.code == .cancelled { throw error }
          break
        }
        if let first = try decode(latest: time) {
          // The frames from here on are correct, because decoders omit frames that depend on earlier packets.
          if first.hasTimestamp, first.time <= time {
            nextFrame = first
            return
          }
          recycle(first)
          if !first.hasTimestamp { break }
        }
        let (more, overflow) = stepBackTicks.multipliedReportingOverflow(by: 4)
        if overflow { break }
        stepBackTicks = max(second, more)
      }
      try rewind()
    }
  }

  /// Calls `body`. If it throws, the demuxer's position is unknown, and the next read repositions it.
  private func repositioning(_ body: () throws(MediaError) -> Void) throws(MediaError) {
    mustReposition = true
    try body()
    mustReposition = false
  }

  private func restart() {
    packets.restart()
    for videoFrame in [currentFrame, nextFrame].compactMap({ $0 }) { recycle(videoFrame) }
    (currentFrame, nextFrame) = (nil, nil)
    (isCurrentReturned, isAtStart, isNextFrameFirst) = (false, false, false)
    preroll = .keyFrame
    pendingError = nil
  }

  private func seekDemuxer(to ticks: Int64) throws(MediaError) {
    try mappingFailures { () throws(AVFailure) in try packets.seek(toTicks: ticks) }
  }

  /// Moves to the file's first packet.
  private func rewind() throws(MediaError) {
    if isForwardOnly, !isAtStart { throw onlyInOrder }
    if !isAtStart { try mappingFailures { () throws(AVFailure) in try packets.reopen() } }
    restart()
    (preroll, isAtStart, isNextFrameFirst) = (.firstFrame, true, true)
  }

  // MARK: - Decoding

  /// Makes `currentFrame` the next frame, with its duration; nil at the end.
  private func advance() throws(MediaError) {
    if nextFrame == nil { try decodeNext() }
    if let currentFrame { recycle(currentFrame) }
    (currentFrame, nextFrame) = (nextFrame, nil)
    if isNextFrameFirst { firstFrameTime = currentFrame?.time }
    isNextFrameFirst = false
    if currentFrame == nil, let error = pendingError {
      pendingError = nil
      throw error
    }
    _ = try currentWithDuration()
  }

  /// Returns `currentFrame` after its duration has been determined.
  private func currentWithDuration() throws(MediaError) -> VideoFrame? {
    guard currentFrame != nil else { return nil }
    if nextFrame == nil { try decodeNext() }
    if let nextFrame, let time = currentFrame?.time { currentFrame?.duration = nextFrame.time - time }
    return currentFrame
  }

  /// Decodes the frame after `currentFrame`, if there is one. An error is thrown when that frame is requested.
  private func decodeNext() throws(MediaError) {
    guard !packets.isFinished, pendingError == nil else { return }
    do throws(MediaError) { nextFrame = try decode(latest: nil) } catch {
      if error.code == .cancelled { throw error }
      pendingError = error
    }
  }

  /// Returns the decoder's next frame; nil at the end, and if there is no key frame up to `latest`.
  private func decode(latest: MediaTime?) throws(MediaError) -> VideoFrame? {
    let frame =
      if let spare = spareFrames.popLast() { spare } else {
        try mappingFailures { () throws(AVFailure) in try Frame() }
      }
    do throws(MediaError) {
      if try fill(frame, latest: latest), let properties = frame.videoProperties {
        preroll = .ended
        if properties.isDamaged { noteSkipped(AVFailure(invalidDataIn: "avcodec_receive_frame")) }
        return videoFrame(frame, properties)
      }
    } catch {
      recycle(frame)
      throw error
    }
    recycle(frame)
    return nil
  }

  private func recycle(_ videoFrame: VideoFrame) {
    if case .decoded(let frame) = videoFrame.pixels { recycle(frame) }
  }

  /// Releases the memory of a frame, so that the decoder can use it.
  private func recycle(_ frame: Frame) {
    frame.clear()
    spareFrames.append(frame)
  }

  private func fill(_ frame: Frame, latest: MediaTime?) throws(MediaError) -> Bool {
    while true {
      let result = try mappingFailures { () throws(AVFailure) in
        try packets.next(into: frame) { () throws(AVFailure) in try readPacket(latest: latest) }
      }
      switch result {
      case .frame: return true
      case .end, .stopped: return false
      case .skipped(let failure): noteSkipped(failure)
      case .cancelled:
        mustReposition = true
        throw interrupted
      }
    }
  }

  private var interrupted: MediaError { MediaError(AVFailure(cancelledIn: "av_read_frame"), path: displayPath) }

  /// Reads the next packet to decode. Stops if there is no key frame up to `latest`.
  private func readPacket(latest: MediaTime?) throws(AVFailure) -> PacketFrameReader.PacketResult {
    isAtStart = false
    let packet = packets.packet
    while true {
      let result = try packets.readPacket()
      guard result == .packet else { return result }
      guard preroll == .keyFrame, !packet.isKeyFrame else { break }
      if let latest, let ticks = packet.dts ?? packet.pts, time(ofTicks: ticks) > latest { return .stopped }
    }
    if preroll == .keyFrame { preroll = .firstFrame }
    return .packet
  }

  private func noteSkipped(_ failure: AVFailure) { skips.note(failure, at: preroll == .ended ? 0 : nil) }

  // MARK: - Times

  private func videoFrame(_ frame: Frame, _ properties: Frame.VideoProperties) -> VideoFrame {
    let before = nextFrame ?? currentFrame
    let declared = frame.durationTicks.map { timeBase.time(ofTicks: $0) }
    let standardDuration = format.frameDuration.isNumeric ? format.frameDuration : .zero
    let duration = declared ?? before.map(\.duration) ?? standardDuration
    guard let ticks = frame.bestEffortTicks else {
      let time = before.map { $0.duration > .zero ? $0.end : $0.time + standardDuration } ?? firstTime
      return VideoFrame(
        pixels: .decoded(frame), properties: properties, format: format, time: time, duration: duration,
        hasTimestamp: false)
    }
    var time = time(ofTicks: ticks)
    if let before, time < before.time {
      timestampFault =
        timestampFault
        ?? MediaError(
          .irregularTimestamps,
          "timestamps of video frames go back at \(before.time.decimalDescription) s in \(displayPath)",
          operation: "read")
      time = before.time
    }
    return VideoFrame(
      pixels: .decoded(frame), properties: properties, format: format, time: time, duration: duration,
      hasTimestamp: true)
  }

  /// The start of the track, according to the container.
  private var firstTime: MediaTime { startTicks.map { time(ofTicks: $0) } ?? .zero }

  /// Converts the container's ticks to a time of the asset.
  private func time(ofTicks ticks: Int64) -> MediaTime {
    let time = timeBase.time(ofTicks: ticks)
    return origin == .zero || !origin.isNumeric ? time : time - origin
  }

  /// Returns the last tick of the container at or before a time of the asset; nil for times that are out of range.
  private func ticks(of time: MediaTime) -> Int64? {
    let containerTime = origin.isNumeric ? time + origin : time
    let numerator = Int64(timeBase.numerator)
    return containerTime.frameIndex(rate: Int(timeBase.denominator), rounding: .towardNegativeInfinity).map { count in
      count >= 0 ? count / numerator : -((-count + numerator - 1) / numerator)
    }
  }

  /// Calls `body`, and throws its failures as `MediaError`.
  private func mappingFailures<Value>(_ body: () throws(AVFailure) -> Value) throws(MediaError) -> Value {
    do throws(AVFailure) { return try body() } catch { throw MediaError(error, path: displayPath) }
  }
}
