import PlaylistFuzzing

fuzz(.m3u)
