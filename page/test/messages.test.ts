import { describe, expect, it } from "vitest";
import { accumulate, numbers, read } from "../src/messages";

function packed(header: object, body: Uint8Array): ArrayBuffer {
  const words = new TextEncoder().encode(JSON.stringify(header));
  const whole = new Uint8Array(4 + words.length + body.length);
  new DataView(whole.buffer).setUint32(0, words.length, true);
  whole.set(words, 4);
  whole.set(body, 4 + words.length);
  return whole.buffer;
}

async function deflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

describe("messages", () => {
  it("undo differences modulo 65536", () => {
    const codes = Uint16Array.from([1, 2, 65535, 3]); // two columns: 1, 2; then -1, +3
    accumulate(codes, 2, 2, 1);
    expect([...codes]).toEqual([1, 2, 0, 5]);
  });

  it("read plain and quantised arrays, zipped or not, with what is missing", async () => {
    const lo = new Uint8Array(new Float32Array([10]).buffer);
    const step = new Uint8Array(new Float32Array([0.5]).buffer);
    // Codes 0, 2, 65535: their second differences are 0, 2, 65531; low bytes first, then high ones.
    const body = Uint8Array.from([...new Uint8Array(new Float64Array([1.5, -2]).buffer), ...lo, ...step, 0, 2, 0xfb, 0, 0, 0xff]);
    const header = {
      kind: "block", arrays: [{ name: "time", shape: [2], codec: "f8" }, { name: "x", shape: [3, 1], codec: "track" }],
    };
    for (const zipped of [false, true]) {
      const message = await read(packed({ ...header, zipped }, zipped ? await deflate(body) : body));
      expect(numbers(message.tables.get("time"))).toEqual([1.5, -2]);
      expect(numbers(message.tables.get("x"))).toEqual([10, 11, NaN]);
    }
  });

  it("refuse a codec they do not know", async () => {
    const header = { kind: "x", arrays: [{ name: "a", shape: [1], codec: "mp3" }], zipped: false };
    await expect(read(packed(header, new Uint8Array(4)))).rejects.toThrow("mp3");
  });
});
