/// The id of an observer until its removal; unique within an engine.
public typealias ObserverToken = UInt64
