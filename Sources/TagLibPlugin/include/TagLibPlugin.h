// libPlayheadTags.so: TagLibShim as a separate library, so that only processes that read tags load TagLib.
