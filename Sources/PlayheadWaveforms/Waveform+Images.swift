// Waveforms as images: a lane for each channel, from top to bottom, and a time axis.
import PlayheadMediaCore

extension Waveform {
  /// The values of one channel in one column of an image.
  struct Column {
    var low: Float
    var high: Float
    var rms: Float
  }

  /// The height of the axis in pixels. An image lower than three times this height has no axis.
  private static let axisHeight = 16

  /// The values of column `x`, from at least one bin. If there are at least as many bins as columns, each bin is in
  /// exactly one column.
  func column(_ x: Int, of width: Int, channel: Int) -> Column {
    let first = x * binCount / width
    let end = max(first + 1, (x + 1) * binCount / width)
    var column = Column(low: .infinity, high: -.infinity, rms: 0)
    var squares = 0.0
    for bin in first..<end {
      let point = bin * channelCount + channel
      column.low = min(column.low, minima[point])
      column.high = max(column.high, maxima[point])
      squares += Double(rms[point]) * Double(rms[point])
    }
    column.rms = Float((squares / Double(end - first)).squareRoot())
    return column
  }

  private func axis(_ style: WaveformStyle) -> TimeAxis? {
    guard style.hasAxis, style.height >= 3 * Self.axisHeight else { return nil }
    return TimeAxis(
      start: Double(firstFrame) / Double(sampleRateHz), duration: Double(frameCount) / Double(sampleRateHz),
      width: style.width)
  }

  /// The rows of a channel's lane, at least one. With many channels in a low image, lanes overlap.
  private func lane(_ channel: Int, _ style: WaveformStyle) -> Range<Int> {
    let height = style.height - (axis(style) == nil ? 0 : Self.axisHeight)
    let top = channel * height / channelCount
    return top..<max(top + 1, (channel + 1) * height / channelCount)
  }

  /// The vertical position of a value in a lane: 1 is the top, -1 the bottom.
  private static func y(of value: Float, in lane: Range<Int>) -> Double {
    let half = Double(lane.count) / 2
    return Double(lane.lowerBound) + half - Double(max(-1, min(1, value))) * half
  }

  // MARK: - Pixels

  /// Draws the waveform as pixels. Each column has at least one pixel.
  func image(_ style: WaveformStyle) -> PaletteImage {
    var image = PaletteImage(
      width: style.width, height: style.height,
      palette: [style.background, style.color, style.color.mixed(with: style.background), Self.axisColor(style)])
    for channel in 0..<channelCount {
      let lane = lane(channel, style)
      func rows(_ high: Float, _ low: Float) -> Range<Int> {
        let top = min(max(lane.lowerBound, Int(Self.y(of: high, in: lane).rounded(.down))), lane.upperBound - 1)
        let bottom = min(Int(Self.y(of: low, in: lane).rounded(.up)), lane.upperBound)
        return top..<max(top + 1, bottom)
      }
      for x in 0..<style.width {
        let column = column(x, of: style.width, channel: channel)
        for y in rows(column.high, column.low) { image.setPixel(x: x, y: y, colorIndex: 1) }
        // The RMS is drawn only between the extremes.
        for y in rows(min(column.rms, column.high), max(-column.rms, column.low)) {
          image.setPixel(x: x, y: y, colorIndex: 2)
        }
      }
    }
    guard let axis = axis(style) else { return image }
    let top = style.height - Self.axisHeight
    for x in 0..<style.width { image.setPixel(x: x, y: top, colorIndex: 3) }
    for mark in axis.marks {
      for y in top..<min(top + 4, style.height) { image.setPixel(x: mark.x, y: y, colorIndex: 3) }
      image.draw(mark.label, x: mark.x + 3, y: top + 4, colorIndex: 3)
    }
    return image
  }

  /// The colour of the axis: black or white, in contrast with the background.
  private static func axisColor(_ style: WaveformStyle) -> RGBColor {
    let color = style.background
    let brightness = 3 * Int(color.red) + 6 * Int(color.green) + Int(color.blue)
    let value: UInt8 = brightness > 1_275 ? 0x20 : 0xe0
    return RGBColor(red: value, green: value, blue: value)
  }

  // MARK: - SVG

  /// Draws the waveform as SVG: for each channel one shape from minimum to maximum, and one for RMS.
  func svg(_ style: WaveformStyle) -> String {
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(style.width)" height="\(style.height)" viewBox="0 0 \(style.width) \(style.height)">
      <rect width="\(style.width)" height="\(style.height)" fill="\(style.background.text)"/>

      """
    for channel in 0..<channelCount {
      let lane = lane(channel, style)
      let columns = (0..<style.width).map { column($0, of: style.width, channel: channel) }
      let shapes = [
        (style.color, columns.map { ($0.high, $0.low) }),
        (
          style.color.mixed(with: style.background),
          columns.map { (min($0.rms, $0.high), max(-$0.rms, $0.low)) }
        ),
      ]
      for (color, values) in shapes {
        text += "<path fill=\"\(color.text)\" d=\"M"
        for (x, value) in values.enumerated() { text += "\(x),\(Self.number(Self.y(of: value.0, in: lane))) " }
        for (x, value) in values.enumerated().reversed() {
          // Silence is drawn as a line.
          let bottom = max(Self.y(of: value.1, in: lane), Self.y(of: value.0, in: lane) + 0.5)
          text += "\(x + 1),\(Self.number(bottom)) "
        }
        text += "z\"/>\n"
      }
    }
    if let axis = axis(style) {
      let (top, axisColor) = (style.height - Self.axisHeight, Self.axisColor(style).text)
      text += "<path stroke=\"\(axisColor)\" d=\"M0,\(top).5H\(style.width)"
      for mark in axis.marks { text += "M\(mark.x).5,\(top)v4" }
      text += "\"/>\n<g fill=\"\(axisColor)\" font-family=\"sans-serif\" font-size=\"10\">\n"
      for mark in axis.marks { text += "<text x=\"\(mark.x + 3)\" y=\"\(top + 13)\">\(mark.label)</text>\n" }
      text += "</g>\n"
    }
    return text + "</svg>\n"
  }

  /// Formats a number with two decimals.
  private static func number(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let rest = hundredths % 100
    return rest == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
