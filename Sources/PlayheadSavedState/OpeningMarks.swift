// A file can crash a library, and so the daemon, while it is being opened. The marks that remain identify these
// entries, and the next daemon does not open them automatically. Setting a mark makes no system call.
import Logging
import Synchronization

/// Marks of the queue entries that are being opened, in the memory-mapped page of `state.lock`.
///
/// Setting a mark is one store into shared memory. A mark survives every kind of process death, but not a power
/// failure. The page contains the number of the next entry, the signature of this layout, and one word per mark. The
/// word of a mark is the number of an entry, or 0. The words of marks found at startup are not reused before
/// `removeFound`.
///
/// Threading: any thread. No method blocks for longer than a few stores into memory.
package final class OpeningMarks: Sendable {
  /// The maximum number of marked entries.
  package static let capacity = StateFolder.wordCount - firstWord

  /// "PHopen01" in the byte order of the file.
  static let signature: UInt64 = 0x3130_6E65_706F_4850
  static let signatureWord = 1
  static let firstWord = 2

  private struct State {
    /// The free words.
    var free: [Int]
    /// The words of the marks found at startup.
    var found: [Int] = []
    var isClosed = false
  }

  private let folder: StateFolder
  private let state: Mutex<State>
  /// The entries that were being opened when the previous process with this folder died; at most `capacity`.
  package let foundIDs: Set<UInt64>

  /// Reads the remaining marks. Marks of another layout, and words that are not entry numbers, are logged and removed.
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

  /// Marks an entry. The mark is in the mapped file when this method returns.
  ///
  /// - Returns: the token for `end`; nil when `capacity` entries are marked, and after `close`.
  package func begin(_ id: UInt64) -> Int? {
    state.withLock { state in
      guard !state.isClosed, let word = state.free.popLast() else { return nil }
      folder.setWord(word, id)
      return word
    }
  }

  /// Removes a mark that `begin` set.
  package func end(_ word: Int) {
    state.withLock { state in
      guard !state.isClosed else { return }
      folder.setWord(word, 0)
      state.free.append(word)
    }
  }

  /// Removes the marks found at startup. Call it when the failures of these entries are in the database.
  package func removeFound() {
    state.withLock { state in
      guard !state.isClosed else { return }
      for word in state.found { folder.setWord(word, 0) }
      state.free += state.found
      state.found = []
    }
  }

  /// Removes the marks of this process, because the daemon is terminating normally. `begin` then sets no mark.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      let foundWords = Set(state.found)
      for word in Self.firstWord..<StateFolder.wordCount where !foundWords.contains(word) { folder.setWord(word, 0) }
    }
  }
}
