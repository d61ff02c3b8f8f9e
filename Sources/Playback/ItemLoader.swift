import MediaAssets
import MediaCore
import RealtimeAudio

/// Opens items that are not due yet, one after another, to find out whether they can be played and how long they are.
///
/// Threading: `load` and `close` on the control loop, where completions are called, too; the files are opened on a
/// thread of its own, which lives while there is work.
final class ItemLoader: @unchecked Sendable {
  // `@unchecked Sendable`: everything but `load` of an asset is confined to `loop`.
  typealias Completion = @Sendable (Result<AssetProperties, MediaError>) -> Void

  private struct Identity: Hashable {
    let item: PlayerItem

    static func == (one: Self, other: Self) -> Bool { one.item === other.item }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(item)) }
  }

  private let loop: any ControlLoop
  /// The first is being opened when one is.
  private var waiting = WaitingList<Identity, Completion>()
  private var isClosed = false
  private(set) var isBusy = false

  init(loop: any ControlLoop) { self.loop = loop }

  /// Opens an item when those before it have been. An item that waits already is opened once for all who ask.
  func load(_ item: PlayerItem, completion: @escaping Completion) {
    waiting.append(completion, for: Identity(item: item))
    startNext()
  }

  func close() {
    isClosed = true
    // A server may take its time.
    if isBusy, let item = waiting.first?.item, item.asset.isRemote { item.asset.cancelLoading() }
    waiting.removeAll()
  }

  private func startNext() {
    guard !isBusy, !isClosed, let item = waiting.first?.item else { return }
    isBusy = true
    NamedThread.detached(name: "load-item") { [loop] in
      let result = Result { () throws(MediaError) in
        let properties = try item.asset.load()
        try item.timeRange?.checkPart(of: properties, path: item.asset.displayPath)
        return properties
      }
      loop.execute { self.finished(result) }
    }
  }

  private func finished(_ result: Result<AssetProperties, MediaError>) {
    isBusy = false
    // Nobody when the loader was closed meanwhile.
    for completion in waiting.removeFirst() { completion(result) }
    startNext()
  }
}
