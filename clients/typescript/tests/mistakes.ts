// Each line with a code is a mistake that the compiler must report with this code, and with no other one. This proves
// that the generated types are neither `any` nor wider than the specification.

import { Client, DataOf, Entry, Events, Methods, Result, Seconds } from "./playhead";

declare const client: Client;
declare const status: Result<"status">;
declare const seek: Result<"seek">;
declare const list: Result<"list">;
declare const load: Result<"load">;
declare const row: Result<"list">["rows"][number];
declare const tag: Result<"item.metadata">["rows"][number];
declare const changed: Events["changed"];

// Methods.
client.call("plays"); // TS2345: an unknown method
client.call("Play"); // TS2345: methods are case-sensitive
client.call(""); // TS2345: an empty method
client.call("item-status"); // TS2345: a `-` instead of the dot
client.request("seeks", {}); // TS2345: an unknown method of `request`

// Parameters.
client.call("seek", { tiem: 1 }); // TS2345: an unknown parameter
client.call("seek", { time: 1, toleranceBefore: 0 }); // TS2345: an unknown parameter next to a known one
client.call("load", { paths: "a.flac", ifVersion: 1 }); // TS2345: camelCase instead of `if-version`
client.call("ping", { player: "main" }); // TS2345: a parameter of a method without parameters
client.call("load"); // TS2554: the required parameters are missing
client.call("load", {}); // TS2345: a required parameter is missing
client.call("clock.advance", {}); // TS2345: a required parameter is missing
client.call("load", { paths: null }); // TS2322: null for a required parameter
client.call("load", { paths: 1 }); // TS2322: a number instead of a path
client.call("load", { paths: ["a.flac", 1] }); // TS2322: a number among paths
client.call("load", { paths: "a.flac", wait: "loaded" }); // TS2322: a word that the enumeration does not have
client.call("load", { paths: "a.flac", precise: "yes" }); // TS2322: a word instead of a flag
client.call("load", { paths: "a.flac", "if-version": "1" }); // TS2322: a string instead of an integer
client.call("seek", { time: true }); // TS2322: a flag instead of a time
client.call("seek", { time: { seconds: 1 } }); // TS2322: an object instead of a time
client.call("seek", { fast: 1 }); // TS2322: a number instead of a flag
client.call("rate", { rate: "2" }); // TS2322: a string instead of a number
client.call("volume", { player: ["main"] }); // TS2322: an array instead of a name
client.call("wait", { conditions: [] , timeout: [1] }); // TS2322: an array instead of a time
client.call("end-action", { action: "repeat" }); // TS2322: an action that does not exist
client.call("output.set", { device: 0 }); // TS2322: an index instead of a name
client.call("play", ["main"]); // TS2559: parameters by position
client.call("play", {}, {}); // TS2554: too many arguments
const entry: Entry = { id: 1 }; // TS2322: an object instead of an entry

// Results.
status.position; // TS2339: an unknown field
status.timecontrolStatus; // TS2551: a field in another case
status.rows; // TS2339: rows of a reply without rows
list.rows[0].name; // TS2339: an unknown field of a row
list.rows.item; // TS2339: a field of a row, read from the array
client.call("ping").then((reply) => reply.time); // TS2339: a field of another method
client.call("asset.close", { id: 1 }).then((reply) => reply.id); // TS2339: a field of an empty result
client.call("seek").time; // TS2339: a field of the promise
const item: number = status.item; // TS2322: the item can be null
const duration: number = row.duration; // TS2322: the duration can be a word or null
const time: number = seek.time; // TS2322: the time can be a word
const difference = seek.time - 1; // TS2362: the time can be a word
load.items[0]; // TS2532: the items can be absent
load.items.length; // TS2532: the items can be absent
row.title.length; // TS2532: the title can be absent
row.path.length; // TS2531: the path can be null
list.next + 1; // TS2531: the next offset can be null
tag.value.length; // TS2571: the value can be of any type
const rate: string = status.rate; // TS2322: a number as a string
const id: string = row.item; // TS2322: an integer as a string
const current: string = row.current; // TS2322: a flag as a string
if (status.timeControlStatus === "stopped") throw 0; // TS2367: a status that does not exist
if (row.status === "ready") throw 0; // TS2367: a status that does not exist
if (status.reasonForWaitingToPlay === "none") throw 0; // TS2367: `none` is null in JSON
const word: Seconds = "end"; // TS2322: a word that no time has

// Events.
client.on("change", () => {}); // TS2345: an unknown event
client.on("changed", (event) => event.value); // TS2339: a field of another event
client.on("tick", (event: Events["changed"]) => event.key); // TS2345: the fields of another event
if (changed.key === "item.title") changed.old.length; // TS2533: the old value can be absent or null
if (changed.key === "output.devices") changed.new.length; // TS2531: the devices can be unknown
if (changed.key === "player.rate") changed.new.length; // TS2339: the rate is a number
if (changed.key === "player.timeControlStatus" && changed.new === "stopped") throw 0; // TS2367: a status that does not exist
if (changed.key === "player.mood") throw 0; // TS2367: a key that does not exist
client.on("changed", (event) => event.item.toFixed()); // TS2532: the item can be absent
const cause: "end" = changed.cause; // TS2322: a cause that does not exist
const initial: boolean = changed.initial; // TS2322: the flag can be absent

// Errors.
client.request("seek").then((reply) => reply.result.time); // TS2532: the request can have failed
client.request("seek").then((reply) => reply.error.code); // TS2532: the request can have succeeded
client.request("seek").then(({ error }) => error?.data.name === "timeout"); // TS2367: an error that does not exist
client.request("ping").then(({ error }) => error?.data.name === "no-such-item"); // TS2367: an error of other methods
const data: DataOf<"no-such-item"> = { number: 2005, name: "no-such-item" }; // TS2322: the number of another error
const name: Methods["seek"]["errors"] = "no-such-items"; // TS2820: a misspelt error
