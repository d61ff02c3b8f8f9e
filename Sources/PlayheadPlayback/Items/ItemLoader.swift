import DequeModule
// Opens entries before they play, to determine their durations and whether they are playable. A limited number is
// opened at the same time, and the entries that are needed next come first. A slow item releases its slot to others,
// and an item that exceeds its time limit fails. A thread that waits for bytes in the kernel cannot be interrupted: it
// is abandoned, and the number of such threads is limited.
import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Opens items on a limited number of threads, to determine their durations and whether they are playable.
///
/// Threading: all methods and completions on the control loop. Each file is opened on a separate thread.
final class ItemLoader: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`, except for the opening of assets.
  typealias Completion = @Sendable (Result<AssetProperties, MediaError>) -> Void

  typealias Limits = WorkSlots.Limits

  private struct Identity: Hashable {
    let item: PlayerItem

    static func == (one: Self, other: Self) -> Bool { one.item === other.item }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(item)) }
  }

  /// An entry to open, and the completions of all its requests.
  private final class Job: @unchecked Sendable {
    // `@unchecked Sendable`: all mutable state is confined to `loop`.
    enum Phase { case waiting, opening, ended }

    let item: PlayerItem
    let owner: ObjectIdentifier
    let opening: AssetOpening
    var completions: [Completion] = []
    var phase = Phase.waiting
    var run: LoopWorkers.Run?

    init(_ item: PlayerItem, of owner: ObjectIdentifier) {
      (self.item, self.owner) = (item, owner)
      opening = AssetOpening(log: item.networkLog)
    }
  }

  /// A player with waiting entries.
  private struct Owner {
    /// The entries in the order of the requests; may include entries that no longer wait.
    var waiting = Deque<Job>()
    var waitingCount = 0
    /// The entries that are needed next, in order; may include entries that no longer wait.
    var prioritized: [Job] = []
    /// The turn in which the owner's latest entry was started. Owners with an earlier turn are served first.
    var lastServedTurn: UInt64
  }

  private let workers: LoopWorkers
  /// The entries that wait or are being opened.
  private var jobs: [Identity: Job] = [:]
  private var owners: [ObjectIdentifier: Owner] = [:]
  private var turn: UInt64 = 0
  private var isClosed = false
  /// Records each item until its open operation ends, even if no request waits for the item any more.
  var openingRecorder = OpeningRecorder()

  /// Whether any request is pending.
  var isBusy: Bool { !jobs.isEmpty }

  init(loop: any ControlLoop, limits: Limits = Limits()) {
    workers = LoopWorkers(loop: loop, limits: limits, threadName: "load-item")
    workers.onSlotFreed = { [weak self] in self?.startNext() }
    workers.onAllThreadsBlocked = { [weak self] reason in
      guard let self else { return }
      for job in owners.values.flatMap(\.waiting) where job.phase == .waiting { fail(job, reason) }
    }
  }

  // MARK: - Requests

  /// Opens an item when a slot is free. An item that already waits or is being opened is opened once for all requests.
  ///
  /// - Parameter owner: the player whose queue has the item. Owners take turns.
  func load(_ item: PlayerItem, for owner: AnyObject, completion: @escaping Completion) {
    guard !isClosed else { return }
    if let job = jobs[Identity(item: item)] { return job.completions.append(completion) }
    let job = Job(item, of: ObjectIdentifier(owner))
    job.completions.append(completion)
    jobs[Identity(item: item)] = job
    if owners[ObjectIdentifier(owner)] == nil { owners[ObjectIdentifier(owner)] = Owner(lastServedTurn: nextTurn()) }
    owners[ObjectIdentifier(owner)]?.waiting.append(job)
    owners[ObjectIdentifier(owner)]?.waitingCount += 1
    startNext()
  }

  /// Sets the items of an owner that are needed first, in this order. These items are opened before all others.
  /// Replaces the items of the previous call.
  func prioritize(_ items: [PlayerItem], of owner: AnyObject) {
    guard owners[ObjectIdentifier(owner)] != nil else { return }
    owners[ObjectIdentifier(owner)]?.prioritized = items.compactMap { jobs[Identity(item: $0)] }
  }

  /// Cancels the requests for an item. Their completions are not called, and the opening is abandoned.
  func cancel(_ item: PlayerItem) {
    guard let job = jobs[Identity(item: item)] else { return }
    end(job)
    startNext()
  }

  /// Cancels all work and all waiting requests.
  func close() {
    isClosed = true
    for job in Array(jobs.values) { end(job) }
    owners = [:]
    workers.watchForBlockedThreads(isAnyWaiting: false)
  }

  // MARK: - Opening

  private func startNext() {
    guard !isClosed else { return }
    while workers.hasFreeSlot, let job = dequeueNext() { start(job) }
    workers.watchForBlockedThreads(isAnyWaiting: !owners.isEmpty)
  }

  /// Dequeues the entry that is needed first. Among entries of the same rank, the owner that was served longest ago
  /// comes first.
  private func dequeueNext() -> Job? {
    var best: (owner: ObjectIdentifier, job: Job, rank: Int, lastServedTurn: UInt64)?
    for (id, owner) in owners {
      guard let (job, rank) = next(of: owner) else { continue }
      if let best, (best.rank, best.lastServedTurn) <= (rank, owner.lastServedTurn) { continue }
      best = (id, job, rank, owner.lastServedTurn)
    }
    guard let best else { return nil }
    owners[best.owner]?.lastServedTurn = nextTurn()
    best.job.phase = .opening
    decrementWaitingCount(of: best.owner)
    return best.job
  }

  private func nextTurn() -> UInt64 {
    turn += 1
    return turn
  }

  private func next(of owner: Owner) -> (Job, rank: Int)? {
    if let rank = owner.prioritized.firstIndex(where: { $0.phase == .waiting }) {
      return (owner.prioritized[rank], rank)
    }
    return owner.waiting.first { $0.phase == .waiting }.map { ($0, .max) }
  }

  /// Records that an entry of an owner no longer waits. Removes such entries from the queue once they are the majority.
  private func decrementWaitingCount(of id: ObjectIdentifier) {
    guard var owner = owners.removeValue(forKey: id) else { return }
    owner.waitingCount -= 1
    guard owner.waitingCount > 0 else { return }
    while let first = owner.waiting.first, first.phase != .waiting { owner.waiting.removeFirst() }
    if owner.waiting.count > 2 * owner.waitingCount + 16 { owner.waiting.removeAll { $0.phase != .waiting } }
    owners[id] = owner
  }

  private func start(_ job: Job) {
    let (item, opening, openingRecorder) = (job.item, job.opening, openingRecorder)
    job.run = workers.start(forNanoseconds: item.asset.openingNanoseconds) {
      Result { () throws(MediaError) in
        try openingRecorder.whileOpening(item.id) { () throws(MediaError) in
          let properties = try opening.inspect(item.asset)
          try item.mediaSelectionSlot.checkAudio(of: properties)
          try item.timeRange?.checkPart(of: properties, path: item.asset.displayPath)
          item.readLoudnessTagsIfNeeded(opening)
          return properties
        }
      }
    } finished: { result in
      self.finish(job, result)
    } timedOut: { reason in
      self.fail(job, reason)
    }
  }

  private func fail(_ job: Job, _ reason: OpeningTimeout) {
    finish(job, .failure(reason.error(job.item.asset.displayPath)))
  }

  // MARK: - Ending

  private func finish(_ job: Job, _ result: Result<AssetProperties, MediaError>) {
    let completions = job.completions
    // The entry was cancelled or has timed out.
    guard job.phase != .ended else { return }
    end(job)
    for completion in completions { completion(result) }
  }

  /// Ends a job. The open operation is cancelled if possible.
  private func end(_ job: Job) {
    let phase = job.phase
    guard phase != .ended else { return }
    job.phase = .ended
    job.completions = []
    jobs[Identity(item: job.item)] = nil
    if phase == .waiting { decrementWaitingCount(of: job.owner) } else { job.opening.cancel() }
    if let run = job.run { workers.abandon(run) }
    job.run = nil
  }
}
