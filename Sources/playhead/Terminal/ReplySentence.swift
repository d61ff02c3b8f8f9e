import PlayheadWireProtocol

/// Replies that fit one line, for people.
struct ReplySentence {
  private let fields: ServerLine.TextFields
  /// The reply to the request of `ReplyContext`.
  private let context: DaemonReply?

  /// The sentence for a reply. Nil if the command has none, or if the reply has other fields than expected.
  static func text(ofCommand command: String, _ reply: DaemonReply, context: DaemonReply?) -> String? {
    guard let name = CommandName(rawValue: command), reply.rows.isEmpty else { return nil }
    let sentence = ReplySentence(fields: reply.fields, context: context)
    return sentence.text(of: name).map { "\($0)\n" }
  }

  private func text(of command: CommandName) -> String? {
    // The other fields of a reply for all players are those of the first one.
    if let names = fields.list("players") { return "Players: \(Terminal.printable(names.joined(separator: ", ")))" }
    return switch command {
    case SeekCommand.name, StepCommand.name, NextChapterCommand.name, PreviousChapterCommand.name,
      BookmarkGoCommand.name:
      seek
    case JumpCommand.name, NextCommand.name, PreviousCommand.name: entry
    case MuteCommand.name: flag("isMuted", "Muted", "Not muted")
    case AutoWaitCommand.name:
      flag("automaticallyWaitsToMinimizeStalling", "Waits after an underrun", "Pauses after an underrun")
    case ShuffleCommand.name:
      flag("shuffle", "Shuffled" + (value("seed").map { " (seed \($0))" } ?? ""), "Not shuffled")
    case PrerollCommand.name: flag("ready", "Ready to play", "Not ready to play")
    case ClearCommand.name: edit("The queue is empty")
    case RemoveCommand.name: edit("Removed")
    case MoveCommand.name: edit("Moved")
    case WaitCommand.name: waited
    case FadeCommand.name: faded
    case PlayAtCommand.name: started
    case ReplayGainCommand.name: replayGain
    case SilenceCommand.name: silence
    case PlayCommand.name: value("time").map { "Paused at \(HumanText.clock($0))" }
    case LoopCommand.name: loop
    case CrossfadeCommand.name: crossfade
    case EqualizerCommand.name: equalizer
    case CompressorCommand.name: compressor
    case LimiterCommand.name: limiter
    case BookmarkAddCommand.name: bookmark
    case QueueSaveCommand.name: both("count", "name").map { "Saved \(entries($0)) as \($1)" }
    case QueueLoadCommand.name: both("count", "name").map { "Loaded \(entries($0)) of \($1)" }
    case StateSaveCommand.name: "Saved"
    case ConfigReloadCommand.name: configuration
    case PlayerCreateCommand.name: value("player").map { "Created player \($0)" }
    case ReplaceCommand.name, ItemCopyCommand.name: value("items").map { "Added entry \($0)" }
    case ItemBufferCommand.name: buffer
    case ItemEndTimeCommand.name: endTime
    case ItemPitchCommand.name: both("item", "audioTimePitchAlgorithm").map { "Entry \($0), pitch: \($1)" }
    case ItemSelectCommand.name: selection
    case ItemVolumeCommand.name: value("item").map { "Entry \($0) has no volume changes" }
    case SessionActiveCommand.name: flag("isActive", "The session is active", "The session is not active")
    case SessionCategoryCommand.name, SessionStatusCommand.name: session
    case SessionPolicyCommand.name: sessionPolicy
    case OutputSetCommand.name, OutputStatusCommand.name: output
    case RecordStopCommand.name:
      both("file", "duration").map { "\($0): \(HumanText.clock($1)), \(value("size") ?? "0") bytes" }
    default: setting
    }
  }

  // MARK: - Values

  /// The printable value of a field; nil for an absent or empty one.
  private func value(_ name: String) -> String? {
    fields[name].flatMap { ["none", "indefinite", ""].contains($0) ? nil : Terminal.printable($0) }
  }

  private func both(_ first: String, _ second: String) -> (String, String)? {
    guard let first = value(first), let second = value(second) else { return nil }
    return (first, second)
  }

  private func flag(_ name: String, _ positive: String, _ negative: String) -> String? {
    switch fields[name] {
    case "true"?, "on"?: positive
    case "false"?, "off"?: negative
    default: nil
    }
  }

  private func entries(_ count: String) -> String { count == "1" ? "1 entry" : "\(count) entries" }

