import Synchronization

/// Counts the steps of a value and of all its copies together, so that tests can check how an algorithm scales. Release
/// builds do not count.
struct StepCounter: Sendable {
  #if DEBUG
    private final class Storage: Sendable { let count = Atomic(0) }
    private let storage = Storage()

    var count: Int { storage.count.load(ordering: .relaxed) }
  #endif

  func add(_ count: Int) {
    #if DEBUG
      storage.count.add(count, ordering: .relaxed)
    #endif
  }
}
