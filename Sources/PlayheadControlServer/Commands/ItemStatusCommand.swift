import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension ItemStatusCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    let item = try context.client.item(arguments.id, of: target, name)
    let loaded = try target.player.tryOnLoop { player throws(MediaError) in try player.loadedTimeRanges(of: item.id) }
    let status = item.status
    let isCurrent = target.state.currentItemID == item.id
    let date = isCurrent ? target.player.onLoop { $0.currentDate() } : nil
    let gain = try target.player.tryOnLoop { player throws(MediaError) in try player.appliedGain(of: item.id) }
    return Reply(
      item: item.id, path: item.asset.wireLocation, status: status.name, duration: item.shownDuration,
      providesPreciseDuration: item.providesPreciseDuration, isCurrent: isCurrent,
      forwardPlaybackEndTime: item.forwardPlaybackEndTime, reversePlaybackEndTime: item.reversePlaybackEndTime,
      preferredForwardBufferDuration: item.preferredForwardBufferDuration, abilities: Reply.Abilities(item),
      buffer: Reply.Buffer(item, loaded: loaded), liveEdge: item.liveWindow?.edge, date: date.map(ISODate.text),
      audioTimePitchAlgorithm: .init(sameWordAs: item.audioTimePitchAlgorithm),
      ownAudioTimePitchAlgorithm: item.ownAudioTimePitchAlgorithm.map { .init(sameWordAs: $0) },
      gain: gain.map(Reply.Gain.init), titles: Reply.Titles(item), range: item.timeRange,
      error: status.error)
  }
}

extension ItemStatusCommand.Reply.Abilities {
  fileprivate init(_ item: PlayerItem) {
    self.init()
    (playFastForward, playSlowForward) = (item.canPlayFastForward, item.canPlaySlowForward)
    (playReverse, playSlowReverse) = (item.canPlayReverse, item.canPlaySlowReverse)
    playFastReverse = item.canPlayFastReverse
    (stepForward, stepBackward) = (item.canStepForward, item.canStepBackward)
  }
}

extension ItemStatusCommand.Reply.Buffer {
  fileprivate init(_ item: PlayerItem, loaded: [TimeRange]) {
    self.init(
      seekableTimeRanges: item.seekableTimeRanges, loadedTimeRanges: loaded,
      isPlaybackLikelyToKeepUp: item.isPlaybackLikelyToKeepUp, isPlaybackBufferFull: item.isPlaybackBufferFull,
      isPlaybackBufferEmpty: item.isPlaybackBufferEmpty)
  }
}

extension ItemStatusCommand.Reply.Gain {
  fileprivate init(_ gain: AppliedGain) {
    self.init(
      decibels: gain.roundedDecibels, source: gain.source?.rawValue, isLimited: gain.isLimitedByPeak)
  }
}

extension ItemStatusCommand.Reply.Titles {
  fileprivate init(_ item: PlayerItem) {
    let (titles, stream) = (item.titleAndArtist, item.streamTitle?.title)
    self.init(
      title: titles.title, artist: titles.artist, album: item.tagTitles?.album, streamTitle: stream?.title,
      streamURL: stream?.url)
  }
}
