import Glibc
import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct OutputClockTests {
  private func snapshot(
    heard: Int64 = 1_000, at nanoseconds: Int64 = 5_000_000_000, isRunning: Bool = true, rendered: Int64 = .max,
    rate: Int = 48_000
  ) -> OutputClock.Snapshot {
    OutputClock.Snapshot(
      heardFrame: heard, hostTime: HostTime(nanoseconds: nanoseconds), isRunning: isRunning, renderedFrame: rendered,
      sampleRateHz: rate)
  }

  @Test func newClockIsAtZeroAndNotRunning() {
    let clock = OutputClock(sampleRateHz: 44_100)
    let snapshot = clock.snapshot()
    #expect(snapshot.heardFrame == 0)
    #expect(!snapshot.isRunning)
    #expect(snapshot.sampleRateHz == 44_100)
    #expect(snapshot.heardFrame(at: HostTime(nanoseconds: .max)) == 0)
    #expect(snapshot.hostTime(ofFrame: 0) == nil)
  }

  @Test func runningClockAdvancesAtTheSampleRate() {
    let clock = snapshot()
    #expect(clock.heardFrame(at: HostTime(nanoseconds: 5_000_000_000)) == 1_000)
    #expect(clock.heardFrame(at: HostTime(nanoseconds: 6_000_000_000)) == 49_000)
    // A frame is heard from its start time on: 20,833.3 ns after the previous frame.
    #expect(clock.heardFrame(at: HostTime(nanoseconds: 5_000_020_833)) == 1_000)
    #expect(clock.heardFrame(at: HostTime(nanoseconds: 5_000_020_834)) == 1_001)
    #expect(clock.heardFrame(at: HostTime(nanoseconds: 4_999_999_999)) == 999)
  }

  @Test func stoppedClockDoesNotAdvance() {
    #expect(snapshot(isRunning: false).heardFrame(at: HostTime(nanoseconds: 9_000_000_000)) == 1_000)
  }

  @Test func heardFrameIsClampedToTheStartAndTheRenderedFrames() {
    #expect(snapshot(rendered: 1_200).heardFrame(at: HostTime(nanoseconds: 9_000_000_000)) == 1_200)
    #expect(snapshot().heardFrame(at: HostTime(nanoseconds: 0)) == 0)
    #expect(snapshot(heard: -50, isRunning: false).heardFrame(at: HostTime(nanoseconds: 0)) == 0)
  }

  @Test func extremeValuesSaturate() {
    let clock = snapshot(heard: .min, at: .min, rate: 768_000)
    #expect(clock.heardFrame(at: HostTime(nanoseconds: .max)) == 0)
    #expect(snapshot(heard: .min, at: 0).hostTime(ofFrame: .max) == HostTime(nanoseconds: .max))
    #expect(
      snapshot(heard: .max, at: .max).hostTime(ofFrame: .min) == HostTime(nanoseconds: 0).advanced(byNanoseconds: -1))
  }

  @Test(arguments: [1, 8_000, 44_100, 48_000, 768_000])
  func hostTimeOfAFrameIsTheFirstInstantItIsHeard(rate: Int) throws {
    var random = SeededGenerator(seed: UInt64(rate))
    for _ in 0..<2_000 {
      let heard = Int64.random(in: 0...1 << 40, using: &random)
      let clock = snapshot(heard: heard, at: Int64.random(in: 0...1 << 50, using: &random), rate: rate)
      let frame = heard + Int64.random(in: 0...1 << 30, using: &random)
      let time = try #require(clock.hostTime(ofFrame: frame))
      #expect(clock.heardFrame(at: time) == frame)
      #expect(clock.heardFrame(at: time.advanced(byNanoseconds: -1)) == max(0, frame - 1))
    }
  }

  @Test func renderingRaisesTheLimitAndRewindLowersIt() {
    let core = RenderCore(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1))
    var block = silence(100)
    core.render(into: &block, frameCount: 100)
    #expect(core.clock.snapshot().renderedFrame == 100)
    #expect(core.rewind(toFrame: 40) == 40)
    #expect(core.clock.snapshot().renderedFrame == 40)
  }

  @Test func readersNeverSeeAPartialPublication() {
    let clock = OutputClock(sampleRateHz: 48_000)
    let count: Int64 = 100_000
    let hasEnded = Flag()
    let broken = ConditionMutex(0)
    let writer = NamedThread(name: "writer") {
      for value in 1...count {
        clock.publish(heardFrame: value, at: HostTime(nanoseconds: value * 1_000 + 7), isRunning: value % 2 == 1)
      }
      hasEnded.set()
    }
    let readers = (0..<2).map { _ in
      NamedThread(name: "reader") {
        var last: Int64 = 0
        var brokenCount = 0
        while !hasEnded.isSet {
          let point = clock.snapshot()
          if point.heardFrame == 0 { continue }
          if point.hostTime.nanoseconds != point.heardFrame * 1_000 + 7
            || point.isRunning != (point.heardFrame % 2 == 1) || point.heardFrame < last
          {
            brokenCount += 1
          }
          last = point.heardFrame
        }
        broken.update { [brokenCount] in $0 += brokenCount }
      }
    }
    writer.join()
    for reader in readers { reader.join() }
    #expect(broken.withState { $0 } == 0)
    #expect(clock.snapshot().heardFrame == count)
  }
}
