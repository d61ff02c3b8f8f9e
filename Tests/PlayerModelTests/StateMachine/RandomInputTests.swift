import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// Random inputs in the order in which `PlayerCore` can make them. After each one the machine is compared with a simple
/// model, and its state is checked.
@Suite struct RandomInputTests {
  /// Sequences and their inputs: 100,000 inputs in all.
  static let sequenceCount: UInt64 = 400
  static let inputCount = 250

  @Test(arguments: [UInt64(0), 1, 2, 3])
  func machineAgreesWithASimpleModel(group: UInt64) {
    let share = Self.sequenceCount / 4
    for seed in group * share..<(group + 1) * share {
      var player = RandomPlayer(seed: seed)
      for number in 1...Self.inputCount {
        if number < Self.inputCount { player.makeInput() } else { player.close() }
        guard let fault = player.fault else { continue }
        let inputs = player.inputs.suffix(25).joined(separator: "\n  ")
        Issue.record("seed \(seed), input \(number): \(fault)\n  \(inputs)")
        return
      }
    }
  }
}
