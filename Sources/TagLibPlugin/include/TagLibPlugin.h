// libPlayheadTags.so: TagLibShim as a library of its own, so that only who reads tags pays for TagLib.
