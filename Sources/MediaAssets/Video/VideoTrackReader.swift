// How a file's video comes out: packets of one track become pictures in the order in which they are shown, each with its place on the
// asset's timeline. One picture is decoded ahead, for only that tells how long the one before is shown.
import LibAV
import MediaCore
import NetworkIO

/// Reads the pictures of a video track, in order, from any time on.
///
/// Times are the asset's: 0 is its presentation start, as for sound. Edit lists are followed as FFmpeg does: pictures that they leave out
/// are not given.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` from any.
final class VideoTrackReader: VideoReader, @unchecked Sendable {
  // `@unchecked Sendable`: only `interrupt` is touched from other threads, and it is Sendable.

  /// The track that is read.
  let track: AssetTrack
  /// What the container says of the pictures; the pictures themselves may say something else.
  let format: FormatDescription.Video
  /// Of all of the asset; indefinite when not known.
  let assetDuration: MediaTime
  let displayPath: String
  let interrupt: Interrupt
  /// There is no going back: a stream.
  private let isForwardOnly: Bool
  private let timeBase: TimeBase
  /// The container's time of the asset's time 0.
  private let origin: MediaTime
  private let startTicks: Int64?

  var demuxer: Demuxer
  private let decoder: Decoder
  private let packet: Packet
  /// To be decoded into, in turn.
  private var spareFrames: [Frame] = []

  /// The picture that was reached, and the one behind it.
  private(set) var shown: VideoShot?
  private var ahead: VideoShot?
  /// Where reading goes on after that it was interrupted.
  private var resumeTime = MediaTime.zero
  /// `shown` was handed over.
  private var isShownGiven = false
  /// Nothing has been read of the demuxer since it was opened.
  private var isAtStart = true
  /// The next picture is the file's first; and when that is shown, once it is known.
  private var comesFromStart = true
  private var firstPictureTime: MediaTime?
  private var isEndSent = false
  private var isAtEnd = false
  /// After an interruption the demuxer may stand anywhere.
  private var mustReposition = false
  /// Packets are left out up to one with which decoding can begin.
  private var needsKey = false
  /// Nothing has come out since the last seek: what fails until then is no loss.
  private var isWarmingUp = false
  /// Found behind `shown`; thrown by the next read.
  private var pendingError: MediaError?
  private var badReadCount = 0
  private var skipped: (count: Int, failure: AVFailure)?
  private var timestampFault: MediaError?

  /// Reads that fail one after another before the rest of a file is given up.
  private static let maximumBadReads = 64

  /// Opens the asset once more and sets up a decoder. Nothing is decoded yet. Blocks.
  ///
  /// - Parameter trackID: nil: the first video track that is enabled and decodes.
  /// Errors: those of `Asset.load`; `noPlayableTracks` when there is no video (a cover is none), `noSuchTrack`, `unknownCodec`;
  /// `mediaLimitExceeded` for pictures that are larger than any may be; `unsupportedPlace` for streams in segments.
  init(
    asset: Asset, interrupt: Interrupt, trackID: AssetTrack.ID? = nil, log: NetworkLog? = nil
  ) throws(MediaError) {
    self.interrupt = interrupt
    displayPath = asset.displayPath
    guard case .file(let demuxer, let byteCount) = try MediaFile.open(asset, interrupt: interrupt, log: log) else {
      throw Self.noFile(asset)
    }
    let present = try AssetProperties(demuxer: demuxer, byteCount: byteCount, displayPath: asset.displayPath)
    track = try Self.choose(trackID, of: present, displayPath: asset.displayPath)
    let stream = demuxer.streams[track.id]
    guard var format = stream.video else {
      throw MediaError(.damagedFile, "nothing of the video could be found in \(asset.displayPath)", operation: "read")
    }
    guard format.width * format.height <= Decoder.maximumPixelCount else {
      throw MediaError(
        .mediaLimitExceeded, "pictures of \(format.width) x \(format.height) pixels are too large: \(displayPath)",
        operation: "read")
    }
    if ContainerFormat(present.formatName) == .movie {
      format.cleanAperture = MovieCleanAperture.find(trackID: stream.containerID) { demuxer.bytes(at: $0, count: $1) }
    }
    self.format = format
    timeBase = stream.timeBase
    startTicks = stream.startTicks
    origin = present.timelineOrigin
    assetDuration = present.duration
    isForwardOnly = !demuxer.source.isSeekable && demuxer.source.byteSource != nil
    self.demuxer = demuxer
    do throws(AVFailure) {
      decoder = try Decoder(demuxer: demuxer, streamIndex: stream.index)
      packet = try Packet()
      for _ in 0..<2 { spareFrames.append(try Frame()) }
    } catch {
      throw MediaError(error, path: displayPath)
    }
    demuxer.select(streamIndex: stream.index)
    if let source = demuxer.source.byteSource { asset.noteReading(source) }
  }