  /// An edit of the queue, or the number of edits that wait for `queue.commit`.
  private func edit(_ text: String) -> String? {
    if let count = value("pending") { return "Pending edits: \(count)" }
    return fields["version"].map { _ in text }
  }

  /// The names of fields with the value of a setting.
  private static let settings = [
    "volume": "Volume", "rate": "Rate", "defaultRate": "Default rate", "pan": "Pan", "repeat": "Repeat",
    "audioTimePitchAlgorithm": "Pitch", "actionAtItemEnd": "At the end", "onFailure": "On failure",
    "channelMix": "Channel mix",
  ]

  /// The value of a setting that is the only field.
  private var setting: String? {
    guard fields.entries.count == 1, let field = fields.entries.first, let title = Self.settings[field.name] else {
      return nil
    }
    let value = field.name == "volume" ? HumanText.volume(field.value) : Terminal.printable(field.value)
    return "\(title): \(value)"
  }

  // MARK: - Sentences

  private var seek: String? {
    guard let finished = fields["finished"], let time = fields["time"] else { return nil }
    guard finished == "true" else { return "Not carried out (\(value("reason") ?? "unknown reason"))" }
    var text = HumanText.clock(time)
    if let status = context?.fields, status["item"] == fields["item"], let duration = status["duration"],
      Double(duration) != nil
    {
      text += " of \(HumanText.clock(duration))"
    }
    if fields["clamped"] == "true" { text += " (the requested time is outside the entry)" }
    if fields["exact"] == "false" { text += " (not exact\(value("reason").map { ": \($0)" } ?? ""))" }
    return text
  }

  private var entry: String? {
    guard fields["item"] != nil else { return nil }
    guard let item = value("item") else { return "The queue has ended" }
    guard let row = context?.rows.first, row["item"] == item else { return "Entry \(item)" }
    return "Entry \(item): \(EntryTitle.withArtist(row))"
  }

  private var waited: String? {
    guard let status = fields["timeControlStatus"], let time = fields["time"] else { return nil }
    let state = ["playing": "Playing", "paused": "Paused"][status] ?? "Waiting"
    return state + (value("item") == nil ? ", no entry" : " at \(HumanText.clock(time))")
  }

  private var faded: String? {
    switch (fields["finished"], fields["reason"]) {
    case ("true"?, nil): "The fade has ended"
    case ("false"?, "replaced"?): "Another volume replaced the fade"
    case ("false"?, "notPlaying"?): "The player does not play; the fade continues during playback"
    default: nil
    }
  }

  private var started: String? {
    guard let frame = value("frame"), let late = fields["late"], let spread = fields["spread"] else { return nil }
    var text = "Started at frame \(frame) of the output"
    if late != "0" { text += ", \(Terminal.printable(late)) frames late" }
    if spread != "0" { text += "; the players are \(Terminal.printable(spread)) frames apart" }
    return text
  }

  private var silence: String? {
    guard let field = fields["duration"], let threshold = value("threshold") else { return nil }
    guard let duration = value("duration") else { return field == "none" ? "Silence is not reported" : nil }
    return "Reports silence of \(duration) s below \(threshold) dBFS"
  }

  private var replayGain: String? {
    guard let mode = value("mode"), let preAmp = fields["preAmp"] else { return nil }
    var text = "Replay gain: \(mode)"
    if Double(preAmp) != 0 { text += ", \(Terminal.printable(preAmp)) dB more" }
    // Without ReplayGain there is a gain of 0, and no source.
    if let (item, gain) = both("item", "gain"), let source = value("source") {
      text += "; entry \(item): \(gain) dB (\(source))"
      if fields["limited"] == "true" { text += ", limited by its peak" }
    }
    return text
  }

  private var loop: String? {
    guard fields["start"] != nil else { return nil }
    guard let (start, end) = both("start", "end") else { return "No loop" }
    let count = value("count").map { $0 == "1" ? "1 more time" : "\($0) more times" } ?? "indefinitely"
    return "Loop from \(HumanText.clock(start)) to \(HumanText.clock(end)), \(count)"
  }

  private var crossfade: String? {
    guard let field = fields["crossfade"] else { return nil }
    guard field != "none", let (out, into) = both("fadeOut", "fadeIn"), let curve = value("curve") else {
      return "No cross-fade"
    }
    let fades = [("out", out), ("in", into)].filter { $0.1 != field }.map { ", fade-\($0.0) \($0.1) s" }
    return "Cross-fade: \(Terminal.printable(field)) s, \(curve)\(fades.joined())"
  }

