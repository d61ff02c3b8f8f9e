import Fuzzing
import Glibc
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio

@testable import PlayheadControlServer
@testable import PlayheadSavedState

// Restores the state of a daemon from files with any content. The files are the database, its log, and `state.lock`
// with the marks of entries that were being opened. Restoring must not trap, and must end. For any damage, the store
// returns a valid number for the next entry, and can be written or reports an error.
//
// The first byte of an input selects the file. The rest is its content, or changes of one byte each (a three-byte
// offset and the byte) to a file that a store has written.

/// The files of a folder that a store has written.
struct WrittenFiles {
  var database: [UInt8]
  var lock: [UInt8]
}

/// The store's clock does not depend on the inputs: a fixed deadline for permanent failures.
func close(_ store: StateStore) { store.close(by: .now.advanced(byNanoseconds: 20_000_000_000)) }

func read(_ path: String) -> [UInt8] {
  let descriptor = open(path, O_RDONLY)
  precondition(descriptor >= 0, "cannot read \(path): \(errno)")
  defer { Glibc.close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 1 << 20)
  let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
  precondition(count >= 0, "cannot read \(path): \(errno)")
  return Array(bytes[..<count])
}

/// Two players, one of them shuffled, with every kind of entry; and three marks.
func makeWrittenFiles() -> WrittenFiles {
  let folder = makeScratchFolder() + "/state"
  let store = StateStore(folder: folder)
  _ = store.waitUntilLoaded()
  let fields: StoredFields = [
    "start": "1/3", "length": "2", "list": "true", "list.title": "T", "mix.0": "0 1 0.5 1", "pitch": "spectral",
    "crashed": "true",
    "header.0": "A: b", "tracks.audible": "none", "gain.track": "-6.5", "resume": "1", "end.forward": "3",
    "buffer": "2",
  ]
  let ids = (1...6).map { UInt64($0) }
  let entries = [
    StoredEntry(id: 1, location: .path(Array("/no/such.flac".utf8)), fields: fields),
    StoredEntry(id: 2, location: .url("http://127.0.0.1/a")),
    StoredEntry(id: 3, location: .notRestorable("fd:1")), StoredEntry(id: 4, location: .path([0x2F, 0xFF])),
    StoredEntry(id: 5, location: .path([]), fields: fields), StoredEntry(id: 6, location: .url("x")),
  ]
  let main = StoredPlayer(
    name: "main",
    fields: [
      "shuffle": "7 1 3 2", "loop.start": "1", "loop.length": "2", "loop.count": "1", "volume": "0.5", "repeat": "all",
    ],
    order: [StoredChunk(key: 3, ids: Array(ids[..<4]))], original: [StoredChunk(key: 9, ids: ids[..<4].reversed())],
    history: [5, 1],
    position: StoredPosition(itemID: 1, time: MediaTime(value: 1, timescale: 3)), entries: Array(entries[..<5]))
  let other = StoredPlayer(name: "two", order: [StoredChunk(key: 1, ids: [6])], entries: [entries[5]])
  let signal = ConditionMutex(false)
  store.write(
    { StateBatch(names: ["main", "two"], players: [main, other]) }, completion: { _ in signal.update { $0 = true } })
  _ = signal.wait { $0 ? true : nil }
  store.record(nextItemID: 7)
  for id in [UInt64(1), 3, 6] { _ = store.openingMarks?.begin(id) }
  let lock = read(folder + "/state.lock")
  close(store)
  return WrittenFiles(database: read(folder + "/state.sqlite"), lock: lock)
}

/// Applies changes of single bytes.
func changed(_ bytes: [UInt8], by changes: ArraySlice<UInt8>) -> [UInt8] {
  var bytes = bytes
  var rest = changes
  while rest.count >= 4 {
    let offset = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
    rest = rest.dropFirst(3)
    if let value = rest.popFirst(), !bytes.isEmpty { bytes[offset % bytes.count] = value }
  }
  return bytes
}

let written = makeWrittenFiles()
let folder = makeScratchFolder()
let loop = ThreadControlLoop()
let engine = PlaybackEngine(
  loop: VirtualControlLoop(base: loop),
  output: OutputConfiguration(makeSink: { preconditionFailure("the output is never opened") }))

/// Restores players like a daemon. None of them opens files.
func restore(_ loaded: LoadedState) {
  var maker = EntryMaker(ServerPolicy())
  for stored in loaded.players {
    let player = QueuePlayer(engine: engine, name: stored.name)
    _ = stored.restore(
      player, &maker, openingIDs: loaded.openingIDs.union([.max]), byteLimit: ServerPolicy().limits.queueByteCount)
    player.onLoop { player in
      for item in player.allItems() where loaded.openingIDs.contains(item.id) {
        precondition(item.error?.code == .crashedWhileOpening, "an entry that crashed the daemon can be opened")
      }
      // Restored state can be saved again.
      _ = StoredPlayer(name: stored.name, player.snapshot(), changed: player.allItems())
      player.close()
    }
  }
}

func check(_ bytes: UnsafeRawBufferPointer) {
  guard let kind = bytes.first else { return }
  let rest = Array(bytes).dropFirst()
  let state = folder + "/state"
  for name in ["", "-wal", "-shm", ".damaged-1", ".damaged-1-wal", ".damaged-1-shm"] {
    unlink("\(state)/state.sqlite\(name)")
  }
  mkdir(state, 0o700)
  var (database, lock) = (written.database, written.lock)
  switch kind % 5 {
  case 0: database = Array(rest)
  case 1: database = changed(database, by: rest)
  case 2: lock = Array(rest)
  case 3: lock = changed(lock, by: rest)
  default: write(rest, to: state + "/state.sqlite-wal")
  }
  write(database, to: state + "/state.sqlite")
  write(lock, to: state + "/state.lock")
  let store = StateStore(folder: state)
  let loaded = store.waitUntilLoaded()
  precondition(StoredEntry.ids.contains(loaded.nextItemID), "the next id is \(loaded.nextItemID)")
  precondition(loaded.openingIDs.count <= OpeningMarks.capacity, "\(loaded.openingIDs.count) entries were being opened")
  precondition(store.status.isSaving || store.status.error != nil, "nothing is saved, and no error is reported")
  if let marks = store.openingMarks, loaded.openingIDs.isEmpty {
    precondition(marks.begin(1) != nil, "no entry can be marked")
  }
  loop.perform { restore(loaded) }
  close(store)
}

fuzz(check)
