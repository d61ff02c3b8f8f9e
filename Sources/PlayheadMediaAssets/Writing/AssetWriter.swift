// Writes a media file, as AVAssetWriter does. One writer thread encodes and writes. Appended samples wait in bounded
// queues; an input without samples does not block the other inputs. The file gets its name when it is complete.
import DequeModule
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWholeFiles
import Synchronization

/// Writes one media file from samples that the caller appends to its inputs.
///
/// <!-- listing: write-audio -->
/// ```swift
/// let writer = AssetWriter(path: "/music/new.flac", container: .flac)
/// let format = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 2)
/// let input = AssetWriterInput(settings: AudioOutputSettings(.flac), sourceFormat: format)
/// try writer.add(input)
/// try writer.startWriting()
/// try writer.startSession(atSourceTime: .zero)
/// try input.append(waiting: SampleBuffer(pcm: bytes, format: format, presentationTime: .zero))
/// try writer.finishWriting()
/// ```
///
/// Threading: any thread. Only ``startWriting()``, ``AssetWriterInput/append(waiting:)`` and, outside of
/// tasks, `finishWriting()` block.
public final class AssetWriter: Sendable {
  /// The state of a writer.
  public enum Status: String, Sendable, Hashable {
    /// Writing has not started.
    case unknown
    /// Samples can be appended.
    case writing
    /// The file is complete.
    case completed
    /// Writing failed and there is no file; `error` contains the reason.
    case failed
    /// Writing was cancelled and there is no file.
    case cancelled
  }

  /// The options of a file.
  public struct Options: Sendable, Hashable {
    /// Whether the file replaces an existing file. Default: false.
    public var replacesFile = false
    /// Whether the index is written before the media (MP4, M4A and MOV). Default: false.
    public var shouldOptimizeForNetworkUse = false
    /// The duration of a fragment (MP4, M4A and MOV), at least 1 ms. Default: invalid, which writes one index at the
    /// end.
    public var movieFragmentInterval = MediaTime.invalid
    /// The tags of the container, by FFmpeg's names: `title`, `artist`, `album`, `date`, ...
    public var metadata: [String: String] = [:]
    /// The artwork of the file: PNG or JPEG. Supported by M4A, MP4, FLAC, MP3, Matroska and Ogg (only the first image).
    public var artwork: [Artwork] = []
    /// The chapters, relative to the session's start. They are in order, do not overlap, and have numeric ends.
    /// Supported by M4A, MP4, MOV (not with fragments), Matroska, WebM, Ogg and MP3.
    public var chapters: [AssetChapter] = []
    /// The amount of media after which written bytes are flushed to the file. It limits the loss if the process ends
    /// before the file is complete. Default: invalid, which flushes when a buffer is full.
    package var flushInterval = MediaTime.invalid
    /// Whether a chapter may begin after the end of the file, because its source does not state the end exactly.
    var toleratesLateChapters = false

    /// Creates options for a new file with one index and no tags.
    public init() {}

    /// Sets the tags to those of metadata that was read, or made by the program.
    ///
    /// Tags with a common key are written under the name that the container has for it. Other tags are written if their
    /// name is plain text, such as that of a Vorbis comment. Data, and tags that describe the encoding of their source,
    /// are omitted. Artwork is set with ``artwork``.
    public mutating func setMetadata(_ items: [MetadataItem]) {
      var source = AssetMetadata()
      source.items = items
      metadata = ExportTags.dictionary(source, .all)
    }
  }

  /// The destination of the bytes.
  enum Destination: Sendable {
    /// A file that gets its name when it is complete.
    case file(WholeFile)
    /// An empty file, open for reading and writing. The caller keeps ownership of the descriptor.
    case descriptor(Int32)
  }

