import DaemonTesting
import Testing

/// The recipes of `scripts/make-collection`, and the edits that they make.
@Suite struct MediaCollectionTests {
  @Test func otherProgramsReadTheEditedFilesAsIntended() throws {
    let outcome = try Program(
      "/usr/bin/python3", ["-B", "-m", "unittest", "-v", "test_mediapatch"],
      folder: "\(CheckMediaRig.root)/Tests/Collection"
    ).waitForEnd()
    print(outcome.errors)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("Ran 12 tests"), "\(outcome.errors)")
  }
}
