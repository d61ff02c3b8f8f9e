import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

extension StatusCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    let (state, anchor, chapter) = target.player.onLoop { ($0.state, $0.timebaseAnchor, $0.currentChapter) }
    let item = target.player.onLoop { player in state.currentItemID.flatMap { player.item($0) } }
    return Reply(
      player: target.name, timeControlStatus: state.timeControlStatus.wireName,
      reasonForWaitingToPlay: state.reasonForWaitingToPlay?.rawValue, rate: state.rate, defaultRate: state.defaultRate,
      // Not the rate of the state, because the clock may advance between the two reads.
      position: .init(time: anchor.time, hostTime: anchor.hostTime, timebaseRate: anchor.rate),
      queue: .init(count: state.itemCount, version: state.queueVersion, shuffleSeed: state.shuffleSeed),
      item: Reply.Item(item, state, chapter), settings: Reply.Settings(state))
  }
}

extension StatusCommand.Reply.Item {
  /// The state of the current item of a player. `item` is nil without a current item.
  fileprivate init(_ item: PlayerItem?, _ state: PlayerState, _ chapter: PlayerChapter?) {
    let titles = item?.titleAndArtist
    let streamTitle = item?.streamTitle?.title
    self.init(
      id: state.currentItemID, status: state.itemStatus.name, error: state.itemStatus.error,
      duration: state.itemDuration, providesPreciseDuration: state.itemProvidesPreciseDuration,
      loop: state.loop.map { Loop(range: $0.range, passes: $0.loopCount, remainingCount: $0.remainingCount) },
      chapter: chapter.map { Chapter(number: $0.number, title: $0.chapter.title) }, title: titles?.title,
      artist: titles?.artist, album: item?.tagTitles?.album, streamTitle: streamTitle?.title,
      streamURL: streamTitle?.url)
  }
}

extension StatusCommand.Reply.Settings {
  fileprivate init(_ state: PlayerState) {
    self.init(
      volume: state.volume, isFading: state.isFading, isMuted: state.isMuted, pan: state.pan,
      actionAtItemEnd: state.actionAtItemEnd.rawValue, repeatMode: state.repeatMode.rawValue,
      onFailure: .init(sameWordAs: state.itemFailurePolicy),
      automaticallyWaits: state.automaticallyWaitsToMinimizeStalling,
      pitchAlgorithm: .init(sameWordAs: state.audioTimePitchAlgorithm), replayGainMode: state.replayGain.mode.rawValue,
      crossfade: state.crossfade?.duration)
  }
}
