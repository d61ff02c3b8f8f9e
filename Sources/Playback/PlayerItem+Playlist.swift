import MediaAssets
import MediaCore
import NetworkIO
import Playlists
import RealtimeAudio

/// Items from lists.
extension PlayerItem {
  /// An item for each entry of a list; how many were left out, `skipped` gets. Entries that are parts of the same file share an asset.
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

/// The assets of a list's entries: one for each place.
public struct PlaylistAssets {
  private let prefersPreciseDuration: Bool
  private let options: HTTPOptions
  private var assets: [PlaylistPlace: Asset] = [:]

  /// None yet.
  ///
  /// - Parameter options: how servers are asked.
  public init(prefersPreciseDuration: Bool, options: HTTPOptions = HTTPOptions()) {
    self.prefersPreciseDuration = prefersPreciseDuration
    self.options = options
  }

  /// The asset of an entry's place; nil when nothing there can be played.
  public mutating func asset(for entry: PlaylistEntry) -> Asset? {
    // Whole files are often many, and seldom the same.
    guard entry.range != nil else { return makeAsset(entry.place) }
    if let asset = assets[entry.place] { return asset }
    let asset = makeAsset(entry.place)
    assets[entry.place] = asset
    return asset
  }

  private func makeAsset(_ place: PlaylistPlace) -> Asset? {
    switch place {
    case .file(let path): return Asset(path: path, prefersPreciseDuration: prefersPreciseDuration)
    case .url(let text):
      guard let url = try? HTTPURL(text) else { return nil }
      return Asset(url: url, options: options, prefersPreciseDuration: prefersPreciseDuration)
    }
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

/// Reads lists off the control loop, a few at once: a server that takes its time holds up no other list.
///
/// Threading: `read`, `cancel` and completions on the control loop; lists are read on threads, which live while there is work.
public final class PlaylistLoader: @unchecked Sendable {
  // `@unchecked Sendable`: everything but the reading is confined to `loop`.

  /// What came of the lists, in their order, or why one of them cannot be had.
  public typealias Completion = @Sendable (Result<[Playlist], MediaError>) -> Void

  private struct Job {
    var number: UInt64
    var places: [PlaylistPlace]
    var assumed: PlaylistFormat?
    var reading: PlaylistReading
    var completion: Completion
  }

  /// Requests whose lists are read at once.
  private static let threadLimit = 8

  private let loop: any ControlLoop
  private var waiting: [Job] = []
  private var running: [UInt64: Job] = [:]
  /// With those of requests that were cancelled, and end when they notice.
  private var threadCount = 0
  private var nextNumber: UInt64 = 0

  /// A loader whose completions are called on `loop`.
  public init(loop: any ControlLoop) { self.loop = loop }

  /// Reads the lists at some places, and those that they name. Answers a number for `cancel`.
  ///
  /// - Parameter options: how servers are asked.
  public func read(
    _ places: [PlaylistPlace], assumed: PlaylistFormat?, options: HTTPOptions = HTTPOptions(),
    completion: @escaping Completion
  ) -> UInt64 {
    nextNumber += 1
    waiting.append(
      Job(
        number: nextNumber, places: places, assumed: assumed, reading: PlaylistReading(options: options),
        completion: completion))
    startNext()
    return nextNumber
  }

  /// What has not been read is not; what is being read is given up.
  public func cancel(_ number: UInt64) {
    waiting.removeAll { $0.number == number }
    running.removeValue(forKey: number)?.reading.cancel()
  }

  private func startNext() {
    while threadCount < Self.threadLimit, !waiting.isEmpty {
      let job = waiting.removeFirst()
      running[job.number] = job
      threadCount += 1
      let (number, places, assumed, reading) = (job.number, job.places, job.assumed, job.reading)
      NamedThread.detached(name: "read-list") { [loop] in
        let result = Result { () throws(MediaError) -> [Playlist] in
          // One request has what one list may have.
          var usage = PlaylistUsage()
          var lists: [Playlist] = []
          for place in places {
            lists.append(try Playlist(at: place, assumed: assumed, usage: &usage, reading: reading))
          }
          return lists
        }
        loop.execute { self.finished(number, result) }
      }
    }
  }

  private func finished(_ number: UInt64, _ result: Result<[Playlist], MediaError>) {
    threadCount -= 1
    running.removeValue(forKey: number)?.completion(result)
    startNext()
  }
}
