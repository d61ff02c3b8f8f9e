/// The command names, the same in both forms. At most 16 bytes each, so that a lookup compares two machine words.
public enum CommandName: String, Sendable, Hashable, CaseIterable {
  case append
  case assetArtwork = "asset.artwork"
  case assetCancel = "asset.cancel"
  case assetChapters = "asset.chapters"
  case assetClose = "asset.close"
  case assetLoad = "asset.load"
  case assetMetadata = "asset.metadata"
  case assetOpen = "asset.open"
  case assetSelection = "asset.selection"
  case assetStatus = "asset.status"
  case assetTracks = "asset.tracks"
  case at
  case atChapters = "at-chapters"
  case autoWait = "auto-wait"
  case bookmarkAdd = "bookmark.add"
  case bookmarkGo = "bookmark.go"
  case bookmarkList = "bookmark.list"
  case bookmarkRemove = "bookmark.remove"
  case bye
  case cancel
  case clear
  case clockAdvance = "clock.advance"
  case configReload = "config.reload"
  case defaultRate = "default-rate"
  case endAction = "end-action"
  case events
  case explain
  case export
  case fade
  case folderList = "folder.list"
  case hello
  case help
  case history
  case image
  case insert
  case itemArtwork = "item.artwork"
  case itemBuffer = "item.buffer"
  case itemChapters = "item.chapters"
  case itemCopy = "item.copy"
  case itemEndTime = "item.end-time"
  case itemLog = "item.log"
  case itemMetadata = "item.metadata"
  case itemPitch = "item.pitch"
  case itemSelect = "item.select"
  case itemSelection = "item.selection"
  case itemStatus = "item.status"
  case itemTracks = "item.tracks"
  case itemVolume = "item.volume"
  case jump
  case list
  case load
  case loop
  case mediaSelection = "media-selection"
  case meter
  case move
  case mute
  case next
  case nextChapter = "next-chapter"
  case observe
  case onFailure = "on-failure"
  case outputList = "output.list"
  case outputSet = "output.set"
  case outputStatus = "output.status"
  case pan
  case pause
  case ping
  case pitch
  case play
  case playAt = "play-at"
  case playImmediately = "play-immediately"
  case playerClose = "player.close"
  case playerCreate = "player.create"
  case playerList = "player.list"
  case playlistExport = "playlist.export"
  case preroll
  case prerollCancel = "preroll.cancel"
  case previous
  case previousChapter = "previous-chapter"
  case queueAbort = "queue.abort"
  case queueBegin = "queue.begin"
  case queueChanges = "queue.changes"
  case queueCommit = "queue.commit"
  case queueEdit = "queue.edit"
  case queueForget = "queue.forget"
  case queueLoad = "queue.load"
  case queueSave = "queue.save"
  case queueSaved = "queue.saved"
  case rate
  case rateAt = "rate-at"
  case rateTogether = "rate-together"
  case recordDelete = "record.delete"
  case recordList = "record.list"
  case recordPause = "record.pause"
  case recordPrepare = "record.prepare"
  case recordStart = "record.start"
  case recordStatus = "record.status"
  case recordStop = "record.stop"
  case recordUnwatch = "record.unwatch"
  case recordWatch = "record.watch"
  case remove
  case `repeat`
  case replace
  case replayGain = "replay-gain"
  case rpcDiscover = "rpc.discover"
  case scan
  case scanCancel = "scan.cancel"
  case seek
  case seekCancel = "seek.cancel"
  case sessionActive = "session.active"
  case sessionCategory = "session.category"
  case sessionPolicy = "session.policy"
  case sessionResume = "session.resume"
  case sessionStatus = "session.status"
  case shuffle
  case state
  case stateSave = "state.save"
  case stats
  case status
  case step
  case stop
  case tick
  case toggle
  case unmeter
  case unobserve
  case untick
  case volume
  case wait
  case waveform
}
