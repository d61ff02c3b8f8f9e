import MediaCore

/// The bytes of a list, from whoever may read them.
public struct PlaylistData: Sendable {
  public var bytes: [UInt8]
  /// What is the same for the same file, whatever its name: device and inode. Nil: the place is.
  public var identity: [UInt64]?

  /// Bytes and which file they are of.
  public init(bytes: [UInt8], identity: [UInt64]? = nil) {
    self.bytes = bytes
    self.identity = identity
  }
}

extension Playlist {
  /// Reads what lies at a place, at most so many bytes. Refuses what is no regular file, and throws
  /// `playlistLimitExceeded` for a longer one.
  public typealias Reader = (PlaylistPlace, _ byteLimit: Int) throws(MediaError) -> PlaylistData

  /// Reads a list and those that it names, in their places: entries that are named as lists are replaced by what these
  /// contain. An HLS stream is one entry. Every entry has what its list says of all.
  ///
  /// Nested lists that cannot be read or are none are left out, with a warning. Errors: those of `reader` for the list
  /// itself, and of `init(parsing:at:assumed:)`; `playlistCycle` for a list that names itself, by whatever way;
  /// `playlistLimitExceeded` for more than 8 below each other, and for too much of anything.
  public init(
    expanding place: PlaylistPlace, assumed: PlaylistFormat? = nil, reader: Reader
  ) throws(MediaError) {
    var usage = PlaylistUsage()
    try self.init(expanding: place, assumed: assumed, usage: &usage, reader: reader)
  }

  /// The same for one of several lists that are read for one purpose: what they have counts together.
  ///
  /// - Parameter usage: what those before have; what this one has is added.
  public init(
    expanding place: PlaylistPlace, assumed: PlaylistFormat? = nil, usage: inout PlaylistUsage, reader: Reader
  ) throws(MediaError) {
    self.init()
    // `reader` does not escape: it is handed down, never kept.
    var walk = PlaylistWalk(usage)
    defer { usage = walk.usage }
    try walk.expand(place, assumed: assumed, reader)
    self = walk.result
  }
}

/// What lists have that are read together, of what `PlaylistLimits` allows.
public struct PlaylistUsage: Sendable, Hashable {
  var listCount = 0
  var byteCount = 0
  var entryCount = 0

  /// Nothing yet.
  public init() {}
}

/// The way through lists that name lists.
private struct PlaylistWalk {
  var result = Playlist()
  private struct Step {
    var place: PlaylistPlace
    var identity: [UInt64]?
  }
  /// The lists that led here.
  private var way: [Step] = []
  private(set) var usage: PlaylistUsage

  init(_ usage: PlaylistUsage) { self.usage = usage }

  mutating func expand(
    _ place: PlaylistPlace, assumed: PlaylistFormat?, _ reader: Playlist.Reader
  ) throws(MediaError) {
    guard way.count < PlaylistLimits.nestingDepth else {
      throw Self.limit("lists are nested more than \(PlaylistLimits.nestingDepth) deep", place)
    }
    guard !way.contains(where: { $0.place == place }) else { throw Self.cycle(place) }
    usage.listCount += 1
    guard usage.listCount <= PlaylistLimits.listCount else {
      throw Self.limit("lists lead to more than \(PlaylistLimits.listCount) together", place)
    }
    let data = try reader(place, PlaylistLimits.byteCount)
    if let identity = data.identity, way.contains(where: { $0.identity == identity }) { throw Self.cycle(place) }
    usage.byteCount += data.bytes.count
    guard usage.byteCount <= PlaylistLimits.totalByteCount else {
      throw Self.limit("lists have more than \(PlaylistLimits.totalByteCount) bytes together", place)
    }
    try Playlist.check(byteCount: data.bytes.count, of: place)
    let text = PlaylistText(data.bytes)
    let format = PlaylistFormat(of: text, extension: place.pathExtension, assumed: assumed)
    if format == .hlsMedia || format == .hlsMaster { return try append(PlaylistEntry(place: place)) }
    let list = try Playlist(text, format, at: place)
    if way.isEmpty {
      (result.title, result.metadata) = (list.title, list.metadata)
    }
    result.skippedCount += list.skippedCount
    for warning in list.warnings { warn(warning) }
    way.append(Step(place: place, identity: data.identity))
    for entry in list.inheritedEntries {
      if entry.range == nil, entry.place.isNamedAsPlaylist {
        try expandNested(entry, reader)
      } else {
        try append(entry)
      }
    }
    way.removeLast()
  }

  private mutating func expandNested(_ entry: PlaylistEntry, _ reader: Playlist.Reader) throws(MediaError) {
    do throws(MediaError) { try expand(entry.place, assumed: nil, reader) } catch {
      // Places that are not there, and what is no list.
      guard (2_000..<3_000).contains(error.code.rawValue) || error.code == .notAPlaylist else { throw error }
      result.skippedCount += 1
      warn(PlaylistWarning(line: 0, error: error))
    }
  }

  private mutating func append(_ entry: PlaylistEntry) throws(MediaError) {
    guard usage.entryCount < PlaylistLimits.entryCount else {
      throw PlaylistBuilder.tooManyEntries(entry.place.displayText)
    }
    usage.entryCount += 1
    result.entries.append(entry)
  }

  private mutating func warn(_ warning: PlaylistWarning) {
    if result.warnings.count < PlaylistLimits.warningCount { result.warnings.append(warning) }
  }

  private static func limit(_ what: String, _ place: PlaylistPlace) -> MediaError {
    MediaError(.playlistLimitExceeded, "\(what): \(place.displayText)")
  }

  private static func cycle(_ place: PlaylistPlace) -> MediaError {
    MediaError(.playlistCycle, "the list names itself: \(place.displayText)")
  }
}
