import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let watching: [Self] = observations + subscriptions + waits

  private static func observe(_ line: String, _ keys: [ObservableKey]) -> Self {
    Self(line, ObserveCommand.self) { $0.keys == keys && $0.player == "main" }
  }

  private static let observations: [Self] = [
    observe("observe player.rate", [.playerRate]),
    observe("observe *Rate", [.playerTimebaseRate, .playerDefaultRate]),
    observe("observe *.rate *ersion", [.playerRate, .queueVersion]),
    observe(
      "observe item.is*", [.itemIsPlaybackLikelyToKeepUp, .itemIsPlaybackBufferFull, .itemIsPlaybackBufferEmpty]),
    observe("observe *Buffer*y", [.itemIsPlaybackBufferEmpty]), observe("observe q**e*.*n", [.queueVersion]),
    observe("observe *", ObservableKey.allCases),
    observe(
      "observe queue.version item.* item.status",
      [
        .itemStatus, .itemDuration, .itemProvidesPreciseDuration, .itemError, .itemTitle, .itemArtist, .itemAlbum,
        .itemCurrentMediaSelection, .itemIsPlaybackLikelyToKeepUp, .itemIsPlaybackBufferFull,
        .itemIsPlaybackBufferEmpty, .itemEvents, .queueVersion,
      ]),
    Self("unobserve 1", UnobserveCommand.self) { $0.id == 1 },
    Self("events", EventsCommand.self) {
      $0.query
        == EventQuery(
          keys: ObservableKey.allCases, player: nil, since: nil, instance: nil, limit: 1_000, timeout: nil)
        && !$0.wait
    },
    Self("events queue.* since=7 instance=9f86 limit=5 wait timeout=2 player=b", EventsCommand.self) {
      try $0.query
        == EventQuery(
          keys: [.queueVersion], player: "b", since: 7, instance: "9f86", limit: 5, timeout: seconds("2")) && $0.wait
    },
  ]

  private static let subscriptions: [Self] = [
    Self("tick 250ms", TickCommand.self) { try $0.interval == seconds("0.25") && $0.player == "main" },
    Self("at 90 1:35.25 item=4", AtCommand.self) {
      try Array($0.times) == [seconds("90"), seconds("95.25")] && $0.item == 4 && !$0.seeks
    },
    Self("at-chapters", AtChaptersCommand.self) { $0.item == nil && !$0.seeks && $0.player == "main" },
    Self("at-chapters seeks item=7 player=x", AtChaptersCommand.self) {
      $0.item == 7 && $0.seeks && $0.player == "x"
    },
    Self("untick 2", UntickCommand.self) { $0.id == 2 },
    Self("meter", MeterCommand.self) { $0.rate == 20 }, Self("meter 100", MeterCommand.self) { $0.rate == 100 },
    Self("unmeter 3", UnmeterCommand.self) { $0.id == 3 },
  ]

  private static func wait(_ line: String, _ conditions: [WaitCondition], timeout: MediaTime? = nil) -> Self {
    Self(line, WaitCommand.self) {
      Array($0.conditions) == conditions && $0.timeout == timeout && $0.player == "main"
    }
  }

  private static let waits: [Self] = [
    wait(
      "wait time>=90 status=playing item=3 timeout=5",
      [.timeAtLeast(MediaTime(value: 90, timescale: 1)), .status(.playing), .currentItem(3)],
      timeout: MediaTime(value: 5, timescale: 1)),
    wait(
      "wait time>=1.5 time<=2",
      [.timeAtLeast(MediaTime(value: 3, timescale: 2)), .timeAtMost(MediaTime(value: 2, timescale: 1))]),
    wait(
      "wait ended ready status=waiting status=waitingToPlayAtSpecifiedRate",
      [.ended, .ready, .status(.waitingToPlayAtSpecifiedRate), .status(.waitingToPlayAtSpecifiedRate)]),
    wait("wait silence>=2.5 ready", [.silence(MediaTime(value: 5, timescale: 2)), .ready]),
    Self("explain", ExplainCommand.self) { $0.player == "main" },
    Self("explain player=b", ExplainCommand.self) { $0.player == "b" },
    Self("clock.advance 2.5", ClockAdvanceCommand.self) { try $0.duration == seconds("2.5") },
  ]
}
