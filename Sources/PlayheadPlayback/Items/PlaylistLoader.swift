import DequeModule
import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists

/// Reads playlists off the control loop, several at once. A slow server or a blocked file delays no other playlist.
///
/// Threading: `read`, `cancel` and completions are on the control loop. Playlists are read on threads that exist only
/// while there is work.
package final class PlaylistLoader: @unchecked Sendable {
  // `@unchecked Sendable`: everything except reading is confined to the control loop.

  /// Receives the playlists in the order of their locations, or the error of the first failed one.
  package typealias Completion = @Sendable (Result<[Playlist], MediaError>) -> Void
  /// Reads one playlist, and the playlists that it references. Blocks.
  typealias Reader =
    @Sendable (PlaylistLocation, PlaylistFormat?, inout PlaylistUsage, PlaylistReading) throws(MediaError) -> Playlist

  /// The playlists of one request, which are read one after another.
  private final class Job: @unchecked Sendable {
    // `@unchecked Sendable`: mutable properties are confined to the control loop.
    let number: UInt64
    let locations: [PlaylistLocation]
    let assumed: PlaylistFormat?
    let reading: PlaylistReading
    let completion: Completion
    var playlists: [Playlist] = []
    /// The limits of one playlist apply to the whole request.
    var usage = PlaylistUsage()
    var run: LoopWorkers.Run?
    /// The location that is being read, or that is read next; nil after the last one.
    var next: PlaylistLocation? { playlists.count < locations.count ? locations[playlists.count] : nil }

    init(
      number: UInt64, locations: [PlaylistLocation], assumed: PlaylistFormat?, reading: PlaylistReading,
      completion: @escaping Completion
    ) {
      (self.number, self.locations, self.assumed, self.reading) = (number, locations, assumed, reading)
      self.completion = completion
    }
  }

  /// The time limit of one playlist: the limit of all playlists that it references, plus the limit of one more open
  /// operation.
  static let limitNanoseconds = PlaylistReading.timeLimitNanoseconds + Asset.openingNanoseconds

  private let workers: LoopWorkers
  private let reader: Reader
  private var waiting: Deque<Job> = []
  private var running: [UInt64: Job] = [:]
  private var nextNumber: UInt64 = 0

  /// Makes a loader whose completions are called on `loop`.
  package convenience init(loop: any ControlLoop) {
    self.init(loop: loop, limits: WorkSlots.Limits(slotCount: 8)) {
      (location, assumed, usage, reading) throws(MediaError) in
      try Playlist(at: location, assumed: assumed, usage: &usage, reading: reading)
    }
  }

  init(loop: any ControlLoop, limits: WorkSlots.Limits, reader: @escaping Reader) {
    self.reader = reader
    workers = LoopWorkers(loop: loop, limits: limits, threadName: "read-list")
    workers.onSlotFreed = { [weak self] in self?.startNext() }
    workers.onAllThreadsBlocked = { [weak self] reason in
      guard let self else { return }
      let jobs = waiting
      waiting = []
      for job in jobs { finish(job, .failure(reason.error(job.next?.displayText ?? "a playlist"))) }
    }
  }

  /// Reads the playlists at some locations, and the playlists that they reference.
  ///
  /// - Parameters:
  ///   - locations: The locations of the playlists.
  ///   - assumed: The format when content and extension are ambiguous.
  ///   - options: The HTTP options of requests.
  ///   - completion: Fails with `openingTimedOut` if a playlist exceeds the time limit of all playlists that it
  ///     references.
  /// - Returns: The number for `cancel`.
  package func read(
    _ locations: [PlaylistLocation], assumed: PlaylistFormat?, options: HTTPOptions = HTTPOptions(),
    completion: @escaping Completion
  ) -> UInt64 {
    nextNumber += 1
    waiting.append(
      Job(
        number: nextNumber, locations: locations, assumed: assumed, reading: PlaylistReading(options: options),
        completion: completion))
    startNext()
    return nextNumber
  }

  /// Cancels a request: pending playlists are not read, and a read in progress is abandoned.
  package func cancel(_ number: UInt64) {
    waiting.removeAll { $0.number == number }
    if let job = running[number] { end(job) }
    startNext()
  }

  private func startNext() {
    while workers.hasFreeSlot, let job = waiting.popFirst() {
      running[job.number] = job
      readNextPlaylist(of: job)
    }
    workers.watchForBlockedThreads(isAnyWaiting: !waiting.isEmpty)
  }

  /// Reads the next playlist of a request.
  private func readNextPlaylist(of job: Job) {
    guard let location = job.next else { return finish(job, .success(job.playlists)) }
    let (assumed, reading, reader, usedBefore) = (job.assumed, job.reading, reader, job.usage)
    job.run = workers.start(forNanoseconds: Self.limitNanoseconds) {
      () -> Result<(Playlist, PlaylistUsage), MediaError> in
      var usage = usedBefore
      return Result { () throws(MediaError) in try reader(location, assumed, &usage, reading) }.map { ($0, usage) }
    } finished: { result in
      switch result {
      case .success(let (playlist, usage)): self.add(playlist, usage, to: job)
      case .failure(let error): self.finish(job, .failure(error))
      }
    } timedOut: { reason in
      self.finish(job, .failure(reason.error(location.displayText)))
    }
  }

  /// Adds a playlist to its request and completes the request after the last one. Otherwise the request returns to the
  /// front of the queue, because a slow read may have released its slot to another request.
  private func add(_ playlist: Playlist, _ usage: PlaylistUsage, to job: Job) {
    job.playlists.append(playlist)
    job.usage = usage
    guard job.next != nil else { return finish(job, .success(job.playlists)) }
    job.run = nil
    running[job.number] = nil
    waiting.prepend(job)
  }

  private func finish(_ job: Job, _ result: Result<[Playlist], MediaError>) {
    end(job)
    job.completion(result)
  }

  /// Removes a completed or cancelled request. A read in progress is cancelled if possible.
  private func end(_ job: Job) {
    running[job.number] = nil
    job.reading.cancel()
    if let run = job.run { workers.abandon(run) }
    job.run = nil
  }
}
