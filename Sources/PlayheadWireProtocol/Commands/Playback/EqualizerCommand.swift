import PlayheadMediaCore

/// `equalizer`: sets or shows the parametric equalizer of a player.
package enum EqualizerCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// The bands, or only `off`. Empty: the present bands.
    package let bands: Parameter<WireList<String>>
    /// In dB, -40 to 40. Nil: 0 with new bands, otherwise unchanged.
    package let preAmp: Parameter<Double?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      bands = list.optionalList(
        "bands", .text(maximumByteCount: 128), "BAND|off",
        "the bands, at most \(EqualizerCommand.Band.maximumCount), or `off`")
      preAmp = list.option(
        "pre-amp", .number(EqualizerCommand.Band.gains), "DB", "the gain of all frequencies; default: 0 with new bands")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// Nil: off.
    package var equalizer: RequestedEqualizer?

    package init(equalizer: RequestedEqualizer?) { self.equalizer = equalizer }

    package static let fields: [Field<Self>] = [
      Field(.isEnabled) { $0.equalizer != nil }, Field(.equalizerBands) { $0.equalizer?.bands.map(\.text) ?? [] },
      Field(nullable: .equalizerPreAmp) { $0.equalizer?.preAmp },
    ]
  }

  package static let name: CommandName = "equalizer"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the parametric equalizer, or show it.",
    details: """
      A band has one of these forms, in which `:Q` may be omitted:

      - `peak:HZ:DB:Q` changes the frequencies around HZ.
      - `low-shelf:HZ:DB:Q` changes the frequencies below HZ, which itself gets half of the gain.
      - `high-shelf:HZ:DB:Q` changes the frequencies above HZ, which itself gets half of the gain.
      - `high-pass:HZ:Q` removes the frequencies below HZ, with 12 dB per octave.
      - `low-pass:HZ:Q` removes the frequencies above HZ, with 12 dB per octave.

      The values have these ranges:

      - HZ: 1 to 384000
      - DB: -40 to 40
      - Q: 0.1 to 40; default: 0.7071. A higher value makes a peak narrower, and a shelf or a pass resonant.

      New bands replace all bands and `pre-amp`. Without bands, `pre-amp` changes the present equalizer. A negative \
      value avoids clipping. \(EffectCommands.order)
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: [
      "> equalizer peak:1000:-3:1.4 low-shelf:120:+4 high-pass:30 pre-amp=-2",
      "< ok isEnabled=true bands=peak:1000:-3:1.4,low-shelf:120:4,high-pass:30 preAmp=-2",
      "> equalizer off", "< ok isEnabled=false bands=\"\" preAmp=none",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.equalizerChange() }
}

/// The text that the details of the effects share.
enum EffectCommands {
  static let order = """
    The effects process the audio of each entry in this order: `channel-mix`, `equalizer`, `compressor`, `limiter`. \
    A change is heard at once, with a cross-fade of 5 ms.
    """
}

/// An equalizer, as requests and replies state it.
package struct RequestedEqualizer: Sendable, Hashable {
  /// At most ``EqualizerCommand.Band/maximumCount``.
  package var bands: [EqualizerCommand.Band]
  /// In dB, -40 to 40.
  package var preAmp: Double

  package init(bands: [EqualizerCommand.Band], preAmp: Double) { (self.bands, self.preAmp) = (bands, preAmp) }
}

extension EqualizerCommand {
  /// A band of an equalizer, as requests and replies state it.
  package struct Band: Sendable, Hashable {
    /// The shape of the magnitude response.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      case peak
      case lowShelf = "low-shelf"
      case highShelf = "high-shelf"
      case highPass = "high-pass"
      case lowPass = "low-pass"

      /// Whether the band has a gain.
      package var hasGain: Bool { self != .highPass && self != .lowPass }
    }

    package var kind: Kind
    /// In Hz, 1 to 384,000.
    package var frequency: Double
    /// In dB, -40 to 40; 0 for kinds without a gain.
    package var gain: Double
    /// 0.1 to 40.
    package var q: Double

    package init(_ kind: Kind, frequency: Double, gain: Double, q: Double) {
      (self.kind, self.frequency, self.gain, self.q) = (kind, frequency, gain, q)
    }

    static let maximumCount = 10
    static let frequencies: ClosedRange<Double> = 1...384_000
    static let gains: ClosedRange<Double> = -40...40
    static let qValues: ClosedRange<Double> = 0.1...40
    /// √½: a pass is then a Butterworth filter.
    static let defaultQ = 0.5.squareRoot()

    /// The text form, without a Q that is the default.
    var text: String {
      var parts = [kind.rawValue, NumberText.number(frequency)]
      if kind.hasGain { parts.append(NumberText.number(gain)) }
      if q != Self.defaultQ { parts.append(NumberText.number(q)) }
      return parts.joined(separator: ":")
    }

    /// Reads the text form.
    ///
    /// - Parameter name: The name of the parameter in the message of an error.
    /// - Throws: The reason why the text is not a band.
    init(_ text: String, name: String) throws(EffectText.Fault) {
      let parts = EffectText.parts(text, separator: ":")
      guard let kind = Kind.allCases.first(where: { $0.rawValue.utf8.elementsEqual(parts[0].utf8) }) else {
        let words = Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw EffectText.Fault("\(name): the kind must be one of \(words) (got \(Excerpt.quoted(parts[0])))")
      }
      let form = kind.hasGain ? "\(kind.rawValue):HZ:DB" : "\(kind.rawValue):HZ"
      let required = kind.hasGain ? 3 : 2
      guard parts.count == required || parts.count == required + 1 else {
        throw EffectText.Fault("\(name) must be \(form) or \(form):Q (got \(Excerpt.quoted(text)))")
      }
      self.kind = kind
      frequency = try EffectText.number(parts[1], Self.frequencies, "\(name): the frequency in Hz")
      gain = kind.hasGain ? try EffectText.number(parts[2], Self.gains, "\(name): the gain in dB") : 0
      q = parts.count > required ? try EffectText.number(parts[required], Self.qValues, "\(name): Q") : Self.defaultQ
    }
  }
}

/// Reads the parts of the text forms of effects.
enum EffectText {
  /// The reason why a text is not a value.
  struct Fault: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  /// The parts between separators, at least one. Compares bytes, because a combining character after a separator would
  /// be one character with it.
  static func parts(_ text: String, separator: Unicode.Scalar) -> [String] {
    text.unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map { String($0) }
  }

  /// Reads a number in JSON's grammar, also with `+`.
  ///
  /// - Parameter name: The name of the value in the message of an error.
  static func number(_ text: String, _ range: ClosedRange<Double>, _ name: String) throws(Fault) -> Double {
    let isSigned = text.utf8.first == UInt8(ascii: "+")
    let bytes = Array(text.utf8.dropFirst(isSigned ? 1 : 0))
    if ASCII.isJSONNumber(bytes[...]), !(isSigned && bytes.first == UInt8(ascii: "-")),
      let value = Double(String(decoding: bytes, as: UTF8.self)), range.contains(value)
    {
      // Normalizes -0 to 0.
      return value == 0 ? 0 : value
    }
    let bounds = "\(NumberText.number(range.lowerBound)) to \(NumberText.number(range.upperBound))"
    throw Fault("\(name) must be a number from \(bounds) (got \(Excerpt.quoted(text)))")
  }
}

extension EqualizerCommand {
  /// The change that a request makes.
  package enum Change: Sendable, Hashable {
    /// The equalizer is only shown.
    case none
    case off
    case replace(RequestedEqualizer)
    /// The gain in dB of an equalizer whose bands stay.
    case preAmp(Double)
  }
}

extension Arguments<EqualizerCommand> {
  /// The change that the request makes.
  ///
  /// - Throws: `bad-arguments` for a band that is not valid, for too many bands, and for `off` with other values.
  package func equalizerChange() throws(MediaError) -> EqualizerCommand.Change {
    let texts = Array(self.bands)
    guard !texts.isEmpty else { return self.preAmp.map { .preAmp($0) } ?? .none }
    if texts.contains("off") {
      guard texts.count == 1, self.preAmp == nil else {
        throw failure("off cannot be combined with bands and pre-amp")
      }
      return .off
    }
    guard texts.count <= EqualizerCommand.Band.maximumCount else {
      throw failure("bands must have at most \(EqualizerCommand.Band.maximumCount) values (got \(texts.count))")
    }
    var bands: [EqualizerCommand.Band] = []
    for (index, text) in texts.enumerated() {
      do throws(EffectText.Fault) {
        bands.append(try EqualizerCommand.Band(text, name: "bands[\(index)]"))
      } catch { throw failure(error.message) }
    }
    return .replace(RequestedEqualizer(bands: bands, preAmp: self.preAmp ?? 0))
  }
}
