[playlist]
NumberOfEntries=4

Title3=Three
File3=/abs/three.flac
Length3=30
File1=http://stream.example:8000/
Title1=(#1 - 2/200) Radio = good
Length1=-1
file12=sub/twelve.ogg
LENGTH12=12
Title7=no file
Version=2
