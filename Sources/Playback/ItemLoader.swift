import DequeModule
import MediaAssets
import MediaCore
import RealtimeAudio

/// Opens items that are not due yet, one after another, to find out whether they can be played and how long they are.
///
/// Threading: `load` and `close` on the control loop, where completions are called, too; the files are opened on a
/// thread of its own, which lives while there is work.
final class ItemLoader: @unchecked Sendable {
  // `@unchecked Sendable`: everything but `load` of an asset is confined to `loop`.
  private struct Request {
    var item: PlayerItem
    var completion: @Sendable (Result<AssetProperties, MediaError>) -> Void
  }

  private let loop: any ControlLoop
  private var waiting = Deque<Request>()
  private var waitingItems: Set<ObjectIdentifier> = []
  private var isClosed = false
  private(set) var isBusy = false

  init(loop: any ControlLoop) { self.loop = loop }

  func load(_ item: PlayerItem, completion: @escaping @Sendable (Result<AssetProperties, MediaError>) -> Void) {
    guard waitingItems.insert(ObjectIdentifier(item)).inserted else { return }
    waiting.append(Request(item: item, completion: completion))
    startNext()
  }

  func close() {
    isClosed = true
    waiting = []
    waitingItems = []
  }

  private func startNext() {
    guard !isBusy, !isClosed, let request = waiting.first else { return }
    isBusy = true
    let item = request.item
    NamedThread.detached(name: "load-item") { [loop] in
      let result = Result { () throws(MediaError) in try item.asset.load() }
      loop.execute { self.finished(item, result) }
    }
  }

  private func finished(_ item: PlayerItem, _ result: Result<AssetProperties, MediaError>) {
    isBusy = false
    if let index = waiting.firstIndex(where: { $0.item === item }) {
      let request = waiting.remove(at: index)
      waitingItems.remove(ObjectIdentifier(item))
      request.completion(result)
    }
    startNext()
  }
}
