// A session with a daemon whose clock is virtual. Prints one JSON object, which test_typescript.py compares.
// usage: node session.js SOCKET FILE FILE

import * as net from "net";
import { Client, Events, PlayheadError, Seconds } from "./playhead";

/** The seconds of a time that must be a number. */
function seconds(time: Seconds | null): number {
  if (typeof time !== "number") throw new Error(`not a number: ${time}`);
  return time;
}

async function main(socket: string, files: string[]): Promise<void> {
  const client = new Client(net.connect(socket));
  const found: { [name: string]: unknown } = {};

  const { protocol } = await client.call("hello", { protocol: 1 });
  found.protocol = protocol;

  const loaded = await client.call("load", { paths: files, wait: "ready" });
  const [first, second] = loaded.items ?? [];
  if (first === undefined || second === undefined) throw new Error("load returned fewer than two items");
  found.skipped = loaded.rows.length;

  // The first event has the current value. The player may wait for its buffer before it plays.
  const changes: Array<Events["changed"]> = [];
  const played = new Promise<Events["changed"]>((resolve) => {
    client.on("changed", (event) => {
      changes.push(event);
      if (event.new === "playing") resolve(event);
    });
  });
  const subscription = await client.call("observe", { keys: ["player.timeControlStatus"] });

  const playing = await client.call("play");
  // The item is in the reply only if a range is played.
  found.play = playing.item ?? "no item";
  const event = await played;
  found.event = { isOfSubscription: event.id === subscription.id, player: event.player, key: event.key, initial: event.initial ?? "absent" };
  found.firstEvent = { new: changes[0]?.new, cause: changes[0]?.cause, initial: changes[0]?.initial };

  const sought = await client.call("seek", { time: "0:02.5" });
  found.seek = { finished: sought.finished, time: seconds(sought.time), exact: sought.exact };

  await client.call("wait", { conditions: "status=playing" });
  const status = await client.call("status", { player: "main" });
  found.status = {
    timeControlStatus: status.timeControlStatus, reason: status.reasonForWaitingToPlay, count: status.count,
    isFirst: status.item !== null && status.item === first, duration: seconds(status.duration), title: status.title?.toUpperCase(),
  };

  // The request waits until the clock has advanced. Another request on the connection gets its reply before.
  let isWaiting = true;
  const waited = client.call("wait", { conditions: ["time>=4", "status=playing"], timeout: 60 }).finally(() => { isWaiting = false; });
  await client.call("ping");
  found.waits = isWaiting;
  await client.call("clock.advance", { duration: 3 });
  found.waited = seconds((await waited).time) >= 4;

  const list = await client.call("list", { limit: 10 });
  found.rows = list.rows.map((row) => [row.item === first || row.item === second, row.index, row.status, row.current, seconds(row.duration)]);

  const reply = await client.request("item.status", { id: second + 1 });
  if (!reply.error) throw new Error("item.status found an item that does not exist");
  const { data } = reply.error;
  // The comparison narrows the type of the number.
  const number: 2004 | undefined = data.name === "no-such-item" ? data.number : undefined;
  found.error = { code: reply.error.code, number, operation: data.operation };
  found.thrown = await client.call("pause", { player: "nobody" }).catch((error) => error instanceof PlayheadError && error.failure.data.name);

  const late = client.call("wait", { conditions: "time>=9" }).catch((error: Error) => error.message);
  client.close();
  found.afterClose = [await late, await client.call("ping").catch((error: Error) => error.message)];
  console.log(JSON.stringify(found));
}

const [socket, ...files] = process.argv.slice(2);
if (socket === undefined) throw new Error("the socket is missing");
main(socket, files).catch((error) => {
  console.log(String(error.stack));
  process.exitCode = 1;
});
