// Finds out what entries are that are not due yet: whether they can be played, and how long they are. A few are opened at once, what
// is needed next before all others. One that is slow gives up its place to others, one that hangs fails; who waits for bytes in the
// kernel cannot be interrupted, so that its thread is left to itself, and how many of those there may be is bounded.
import DequeModule
import MediaAssets
import MediaCore
import RealtimeAudio

/// Opens items on a few threads, to find out whether they can be played and how long they are.
///
/// Threading: everything on the control loop, where completions are called, too; each file is opened on a thread of its own.
final class ItemLoader: @unchecked Sendable {
  // `@unchecked Sendable`: confined to `loop`, but for the opening of assets.
  typealias Completion = @Sendable (Result<AssetProperties, MediaError>) -> Void

  typealias Limits = WorkPlaces.Limits

  private struct Identity: Hashable {
    let item: PlayerItem

    static func == (one: Self, other: Self) -> Bool { one.item === other.item }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(item)) }
  }

  /// An entry that is to be opened, and all who asked for it.
  private final class Job: @unchecked Sendable {
    // `@unchecked Sendable`: what changes is confined to `loop`.
    enum Phase { case waiting, opening, over }

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

  /// Somebody whose entries are opened.
  private struct Owner {
    /// In the order in which they were asked for; with some that wait no more.
    var waiting = Deque<Job>()
    var waitingCount = 0
    /// What is needed next, the first first; with some that wait no more.
    var preferred: [Job] = []
    /// When one of its entries was last begun: others go first.
    var servedAt: UInt64
  }

  private let workers: LoopWorkers
  /// Those that wait or are being opened.
  private var jobs: [Identity: Job] = [:]
  private var owners: [ObjectIdentifier: Owner] = [:]
  private var turn: UInt64 = 0
  private var isClosed = false
  /// Records which items are being opened, until their opening has ended, though nobody waits for it any more.
  var recorder = OpeningRecorder()

  /// Whether an entry waits, or is being opened for somebody.
  var isBusy: Bool { !jobs.isEmpty }

  init(loop: any ControlLoop, limits: Limits = Limits()) {
    workers = LoopWorkers(loop: loop, limits: limits, threadName: "load-item")
    workers.roomAppeared = { [weak self] in self?.startNext() }
    workers.gotStuck = { [weak self] reason in
      guard let self else { return }
      for job in owners.values.flatMap(\.waiting) where job.phase == .waiting { fail(job, reason) }
    }
  }

  // MARK: - Asking

  /// Opens an item when there is a place. An item that waits already, or is being opened, is opened once for all who ask.
  ///
  /// - Parameter owner: who has it in its queue. Owners take turns.
  func load(_ item: PlayerItem, for owner: AnyObject, completion: @escaping Completion) {
    guard !isClosed else { return }
    if let job = jobs[Identity(item: item)] { return job.completions.append(completion) }
    let job = Job(item, of: ObjectIdentifier(owner))
    job.completions.append(completion)
    jobs[Identity(item: item)] = job
    if owners[ObjectIdentifier(owner)] == nil { owners[ObjectIdentifier(owner)] = Owner(servedAt: nextTurn()) }
    owners[ObjectIdentifier(owner)]?.waiting.append(job)
    owners[ObjectIdentifier(owner)]?.waitingCount += 1
    startNext()
  }

  /// Says what of an owner's items is needed first, in that order: these are opened before all others. Replaces what was said before.
  func prefer(_ items: [PlayerItem], of owner: AnyObject) {
    guard owners[ObjectIdentifier(owner)] != nil else { return }
    owners[ObjectIdentifier(owner)]?.preferred = items.compactMap { jobs[Identity(item: $0)] }
  }

  /// Nobody needs to know what an item is any more: completions are not called, and opening it is given up.
  func cancel(_ item: PlayerItem) {
    guard let job = jobs[Identity(item: item)] else { return }
    end(job)
    startNext()
  }

  /// Ends all that is being done, and what waits.
  func close() {
    isClosed = true
    for job in Array(jobs.values) { end(job) }
    owners = [:]
    workers.watch(isAnyWaiting: false)
  }

  // MARK: - Opening

  private func startNext() {
    guard !isClosed else { return }
    while workers.hasRoom, let job = takeNext() { start(job) }
    workers.watch(isAnyWaiting: !owners.isEmpty)
  }

  /// What is needed first of all that waits; of several owners' that of who was served longest ago.
  private func takeNext() -> Job? {
    var best: (owner: ObjectIdentifier, job: Job, rank: Int, servedAt: UInt64)?
    for (id, owner) in owners {
      guard let (job, rank) = next(of: owner) else { continue }
      if let best, (best.rank, best.servedAt) <= (rank, owner.servedAt) { continue }
      best = (id, job, rank, owner.servedAt)
    }
    guard let best else { return nil }
    owners[best.owner]?.servedAt = nextTurn()
    best.job.phase = .opening
    noteTaken(of: best.owner)
    return best.job
  }

  private func nextTurn() -> UInt64 {
    turn += 1
    return turn
  }

  private func next(of owner: Owner) -> (Job, rank: Int)? {
    if let rank = owner.preferred.firstIndex(where: { $0.phase == .waiting }) { return (owner.preferred[rank], rank) }
    return owner.waiting.first { $0.phase == .waiting }.map { ($0, .max) }
  }

  /// One that an owner had waiting does not wait any more. Those that went out of their turn are forgotten once they are most.
  private func noteTaken(of id: ObjectIdentifier) {
    guard var owner = owners.removeValue(forKey: id) else { return }
    owner.waitingCount -= 1
    guard owner.waitingCount > 0 else { return }
    while let first = owner.waiting.first, first.phase != .waiting { owner.waiting.removeFirst() }
    if owner.waiting.count > 2 * owner.waitingCount + 16 { owner.waiting.removeAll { $0.phase != .waiting } }
    owners[id] = owner
  }

  private func start(_ job: Job) {
    let (item, opening, recorder) = (job.item, job.opening, recorder)
    job.run = workers.begin(forNanoseconds: item.asset.openingNanoseconds) {
      Result { () throws(MediaError) in
        try recorder.whileOpening(item.id) { () throws(MediaError) in
          let properties = try opening.inspect(item.asset)
          try item.mediaSelectionSlot.checkAudio(of: properties)
          try item.timeRange?.checkPart(of: properties, path: item.asset.displayPath)
          item.findLevelTags(opening)
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
    // It was given up.
    guard job.phase != .over else { return }
    end(job)
    for completion in completions { completion(result) }
  }

  /// Nobody waits for it any more. What is being read gives up if it can.
  private func end(_ job: Job) {
    let phase = job.phase
    guard phase != .over else { return }
    job.phase = .over
    job.completions = []
    jobs[Identity(item: job.item)] = nil
    if phase == .waiting { noteTaken(of: job.owner) } else { job.opening.cancel() }
    if let run = job.run { workers.giveUp(run) }
    job.run = nil
  }
}