  /// The error of a stream in segments.
  static func noFile(_ asset: Asset) -> MediaError {
    MediaError(
      .unsupportedPlace, "video of an HLS stream cannot be read: \(asset.displayPath)", operation: "read")
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

  /// Makes the call that runs and those to come give up until `resetCancellation()`. Any thread; does not block.
  func cancel() { interrupt.cancel() }

  /// Allows reading again; it goes on where it was. Any thread.
  func resetCancellation() { interrupt.reset() }

  // MARK: - What is wrong

  /// What was found to be wrong though it was read, since the last time: packets that did not decode, times that go back.
  func takeFault() -> MediaError? {
    defer { (skipped, timestampFault) = (nil, nil) }
    return skipped.map { MediaError(skippedPackets: $0.count, $0.failure, in: displayPath) } ?? timestampFault
  }

  // MARK: - Reading

  /// The next picture; nil at the end. Blocks.
  ///
  /// Errors: `readFailed`, `damagedFile`; `cancelled`, after which reading goes on with the picture behind the last one.
  func next() throws(MediaError) -> VideoShot? {
    if interrupt.isCancelled { throw AssetReader.cancelled }
    if mustReposition { try seek(to: resumeTime) }
    if isShownGiven || shown == nil { try advance() }
    isShownGiven = true
    if let shown { resumeTime = shown.end }
    return shown
  }

  /// Goes to the picture that is shown at a time: `next` gives it, and `shown` is it. Before the first picture it is that one; behind the
  /// last one `shown` is the last, and `next` gives none. Blocks.
  ///
  /// Errors: `invalidTime`; those of `next`; `onlyInOrder` for a stream that would have to go back.
  func seek(to time: MediaTime) throws(MediaError) {
    try check(time)
    resumeTime = time
    if try !isNear(time) { try reposition(to: time) }
    if shown == nil { try advance() }
    isShownGiven = false
    while let present = try lookedAhead(), present.end <= time {
      guard ahead != nil || pendingError != nil else {
        // Behind the last one.
        isShownGiven = true
        return
      }
      try advance()
    }
  }

  /// Goes to the picture with which decoding begins at a time of the container's index, or before it: it is `shown`, and how long is not
  /// known yet. Nil when none comes up to `latest`. Blocks.
  func seekToKey(near time: MediaTime, latest: MediaTime) throws(MediaError) -> VideoShot? {
    try check(time)
    guard !isForwardOnly, let ticks = ticks(of: time) else { return nil }
    try settleCancellation { () throws(MediaError) in
      restart()
      do throws(MediaError) { try seekDemuxer(to: ticks) } catch {
        // Where it cannot go there is none.
        if error.code == .cancelled { throw error }
        return
      }
      ahead = try decode(latest: latest)
    }
    (shown, ahead, isShownGiven) = (ahead, nil, true)
    resumeTime = shown?.end ?? time
    return shown
  }

  /// Times in the container's index around one, of packets with which decoding can begin.
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

  // MARK: - Moving

  /// Whether decoding on is the shortest way to a time.
  private func isNear(_ time: MediaTime) throws(MediaError) -> Bool {
    if mustReposition { return false }
    guard let shown else { return isAtStart && (isForwardOnly || isBeforeStart(time)) }
    guard time >= shown.time else {
      // Before the first picture it is that one.
      if shown.time == firstPictureTime { return true }
      guard !isForwardOnly else { throw onlyInOrder }
      return false
    }
    if isForwardOnly || isAtEnd && ahead == nil { return true }
    if time < shown.end || time - shown.time < Self.nearDuration { return true }
    guard let wanted = ticks(of: time), let present = ticks(of: shown.time),
      let key = demuxer.indexedKeyTicks(streamIndex: track.id, around: wanted).before
    else { return false }
    return key <= present
  }

  /// Nothing is gained by going elsewhere for less.
  private static let nearDuration = MediaTime(value: 1, timescale: 4)

  private var onlyInOrder: MediaError {
    MediaError(.onlyInOrder, "the stream does not go back: \(displayPath)", operation: "seek")
  }

  /// Whether a time lies where the track begins, or before that.
  private func isBeforeStart(_ time: MediaTime) -> Bool {
    guard let startTicks, let wanted = ticks(of: time) else { return time <= .zero }
    return wanted <= startTicks
  }

  /// Of a place that is sought.
  private static let latestTicks: Int64 = 1 << 60

  /// Begins where decoding on gives the picture of a time: at one that is shown before it, or the file's first.
  private func reposition(to time: MediaTime) throws(MediaError) {
    try settleCancellation { () throws(MediaError) in
      guard !isForwardOnly, !isBeforeStart(time) else { return try rewind() }
      // No file has later ones.
      let wanted = max(-Self.latestTicks, min(ticks(of: time) ?? Self.latestTicks, Self.latestTicks))
      let second = max(1, Int64(timeBase.denominator) / Int64(timeBase.numerator))
      var back: Int64 = 0
      while back == 0 || wanted - back > startTicks ?? 0 {
        restart()
        do throws(MediaError) { try seekDemuxer(to: wanted - back) } catch {
          if error.code == .cancelled { throw error }
          break
        }
        if let first = try decode(latest: time) {
          // What is shown from here on does not depend on what lies before: decoders leave out what would.
          if first.hasTimestamp, first.time <= time {
            ahead = first
            return
          }
          spareFrames.append(first.frame)
          if !first.hasTimestamp { break }
        }
        let (more, overflow) = back.multipliedReportingOverflow(by: 4)
        if overflow { break }
        back = max(second, more)
      }
      try rewind()
    }
  }

  /// What ends in the middle leaves the demuxer anywhere.
  private func settleCancellation(_ body: () throws(MediaError) -> Void) throws(MediaError) {
    mustReposition = true
    try body()
    mustReposition = false
  }

  private func restart() {
    decoder.flush()
    for shot in [shown, ahead].compactMap({ $0 }) { spareFrames.append(shot.frame) }
    (shown, ahead) = (nil, nil)
    (isShownGiven, isEndSent, isAtEnd, isAtStart) = (false, false, false, false)
    (needsKey, isWarmingUp, badReadCount) = (true, true, 0)
    comesFromStart = false
    pendingError = nil
  }

  private func seekDemuxer(to ticks: Int64) throws(MediaError) {
    try mapped { () throws(AVFailure) in
      try demuxer.seek(streamIndex: track.id, earliest: .min + 1, target: ticks, latest: ticks)
    }
  }

  /// From the file's first packet on.
  private func rewind() throws(MediaError) {
    if isForwardOnly, !isAtStart { throw onlyInOrder }
    if !isAtStart {
      try mapped { () throws(AVFailure) in demuxer = try demuxer.reopened() }
      demuxer.select(streamIndex: track.id)
    }
    restart()
    (needsKey, isAtStart, comesFromStart) = (false, true, true)
  }

  // MARK: - Decoding

  /// `shown` becomes the next picture, of which it is known how long it is shown; nil at the end.
  private func advance() throws(MediaError) {
    if ahead == nil { try lookAhead() }
    if let shown { spareFrames.append(shown.frame) }
    (shown, ahead) = (ahead, nil)
    if comesFromStart { firstPictureTime = shown?.time }
    comesFromStart = false
    if shown == nil, let error = pendingError {
      (pendingError, isAtEnd) = (nil, true)
      throw error
    }
    _ = try lookedAhead()
  }

  /// `shown`, when it is known how long.
  private func lookedAhead() throws(MediaError) -> VideoShot? {
    guard shown != nil else { return nil }
    if ahead == nil { try lookAhead() }
    if let ahead, let time = shown?.time { shown?.duration = ahead.time - time }
    return shown
  }

  /// Decodes the picture behind `shown`, if there is one. What goes wrong then is said when that one is asked for.
  private func lookAhead() throws(MediaError) {
    guard !isAtEnd, pendingError == nil else { return }
    do throws(MediaError) { ahead = try decode(latest: nil) } catch {
      if error.code == .cancelled { throw error }
      pendingError = error
    }
  }

  /// The next picture of the decoder; nil at the end, and when nothing with which decoding can begin comes up to `latest`.
  private func decode(latest: MediaTime?) throws(MediaError) -> VideoShot? {
    let frame =
      if let spare = spareFrames.popLast() { spare } else { try mapped { () throws(AVFailure) in try Frame() } }
    do throws(MediaError) {
      if try fill(frame, latest: latest), let picture = frame.picture {
        isWarmingUp = false
        if picture.isDamaged { noteSkipped(AVFailure(invalidDataIn: "avcodec_receive_frame")) }
        return shot(frame, picture)
      }
    } catch {
      spareFrames.append(frame)
      throw error
    }
    spareFrames.append(frame)
    return nil
  }

  private func fill(_ frame: Frame, latest: MediaTime?) throws(MediaError) -> Bool {
    while true {
      switch try mapped({ () throws(AVFailure) in try decoder.receive(into: frame) }) {
      case .frame: return true
      case .endOfStream:
        isAtEnd = true
        return false
      case .undecodable(let failure): noteSkipped(failure)
      case .wouldBlock: guard try sendPacket(latest: latest) else { return false }
      }
    }
  }

  /// Gives the decoder a packet, or the end; false when what is looked for does not come in time.
  private func sendPacket(latest: MediaTime?) throws(MediaError) -> Bool {
    isAtStart = false
    guard try readPacket() else {
      if !isEndSent { _ = try mapped { () throws(AVFailure) in try decoder.sendEndOfStream() } }
      isEndSent = true
      return true
    }
    guard packet.streamIndex == track.id else { return true }
    if needsKey, !packet.isKeyFrame {
      guard let latest, let ticks = packet.dts ?? packet.pts else { return true }
      return time(ofTicks: ticks) <= latest
    }
    needsKey = false
    let result = try mapped { () throws(AVFailure) in try decoder.send(packet) }
    if case .undecodable(let failure) = result { noteSkipped(failure) }
    return true
  }

  /// False at the end of the file.
  private func readPacket() throws(MediaError) -> Bool {
    while true {
      do throws(AVFailure) {
        switch try demuxer.readPacket(into: packet) {
        case .packet:
          badReadCount = 0
          return true
        case .endOfFile: return false
        case .cancelled:
          mustReposition = true
          throw AVFailure(cancelledIn: "av_read_frame")
        }
      } catch {
        badReadCount += 1
        guard error.kind == .invalidData, error.sourceError == nil, badReadCount < Self.maximumBadReads else {
          throw MediaError(error, path: displayPath)
        }
        noteSkipped(error)
      }
    }
  }

  private func noteSkipped(_ failure: AVFailure) {
    if !isWarmingUp { skipped = ((skipped?.count ?? 0) + 1, skipped?.failure ?? failure) }
  }

  // MARK: - Times

  private func shot(_ frame: Frame, _ picture: Frame.Picture) -> VideoShot {
    let before = ahead ?? shown
    let declared = frame.durationTicks.map { timeBase.time(ofTicks: $0) }
    let usual = format.frameDuration.isNumeric ? format.frameDuration : .zero
    let duration = declared ?? before.map(\.duration) ?? usual
    guard let ticks = frame.bestTicks else {
      let time = before.map { $0.duration > .zero ? $0.end : $0.time + usual } ?? firstTime
      return VideoShot(
        frame: frame, picture: picture, format: format, time: time, duration: duration, hasTimestamp: false)
    }
    var time = time(ofTicks: ticks)
    if let before, time < before.time {
      timestampFault =
        timestampFault
        ?? MediaError(
          .irregularTimestamps, "times of pictures go back at \(before.time.decimalDescription) s in \(displayPath)",
          operation: "read")
      time = before.time
    }
    return VideoShot(
      frame: frame, picture: picture, format: format, time: time, duration: duration, hasTimestamp: true)
  }

  /// Where the track begins, as far as the container says.
  private var firstTime: MediaTime { startTicks.map { time(ofTicks: $0) } ?? .zero }

  /// The container's ticks as a time of the asset.
  private func time(ofTicks ticks: Int64) -> MediaTime {
    let time = timeBase.time(ofTicks: ticks)
    return origin == .zero || !origin.isNumeric ? time : time - origin
  }

  /// The last tick of the container that is not behind a time of the asset; nil for times that no file has.
  private func ticks(of time: MediaTime) -> Int64? {
    let containerTime = origin.isNumeric ? time + origin : time
    let numerator = Int64(timeBase.numerator)
    return containerTime.frameIndex(rate: Int(timeBase.denominator), rounding: .towardNegativeInfinity).map { count in
      count >= 0 ? count / numerator : -((-count + numerator - 1) / numerator)
    }
  }

  private func mapped<Value>(_ body: () throws(AVFailure) -> Value) throws(MediaError) -> Value {
    do throws(AVFailure) { return try body() } catch { throw MediaError(error, path: displayPath) }
  }
}
