import { describe, expect, it } from "vitest";
import { mix, parse, Range } from "../src/colors";
import { share } from "../src/drift";
import type { Message, Table } from "../src/messages";
import { Player } from "../src/player";
import type { RunInfo } from "../src/scene";
import type { BlockRequest, Source } from "../src/source";
import { LivePlayback, nearest, Playback } from "../src/playback";
import { flatNumbers } from "../src/obstacle";

const column = (values: number[]): Table => ({ rows: values.length, columns: 1, get: (row) => values[row] });
const info = (records: number, end: number) => ({ records, start: 0, end }) as RunInfo;

function source(asked: BlockRequest[]): Source {
  return {
    async block(request) {
      asked.push(request);
      const times: number[] = [];
      for (let r = request.start; r < request.stop; r += request.stride) times.push(r / 100);
      return { header: { kind: "block", arrays: [], zipped: false }, tables: new Map([["time", column(times)]]) } as Message;
    },
    series: async () => null,
    send: () => {},
  };
}

describe("the player", () => {
  it("loops, or stops at the end", () => {
    const player = new Player(0, 2);
    player.play();
    player.tick(2.5);
    expect(player.time).toBeCloseTo(0.5);
    player.loop = false;
    player.tick(10);
    expect([player.time, player.playing]).toEqual([2, false]);
  });

  it("plays faster and slower, and begins anew from the end", () => {
    const player = new Player(1, 3);
    player.seek(3);
    player.setSpeed(0.5);
    player.play();
    player.tick(1);
    expect(player.time).toBeCloseTo(1.5);
    player.setSpeed(1e9);
    expect(player.speed).toBe(64);
  });

  it("jumps to events on either side and stays without any", () => {
    const player = new Player(0, 10);
    player.seek(5);
    player.jump([1, 4, 5, 7, 9], true);
    expect(player.time).toBe(7);
    player.jump([1, 4, 5, 7, 9], false);
    expect(player.time).toBe(5);
    player.jump([], false);
    expect(player.time).toBe(5);
  });

  it("does not play a run with a single frame", () => {
    const player = new Player(0, 0);
    player.play();
    expect(player.playing).toBe(false);
  });
});

describe("playbacks", () => {
  it("ask for the block around the present first, then for the others, each once", async () => {
    const asked: BlockRequest[] = [];
    const playback = new Playback(info(201, 2), 0, source(asked));
    for (let more = true; more; ) more = await playback.fetch(1.5, 1);
    expect(asked.map((request) => request.start)).toEqual([128, 192, 0, 64]);
    expect(playback.frame(1.234)?.time).toBeCloseTo(1.23);
    expect([...playback.frames()].length).toBe(201);
  });

  it("thin long runs and look closely where asked", async () => {
    const asked: BlockRequest[] = [];
    const playback = new Playback(info(1_000_001, 10_000), 0, source(asked));
    expect(playback.stride).toBe(334);
    expect(playback.window(5000, 5001)).toBe(true);
    expect(playback.stride).toBe(1);
    await playback.fetch(5000.5, 1);
    expect(playback.frame(5000.5)?.time).toBeCloseTo(5000.5, 6);
  });

  it("fetch the last block anew when a run has grown", async () => {
    const asked: BlockRequest[] = [];
    const playback = new Playback(info(70, 0.69), 0, source(asked));
    for (let more = true; more; ) more = await playback.fetch(0, 1);
    playback.grow(info(100, 0.99));
    for (let more = true; more; ) more = await playback.fetch(0, 1);
    expect(asked.map((request) => [request.start, request.stop])).toEqual([[0, 64], [64, 70], [64, 100]]);
    expect(playback.frame(0.99)?.time).toBeCloseTo(0.99);
  });

  it("lose no block that is on its way while a run grows", async () => {
    const asked: BlockRequest[] = [];
    const playback = new Playback(info(130, 1.29), 0, source(asked));
    const underway = playback.fetch(0, 1);
    playback.grow(info(140, 1.39));
    await underway;
    for (let more = true; more; ) more = await playback.fetch(0, 1);
    expect([...playback.frames()].length).toBe(140);
  });

  it("ask again for a block that could not be given", async () => {
    const given = source([]);
    let failures = 1;
    const playback = new Playback(info(100, 0.99), 0, { ...given, block: async (asked) => (failures-- > 0 ? null : given.block(asked)) });
    expect(await playback.fetch(0, 1)).toBe(false);
    for (let more = true; more; ) more = await playback.fetch(0, 1);
    expect([...playback.frames()].length).toBe(100);
  });

  it("find the nearest row", () => {
    const times = column([0, 1, 2, 5]);
    expect([-1, 0.4, 0.6, 3.4, 3.6, 9].map((t) => nearest(times, t))).toEqual([0, 0, 1, 2, 3, 3]);
  });

  it("forget a live scene that was reset", () => {
    const live = new LivePlayback(3);
    const add = (time: number) => live.add({ header: { values: { drift: time } }, tables: new Map([["time", column([time])]]) } as unknown as Message);
    [0, 1, 2, 3].forEach(add);
    expect([live.start, live.end]).toEqual([1, 3]);
    expect(live.frame(2.5)?.time).toBe(2);
    add(0);
    expect(live.line("drift")).toEqual({ time: [0], value: [0] });
  });
});

describe("looks", () => {
  it("colours widen with what they see; λ is symmetric, |Φ| spans six decades at most", () => {
    const force = new Range("lam");
    force.see(-4);
    force.see(NaN);
    expect(force.ends()).toEqual([-4, 4]);
    const drift = new Range("phi");
    [-18, -3].forEach((v) => drift.see(v));
    expect(drift.ends()).toEqual([-9, -3]);
    expect(new Range("speed").color(NaN)).toEqual(new Range("speed").color(0));
  });

  it("colours are read and mixed", () => {
    expect(parse("#ff8000").map((c) => Math.round(255 * c))).toEqual([255, 128, 0]);
    expect(mix([0, 0, 0], [1, 1, 1], 0.25)).toEqual([0.25, 0.25, 0.25]);
  });

  it("drift bars grow by decades and never vanish above zero", () => {
    expect(share(0, 1)).toBe(0);
    expect(share(1, 1)).toBe(1);
    expect(share(1e-4, 1)).toBeCloseTo(0.5);
    expect(share(1e-300, 1)).toBeGreaterThan(0);
    expect(share(NaN, 1)).toBe(0);
  });

  it("numbers of a moving wall go to its arguments in order", () => {
    const wall = { name: "w", kind: "outside_capsule", drawn: { as: "capsule" }, start: [0, 0, 0], end: [0, 0, 0], radius: 0 };
    expect(flatNumbers(wall, (i) => i)).toEqual({ name: "w", kind: "outside_capsule", drawn: { as: "capsule" }, start: [0, 1, 2], end: [3, 4, 5], radius: 6 });
  });
});
