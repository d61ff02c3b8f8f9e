// The client that `generate` appends to the types of a specification.
import { ErrorData, Errors, Events, Methods } from "./playhead";
// begin client
declare const none: unique symbol;
/** An object without members. */
export interface Empty { readonly [none]?: never }

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]["params"];
export type Result<M extends Method> = Methods[M]["result"];
export type EventName = keyof Events;

/** The data of one of these errors, with its number and name. */
export type DataOf<E extends ErrorName> = E extends ErrorName ? ErrorData & { number: Errors[E]; name: E } : never;

/** An error that the daemon returned for a method. `code` is that of JSON-RPC if it has one, else `data.number`. */
export interface Failure<M extends Method> { code: number; message: string; data: DataOf<Methods[M]["errors"]> }

/** The reply to a request: the result or the error. */
export type Reply<M extends Method> = { result: Result<M>; error?: undefined } | { result?: undefined; error: Failure<M> };

/** The parameters of a request, which may be omitted if none is required. */
type Arguments<M extends Method> = {} extends Params<M> ? [params?: Params<M>] : [params: Params<M>];

/** A byte stream to the daemon, such as a Socket of Node's module `net`. */
export interface Stream {
  setEncoding(encoding: "utf8"): unknown;
  on(event: "data", listener: (text: string) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  write(text: string): unknown;
  destroy(): unknown;
}

/** An error of the daemon, thrown by `Client.call`. */
export class PlayheadError<M extends Method = Method> extends Error {
  constructor(readonly method: M, readonly failure: Failure<M>) {
    super(failure.message);
  }
}

/** A connection to playheadd, for example `new Client(net.connect(path))`. */
export class Client {
  private lastId = 0;
  private rest = "";
  private ended?: Error;
  private readonly requests = new Map<number, { resolve(reply: any): void; reject(error: Error): void }>();
  private readonly listeners = new Map<string, Set<(params: any) => void>>();

  constructor(private readonly stream: Stream) {
    stream.setEncoding("utf8");
    stream.on("data", (text) => this.receive(text));
    stream.on("error", (error) => this.end(error));
    stream.on("close", () => this.end(new Error("the connection to playheadd was closed")));
  }

  /** Sends a request. Resolves with the result or the error. Rejects if the connection ends before the reply. */
  request<M extends Method>(method: M, ...[params]: Arguments<M>): Promise<Reply<M>> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(this.ended);
      const id = ++this.lastId;
      this.requests.set(id, { resolve, reject });
      this.stream.write(JSON.stringify({ jsonrpc: "2.0", id, method, params: params ?? {} }) + "\n");
    });
  }

  /** Sends a request. Resolves with the result. Rejects with a PlayheadError, or if the connection ends. */
  async call<M extends Method>(method: M, ...params: Arguments<M>): Promise<Result<M>> {
    const reply = await this.request(method, ...params);
    if (reply.error) throw new PlayheadError(method, reply.error);
    return reply.result!;
  }

  /** Calls `listener` for each event with this name, from any subscription. Returns a function that ends the calls. */
  on<E extends EventName>(event: E, listener: (params: Events[E]) => void): () => void {
    const found = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, found.add(listener));
    return () => void found.delete(listener);
  }

  /** Closes the connection. Requests without a reply are rejected. */
  close(): void {
    this.end(new Error("the client was closed"));
  }

  private receive(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop()!;
    for (const line of lines) {
      // The greeting and events before the first request are in text form.
      if (!line.startsWith("{")) continue;
      const message = JSON.parse(line);
      if (message.method !== undefined) {
        for (const listener of this.listeners.get(message.method) ?? []) listener(message.params);
        continue;
      }
      const request = this.requests.get(message.id);
      if (!request) return this.end(new Error(`unexpected reply: ${line}`));
      this.requests.delete(message.id);
      request.resolve(message);
    }
  }

  private end(error: Error): void {
    this.ended ??= error;
    this.stream.destroy();
    for (const request of this.requests.values()) request.reject(this.ended);
    this.requests.clear();
  }
}