  private var equalizer: String? {
    guard fields["isEnabled"] == "true", let gain = value("preAmp") else {
      return flag("isEnabled", "Equalizer", "No equalizer")
    }
    let bands = value("bands").map { $0.split(separator: ",").joined(separator: ", ") } ?? ""
    return "Equalizer: \(bands.isEmpty ? "no bands" : bands)\(gain == "0" ? "" : ", \(gain) dB")"
  }

  private var compressor: String? {
    guard fields["isEnabled"] == "true", let (threshold, ratio) = both("threshold", "ratio"),
      let (attack, release) = both("attack", "release"), let (knee, makeUp) = both("knee", "makeUp")
    else { return flag("isEnabled", "Compressor", "No compressor") }
    return "Compressor: \(ratio):1 from \(threshold) dBFS, knee \(knee) dB, attack \(attack) s, release \(release) s, "
      + "make-up \(makeUp) dB"
  }

  private var limiter: String? {
    guard fields["isEnabled"] == "true", let ceiling = value("ceiling"),
      let (release, lookAhead) = both("release", "lookAhead")
    else { return flag("isEnabled", "Limiter", "No limiter") }
    return "Limiter: \(ceiling) dBFS, release \(release) s, look-ahead \(lookAhead) s"
  }

  private var bookmark: String? {
    both("bookmark", "time").map { number, time in
      "Bookmark \(number) at \(HumanText.clock(time))" + (value("name").map { ": \($0)" } ?? "")
    }
  }

  private var configuration: String? {
    guard let changed = fields.list("changed"), let pending = fields.list("restart") else { return nil }
    func list(_ names: [String]) -> String { Terminal.printable(names.joined(separator: ", ")) }
    let parts =
      (changed.isEmpty ? [] : ["Changed: \(list(changed))"])
      + (pending.isEmpty ? [] : ["After a restart: \(list(pending))"])
    return parts.isEmpty ? "The configuration has not changed" : parts.joined(separator: "\n")
  }

  private var buffer: String? {
    both("item", "preferredForwardBufferDuration").map { item, duration in
      "Entry \(item), buffer: " + (Double(duration) == 0 ? "chosen by the player" : HumanText.clock(duration))
    }
  }

  private var endTime: String? {
    guard let item = value("item"), fields["forwardPlaybackEndTime"] != nil else { return nil }
    let forward = value("forwardPlaybackEndTime").map { "ends at \(HumanText.clock($0))" } ?? "plays to its end"
    let reverse = value("reversePlaybackEndTime").map { ", in reverse at \(HumanText.clock($0))" } ?? ""
    return "Entry \(item) \(forward)\(reverse)"
  }

  private var selection: String? {
    guard let item = value("item"), fields["audio"] != nil else { return nil }
    let audio = value("audio").map { "audio track \($0)" } ?? "no audio track"
    return "Entry \(item): \(audio), " + (value("subtitles").map { "subtitle track \($0)" } ?? "no subtitles")
  }

  private var session: String? {
    guard let (category, mode) = both("category", "mode"), let other = value("otherAudio") else { return nil }
    var parts = ["Category: \(category)"]
    if mode != "default" { parts.append("mode \(mode)") }
    if let options = value("options") { parts.append("options \(options)") }
    parts.append("other audio: \(other)")
    if let state = flag("isActive", "active", "not active") { parts.append(state) }
    if fields["isInterrupted"] == "true" { parts.append("interrupted") }
    return parts.joined(separator: ", ")
  }

  private var sessionPolicy: String? {
    guard let (atEnd, atTimeout) = both("atEnd", "atTimeout") else { return nil }
    let timeout = value("timeout").map { "; after \($0) s: \(atTimeout)" } ?? ""
    return "After an interruption: \(atEnd)\(timeout)" + (value("fade").map { "; fade: \($0) s" } ?? "")
  }

  private var output: String? {
    guard let (output, state) = both("output", "state") else { return nil }
    let format = both("sampleRate", "channels").map { ", \($0) Hz, \($1) channels" } ?? ""
    var text = "\(output): \(state)\(format)"
    for (name, title) in [("selected", "selected"), ("preferred", "preferred"), ("lost", "if it is lost")] {
      // `pause` is the default.
      if let value = value(name), name != "lost" || value != "pause" { text += "; \(title): \(value)" }
    }
    return text
  }
}