  /// The absolute path of the file; nil for a descriptor. Bytes that are not UTF-8 are U+FFFD.
  public var path: String? {
    guard case .file(let file) = destination else { return nil }
    return String(decoding: file.path, as: UTF8.self)
  }
  /// The container of the file.
  public let container: WritableContainer
  /// The options of the file.
  public let options: Options
  private let destination: Destination
  let shared = ConditionMutex(State())
  /// The inputs. They are not part of `State`, because each input refers to the state.
  private let inputs = Mutex<[AssetWriterInput]>([])
  /// The groups of alternative inputs.
  private let groups = Mutex<[AssetWriterInputGroup]>([])

  /// Creates a writer that has not started. Performs no I/O.
  public convenience init(path: String, container: WritableContainer, options: Options = Options()) {
    self.init(path: Array(path.utf8), container: container, options: options)
  }

  /// Creates a writer of a file whose path need not be UTF-8.
  package convenience init(path: [UInt8], container: WritableContainer, options: Options = Options()) {
    self.init(
      file: WholeFile(path: path, replaces: options.replacesFile, hint: "replacing is not allowed"),
      container: container, options: options)
  }

  /// Creates a writer for `file`, which may be restricted to some folders and specifies whether it replaces an existing
  /// file.
  ///
  /// If `file` keeps unfinished files, a failure after the header was written leaves the unfinished file.
  package convenience init(file: WholeFile, container: WritableContainer, options: Options = Options()) {
    self.init(destination: .file(file), container: container, options: options)
  }

  init(destination: Destination, container: WritableContainer, options: Options = Options()) {
    self.destination = destination
    self.container = container
    self.options = options
  }

  /// Cancels writing if it is in progress.
  deinit { cancelWriting() }

  /// The state of the writer.
  public var status: Status { shared.withState { $0.status } }

  /// The reason of the failure; nil if the writer has not failed.
  public var error: MediaError? { shared.withState { $0.error } }

  /// The size of the file in bytes; 0 until the file is complete.
  public var byteCount: Int64 { shared.withState { $0.byteCount } }

  // MARK: - Before writing

