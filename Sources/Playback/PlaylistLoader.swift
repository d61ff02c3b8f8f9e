import DequeModule
import MediaAssets
import MediaCore
import NetworkIO
import Playlists

/// Reads lists off the control loop, a few at once: a server that takes its time holds up no other list, nor does a file that hangs.
///
/// Threading: `read`, `cancel` and completions on the control loop; lists are read on threads, which live while there is work.
public final class PlaylistLoader: @unchecked Sendable {
  // `@unchecked Sendable`: everything but the reading is confined to the control loop.

  /// What came of the lists, in their order, or why one of them cannot be had.
  public typealias Completion = @Sendable (Result<[Playlist], MediaError>) -> Void
  /// Reads one list, and those that it names. Blocks.
  typealias Reader =
    @Sendable (PlaylistPlace, PlaylistFormat?, inout PlaylistUsage, PlaylistReading) throws(MediaError) -> Playlist

  /// One request's lists, which are read one after another.
  private final class Job: @unchecked Sendable {
    // `@unchecked Sendable`: what changes is confined to the control loop.
    let number: UInt64
    let places: [PlaylistPlace]
    let assumed: PlaylistFormat?
    let reading: PlaylistReading
    let completion: Completion
    var lists: [Playlist] = []
    /// One request has what one list may have.
    var usage = PlaylistUsage()
    var run: LoopWorkers.Run?
    /// What is being read, or is to be.
    var next: PlaylistPlace? { lists.count < places.count ? places[lists.count] : nil }

    init(
      number: UInt64, places: [PlaylistPlace], assumed: PlaylistFormat?, reading: PlaylistReading,
      completion: @escaping Completion
    ) {
      (self.number, self.places, self.assumed, self.reading) = (number, places, assumed, reading)
      self.completion = completion
    }
  }

  /// How long one list may take: as long as all lists that it leads to may, and the last read of one of them.
  static let limitNanoseconds = PlaylistReading.patienceNanoseconds + Asset.openingNanoseconds

  private let workers: LoopWorkers
  private let reader: Reader
  private var waiting: Deque<Job> = []
  private var running: [UInt64: Job] = [:]
  private var nextNumber: UInt64 = 0

  /// A loader whose completions are called on `loop`.
  public convenience init(loop: any ControlLoop) {
    self.init(loop: loop, limits: WorkPlaces.Limits(placeCount: 8)) {
      (place, assumed, usage, reading) throws(MediaError) in
      try Playlist(at: place, assumed: assumed, usage: &usage, reading: reading)
    }
  }

  init(loop: any ControlLoop, limits: WorkPlaces.Limits, reader: @escaping Reader) {
    self.reader = reader
    workers = LoopWorkers(loop: loop, limits: limits, threadName: "read-list")
    workers.roomAppeared = { [weak self] in self?.startNext() }
    workers.gotStuck = { [weak self] reason in
      guard let self else { return }
      let jobs = waiting
      waiting = []
      for job in jobs { finish(job, .failure(reason.error(job.next?.displayText ?? "a list"))) }
    }
  }

  /// Reads the lists at some places, and those that they name. Answers a number for `cancel`.
  ///
  /// `openingTimedOut` for a list that takes much longer than all that it leads to may take together.
  ///
  /// - Parameter options: how servers are asked.
  public func read(
    _ places: [PlaylistPlace], assumed: PlaylistFormat?, options: HTTPOptions = HTTPOptions(),
    completion: @escaping Completion
  ) -> UInt64 {
    nextNumber += 1
    waiting.append(
      Job(
        number: nextNumber, places: places, assumed: assumed, reading: PlaylistReading(options: options),
        completion: completion))
    startNext()
    return nextNumber
  }

  /// What has not been read is not; what is being read is given up.
  public func cancel(_ number: UInt64) {
    waiting.removeAll { $0.number == number }
    if let job = running[number] { end(job) }
    startNext()
  }

  private func startNext() {
    while workers.hasRoom, let job = waiting.popFirst() {
      running[job.number] = job
      begin(job)
    }
    workers.watch(isAnyWaiting: !waiting.isEmpty)
  }

  /// Reads the next list of a request.
  private func begin(_ job: Job) {
    guard let place = job.next else { return finish(job, .success(job.lists)) }
    let (assumed, reading, reader, before) = (job.assumed, job.reading, reader, job.usage)
    job.run = workers.begin(forNanoseconds: Self.limitNanoseconds) {
      () -> Result<(Playlist, PlaylistUsage), MediaError> in
      var usage = before
      return Result { () throws(MediaError) in try reader(place, assumed, &usage, reading) }.map { ($0, usage) }
    } finished: { result in
      switch result {
      case .success(let (list, usage)): self.add(list, usage, to: job)
      case .failure(let error): self.finish(job, .failure(error))
      }
    } timedOut: { reason in
      self.finish(job, .failure(reason.error(place.displayText)))
    }
  }

  /// A request's last list ends it; before the next one it may have to wait, where this one was slow.
  private func add(_ list: Playlist, _ usage: PlaylistUsage, to job: Job) {
    job.lists.append(list)
    job.usage = usage
    guard job.next != nil else { return finish(job, .success(job.lists)) }
    job.run = nil
    running[job.number] = nil
    waiting.prepend(job)
  }

  private func finish(_ job: Job, _ result: Result<[Playlist], MediaError>) {
    end(job)
    job.completion(result)
  }

  /// Nobody waits for it any more. What is being read gives up if it can.
  private func end(_ job: Job) {
    running[job.number] = nil
    job.reading.cancel()
    if let run = job.run { workers.giveUp(run) }
    job.run = nil
  }
}
