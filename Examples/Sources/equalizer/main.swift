import ExampleSupport
import Foundation
import PlayheadFoundation

// Plays a file through an equalizer with one band, and writes the processed audio to a WAV file.
//
//   equalizer FILE OUTPUT.wav FREQUENCY DECIBELS

let arguments = CommandLine.arguments
guard arguments.count == 5, let frequency = Double(arguments[3]), let gain = Double(arguments[4]) else {
  fail("usage: equalizer FILE OUTPUT.wav FREQUENCY DECIBELS")
}

do {
  // An engine whose output is a file, in real time. `PlaybackEngine.shared` has the devices of the sound server.
  let output = url(arguments[2]).path
  let engine = PlaybackEngine(
    loop: ThreadControlLoop(name: "equalizer"),
    output: OutputConfiguration(makeSink: {
      TimedSink.file(
        path: output, container: .wav, encoding: .f32, format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    }))
  engine.open()

  let player = Player(engine: engine)
  // The engine makes a processor for each decode thread. All items of the player use it.
  await player.setAudioProcessors([
    AudioProcessorFactory { Biquad(frequencyHz: frequency, gainDecibels: gain) }
  ])

  // The events begin before the player has an item: an item that cannot be opened is reported, too.
  let events = await player.events()
  try await player.replaceCurrentItem(with: PlayerItem(url: url(arguments[1])))
  await player.play()
  for await event in events {
    if case .itemFailed(_, let error) = event { throw error }
    if case .playedToEnd(_, let time) = event {
      print("played \(time.seconds) s")
      break
    }
  }
  // Completes the file.
  await engine.close()
} catch {
  fail("equalizer: \(error)")
}