  /// Adds a track. Call before ``startWriting()``.
  ///
  /// - Throws: `invalidState` for an input that has a writer, or after writing has started; `invalidArgument` for
  ///   settings that the container does not support; `unsupportedAudioFormat` for audio that cannot be encoded.
  public func add(_ input: AssetWriterInput) throws(MediaError) {
    try input.check(container)
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .unknown else {
        return .failure(Self.invalidState("an input must be added before writing starts", state))
      }
      guard state.inputs.count < container.maximumTrackCount else {
        return .failure(MediaError(.invalidArgument, "\(container.rawValue) supports no more tracks", operation: "add"))
      }
      guard input.attach(shared, index: state.inputs.count) else {
        return .failure(MediaError(.invalidState, "the input already has a writer", operation: "add"))
      }
      state.inputs.append(State.Input(input, container))
      inputs.withLock { $0.append(input) }
      return .success(())
    }
    try result.get()
  }

  /// Declares tracks to be alternatives: only the track of the default input is enabled. Call before
  /// ``startWriting()``.
  ///
  /// - Throws: `invalidState` after writing has started; `invalidArgument` for inputs of another writer, or inputs that
  ///   are in a group already.
  public func add(_ group: AssetWriterInputGroup) throws(MediaError) {
    let writerInputs = Set(inputs.withLock { $0.map(ObjectIdentifier.init) })
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .unknown else {
        return .failure(Self.invalidState("a group must be added before writing starts", state))
      }
      return groups.withLock { groups in
        let members = group.inputs.map(ObjectIdentifier.init)
        let groupedInputs = Set(groups.flatMap { $0.inputs.map(ObjectIdentifier.init) })
        guard writerInputs.isSuperset(of: members), groupedInputs.isDisjoint(with: members) else {
          return .failure(
            MediaError(
              .invalidArgument, "the alternatives must be inputs of this writer, each in only one group",
              operation: "add"))
        }
        groups.append(group)
        return .success(())
      }
    }
    try result.get()
  }

  /// Returns whether each track is enabled, in the order of `inputs`.
  private func enabled(_ inputs: [AssetWriterInput]) -> [Bool] {
    let groups = groups.withLock { $0 }
    return inputs.map { input in
      guard let group = groups.first(where: { $0.inputs.contains { $0 === input } }) else {
        return input.marksOutputTrackAsEnabled
      }
      return group.defaultInput === input
    }
  }

  /// Starts writing: opens a temporary file in the folder of the final file and writes the header. Blocks until the
  /// header is written. Call once, then start a session.
  ///
  /// Every error makes the writer fail, except `invalidState`.
  ///
  /// - Throws: `invalidState` without inputs or on a second call; `fileExists`; `writeFailed`; `invalidArgument` for
  ///   settings that the container or an encoder does not support, and for artwork that is neither PNG nor JPEG;
  ///   `invalidTime` for chapters out of order.
  public func startWriting() throws(MediaError) {
    let started: Result<Void, MediaError> = shared.update { state in
      guard state.status == .unknown else {
        return .failure(Self.invalidState("writing can be started only once", state))
      }
      guard !state.inputs.isEmpty else {
        return .failure(MediaError(.invalidState, "a writer needs at least one input", operation: "startWriting"))
      }
      state.status = .writing
      return .success(())
    }
    try started.get()
    let inputs = inputs.withLock { $0 }
    let enabled = enabled(inputs)
    let (shared, destination, container, options) = (shared, destination, container, options)
    NamedThread.detached(name: "playhead-writer") {
      WriterThread(shared, destination, container, options, Array(zip(inputs, enabled))).run()
    }
    let failure: MediaError?? = shared.wait { state in
      if let error = state.error { return .some(error) }
      return state.isHeaderWritten || state.status != .writing ? .some(nil) : nil
    }
    if let failure, let error = failure { throw error }
  }

  // MARK: - Sessions

  /// Sets the source time that is the beginning of the file. Call once, before samples are appended.
  ///
  /// Media before `time` is cut off. If the first sample of a track is later, the track begins with silence, or without
  /// video.
  ///
  /// Passed-through packets are cut off as precisely as the container permits:
  ///
  /// - MP4, M4A and MOV cut at the sample, by an edit list.
  /// - Other containers cut audio at the packet, except for the frames that `initialPaddingFrames` covers.
  /// - Matroska and WebM cannot store video frames before the session's start. The start must be the time of a frame at
  ///   which decoding can begin.
  ///
  /// At the end of the file, frames that are decoded before the last frame and shown after it are kept.
  ///
  /// - Throws: `invalidState`, `invalidTime`.
  public func startSession(atSourceTime time: MediaTime) throws(MediaError) {
    guard time.isNumeric else {
      throw MediaError(.invalidTime, "the start time of a session must be numeric", operation: "startSession")
    }
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .writing else {
        return .failure(Self.invalidState("a session can be started only while writing", state))
      }
      guard state.sessionStart == nil else {
        return .failure(MediaError(.invalidState, "a writer can have only one session", operation: "startSession"))
      }
      state.sessionStart = time
      return .success(())
    }
    try result.get()
  }

  /// Sets the source time that is the end of the file. No samples can be appended afterwards.
  ///
  /// Encoded audio that ends earlier is followed by silence, and the last encoded video frame lasts until `time`.
  /// Passed-through tracks end with their last packet. Without this call each track ends with its last sample.
  ///
  /// - Throws: `invalidState` without a session; `invalidTime` for a time before the start or before the end of the
  ///   appended samples.
  public func endSession(atSourceTime time: MediaTime) throws(MediaError) {
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .writing, let start = state.sessionStart, state.sessionEnd == nil else {
        return .failure(MediaError(.invalidState, "there is no session to end", operation: "endSession"))
      }
      guard time.isNumeric, time >= start,
        state.inputs.allSatisfy({ !$0.validator.nextTime.isValid || $0.validator.nextTime <= time })
      else {
        return .failure(
          MediaError(
            .invalidTime, "the end of a session must not be before the end of the appended samples",
            operation: "endSession"))
      }
      state.sessionEnd = time
      return .success(())
    }
    try result.get()
  }

  // MARK: - Finishing

  /// Finishes all inputs, writes the remaining samples and gives the file its name. Does not block.
  ///
  /// - Parameter completion: Called once with `completed`, `failed` or `cancelled`, on the writer thread. If the writer
  ///   has ended already, it is called before this method returns.
  /// - Throws: `invalidState` before ``startWriting()`` and on a second call.
  public func finishWriting(completion: @escaping @Sendable (Status) -> Void) throws(MediaError) {
    let result: Result<Status?, MediaError> = shared.update { state in
      guard state.status != .unknown, !state.isFinishing else {
        return .failure(Self.invalidState("writing can be finished only once, after it has started", state))
      }
      state.isFinishing = true
      for index in state.inputs.indices { state.inputs[index].isFinished = true }
      guard !state.hasEnded else { return .success(state.status) }
      state.completion = completion
      return .success(nil)
    }
    if let status = try result.get() { completion(status) }
  }

  /// Finishes all inputs, and blocks until the file is complete and has its name.
  ///
  /// - Throws: The reason why there is no file; `cancelled`.
  public func finishWriting() throws(MediaError) {
    try finishWriting { _ in }
    try check(shared.wait { $0.hasEnded ? $0.status : nil } ?? .cancelled)
  }

  /// Cancels writing, and leaves no file. Has no effect after the writer has ended. Does not block; `finishWriting`
  /// waits.
  public func cancelWriting() {
    shared.update { state in
      switch state.status {
      case .unknown:
        state.status = .cancelled
        state.hasEnded = true
      case .writing: state.isCancelled = state.isCancelled || !state.isCommitting
      case .completed, .failed, .cancelled: break
      }
    }
  }

  /// Cancels writing, and blocks until the writer has ended.
  func cancelWritingAndWait() {
    cancelWriting()
    _ = shared.wait { $0.hasEnded ? true : nil }
  }

  private static func invalidState(_ rule: String, _ state: State) -> MediaError {
    MediaError(.invalidState, "\(rule); the writer is \(state.status.rawValue)")
  }

  // MARK: - State

  /// The state that the writer, its inputs and its thread share. Protected by the `ConditionMutex` that contains it.
  struct State: Sendable {
    /// The state of one input.
    struct Input: Sendable {
      let queueByteLimit: Int
      /// Checks appended buffers, and knows the earliest time of the next one.
      var validator: WriterInputValidator
      /// The appended buffers that the writer thread has not read yet.
      var queue = Deque<SampleBuffer>()
      var queuedByteCount = 0
      var isFinished = false

      /// Whether the queue has room for another buffer.
      var hasRoom: Bool { queuedByteCount < queueByteLimit && queue.count < Self.queueLimit }
      /// Whether at least half of the queue is empty.
      var isHalfEmpty: Bool { queuedByteCount <= queueByteLimit / 2 && queue.count <= Self.queueLimit / 2 }
      private static let queueLimit = 1_024

      init(_ input: AssetWriterInput, _ container: WritableContainer) {
        validator = WriterInputValidator(input, container)
        queueByteLimit = input.queueByteLimit
      }
    }

    var status = Status.unknown
    var error: MediaError?
    var byteCount: Int64 = 0
    var inputs: [Input] = []
    var sessionStart: MediaTime?
    var sessionEnd: MediaTime?
    var isHeaderWritten = false
    var isFinishing = false
    var isCancelled = false
    /// Whether all data is written and the file is about to get its name. From then on it cannot be cancelled.
    var isCommitting = false
    /// Whether writing is over. The state does not change afterwards.
    var hasEnded = false
    var completion: (@Sendable (Status) -> Void)?

    /// Returns whether an input accepts another buffer.
    func isReady(_ index: Int) -> Bool {
      let input = inputs[index]
      return status == .writing && sessionStart != nil && sessionEnd == nil && !isCancelled && !input.isFinished
        && input.hasRoom
    }
  }
}
