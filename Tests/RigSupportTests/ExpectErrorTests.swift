import PlayheadMediaCore
import RigSupport
import Testing

/// The errors that `expectError` accepts, and the issues that it records.
@Suite struct ExpectErrorTests {
  private struct OtherError: Error {}

  @Test func expectedCodePassesAndReturnsTheError() async {
    let error = expectError(.invalidTime) { throw MediaError(.invalidTime, "the message") }
    #expect(error?.message == "the message")
    let asynchronous = await expectError(.invalidState) { () async throws in
      throw MediaError(.invalidState, "the other message")
    }
    #expect(asynchronous?.message == "the other message")
  }

  @Test func unexpectedCodeIsAnIssueWithBothCodes() {
    expectIssue(containing: ["the comment: ", "\(MediaError.Code.invalidTime)", "the message"]) {
      expectError(.invalidTime, "the comment") { throw MediaError(.invalidState, "the message") }
    }
  }

  @Test func errorOfAnotherTypeIsAnIssue() {
    expectIssue(containing: ["OtherError"]) { expectError(.invalidTime) { throw OtherError() } }
  }

  @Test func missingErrorIsAnIssue() async {
    expectIssue(containing: ["no error"]) { expectError(.invalidTime) { 1 } }
    await withKnownIssue {
      await expectError(.invalidTime) { () async throws in 1 }
    } matching: {
      "\($0)".contains("no error")
    }
  }

  /// Checks that `body` records an issue with these texts, and no other issue.
  private func expectIssue(containing texts: [String], _ body: () -> Void) {
    withKnownIssue {
      body()
    } matching: { issue in
      texts.allSatisfy { "\(issue)".contains($0) }
    }
  }
}
