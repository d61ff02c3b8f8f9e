import ExampleSupport
import Foundation
import PlayheadFoundation

// Plays a file into standard output, as 32-bit float samples of two channels at 48 kHz. Another program can play them:
// custom-sink music.flac | pacat --format=float32le --rate=48000 --channels=2
//
//   custom-sink FILE

guard CommandLine.arguments.count == 2 else { fail("usage: custom-sink FILE") }

do {
  let engine = PlaybackEngine(
    loop: ThreadControlLoop(name: "custom-sink"),
    output: OutputConfiguration(makeSink: {
      BlockSink { samples in
        samples.withUnsafeBytes { FileHandle.standardOutput.write(Data($0)) }
      }
    }))
  engine.open()

  // The events begin before the player has an item: an item that cannot be opened is reported, too.
  let player = Player(engine: engine)
  let events = await player.events()
  try await player.replaceCurrentItem(with: PlayerItem(url: url(CommandLine.arguments[1])))
  await player.play()
  for await event in events {
    if case .itemFailed(_, let error) = event { throw error }
    if case .playedToEnd = event { break }
  }
  await engine.close()
} catch {
  fail("custom-sink: \(error)")
}
