import Testing

/// Random sequences of all operations of a `RenderCore`, each compared with `RenderModel`.
@Suite struct RenderModelTests {
  @Test(arguments: 0..<8)
  func coreMatchesTheModelForRandomSequences(part: Int) {
    for seed in part * 250..<(part + 1) * 250 {
      var sequence = RenderSequence(seed: UInt64(seed))
      sequence.run(stepCount: 70)
      if let failure = sequence.failure {
        Issue.record("seed \(seed): \(failure)")
        return
      }
    }
  }
}
