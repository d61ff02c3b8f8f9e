// Marks of the entries that are being opened. A file that makes a library crash kills the daemon in the middle of an opening; the marks
// that are left tell the next start which entries it must not open again by itself. Setting a mark makes no system call.
import Logging
import Synchronization

/// Marks of the queue entries that are being opened, in the page of `state.lock` that is mapped into memory.
///
/// A mark is one store into shared memory: it survives the death of the process in whatever way, though not a loss of power.
/// The page is: the number of the next entry, the signature of this layout, and one word per mark, which is an entry's number or 0.
/// Marks that were found at the start keep their words until `forgetFound`.
///
/// Threading: any. No method blocks for longer than a few stores into memory.
public final class OpeningMarks: Sendable {
  /// How many entries can be marked at once.
  public static let capacity = StateFolder.wordCount - firstWord

  /// "PHopen01" in the order of the file's bytes.
  static let signature: UInt64 = 0x3130_6E65_706F_4850
  static let signatureWord = 1
  static let firstWord = 2

  private struct State {
    /// Words without a mark.
    var free: [Int]
    /// Words of the marks that were found.
    var found: [Int] = []
    var isClosed = false
  }

  private let folder: StateFolder
  private let state: Mutex<State>
  /// The numbers of the entries that were being opened when the process that had the folder before died. At most `capacity`.
  public let foundIDs: Set<UInt64>

  /// Reads the marks that are left. Marks of another layout, and words that are no number of an entry, are logged and removed.
  init(_ folder: StateFolder, logger: Logger) {
    self.folder = folder
    let words = Self.firstWord..<StateFolder.wordCount
    let signature = folder.word(Self.signatureWord)
    var (free, found, foundIDs, ignoredCount) = ([Int](), [Int](), Set<UInt64>(), 0)
    for word in words.reversed() {
      let value = folder.word(word)
      if signature == Self.signature, StoredEntry.ids.contains(value) {
        found.append(word)
        foundIDs.insert(value)
      } else {
        if value != 0 { ignoredCount += 1 }
        folder.setWord(word, 0)
        free.append(word)
      }
    }
    folder.setWord(Self.signatureWord, Self.signature)
    if ignoredCount > 0 || (signature != 0 && signature != Self.signature) {
      logger.warning(
        "marks of entries that were being opened are damaged and ignored", metadata: ["count": "\(ignoredCount)"])
    }
    self.foundIDs = foundIDs
    state = Mutex(State(free: free, found: found))
  }

  /// Marks an entry. The mark is in the file when this returns.
  ///
  /// - Returns: what `end` takes; nil when `capacity` entries are marked, and after `close`.
  public func begin(_ id: UInt64) -> Int? {
    state.withLock { state in
      guard !state.isClosed, let word = state.free.popLast() else { return nil }
      folder.setWord(word, id)
      return word
    }
  }

  /// Removes a mark that `begin` set.
  public func end(_ word: Int) {
    state.withLock { state in
      guard !state.isClosed else { return }
      folder.setWord(word, 0)
      state.free.append(word)
    }
  }

  /// Removes the marks that were found at the start: what they tell is saved elsewhere now.
  public func forgetFound() {
    state.withLock { state in
      guard !state.isClosed else { return }
      for word in state.found { folder.setWord(word, 0) }
      state.free += state.found
      state.found = []
    }
  }

  /// Removes the marks that this process set, and sets none from now on: the daemon ends as it was told to.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      let kept = Set(state.found)
      for word in Self.firstWord..<StateFolder.wordCount where !kept.contains(word) { folder.setWord(word, 0) }
    }
  }
}
