// Frames of one run: which blocks are here, which are wanted, and what is shown at a time.
import type { Message, Table } from "./messages";
import type { RunInfo } from "./scene";
import type { Source } from "./source";

/** One row of some tables. */
export interface Frame {
  time: number;
  row: number;
  tables: Map<string, Table>;
}

export const FRAMES_IN_BLOCK = 64;
export const MOST_FRAMES = 3000;

interface Span { start: number; stop: number; stride: number }

export class Playback {
  private blocks = new Map<number, Message>();
  private asked = new Set<number>();
  private span: Span;
  private clears = 0; // how often all blocks were dropped
  forces = false;

  constructor(public info: RunInfo, readonly number: number, private source: Source, private fixed?: Span & { block: number }) {
    this.span = fixed ?? this.spanOf(0, info.records);
  }

  /** Every how many records a frame is taken, so that a long run stays light. */
  private spanOf(start: number, stop: number): Span {
    return { start, stop, stride: Math.max(1, Math.ceil((stop - start) / MOST_FRAMES)) };
  }

  private get perBlock(): number {
    return this.fixed?.block ?? FRAMES_IN_BLOCK;
  }

  get stride(): number {
    return this.span.stride;
  }

  get interval(): number {
    return ((this.info.end - this.info.start) / Math.max(this.info.records - 1, 1)) * this.span.stride;
  }

  /** The record nearest to a time: records are evenly spaced. */
  recordAt(time: number): number {
    const { start, end, records } = this.info;
    if (end <= start) return 0;
    return Math.min(Math.max(Math.round(((time - start) / (end - start)) * (records - 1)), 0), records - 1);
  }

  /** Look at a stretch of time: more finely where it is short. Returns whether frames must come anew. */
  window(from: number, to: number): boolean {
    if (this.fixed) return false;
    const margin = Math.ceil((this.recordAt(to) - this.recordAt(from)) * 0.02) + 2;
    const span = this.spanOf(Math.max(this.recordAt(from) - margin, 0), Math.min(this.recordAt(to) + margin, this.info.records));
    if (span.stride === this.span.stride && span.start >= this.span.start && span.stop <= this.span.stop) return false;
    this.span = span;
    this.clear();
    return true;
  }

  clear(): void {
    this.blocks.clear();
    this.asked.clear();
    this.clears++;
  }

  /** The run has grown. */
  grow(info: RunInfo): void {
    const whole = this.span.start === 0 && this.span.stop >= this.info.records;
    const last = this.blockOf(this.info.records - 1);
    this.info = info;
    if (!whole) return;
    const span = this.spanOf(0, info.records);
    if (span.stride !== this.span.stride) this.clear();
    else {
      this.blocks.delete(last); // it was not full
      this.asked.delete(last);
    }
    this.span = span;
  }

  private blockOf(record: number): number {
    const inside = Math.min(Math.max(record, this.span.start), this.span.stop - 1) - this.span.start;
    return Math.floor(Math.round(inside / this.span.stride) / this.perBlock);
  }

  get blockCount(): number {
    return Math.ceil(Math.ceil((this.span.stop - this.span.start) / this.span.stride) / this.perBlock);
  }

  get loaded(): number {
    return this.blocks.size;
  }

  /** Ask for the block around a time and the ones after it; resolves when one has come. */
  async fetch(time: number, ahead: number): Promise<boolean> {
    const first = this.blockOf(this.recordAt(time));
    const wanted: number[] = [];
    for (let i = 0; i < this.blockCount && wanted.length < ahead; i++) {
      const block = (first + i) % this.blockCount;
      if (!this.asked.has(block)) wanted.push(block);
    }
    const came = await Promise.all(wanted.map((block) => this.fetchOne(block)));
    return came.some(Boolean);
  }

  private async fetchOne(block: number): Promise<boolean> {
    this.asked.add(block);
    const { span, clears } = this;
    const start = span.start + block * this.perBlock * span.stride;
    const stop = Math.min(start + this.perBlock * span.stride, span.stop);
    const message = await this.source.block({ run: this.number, start, stop, stride: span.stride, forces: this.forces });
    if (clears !== this.clears) return false; // asked for something else since
    if (message && this.asked.has(block)) this.blocks.set(block, message);
    else this.asked.delete(block); // the run has grown meanwhile, or its folder was being written: ask again
    return message !== null;
  }

  /** The frame nearest to a time, if it is here. */
  frame(time: number): Frame | null {
    const message = this.blocks.get(this.blockOf(this.recordAt(time)));
    const times = message?.tables.get("time");
    if (!message || !times || !times.rows) return null;
    const row = nearest(times, time);
    return { time: times.get(row, 0), row, tables: message.tables };
  }

  /** All frames that are here, in order. */
  *frames(): Generator<Frame> {
    for (const block of [...this.blocks.keys()].sort((a, b) => a - b)) {
      const tables = this.blocks.get(block)!.tables;
      const times = tables.get("time")!;
      for (let row = 0; row < times.rows; row++) yield { time: times.get(row, 0), row, tables };
    }
  }
}

/** The row whose time is nearest. */
export function nearest(times: Table, time: number): number {
  let low = 0;
  let high = times.rows - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times.get(middle, 0) <= time) low = middle;
    else high = middle;
  }
  return Math.abs(times.get(high, 0) - time) < Math.abs(time - times.get(low, 0)) ? high : low;
}

/** What a live scene has shown of late. */
export class LivePlayback {
  private kept: { frame: Frame; values: Record<string, number | null> }[] = [];

  constructor(private most = 3000) {}

  add(message: Message): void {
    const tables = message.tables;
    const time = tables.get("time")!.get(0, 0);
    // Back in time: the scene was reset.
    if (this.kept.length && time < this.kept[this.kept.length - 1].frame.time) this.kept = [];
    if (this.kept.length && time === this.kept[this.kept.length - 1].frame.time) this.kept.pop();
    this.kept.push({ frame: { time, row: 0, tables }, values: message.header.values as Record<string, number | null> });
    if (this.kept.length > this.most) this.kept.shift();
  }

  clear(): void {
    this.kept = [];
  }

  get isEmpty(): boolean {
    return !this.kept.length;
  }

  get start(): number {
    return this.kept[0]?.frame.time ?? 0;
  }

  get end(): number {
    return this.kept[this.kept.length - 1]?.frame.time ?? 0;
  }

  frame(time: number): Frame | null {
    let found: Frame | null = null;
    for (const { frame } of this.kept) {
      if (found && frame.time > time) break;
      found = frame;
    }
    return found;
  }

  *frames(): Generator<Frame> {
    for (const { frame } of this.kept) yield frame;
  }

  line(name: string): { time: number[]; value: (number | null)[] } {
    return { time: this.kept.map((k) => k.frame.time), value: this.kept.map((k) => k.values[name] ?? null) };
  }
}
