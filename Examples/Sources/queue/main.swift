import ExampleSupport
import Foundation
import PlayheadFoundation

// Plays the first file twice, then the others without gaps. Skips the rest of each file that is longer than a second.
//
//   queue FILE FILE...

let paths = CommandLine.arguments.dropFirst()
guard paths.count >= 2 else { fail("usage: queue FILE FILE...") }

do {
  let items = try paths.map { try PlayerItem(url: url($0)) }
  // The events begin before the player has items: an item that cannot be opened is reported, too.
  let player = QueuePlayer()
  let events = await player.events()
  try await player.append(items)
  func name(_ id: PlayerItem.ID) -> String { items.first { $0.id == id }.map { "\($0.asset.displayPath)" } ?? "-" }

  // The looper repeats an item of the queue without a gap. After one repeat, the queue continues.
  let looper = try PlayerLooper(player: player, item: items[0], count: 1)

  let boundaries = try await player.times(atBoundaries: [.seconds(1)])
  let skips = boundaries.observe { _ in await player.advanceToNextItem() }

  await player.play()
  loop: for await event in events {
    switch event {
    case .transition(let transition):
      print(
        "transition: \(name(transition.fromItemID)) to \(name(transition.toItemID))"
          + ", gap: \(transition.insertedFrameCount) frames, loops: \(looper.loopCount)")
    case .playedToEnd(let id, let time):
      print("end: \(name(id)) at \(time.seconds) s")
      if await player.itemCount == 0 { break loop }
    case .itemFailed(_, let error): throw error
    default: break
    }
  }
  skips.cancel()
  print("the queue is empty")
} catch {
  fail("queue: \(error)")
}
