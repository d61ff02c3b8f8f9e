import ExampleSupport
import Foundation
import PlayheadFoundation

// Draws the waveform of a file as an SVG image.
//
//   waveform FILE OUTPUT.svg

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fail("usage: waveform FILE OUTPUT.svg") }

do {
  var style = WaveformStyle()
  (style.width, style.height) = (600, 120)
  style.color = try RGBColor("#c04030")
  let output = WaveformOutput(path: url(arguments[2]).path, .svg, style)

  // One bin for each column of the image, for all channels together. A cache makes repeated scans fast.
  let request = WaveformRequest(mixesChannels: true)
  let result = try await WaveformScan(Asset(url: url(arguments[1])), request, output: output).result()
  let waveform = result.waveform
  let peak = (0..<waveform.binCount).map { waveform.peak($0) }.max() ?? 0
  print("\(waveform.binCount) bins of \(waveform.frameCount) frames, peak \(peak)")
  if let fault = result.fault { print("a part of the file is damaged: \(fault)") }
} catch {
  fail("waveform: \(error)")
}
