import MediaAssets
import Synchronization

/// Where an item's mix lies for the decode thread, which looks at it for each piece: what is changed holds for what is
/// decoded from then on.
final class AudioMixSlot: Sendable {
  private let mix = Mutex<AudioMix?>(nil)

  var value: AudioMix? {
    get { mix.withLock { $0 } }
    set { mix.withLock { $0 = newValue } }
  }
}
