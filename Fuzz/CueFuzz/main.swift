import PlaylistFuzzing

fuzz(.cue)
