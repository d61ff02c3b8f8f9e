// The minimum start of a player: a process that is linked to FFmpeg's libraries, reaches main and opens a file. It is
// the reference for the start time of playheadd. usage: BareStart FILE; prints a line when the file is open.
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  AVFormatContext *context = NULL;
  if (argc != 2 || avformat_open_input(&context, argv[1], NULL, NULL) < 0) {
    fprintf(stderr, "BareStart: cannot open the file\n");
    return 1;
  }
  // Use all libraries of the daemon, so that the linker keeps them.
  char line[64];
  int length = snprintf(line, sizeof line, "ready %u %u %u\n", avcodec_version(), swresample_version(), swscale_version());
  if (write(STDOUT_FILENO, line, (size_t)length) != length) return 1;
  avformat_close_input(&context);
  return 0;
}
