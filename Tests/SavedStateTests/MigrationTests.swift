import GRDB
import PlayheadMediaCore
import Testing

@testable import PlayheadSavedState

/// Databases of earlier versions.
@Suite(.timeLimit(.minutes(3))) struct MigrationTests {
  /// The sample settings, as version 3 wrote them.
  private static let playerFields = """
    auto-wait=false
    criteria.applied=false
    criteria.audible.languages=de en
    criteria.audible.preferred=describes-video
    criteria.audible.principal=is-original-content
    default-rate=0.75
    end-action=pause
    gain.fallback=-6.0
    gain.mode=album
    gain.preamp=-3.5
    gain.prevents-clipping=false
    loop.armed=false
    loop.count=5
    loop.finishing=true
    loop.length=441/44100
    loop.remaining=2
    loop.start=1/3
    muted=true
    next-rate=-1.0
    on-failure=skip
    pan=-0.5
    pitch=varispeed
    rate=1.5
    repeat=all
    shuffle=18446744073709551615 1 40 18446744073709551614
    version=17
    volume=0.1

    """

  private static let entryFields = """
    buffer=20/1
    crashed=true
    end.forward=9/1
    end.reverse=1/3
    gain.album=-6.5
    gain.album-peak=1.1
    gain.track=-7.25
    gain.track-peak=0.9
    header-for=any
    header.0=X-Key: a: b
    header.1=Accept:\u{20}
    interface=eth0,wlan0
    length=indefinite
    list=true
    list.duration=7/2
    list.performer=Group
    list.title=Listed
    mix.0=0/1 1/2 0.0 0.3
    network=false
    peak-bit-rate=128000
    pitch=spectral
    precise=true
    resume=441000/44100
    start=1/1
    tags.album=%250A
    tags.artist=Zoë
    tags.file=5000000000 -1
    tags.title=Title
    timeout=2500000000
    title=100%25 = a%0Ab%00c "d" \\ e\u{301} \u{1F3B5}
    tracks.audible=3
    tracks.legible=none
    user-agent=Radio/1

    """

  /// Creates a database of version 3 with a player, two entries and a saved queue.
  private func oldDatabase(_ directory: StateDirectory, entryFields: String = entryFields) throws {
    try directory.make()
    let queue = try DatabaseQueue(path: directory.database)
    try StateSchema.migrator.migrate(queue, upTo: "3")
    try queue.write { db in
      try db.execute(sql: "INSERT INTO player VALUES ('main', 0, ?)", arguments: [Self.playerFields])
      try db.execute(sql: "INSERT INTO pieces VALUES ('main', 0, x'00000000')")
      try db.execute(sql: "INSERT INTO piece VALUES ('main', 0, 0, x'01000000000000000200000000000000')")
      try db.execute(sql: "INSERT INTO entry VALUES (1, 0, CAST('/a.wav' AS BLOB), ?)", arguments: [entryFields])
      try db.execute(sql: "INSERT INTO entry VALUES (2, 0, CAST('/b.wav' AS BLOB), '')")
      try db.execute(sql: "INSERT INTO queue VALUES ('saved', 1, 5)")
      try db.execute(
        sql: "INSERT INTO queueEntry VALUES ('saved', 0, 0, CAST('/a.wav' AS BLOB), ?)", arguments: [entryFields])
    }
    try queue.close()
  }

  @Test func settingsOfVersion3AreConverted() throws {
    let directory = try StateDirectory()
    try oldDatabase(directory)
    // The second opening reads what the first one has converted.
    for _ in 1...2 {
      try directory.open { store, loaded in
        #expect(store.status.error == nil && store.status.isSaving)
        let player = try #require(loaded.players.first)
        #expect(player.settings == .sampleOfVersion3)
        #expect(player.order == [StoredChunk(key: 0, ids: [1, 2])])
        #expect(player.entries.map(\.id) == [1, 2])
        #expect(player.entries.map(\.settings) == [.sample, StoredEntry.Settings()])
        let saved = try store.waitForResult { store.loadQueue("saved", completion: $0) }.get()
        #expect(saved.map(\.settings) == [.sample])
      }
    }
  }

  @Test(arguments: ["noequals\n", "=value\n", "a=%\n", "a=%4\n", "a=%41\n"])
  func damagedFieldsAreSetAside(_ fields: String) throws {
    let directory = try StateDirectory()
    try oldDatabase(directory, entryFields: fields)
    try directory.open { store, loaded in
      #expect(store.status.error?.code == .stateDamaged && store.status.isSaving && loaded.players.isEmpty)
    }
    #expect(directory.names.contains("state.sqlite.damaged-1"))
  }

  /// Values that no version wrote are left out; the others stay.
  @Test func invalidValuesOfVersion3AreLeftOut() throws {
    let fields = """
      mix.0=0/1 1/2 0.0
      resume=soon
      start=1/1
      tags.file=1
      timeout=long
      title=kept

      """
    let directory = try StateDirectory()
    try oldDatabase(directory, entryFields: fields)
    var expected = StoredEntry.Settings()
    expected.title = "kept"
    try directory.open { _, loaded in #expect(loaded.players.first?.entries.first?.settings == expected) }
  }
}
