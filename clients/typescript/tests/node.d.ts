// The parts of Node that the session and the example use. A program has them from @types/node.
declare module "net" {
  export function connect(path: string): import("./playhead").Stream;
}
declare const process: { argv: string[]; env: { [name: string]: string | undefined }; exitCode: number };
declare const console: { log(text: string): void };
