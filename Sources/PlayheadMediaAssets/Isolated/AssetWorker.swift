// The tasks of `playhead-worker`: everything that parses the bytes of a file.
import Glibc
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags
import Synchronization

/// The program `playhead-worker`.
package enum AssetWorker {
  /// Restricts this process, and performs tasks until the parent process has no more. Returns the exit status.
  package static func run() -> Int32 { Worker.run(AssetWorkerFunctions()) }
}

/// The functions of a worker process. It has one asset at a time.
package struct AssetWorkerFunctions: WorkerFunctions {
  /// The maximum number of packets that one request may decode.
  private static let maximumPacketCount = 1_024

  /// The open audio.
  private struct Audio {
    var reader: AudioTrackReader
    var shared: SharedSamples
  }

  private var audio: Audio?
  /// Decodes the open segments.
  private var segmentDecoder: WorkerSegmentDecoder?
  /// Makes images of the open video.
  var imageMaker: LocalImageMaker?
  /// Reads the frames of the open video.
  private var frames: WorkerFrames?
  /// Reads the open stored samples.
  private var stored: WorkerStoredSamples?

  package init() {}

  package mutating func perform(_ request: WorkerRequest) throws(MediaError) -> [UInt8] {
    let (parameters, descriptors) = (request.parameters, request.descriptors)
    defer { for descriptor in descriptors { close(descriptor) } }
    // The files take ownership of their descriptors, even on an error.
    let files = try SourceFile.files(request.sources)
    guard let function = AssetWorkerFunction(rawValue: request.function) else { throw Self.malformed }
    guard let file = files.first else { return try performOnOpenFile(function, parameters) }
    (audio, segmentDecoder, imageMaker, frames, stored) = (nil, nil, nil, nil, nil)
    switch function {
    case .tryContainer:
      return MessageEncoder.bytes(of: try Self.tryContainer(file, try Self.decoded(TrialParameters.self, parameters)))
    case .load: return MessageEncoder.bytes(of: try Self.load(file, try Self.decoded(LoadParameters.self, parameters)))
    case .loadMetadata:
      let charset = try Self.decoded(TextCharset.self, parameters)
      return MessageEncoder.bytes(of: try Self.metadata(of: file, charset))
    case .readTags:
      return MessageEncoder.bytes(of: try Self.tags(try Self.decoded(TagParameters.self, parameters), of: file))
    case .openAudio:
      guard let descriptor = descriptors.first else { throw Self.malformed }
      let audio = try Self.openAudio(file, try Self.decoded(AudioParameters.self, parameters), descriptor)
      self.audio = audio
      return MessageEncoder.bytes(of: audio.reader.description)
    case .openVideo:
      return MessageEncoder.bytes(
        of: try openVideo(file.asset(), try Self.decoded(VideoParameters.self, parameters)))
    case .openSegments:
      guard let descriptor = descriptors.first else { throw Self.malformed }
      let decoder = try WorkerSegmentDecoder(file, descriptor)
      segmentDecoder = decoder
      return MessageEncoder.bytes(of: decoder.description)
    case .openFrames:
      guard let descriptor = descriptors.first else { throw Self.malformed }
      let frames = try WorkerFrames(file.asset(), try Self.decoded(FramesParameters.self, parameters), descriptor)
      if !frames.description.needsLargeWorker { self.frames = frames }
      return MessageEncoder.bytes(of: frames.description)
    case .openStored:
      guard let descriptor = descriptors.first else { throw Self.malformed }
      let stored = try WorkerStoredSamples(
        file.asset(), try Self.decoded(StoredParameters.self, parameters), descriptor)
      self.stored = stored
      return MessageEncoder.bytes(of: stored.format)
    case .export:
      guard let descriptor = descriptors.first else { throw Self.malformed }
      let parameters = try Self.decoded(ExportParameters.self, parameters)
      return MessageEncoder.bytes(of: try Self.export(files, parameters, to: descriptor, request))
    case .readAudio, .seekAudio, .countAudio, .closeAudio, .makeImage, .addSheetImage, .finishSheet, .readImage,
      .popImageFault, .closeVideo, .readSegments, .describeSegments, .closeSegments, .performOnFrames, .closeFrames,
      .performOnStored, .closeStored:
      throw Self.malformed
    }
  }

  /// Performs a function on the open audio, video or segments.
  private mutating func performOnOpenFile(
    _ function: AssetWorkerFunction, _ parameters: [UInt8]
  ) throws(MediaError) -> [UInt8] {
    switch function {
    case .readAudio: return try read(try Self.decoded(Int.self, parameters))
    case .seekAudio:
      let target = try Self.decoded(SeekParameters.self, parameters)
      return try reading { (audio) throws(MediaError) in
        .time(
          try audio.reader.seek(
            to: target.time, toleranceBefore: target.toleranceBefore, toleranceAfter: target.toleranceAfter))
      }
    case .countAudio:
      return try reading { (audio) throws(MediaError) in .frameCount(try audio.reader.exactFrameCount()) }
    case .closeAudio:
      audio = nil
      return MessageEncoder.bytes(of: true)
    case .makeImage, .addSheetImage, .finishSheet, .readImage, .popImageFault:
      return try performOnVideo(function, parameters)
    case .readSegments: return MessageEncoder.bytes(of: try openSegmentDecoder.read())
    case .describeSegments: return MessageEncoder.bytes(of: try openSegmentDecoder.properties())
    case .closeSegments:
      segmentDecoder = nil
      return MessageEncoder.bytes(of: true)
    case .closeVideo:
      imageMaker = nil
      return MessageEncoder.bytes(of: true)
    case .performOnFrames:
      guard let frames else { throw Self.malformed }
      return MessageEncoder.bytes(of: frames.perform(try Self.decoded(FrameCommand.self, parameters)))
    case .closeFrames:
      frames = nil
      return MessageEncoder.bytes(of: true)
    case .performOnStored:
      guard let stored else { throw Self.malformed }
      return MessageEncoder.bytes(of: stored.perform(try Self.decoded(StoredCommand.self, parameters)))
    case .closeStored:
      stored = nil
      return MessageEncoder.bytes(of: true)
    case .tryContainer, .load, .loadMetadata, .readTags, .openAudio, .openVideo, .openSegments, .export, .openFrames,
      .openStored:
      throw Self.malformed
    }
  }

  private var openSegmentDecoder: WorkerSegmentDecoder {
    get throws(MediaError) {
      guard let segmentDecoder else { throw Self.malformed }
      return segmentDecoder
    }
  }

  static func decoded<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(MediaError) -> Value {
    do throws(MalformedMessage) { return try MessageDecoder.value(type, from: bytes) } catch { throw malformed }
  }

  static var malformed: MediaError {
    MediaError(.readFailed, "a worker process received an invalid task", operation: "worker")
  }

  // MARK: - Opening

  private static func tryContainer(_ file: SourceFile, _ parameters: TrialParameters) throws(MediaError) -> Bool {
    do throws(AVFailure) {
      let demuxer = try Demuxer(source: try file.open(), options: parameters.options)
      decodeFirstPackets(of: demuxer, packetCount: parameters.packetCount)
      return true
    } catch {
      throw MediaError(error, path: file.displayName)
    }
  }

  private static func load(_ file: SourceFile, _ parameters: LoadParameters) throws(MediaError) -> AssetProperties {
    let asset = file.asset(prefersPreciseDuration: parameters.prefersPreciseDuration)
    let interrupt = Interrupt()
    guard case .file(let demuxer, let byteCount) = try MediaFile.open(asset, interrupt: interrupt) else {
      throw malformed
    }
    let properties = try asset.properties(demuxer, byteCount: byteCount, interrupt: interrupt, log: nil)
    decodeFirstPackets(of: demuxer, packetCount: parameters.packetCount)
    return properties.withClosedCaptions(demuxer)
  }

  /// Decodes the beginning of the default audio track. A damaged packet is not an error here: playback reports it.
  private static func decodeFirstPackets(of demuxer: Demuxer, packetCount: Int) {
    guard packetCount > 0, let index = demuxer.preferredAudioStreamIndex,
      let packets = try? PacketFrameReader(demuxer: demuxer, streamIndex: index), let frame = try? Frame()
    else { return }
    var remainingCount = min(packetCount, maximumPacketCount)
    func readPacket() throws(AVFailure) -> PacketFrameReader.PacketResult {
      remainingCount -= 1
      return remainingCount >= 0 ? try packets.readPacket() : .stopped
    }
    while true {
      switch try? packets.next(into: frame, reading: readPacket) {
      case .frame, .skipped: continue
      case .end, .cancelled, .stopped, nil: return
      }
    }
  }

  private static func metadata(of file: SourceFile, _ charset: TextCharset) throws(MediaError) -> AssetMetadata {
    let asset = file.asset()
    asset.tagCharset = charset
    guard case .bytes(let source) = try MediaFile.openLocation(of: asset, interrupt: Interrupt()) else {
      throw malformed
    }
    return try MetadataReader.read(source, of: asset)
  }

  private static func tags(_ parameters: TagParameters, of file: SourceFile) throws(MediaError) -> TagReading {
    do throws(AVFailure) {
      let source = try file.open()
      guard let byteCount = source.byteCount else { throw AVFailure(errno: EINVAL, call: "tags") }
      return try TagReader.read(
        parameters.container, byteCount: byteCount, charset: parameters.charset.converterName
      ) { (buffer, offset) throws(AVFailure) -> Int in
        try source.read(into: buffer, at: offset)
      }
    } catch {
      throw MediaError(error, path: file.displayName)
    }
  }

  // MARK: - Audio

  private static func openAudio(
    _ file: SourceFile, _ parameters: AudioParameters, _ descriptor: Int32
  ) throws(MediaError) -> Audio {
    let shared = try SharedSamples(mapping: descriptor)
    let asset = file.asset()
    let interrupt = Interrupt(sharedFlag: shared.cancellation)
    _ = try asset.load(interrupt: interrupt)
    let reader = try AudioTrackReader(
      asset: asset, interrupt: interrupt, kinds: .regularFiles, trackID: parameters.trackID,
      encoding: parameters.encoding)
    return Audio(reader: reader, shared: shared)
  }

  private func read(_ count: Int) throws(MediaError) -> [UInt8] {
    try reading { (audio) throws(MediaError) in
      let capacity = SharedSamples.sampleByteCount / audio.reader.frameByteCount
      switch try audio.reader.read(into: audio.shared.samples, capacityFrames: max(1, min(count, capacity))) {
      case .frames(let count, _): return .frames(count)
      case .endOfTrack: return .endOfTrack
      case .cancelled: return .cancelled
      }
    }
  }

  /// Calls `body` with the audio, and encodes its outcome. An error of `body` becomes the outcome `failed`.
  private func reading(
    _ body: (Audio) throws(MediaError) -> AudioReading.Outcome
  ) throws(MediaError) -> [UInt8] {
    guard let audio else { throw Self.malformed }
    let outcome: AudioReading.Outcome
    do throws(MediaError) { outcome = try body(audio) } catch { outcome = .failed(error) }
    return MessageEncoder.bytes(of: AudioReading(outcome: outcome, state: audio.reader.state))
  }
}

