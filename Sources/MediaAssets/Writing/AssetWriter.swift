// Writes a file of sound and pictures, as AVAssetWriter does. Who appends never encodes or writes: one thread of the writer's own does all of it,
// from queues that are bounded, and an input that gives nothing keeps no other from being taken. The file has its name only when
// it is whole.
import DequeModule
import LibAV
import MediaCore
import RealtimeAudio
import Synchronization
import WholeFiles

/// Writes one file of sound and pictures, from inputs that are fed by hand.
///
/// Threading: any thread. Nothing but `startWriting`, `append(waiting:)` and `finishWriting()` blocks.
public final class AssetWriter: Sendable {
  /// What has become of it.
  public enum Status: String, Sendable, Hashable {
    /// Not begun.
    case unknown
    case writing
    /// The file is there, whole.
    case completed
    /// There is no file; `error` says why.
    case failed
    /// There is no file.
    case cancelled
  }

  /// How the file is written.
  public struct Options: Sendable, Hashable {
    /// It takes the place of what is there.
    public var replacesFile = false
    /// MP4 and its kin: the index lies before the media.
    public var shouldOptimizeForNetworkUse = false
    /// MP4 and its kin: how much media a fragment has, at least a millisecond; invalid: one index, at the end.
    public var movieFragmentInterval = MediaTime.invalid
    /// What the container's tags say, as FFmpeg names them: `title`, `artist`, `album`, `date`, ...
    public var metadata: [String: String] = [:]
    /// Pictures that belong to the file: PNG or JPEG. M4A, MP4, FLAC, MP3, Matroska and Ogg (the first of them) have such.
    public var artwork: [Artwork] = []
    /// Parts of the file that have names, from the session's start; one after another, with numbers for ends. M4A, MP4, MOV (not in
    /// fragments), Matroska, WebM, Ogg and MP3 have such.
    public var chapters: [AssetChapter] = []
    /// What has been written of so much media reaches the file, which matters when the process ends before it is whole; invalid: when a
    /// buffer is full.
    package var flushInterval = MediaTime.invalid
    /// A chapter may begin behind the end, which the source of it does not tell exactly.
    var toleratesLateChapters = false

    /// A new file with one index, and no tags.
    public init() {}
  }

  /// Where the bytes are written.
  enum Destination: Sendable {
    /// A file that has its name when it is whole.
    case file(WholeFile)
    /// An open file without bytes, for reading and writing, which stays the caller's.
    case descriptor(Int32)
  }

  /// Path of the file: absolute, bytes. Empty for a descriptor.
  public var path: [UInt8] {
    guard case .file(let file) = destination else { return [] }
    return file.path
  }
  /// What it is written as.
  public let container: WritableContainer
  /// How it is written.
  public let options: Options
  private let destination: Destination
  let shared = WakeSignal(State())
  /// Protected by its lock; those of `State` know nothing of them, for they know of it.
  private let inputs = Mutex<[AssetWriterInput]>([])
  /// Protected by its lock.
  private let groups = Mutex<[AssetWriterInputGroup]>([])

  /// A writer that has not begun. No I/O.
  public convenience init(path: [UInt8], container: WritableContainer, options: Options = Options()) {
    self.init(
      file: WholeFile(path: path, replaces: options.replacesFile, hint: "it is not to be replaced"),
      container: container, options: options)
  }

  /// The same of a file that may lie below some folders only, and says itself whether it replaces another.
  ///
  /// After a failure there is something left of a file that is kept unfinished, if its header was written.
  package convenience init(file: WholeFile, container: WritableContainer, options: Options = Options()) {
    self.init(destination: .file(file), container: container, options: options)
  }

  init(destination: Destination, container: WritableContainer, options: Options = Options()) {
    self.destination = destination
    self.container = container
    self.options = options
  }

  /// Who lets go of a writer that is at work cancels it.
  deinit { cancelWriting() }

  /// What has become of it.
  public var status: Status { shared.withState { $0.status } }

  /// Why it failed; nil unless it did.
  public var error: MediaError? { shared.withState { $0.error } }

  /// Bytes of the file; 0 until it is whole.
  public var byteCount: Int64 { shared.withState { $0.byteCount } }

  // MARK: - Before

