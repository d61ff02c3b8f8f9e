import ExampleSupport
import Foundation
import PlayheadFoundation

// Plays three files in a loop, in step to the sample, with a pan, a volume and a common rate.
//
//   looper DRUMS BASS GUITAR

guard CommandLine.arguments.count == 4 else { fail("usage: looper DRUMS BASS GUITAR") }

do {
  let players = try CommandLine.arguments.dropFirst().map { path in
    let player = try AudioPlayer(contentsOf: url(path))
    player.numberOfLoops = -1
    player.enableRate = true
    player.prepareToPlay()
    return player
  }

  // The drums are in the centre, the bass is on the left, and the guitar is quiet on the right.
  try players[1].setPan(-0.8)
  try players[2].setPan(0.8)
  try players[2].setVolume(0.5)

  // Players that get the same time start at the same frame of the device.
  let start = players[0].deviceCurrentTime + .milliseconds(150)
  for player in players { print("starts: \(player.play(atTime: start))") }
  try await Task.sleep(for: .milliseconds(500))

  // Successive changes take effect at the same frame. The pitch does not change.
  for player in players { try player.setRate(1.25) }
  try players[2].setVolume(1, fadeDuration: .milliseconds(200))
  try await Task.sleep(for: .milliseconds(500))

  // Successive pauses, too, a few milliseconds after the last call. Then all players have the same position.
  for player in players { player.pause() }
  try await Task.sleep(for: .milliseconds(100))
  for player in players {
    print("position: \(player.currentTime.seconds), volume: \(player.volume), pan: \(player.pan)")
  }
  for player in players { player.stop() }
} catch {
  fail("looper: \(error)")
}
