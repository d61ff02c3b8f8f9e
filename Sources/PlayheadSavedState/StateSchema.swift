import GRDB

/// The schema of the database and its migrations.
///
/// A released migration is never changed; new ones are appended. A database with an unknown migration is from a newer
/// version and is not modified.
enum StateSchema {
  /// The application id of Playhead's databases: `PLAY`.
  static let applicationID: Int32 = 0x504C_4159

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          PRAGMA application_id = \(applicationID);
          CREATE TABLE number(name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) WITHOUT ROWID;
          CREATE TABLE player(name TEXT PRIMARY KEY NOT NULL, place INTEGER NOT NULL, fields TEXT NOT NULL) WITHOUT ROWID;
          CREATE TABLE position(
            player TEXT PRIMARY KEY NOT NULL, item INTEGER NOT NULL, value INTEGER NOT NULL, timescale INTEGER NOT NULL
          ) WITHOUT ROWID;
          -- Lists of ids, each 8 bytes, the lowest first. list: 0 the queue, 1 its order without shuffling.
          CREATE TABLE piece(
            player TEXT NOT NULL, list INTEGER NOT NULL, key INTEGER NOT NULL, ids BLOB NOT NULL,
            PRIMARY KEY(player, list, key));
          -- The keys of the pieces in their order, each 4 bytes.
          CREATE TABLE pieces(
            player TEXT NOT NULL, list INTEGER NOT NULL, keys BLOB NOT NULL, PRIMARY KEY(player, list)) WITHOUT ROWID;
          CREATE TABLE history(player TEXT PRIMARY KEY NOT NULL, ids BLOB NOT NULL);
          -- kind: 0 a path, 1 an address, 2 what cannot be opened again.
          CREATE TABLE entry(
            id INTEGER PRIMARY KEY NOT NULL, kind INTEGER NOT NULL, place BLOB NOT NULL, fields TEXT NOT NULL);
          """)
    }
    migrator.registerMigration("2") { db in
      try db.execute(
        sql: """
          -- Queues that were given names, and when that was, in seconds since 1970.
          CREATE TABLE queue(
            name TEXT PRIMARY KEY NOT NULL, count INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;
          CREATE TABLE queueEntry(
            queue TEXT NOT NULL, place INTEGER NOT NULL, kind INTEGER NOT NULL, bytes BLOB NOT NULL, fields TEXT NOT NULL,
            PRIMARY KEY(queue, place)) WITHOUT ROWID;
          """)
    }
    migrator.registerMigration("3") { db in
      try db.execute(
        sql: """
          -- Positions in media. kind and place: as those of entries. part: the part of the media.
          -- automatic: 1 for the position where playback ended.
          CREATE TABLE bookmark(
            id INTEGER PRIMARY KEY NOT NULL, kind INTEGER NOT NULL, place BLOB NOT NULL, part TEXT NOT NULL,
            name TEXT NOT NULL, automatic INTEGER NOT NULL, value INTEGER NOT NULL, timescale INTEGER NOT NULL,
            time INTEGER NOT NULL);
          """)
    }
    migrator.registerMigration("4") { db in
      // Settings are JSON objects, no longer lines of fields.
      let convertsPlayer = DatabaseFunction("playerSettings", argumentCount: 1) { values in
        try json(values, \.playerSettings)
      }
      let convertsEntry = DatabaseFunction("entrySettings", argumentCount: 1) { values in
        try json(values, \.entrySettings)
      }
      for function in [convertsPlayer, convertsEntry] { db.add(function: function) }
      defer { for function in [convertsPlayer, convertsEntry] { db.remove(function: function) } }
      for (table, function) in [
        ("player", "playerSettings"), ("entry", "entrySettings"), ("queueEntry", "entrySettings"),
      ] {
        try db.execute(
          sql: """
            ALTER TABLE \(table) RENAME COLUMN fields TO settings;
            UPDATE \(table) SET settings = \(function)(settings);
            """)
      }
    }
    return migrator
  }

  /// Returns the JSON of settings that are lines of fields. Text that is no such lines stays as it is, and is found
  /// damaged when the state is loaded.
  private static func json(
    _ values: [DatabaseValue], _ settings: (FieldText) -> some StoredSettings
  ) throws -> (any DatabaseValueConvertible)? {
    guard case .string(let text)? = values.first?.storage, let fields = FieldText(text) else { return values.first }
    return try StoredSettingsJSON.encode(settings(fields))
  }
}
