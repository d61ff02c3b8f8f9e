import MediaAssets
import MediaCore
import Playlists
import RealtimeAudio

/// Items from lists.
extension PlayerItem {
  /// An item for each entry of a list that is a file; others, and how many there are, `skipped` gets. Entries of the same file share
  /// an asset.
  public static func items(
    of playlist: Playlist, prefersPreciseDuration: Bool = false
  ) -> (items: [PlayerItem], skippedCount: Int) {
    var assets = PlaylistAssets(prefersPreciseDuration: prefersPreciseDuration)
    let items = playlist.entries.compactMap { entry in
      assets.asset(for: entry).map { PlayerItem(asset: $0, timeRange: entry.range, playlistEntry: entry) }
    }
    return (items, playlist.entries.count - items.count + playlist.skippedCount)
  }

  /// Reads the list in a file, on a thread of its own, and makes items of it. Errors: those of
  /// `Playlist.init(contentsOf:assumed:)`.
  public static func items(ofListAt path: String) async throws(MediaError) -> (items: [PlayerItem], skippedCount: Int) {
    let result = await withCheckedContinuation { continuation in
      NamedThread.detached(name: "read-list") {
        continuation.resume(
          returning: Result { () throws(MediaError) in try Playlist(contentsOf: Array(path.utf8)) })
      }
    }
    return items(of: try result.get())
  }
}

/// The assets of a list's entries: one for each file.
public struct PlaylistAssets {
  private let prefersPreciseDuration: Bool
  private var assets: [[UInt8]: Asset] = [:]

  /// None yet.
  public init(prefersPreciseDuration: Bool) { self.prefersPreciseDuration = prefersPreciseDuration }

  /// The asset of an entry's file; nil when it is elsewhere.
  public mutating func asset(for entry: PlaylistEntry) -> Asset? {
    guard case .file(let path) = entry.place else { return nil }
    // Whole files are often many, and seldom the same.
    guard entry.range != nil else { return Asset(path: path, prefersPreciseDuration: prefersPreciseDuration) }
    if let asset = assets[path] { return asset }
    let asset = Asset(path: path, prefersPreciseDuration: prefersPreciseDuration)
    assets[path] = asset
    return asset
  }
}

extension TimeRange {
  /// What a part of an asset lasts: to the range's end, or to the asset's when that comes first.
  func partDuration(in properties: AssetProperties) -> MediaTime {
    guard properties.duration.isNumeric else { return duration.isNumeric ? duration : properties.duration }
    return max(.zero, min(end, properties.duration) - start)
  }

  /// What of an asset's chapter lies in the part, in the part's times; nil when nothing does.
  func part(of chapter: AssetChapter) -> AssetChapter? {
    let range = chapter.timeRange
    guard range.start < end, !range.end.isNumeric || range.end > start else { return nil }
    let first = max(.zero, range.start - start)
    let last = range.end.isNumeric ? min(range.end, end) : end
    return AssetChapter(
      title: chapter.title,
      timeRange: last.isNumeric
        ? TimeRange(start: first, end: last - start) : TimeRange(start: first, duration: range.duration),
      languageCode: chapter.languageCode)
  }

  /// Errors: `invalidTime` when no part of an asset is there.
  func checkPart(of properties: AssetProperties, path: String) throws(MediaError) {
    guard isValid, !isEmpty, start.isNumeric, start >= .zero, start.epoch == 0 else {
      throw MediaError(.invalidTime, "\(self) is no part of a file: \(path)")
    }
    guard properties.duration.isNumeric, properties.providesPreciseDuration, start >= properties.duration else {
      return
    }
    throw MediaError(
      .invalidTime,
      "the part begins at \(start.decimalDescription) s and the file ends at \(properties.duration.decimalDescription) s:"
        + " \(path)")
  }
}

/// Reads lists one after another, off the control loop.
///
/// Threading: `read`, `cancel` and completions on the control loop; files are read on a thread of its own, which lives while
/// there is work.
public final class PlaylistLoader: @unchecked Sendable {
  // `@unchecked Sendable`: everything but the reading is confined to `loop`.

  /// What came of the lists, in their order, or why one of them cannot be had.
  public typealias Completion = @Sendable (Result<[Playlist], MediaError>) -> Void

  private struct Job {
    var number: UInt64
    var paths: [[UInt8]]
    var assumed: PlaylistFormat?
    var completion: Completion
  }

  private let loop: any ControlLoop
  private var waiting: [Job] = []
  private var isBusy = false
  private var nextNumber: UInt64 = 0

  /// A loader whose completions are called on `loop`.
  public init(loop: any ControlLoop) { self.loop = loop }

  /// Reads the lists in some files, and those that they name. Answers a number for `cancel`.
  public func read(
    _ paths: [[UInt8]], assumed: PlaylistFormat?, completion: @escaping Completion
  ) -> UInt64 {
    nextNumber += 1
    waiting.append(Job(number: nextNumber, paths: paths, assumed: assumed, completion: completion))
    startNext()
    return nextNumber
  }

  /// What has not been read is not; what is being read is thrown away.
  public func cancel(_ number: UInt64) { waiting.removeAll { $0.number == number } }

  private func startNext() {
    guard !isBusy, let job = waiting.first else { return }
    isBusy = true
    let (number, paths, assumed) = (job.number, job.paths, job.assumed)
    NamedThread.detached(name: "read-list") { [loop] in
      let result = Result { () throws(MediaError) -> [Playlist] in
        var lists: [Playlist] = []
        for path in paths { lists.append(try Playlist(contentsOf: path, assumed: assumed)) }
        return lists
      }
      loop.execute { self.finished(number, result) }
    }
  }

  private func finished(_ number: UInt64, _ result: Result<[Playlist], MediaError>) {
    isBusy = false
    if let index = waiting.firstIndex(where: { $0.number == number }) {
      waiting.remove(at: index).completion(result)
    }
    startNext()
  }
}
