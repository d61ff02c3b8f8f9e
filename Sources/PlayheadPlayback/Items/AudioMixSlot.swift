import PlayheadMediaAssets
import Synchronization

/// The audio mix of an item. The decode thread reads it for each chunk, so a change applies to the audio that is
/// decoded afterwards.
final class AudioMixSlot: Sendable {
  private let mix = Mutex<AudioMix?>(nil)

  var value: AudioMix? {
    get { mix.withLock { $0 } }
    set { mix.withLock { $0 = newValue } }
  }
}
