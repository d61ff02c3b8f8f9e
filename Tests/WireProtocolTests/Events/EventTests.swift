import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct EventTests {
  private static let position = ItemPosition(player: "main", item: 7, time: MediaTime(value: 49, timescale: 4))
  private static let playerPosition = PlayerPosition(player: "main", item: 7, time: MediaTime(value: 49, timescale: 4))
  private static let timedTag = TimedTag(
    duration: nil, isHeld: false, tag: Tag(identifier: "id3/TIT2", key: "TIT2", content: .text("a b")), data: nil)
  private static let error = MediaError(
    .decodeFailed, "the decoder failed", operation: "avcodec_send_packet", underlying: "x y")

  private static let samples: [(event: any Event, words: String)] = [
    (
      TickEvent(
        subscription: 3, position: playerPosition, rate: 1, reason: .periodic, lateNanoseconds: 2_000_000,
        hostTime: HostTime(nanoseconds: 5_012_250_000_001)),
      "* tick id=3 player=main item=7 time=12.25 pts=49/4 rate=1 reason=periodic late=0.002 hostTime=5012.250000001"
    ),
    (
      TickEvent(
        subscription: 3, position: .init(player: "b", item: nil, time: .indefinite), rate: 0, reason: .stop,
        lateNanoseconds: 0),
      "* tick id=3 player=b item=none time=indefinite pts=indefinite rate=0 reason=stop late=0"
        + " hostTime=none"
    ),
    (
      BoundaryEvent(subscription: 4, position: position, kind: .crossed, lateNanoseconds: 250_000),
      "* at id=4 player=main item=7 time=12.25 pts=49/4 kind=crossed late=0.00025"
    ),
    (
      BoundaryEvent(subscription: 4, position: position, kind: .skipped(isBackward: false), lateNanoseconds: 0),
      "* at id=4 player=main item=7 time=12.25 pts=49/4 kind=skipped direction=forward late=0"
    ),
    (
      BoundaryEvent(subscription: 4, position: position, kind: .skipped(isBackward: true), lateNanoseconds: 0),
      "* at id=4 player=main item=7 time=12.25 pts=49/4 kind=skipped direction=backward late=0"
    ),
    (
      RemovedEvent(subscription: 4, player: "main", item: 7, cause: .itemRemoved),
      "* removed id=4 player=main item=7 cause=itemRemoved"
    ),
    (
      BoundaryEvent(
        subscription: 3, position: position, kind: .crossed, chapter: .init(number: 2, title: "a b"),
        lateNanoseconds: 0),
      "* at id=3 player=main item=7 time=12.25 pts=49/4 kind=crossed chapter=2 title=\"a b\" late=0"
    ),
    (
      BoundaryEvent(
        subscription: 3, position: position, kind: .skipped(isBackward: true), chapter: .init(number: 1, title: nil),
        lateNanoseconds: 0),
      "* at id=3 player=main item=7 time=12.25 pts=49/4 kind=skipped direction=backward chapter=1 late=0"
    ),
    (
      RemovedEvent(subscription: 4, player: "main", item: nil, cause: .playerClosed),
      "* removed id=4 player=main cause=playerClosed"
    ),
    (
      ChangedEvent(player: "main", key: .playerRate, initial: .float(0.5)).addressed(to: 1),
      "* changed id=1 player=main key=player.rate new=0.5 cause=initial initial=true"
    ),
    (
      ChangedEvent(player: "main", key: .itemStatus, item: 2, old: "unknown", new: "failed", cause: "load").addressed(
        to: 1),
      "* changed id=1 player=main key=item.status item=2 old=unknown new=failed cause=load"
    ),
    (
      ChangedEvent(player: "main", key: .playerCurrentItem, old: 2, new: nil, cause: "end").addressed(to: 1),
      "* changed id=1 player=main key=player.currentItem old=2 new=none cause=end"
    ),
    (
      ChapterChangedEvent(position, number: 2, title: "a b").addressed(to: 2),
      "* chapter-changed id=2 player=main item=7 time=12.25 pts=49/4 chapter=2 title=\"a b\""
    ),
    (
      ChapterChangedEvent(position, number: nil, title: nil).addressed(to: 2),
      "* chapter-changed id=2 player=main item=7 time=12.25 pts=49/4 chapter=none"
    ),
    (
      PlayedToEndEvent(position).addressed(to: 2),
      "* played-to-end id=2 player=main item=7 time=12.25 pts=49/4"
    ),
    (
      StalledEvent(position).addressed(to: 2),
      "* stalled id=2 player=main item=7 time=12.25 pts=49/4"
    ),
    (
      TimeJumpedEvent(position, cause: "seek", hostTime: nil).addressed(to: 2),
      "* time-jumped id=2 player=main item=7 time=12.25 pts=49/4 cause=seek hostTime=none"
    ),
    (
      FailedToPlayToEndEvent(position, error: error).addressed(to: 2),
      "* failed-to-play-to-end id=2 player=main item=7 time=12.25 pts=49/4 code=4002 name=decode-failed"
        + " message=\"the decoder failed\" operation=avcodec_send_packet underlying=\"x y\""
    ),
    (
      ItemSkippedEvent(player: "main", item: 7, error: error).addressed(to: 2),
      "* item-skipped id=2 player=main item=7 code=4002 name=decode-failed"
        + " message=\"the decoder failed\" operation=avcodec_send_packet underlying=\"x y\""
    ),
    (
      MeterEvent(
        subscription: 5, position: playerPosition,
        levels: LevelValues(
          average: [-6.0206, -160], peak: [-3.0103, -160],
          averageScale: [0.70671, 0], peakScale: [1, 0]), lateNanoseconds: 1_000_000),
      "* meter id=5 player=main item=7 time=12.25 pts=49/4 average=-6.02,-160 peak=-3.01,-160"
        + " averageScale=0.7067,0 peakScale=1,0 late=0.001"
    ),
    (
      PacketsSkippedEvent(position, count: 3, error: error).addressed(to: 2),
      "* packets-skipped id=2 player=main item=7 time=12.25 pts=49/4 count=3 code=4002 name=decode-failed"
        + " message=\"the decoder failed\" operation=avcodec_send_packet underlying=\"x y\""
    ),
    (
      NewErrorLogEntryEvent(position, error: .init(.wrongLength, "longer than it says")).addressed(to: 2),
      "* new-error-log-entry id=2 player=main item=7 time=12.25 pts=49/4 code=3006 name=wrong-length"
        + " message=\"longer than it says\""
    ),
    (
      NewAccessLogEntryEvent(
        position, uri: "http://h/a b", address: "::1", type: "live", startupNanoseconds: 250_000_000
      ).addressed(to: 2),
      "* new-access-log-entry id=2 player=main item=7 time=12.25 pts=49/4 uri=\"http://h/a b\" address=::1 type=live"
        + " startup=0.25"
    ),
    (
      TimedMetadataEvent(position, value: timedTag).addressed(to: 2),
      "* timed-metadata id=2 player=main item=7 time=12.25 pts=49/4 identifier=id3/TIT2 key=TIT2 type=string"
        + " value=\"a b\""
    ),
    (
      StreamTitleEvent(position, title: "It's \"one\"", url: "http://x/").addressed(to: 2),
      "* stream-title id=2 player=main item=7 time=12.25 pts=49/4 title=\"It's \\\"one\\\"\" url=http://x/"
    ),
    (
      RouteChangedEvent(
        player: "main", reason: "oldDeviceUnavailable", previous: "headset",
        current: "speakers/analog-output-speaker",
        description: "Built-in Audio", input: nil),
      "* route-changed id=0 player=main reason=oldDeviceUnavailable previous=headset current=speakers/analog-output-speaker"
        + " description=\"Built-in Audio\" input=none"
    ),
    (
      TransitionEvent(
        player: "main", from: 7, to: 8, time: .zero, trimmedEnd: .init(frameCount: 1_105, source: "lame-tag"),
        trimmedStart: .init(frameCount: 0, source: nil), insertedFrameCount: 0,
        hostTime: HostTime(nanoseconds: 250_000_000)
      ).addressed(to: 2),
      "* transition id=2 player=main from=7 to=8 time=0 pts=0/1 trimmedEnd=1105 trimmedEndBy=lame-tag trimmedStart=0"
        + " trimmedStartBy=none inserted=0 hostTime=0.25"
    ),
    (
      InterruptionEvent(player: "main", ending: nil).addressed(to: 2),
      "* interruption id=2 player=main phase=began"
    ),
    (
      InterruptionEvent(player: "main", ending: .init(by: "server", shouldResume: true)).addressed(to: 2),
      "* interruption id=2 player=main phase=ended by=server shouldResume=true"
    ),
    (
      SecondaryAudioHintEvent(player: "main", isBeginning: false).addressed(to: 2),
      "* secondary-audio-hint id=2 player=main phase=ended"
    ),
    (
      SilenceEvent(
        player: "main", isBeginning: true, frame: 48_000, hostTime: HostTime(nanoseconds: 1_500_000_000),
        durationNanoseconds: 10_000_000_000
      ).addressed(to: 2),
      "* silence id=2 player=main phase=began frame=48000 hostTime=1.5 duration=10"
    ),
    (
      SilenceEvent(
        player: "main", isBeginning: false, frame: nil, hostTime: HostTime(nanoseconds: 0),
        durationNanoseconds: 12_345_000_000
      ).addressed(to: 2),
      "* silence id=2 player=main phase=ended frame=none hostTime=0 duration=12.345"
    ),
    (
      ScanProgressEvent(scan: 3, file: 1, count: 2, path: FilePath(address: "/a b"), done: 0.05),
      "* scan-progress scan=3 file=1 count=2 path=\"/a b\" done=0.05"
    ),
    (
      ScanProgressEvent(scan: 3, file: 2, count: 2, path: FilePath(address: "/b"), done: nil),
      "* scan-progress scan=3 file=2 count=2 path=/b done=none"
    ),
    (
      RecordingEvent(
        subscription: 4, recorder: 2, state: "paused", time: MediaTime(value: 24_000, timescale: 48_000),
        lostFrameCount: 7),
      "* recording id=4 recorder=2 state=paused time=0.5 pts=24000/48000 lost=7"
    ),
    (
      RecordingEvent(subscription: 4, recorder: 2, state: "stopped", time: .zero, lostFrameCount: 0, error: Self.error),
      "* recording id=4 recorder=2 state=stopped time=0 pts=0/1 lost=0 code=4002 name=decode-failed message=\"the decoder failed\""
        + " operation=avcodec_send_packet underlying=\"x y\""
    ),
    (
      RecordMeterEvent(
        subscription: 4, recorder: 2, time: MediaTime(value: 1, timescale: 4),
        levels: LevelValues(
          average: [-20.126, -160],
          peak: [-3, 0],
          averageScale: [0.123456, 0], peakScale: [0.5, 1])),
      "* record-meter id=4 recorder=2 time=0.25 pts=1/4 average=-20.13,-160 peak=-3,0 averageScale=0.1235,0 peakScale=0.5,1"
    ),
    (
      OverflowEvent(droppedCount: 12, mergedCount: 3, since: 41), "* overflow dropped=12 merged=3 since=41"
    ),
    (OverflowEvent(droppedCount: 1, mergedCount: 0, since: nil), "* overflow dropped=1 merged=0"),
    (
      ClosingEvent(MediaError(.shuttingDown, "the daemon is ending")),
      "* closing code=6017 name=shutting-down message=\"the daemon is ending\""
    ),
  ]

  @Test func eventsAreEncodedInTextForm() {
    for (event, words) in Self.samples {
      #expect(Lines.text { event.encode(form: .words, into: &$0) } == words + "\n")
    }
  }

  @Test func eventsAreEncodedAsJSONRPCNotifications() throws {
    for (event, words) in Self.samples {
      let text = Lines.text { event.encode(form: .json, into: &$0) }
      #expect(text.hasSuffix("}\n") && text.filter { $0 == "\n" }.count == 1)
      let value = try JSONValue(parsing: Array(text.utf8).span)
      #expect(value["jsonrpc"] == .string("2.0"))
      #expect(value["method"] == .string(event.name.rawValue))
      #expect(value["id"] == nil)
      guard case .object(let members)? = value["params"],
        case .event(let name, let fields) = try ServerLine(parsing: Array(words.utf8))
      else { throw Unexpected(text) }
      #expect(name == event.name.rawValue)
      #expect(members.map(\.name) == fields.entries.map(\.name))
    }
  }

  @Test func eventFieldsMatchTheTable() throws {
    #expect(EventTable.all.map(\.name) == EventName.allCases)
    #expect(EventTable.all.map(\.name.rawValue) == EventTable.all.map(\.name.rawValue).sorted())
    #expect(Set(Self.samples.map(\.event.name)) == Set(EventName.allCases))
    for (event, words) in Self.samples {
      var entries = Fields(event).entries[...]
      for field in try #require(EventTable.all.first { $0.name == event.name }).fields {
        guard let entry = entries.first, entry.name == field.name else {
          #expect(field.isOptional, "\(words) lacks \(field.name)")
          continue
        }
        #expect(field.isNullable || entry.value != .none, "\(words): \(field.name)")
        entries.removeFirst()
      }
      #expect(entries.isEmpty, "\(words)")
    }
  }

  @Test func sequenceNumberIsTheLastFieldInBothForms() {
    let event = ChangedEvent(player: "main", key: .playerRate, old: 0, new: 1, cause: "request").addressed(to: 1)
    #expect(
      Lines.text { event.encode(form: .words, into: &$0, number: 42) }
        == "* changed id=1 player=main key=player.rate old=0 new=1 cause=request seq=42\n")
    #expect(
      Lines.text { event.encode(form: .json, into: &$0, number: 42) }.hasSuffix(
        #","cause":"request","seq":42}}"# + "\n"))
  }

  /// A logged event contains no subscription id. Addressed to a subscription, it equals the original event.
  @Test func loggedEventHasNoSubscriptionIDUntilItIsAddressed() {
    for case (let event as any NumberedEvent, let words) in Self.samples {
      let row = event.loggedFields.entries.map(\.name)
      #expect(row.first == "event" && !row.contains("id"), "\(words)")
      #expect(row.dropFirst() == Fields(event).entries.map(\.name).filter { $0 != "id" }[...], "\(words)")
      let addressed = event.addressed(to: 99)
      #expect(Fields(addressed)["id"] == 99, "\(words)")
      #expect(addressed.loggedFields == event.loggedFields, "\(words)")
    }
  }

  /// A key has a value, or events. The definition of a value has the name of its key.
  @Test func everyObservableKeyHasAValueOrEvents() {
    for key in ObservableKey.allCases {
      let events = EventTable.all.filter { $0.key == key }
      #expect((key.value == nil) == !events.isEmpty, "\(key.rawValue)")
      #expect(key.value.map { $0.name == key.rawValue } ?? true, "\(key.rawValue)")
      #expect(!key.summary.isEmpty)
    }
  }
}
