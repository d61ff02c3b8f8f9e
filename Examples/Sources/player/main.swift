import ExampleSupport
import Foundation
import PlayheadFoundation

// Plays a file, and prints its status, the time, the quarters of the file and the end. At half of the file, it seeks to
// the last tenth, exactly.
//
//   player FILE

guard CommandLine.arguments.count == 2 else { fail("usage: player FILE") }

do {
  let item = try PlayerItem(url: url(CommandLine.arguments[1]))
  let statuses = item.changes(of: \.status)
  let player = try await Player(playerItem: item)

  // The status before and after each change. The first element is the status now.
  for await change in statuses {
    print("status: \(change.old?.name ?? "none") to \(change.new.name)")
    if let error = change.new.error { throw error }
    if change.new == .readyToPlay { break }
  }
  let duration = item.duration
  print("duration: \(duration.seconds)")

  // A periodic observer: at each multiple of the interval, and when playback starts, stops or jumps.
  try await player.times(forInterval: .milliseconds(100)).observe { tick in
    print("time: \(tick.time.seconds), reason: \(tick.reason.rawValue)")
  }

  // Boundaries: a quarter and half of the file, and the end.
  let boundaries = [1, 2, 4].map { duration.multiplied(by: $0, dividedBy: 4) }
  let quarters = try await player.times(atBoundaries: boundaries)
  let events = await player.events()
  await player.play()

  for await quarter in quarters {
    print("boundary: \(quarter.time.seconds)")
    if quarter.time == boundaries[1] { break }
  }

  // Without a tolerance, the first sample after the seek is the sample of this time.
  let target = duration.multiplied(by: 9, dividedBy: 10)
  let result = try await player.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero)
  print("seek: finished \(result.finished), exact \(result.isExact), time \(result.time.seconds)")

  for await event in events {
    if case .playedToEnd(_, let time) = event {
      print("end: \(time.seconds)")
      break
    }
  }
} catch {
  fail("player: \(error)")
}
