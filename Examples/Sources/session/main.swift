import ExampleSupport
import Foundation
import PlayheadFoundation

// Plays a file as spoken audio, and prints interruptions and changes of the route. With PulseAudio's
// module-role-cork, a phone call interrupts the session; playback then resumes with a fade-in.
//
//   session FILE

guard CommandLine.arguments.count == 2 else { fail("usage: session FILE") }

do {
  let engine = PlaybackEngine.shared
  let session = engine.session
  try await session.setCategory(.playback, mode: .spokenAudio)

  _ = await session.addEventObserver { event in
    switch event {
    case .interruptionBegan: print("interruption began")
    case .interruptionEnded(_, let shouldResume): print("interruption ended, resume: \(shouldResume)")
    case .silenceSecondaryAudioHint(let isBeginning): print("other audio is important: \(isBeginning)")
    }
  }
  _ = await engine.addRouteObserver { event in
    guard case .route(let change) = event else { return }
    print("route: \(change.reason.rawValue), output: \(change.current.output?.label ?? "none")")
    // A headphone was unplugged: the engine has already paused the players.
    if change.isLossOfOutput { print("lost: \(change.previous.output?.port?.portType.rawValue ?? "device")") }
  }

  // The events begin before the player has an item: an item that cannot be opened is reported, too.
  let player = Player()
  let events = await player.events()
  try await player.replaceCurrentItem(with: PlayerItem(url: url(CommandLine.arguments[1])))
  try await session.setActive(true)
  let setting = await session.state.setting
  print("category: \(setting.category), mode: \(setting.mode), other audio: \(setting.otherAudio)")

  await player.play()
  for await event in events {
    if case .playedToEnd(_, let time) = event {
      print("ended at \(time.seconds) s")
      break
    }
    if case .itemFailed(_, let error) = event { throw error }
  }
  try await session.setActive(false)
  print("active: \(await session.state.isActive)")
} catch {
  fail("session: \(error)")
}
