/// The categories of AVAudioSession.
package enum SessionCategory: String, Sendable, Hashable, CaseIterable {
  case ambient
  case soloAmbient
  case playback
  case record
  case playAndRecord
  case multiRoute
  case audioProcessing
}

/// The modes of AVAudioSession.
package enum SessionMode: String, Sendable, Hashable, CaseIterable {
  case `default`
  case voiceChat
  case videoChat
  case gameChat
  case videoRecording
  case measurement
  case moviePlayback
  case spokenAudio
  case voicePrompt
}

/// The options of AVAudioSession.
package enum SessionOption: String, Sendable, Hashable, CaseIterable {
  case mixWithOthers
  case duckOthers
  case allowBluetooth
  case defaultToSpeaker
  case interruptSpokenAudioAndMixWithOthers
  case allowBluetoothA2DP
  case allowAirPlay
}

/// The state of interrupted players after the interruption.
package enum InterruptionOutcome: String, Sendable, Hashable, CaseIterable {
  case resume
  case pause
}
