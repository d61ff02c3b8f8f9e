import PlayheadMediaCore

/// `channel-mix`: sets or shows how a player mixes the channels of each entry.
package enum ChannelMixCommand: ImmediateCommand {
  /// How channels are mixed.
  package enum Mix: Sendable, Hashable {
    case off
    case mono
    /// Exchanges left and right.
    case swap
    /// Plays the left channel in both front channels.
    case left
    /// Plays the right channel in both front channels.
    case right
    /// The gain of each input (column) in each output (row).
    case matrix([[Double]])

    private static let words: [(word: String, mix: Self)] = [
      ("off", .off), ("mono", .mono), ("swap", .swap), ("left", .left), ("right", .right),
    ]
    static let wordList = words.map(\.word).joined(separator: ", ")
    private static let gains: ClosedRange<Double> = -16...16
    private static let maximumCount = 64

    /// The text form: a word, or the rows of the matrix.
    var text: String {
      guard case .matrix(let rows) = self else { return Self.words.first { $0.mix == self }?.word ?? "off" }
      return rows.map { $0.map(NumberText.number).joined(separator: ",") }.joined(separator: "/")
    }

    /// Reads the text form.
    ///
    /// - Throws: The reason why the text is not a mix.
    init(_ text: String) throws(EffectText.Fault) {
      if let named = Self.words.first(where: { $0.word == text }) {
        self = named.mix
        return
      }
      guard let first = text.utf8.first, first < UInt8(ascii: "A") else {
        throw EffectText.Fault(
          "mix must be one of \(Self.wordList), or the rows of a matrix such as 0.5,0.5/0,1"
            + " (got \(Excerpt.quoted(text)))")
      }
      let rows = EffectText.parts(text, separator: "/").map { EffectText.parts($0, separator: ",") }
      guard rows.count <= Self.maximumCount else {
        throw EffectText.Fault("mix: the matrix must have at most \(Self.maximumCount) rows (got \(rows.count))")
      }
      var matrix: [[Double]] = []
      for (output, row) in rows.enumerated() {
        guard row.count == rows.count else {
          throw EffectText.Fault(
            "mix: the matrix must have as many gains in each row as rows, which is \(rows.count)"
              + " (got \(row.count) in row \(output + 1))")
        }
        var gains: [Double] = []
        for (input, gain) in row.enumerated() {
          gains.append(try EffectText.number(gain, Self.gains, "mix: gain \(input + 1) of row \(output + 1)"))
        }
        matrix.append(gains)
      }
      self = .matrix(matrix)
    }
  }

  package struct Parameters: ParameterList {
    /// Nil: unchanged.
    package let mix: Parameter<String?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      mix = list.optional(
        .mix, .text(maximumByteCount: 65_536), "MATRIX|mono|swap|left|right|off",
        "the rows of a matrix, such as `0.5,0.5/0,1`, or how the channels are mixed; default: `off`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var mix: Mix

    package init(mix: Mix) { self.mix = mix }

    package static let fields: [Field<Self>] = [Field(.channelMix) { $0.mix.text }]
  }

  package static let name: CommandName = "channel-mix"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set how the channels of each entry are mixed, or show it.",
    details: """
      - `mono`: each channel plays the mean of all channels.
      - `swap`: exchanges left and right.
      - `left`, `right`: both front channels play the left or the right channel.
      - MATRIX: the gains of the channels, from -16 to 16. `/` separates the rows, one for each output channel. `,` \
      separates the gains of the input channels in that output channel. There are as many rows as channels, 1 to 64. \
      An entry with another number of channels fails with `invalid-argument`.
      - `off`: leaves the channels unchanged.

      \(EffectCommands.order)
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> channel-mix swap", "< ok channelMix=swap", "> channel-mix 0.5,0.5/0,1", "< ok channelMix=0.5,0.5/0,1"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.requestedMix() }
}

extension Arguments<ChannelMixCommand> {
  /// The requested mix. Nil: unchanged.
  ///
  /// - Throws: `bad-arguments` for a text that is not a mix.
  package func requestedMix() throws(MediaError) -> ChannelMixCommand.Mix? {
    guard let text = self.mix else { return nil }
    do throws(EffectText.Fault) { return try ChannelMixCommand.Mix(text) } catch { throw failure(error.message) }
  }
}
