import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayerModel

/// The logs of network items.
extension PlayerCore {
  /// Forwards new entries of an item's network log.
  func observeLog(of item: PlayerItem) {
    guard item.asset.mayUseNetwork else { return }
    let (loop, id) = (engine.loop, item.id)
    item.networkLog.observe(key: id) { [weak self] entry in
      guard let self else { return }
      loop.execute { self.report(entry, of: id) }
    }
  }

  private func report(_ entry: NetworkLog.Entry, of id: PlayerItem.ID) {
    guard !isClosed, items[id] != nil else { return }
    let time = machine.entries.first?.id == id ? currentTime() : .zero
    switch entry {
    case .access(let event):
      logger.info(
        "a server replied", metadata: ["item": "\(id)", "uri": "\(event.uri)", "address": "\(event.serverAddress)"])
      send(.newAccessLogEntry(id, time, event))
    case .error(let event):
      logger.warning(
        "a server failed", metadata: ["item": "\(id)", "error": "\(event.error)", "retried": "\(event.isRetried)"])
      send(.newErrorLogEntry(id, time, event.error))
    }
    calls.deliver()
  }
}