  /// Adds a track. Before `startWriting`.
  ///
  /// Errors: `invalidState` for an input that has a writer, and once writing has begun; `invalidArgument` for settings that do not fit
  /// the container, `unsupportedAudioFormat` for sound that cannot be encoded.
  public func add(_ input: AssetWriterInput) throws(MediaError) {
    try input.check(container)
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .unknown else {
        return .failure(Self.wrongState("an input is added before writing", state))
      }
      guard state.inputs.count < container.largestTrackCount else {
        return .failure(MediaError(.invalidArgument, "\(container.rawValue) holds no more tracks", operation: "add"))
      }
      guard input.attach(shared, index: state.inputs.count) else {
        return .failure(MediaError(.invalidState, "the input has a writer already", operation: "add"))
      }
      state.inputs.append(State.Input(input, container))
      inputs.withLock { $0.append(input) }
      return .success(())
    }
    try result.get()
  }

  /// Says which tracks are alternatives: only the default one's is enabled. Before `startWriting`.
  ///
  /// Errors: `invalidState` once writing has begun; `invalidArgument` for inputs that are not this writer's, or in a group already.
  public func add(_ group: AssetWriterInputGroup) throws(MediaError) {
    let own = Set(inputs.withLock { $0.map(ObjectIdentifier.init) })
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .unknown else { return .failure(Self.wrongState("a group is added before writing", state)) }
      return groups.withLock { groups in
        let members = group.inputs.map(ObjectIdentifier.init)
        let taken = Set(groups.flatMap { $0.inputs.map(ObjectIdentifier.init) })
        guard own.isSuperset(of: members), taken.isDisjoint(with: members) else {
          return .failure(
            MediaError(.invalidArgument, "alternatives are inputs of the writer, each in one group", operation: "add"))
        }
        groups.append(group)
        return .success(())
      }
    }
    try result.get()
  }

  /// Which tracks are enabled, in the order of `inputs`.
  private func enabled(_ inputs: [AssetWriterInput]) -> [Bool] {
    let groups = groups.withLock { $0 }
    return inputs.map { input in
      guard let group = groups.first(where: { $0.inputs.contains { $0 === input } }) else {
        return input.marksOutputTrackAsEnabled
      }
      return group.defaultInput === input
    }
  }

  /// Begins: opens a file beside the one that will be, and writes what stands at its beginning. Blocks for as long as that takes.
  /// Once. Then a session is to be started.
  ///
  /// Errors: `invalidState` without inputs and the second time; `fileExists`; `writeFailed`; `invalidArgument` for what the
  /// container or an encoder does not take, and pictures that are neither PNG nor JPEG; `invalidTime` for chapters that are out of
  /// their order. After them the writer has failed.
  public func startWriting() throws(MediaError) {
    let begun: Result<Void, MediaError> = shared.update { state in
      guard state.status == .unknown else { return .failure(Self.wrongState("writing begins once", state)) }
      guard !state.inputs.isEmpty else {
        return .failure(MediaError(.invalidState, "a writer has an input at least", operation: "startWriting"))
      }
      state.status = .writing
      return .success(())
    }
    try begun.get()
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

  /// Says which time of the samples is the beginning of the file. What comes earlier is cut off; when the first sample of a track
  /// comes later, there is silence before it, or no picture. Once, before anything is appended.
  ///
  /// Of what is passed through, packets are cut off as the container can say it: MP4 and its kin by an edit list, to the sample;
  /// elsewhere sound by its `initialPaddingFrames`, else to the packet. Matroska and WebM have no stored pictures before the
  /// session's start: it is the time of one that decoding can begin with. Pictures that are decoded before the last one but shown
  /// behind it stay at the end.
  /// Errors: `invalidState`, `invalidTime`.
  public func startSession(atSourceTime time: MediaTime) throws(MediaError) {
    guard time.isNumeric else {
      throw MediaError(.invalidTime, "a session starts at a number", operation: "startSession")
    }
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .writing else { return .failure(Self.wrongState("a session starts while writing", state)) }
      guard state.sessionStart == nil else {
        return .failure(MediaError(.invalidState, "there is one session", operation: "startSession"))
      }
      state.sessionStart = time
      return .success(())
    }
    try result.get()
  }

  /// Says which time of the samples is the end of the file: tracks that end before it have silence up to it, and the last picture
  /// lasts until then; what is passed through ends with its last packet. Nothing can be appended afterwards. Without it each track
  /// ends with its last sample.
  ///
  /// Errors: `invalidState` without a session; `invalidTime` for what lies before the start, or before the end of what has been appended.
  public func endSession(atSourceTime time: MediaTime) throws(MediaError) {
    let result: Result<Void, MediaError> = shared.update { state in
      guard state.status == .writing, let start = state.sessionStart, state.sessionEnd == nil else {
        return .failure(MediaError(.invalidState, "there is no session to end", operation: "endSession"))
      }
      guard time.isNumeric, time >= start,
        state.inputs.allSatisfy({ !$0.intake.nextTime.isValid || $0.intake.nextTime <= time })
      else {
        return .failure(
          MediaError(.invalidTime, "a session ends no earlier than what was appended", operation: "endSession"))
      }
      state.sessionEnd = time
      return .success(())
    }
    try result.get()
  }

  // MARK: - The end

  /// Has all of it written, and the file put in its place. Inputs that are not finished are.
  ///
  /// - Parameter completion: called once, with `completed`, `failed` or `cancelled`: on a thread of the writer's, or, when it has ended
  ///   before, at once.
  /// Errors: `invalidState` before `startWriting`, and the second time.
  public func finishWriting(completion: @escaping @Sendable (Status) -> Void) throws(MediaError) {
    let result: Result<Status?, MediaError> = shared.update { state in
      guard state.status != .unknown, !state.isFinishing else {
        return .failure(Self.wrongState("what is being written is finished once", state))
      }
      state.isFinishing = true
      for index in state.inputs.indices { state.inputs[index].isFinished = true }
      guard !state.hasEnded else { return .success(state.status) }
      state.completion = completion
      return .success(nil)
    }
    if let status = try result.get() { completion(status) }
  }

  /// Blocks until all of it is written, and the file is in its place.
  ///
  /// Errors: why there is no file; `cancelled`.
  public func finishWriting() throws(MediaError) {
    try finishWriting { _ in }
    let outcome: (Status, MediaError?)? = shared.wait { $0.hasEnded ? ($0.status, $0.error) : nil }
    if let error = outcome?.1 { throw error }
    if outcome?.0 == .cancelled { throw MediaError(.cancelled, "writing was cancelled", operation: "finishWriting") }
  }

  /// Ends it, and leaves no file. Nothing when it has ended. Does not wait for what is being written: `finishWriting` does.
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

  /// The same, and waits until nothing is left of it.
  func cancelWritingAndWait() {
    cancelWriting()
    _ = shared.wait { $0.hasEnded ? true : nil }
  }

  private static func wrongState(_ rule: String, _ state: State) -> MediaError {
    MediaError(.invalidState, "\(rule); the writer is \(state.status.rawValue)")
  }

  // MARK: - State

  /// What the writer, its inputs and its thread share; protected by the monitor that it is in.
  struct State: Sendable {
    /// What is known of an input.
    struct Input: Sendable {
      let queueByteLimit: Int
      /// What it takes next.
      var intake: WriterIntake
      /// What has been appended, and not been taken yet.
      var queue = Deque<SampleBuffer>()
      var queuedByteCount = 0
      var isFinished = false

      /// Whether it takes another buffer, as far as there is room.
      var hasRoom: Bool { queuedByteCount < queueByteLimit && queue.count < Self.queueLimit }
      /// Whether it takes many.
      var hasMuchRoom: Bool { queuedByteCount <= queueByteLimit / 2 && queue.count <= Self.queueLimit / 2 }
      private static let queueLimit = 1_024

      init(_ input: AssetWriterInput, _ container: WritableContainer) {
        intake = WriterIntake(input, container)
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
    /// All is written, and the file gets its name.
    var isCommitting = false
    /// Nothing changes any more.
    var hasEnded = false
    var completion: (@Sendable (Status) -> Void)?

    /// Whether an input takes another buffer.
    func isReady(_ index: Int) -> Bool {
      let input = inputs[index]
      return status == .writing && sessionStart != nil && sessionEnd == nil && !isCancelled && !input.isFinished
        && input.hasRoom
    }
  }
}