/// A file of a task.
struct SourceFile {
  private let source: WorkerSource
  /// Owns the descriptor of a local file.
  private let descriptor: OpenDescriptor?
  var displayName: String { source.displayName }

  /// Takes ownership of all descriptors.
  ///
  /// - Throws: The errors of `OpenDescriptor`.
  static func files(_ sources: [WorkerSource]) throws(MediaError) -> [SourceFile] {
    let results = sources.map { source in Result { () throws(MediaError) in try SourceFile(source) } }
    var files: [SourceFile] = []
    for result in results { files.append(try result.get()) }
    return files
  }

  /// Takes ownership of the descriptor.
  ///
  /// - Throws: The errors of `OpenDescriptor`.
  private init(_ source: WorkerSource) throws(MediaError) {
    self.source = source
    guard case .descriptor(let number) = source.bytes else {
      descriptor = nil
      return
    }
    do throws(MediaError) { descriptor = try OpenDescriptor(number, name: source.hint) } catch {
      close(number)
      throw error
    }
  }

  /// Returns the file as an asset that is parsed in this process.
  func asset(prefersPreciseDuration: Bool = false) -> Asset {
    let location: AssetLocation
    if let descriptor {
      location = .descriptor(descriptor)
    } else {
      location = .source(name: source.hint) { () throws(MediaError) in requested }
    }
    return Asset(
      location: location, prefersPreciseDuration: prefersPreciseDuration, displayName: source.displayName,
      isolation: .none)
  }

  private var requested: any ByteSource {
    guard case .requested(let bytes) = source.bytes else { preconditionFailure("a local file has a descriptor") }
    return bytes
  }

  /// Opens the bytes.
  func open(interrupt: Interrupt = Interrupt()) throws(AVFailure) -> FileSource {
    if let descriptor {
      return try FileSource(duplicating: descriptor.descriptor, hint: source.hint, interrupt: interrupt)
    }
    return try FileSource(opened: requested, hint: source.hint, interrupt: interrupt)
  }
}

extension AudioTrackReader {
  fileprivate var description: AudioDescription {
    AudioDescription(format: format, trackID: trackID, channelMask: channelMask, state: state)
  }

  /// A snapshot of the reader's state.
  fileprivate var state: AudioState {
    AudioState(
      position: position, positionDoubt: positionDoubt, lastSeekTimings: lastSeekTimings, startTrim: startTrim,
      endTrim: endTrim, end: end,
      skipped: popSkippedPackets().map { .init(count: $0.count, time: $0.time, error: $0.error) },
      warning: popWarning().map { .init(time: $0.time, error: $0.error) },
      titles: popTitles().suffix(16).map { .init(time: $0.time, title: $0.title) })
  }
}
