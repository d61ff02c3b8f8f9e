import PlaylistFuzzing

fuzz(.pls)
