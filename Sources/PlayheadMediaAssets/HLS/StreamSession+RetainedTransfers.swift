import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists

/// Transfers of segments that the next reader continues. Threading: any thread.
extension StreamSession {
  /// Retains transfers, replacing those retained before. Each retains at most as many bytes as any resource
  /// (`HTTPOptions.aheadByteCount`).
  ///
  /// - Parameter log: The log of these transfers. A reader with another log does not get them.
  func retain(_ transfers: [RetainedTransfer], log: NetworkLog) {
    if log === fetcher.log { signal.withState { $0.retainedTransfers = transfers } }
  }

  /// Removes and returns the retained transfer of a segment; nil if there is none.
  func removeRetained(_ segment: HLSSegment, log: NetworkLog) -> HTTPResource? {
    guard log === fetcher.log else { return nil }
    return signal.withState { state in
      guard let index = state.retainedTransfers.firstIndex(where: { $0.segment == segment }) else { return nil }
      return state.retainedTransfers.remove(at: index).resource
    }
  }
}
