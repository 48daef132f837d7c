// Reads the messages that taut/view/frames.py defines.

/** Rows over time of some columns. */
export interface Table {
  rows: number;
  columns: number;
  get(row: number, column: number): number;
}

export interface Header {
  kind: string;
  arrays: { name: string; shape: number[]; codec: string }[];
  zipped: boolean;
  [word: string]: unknown;
}

export interface Message {
  header: Header;
  tables: Map<string, Table>;
}

const MISSING = 65535;
const DIFFERENCES: Record<string, number> = { track: 2, short: 0 };

class Plain implements Table {
  constructor(readonly rows: number, readonly columns: number, readonly values: ArrayLike<number>) {}
  get(row: number, column: number): number {
    return this.values[row * this.columns + column];
  }
}

class Quantised implements Table {
  constructor(
    readonly rows: number, readonly columns: number,
    readonly lo: Float32Array, readonly step: Float32Array, readonly codes: Uint16Array,
  ) {}
  get(row: number, column: number): number {
    const code = this.codes[row * this.columns + column];
    return code === MISSING ? NaN : this.lo[column] + this.step[column] * code;
  }
}

/** Undo the differences along time, in place. */
export function accumulate(codes: Uint16Array, rows: number, columns: number, times: number): void {
  for (let n = 0; n < times; n++)
    for (let i = columns; i < rows * columns; i++) codes[i] += codes[i - columns];
}

async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function read(data: ArrayBuffer): Promise<Message> {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as Header;
  let body = new Uint8Array(data, 4 + length);
  if (header.zipped) body = await inflate(body) as Uint8Array<ArrayBuffer>;
  const tables = new Map<string, Table>();
  let at = 0;
  const take = (bytes: number): ArrayBuffer => {
    const part = body.slice(at, at + bytes); // a copy: views need aligned places
    at += bytes;
    return part.buffer as ArrayBuffer;
  };
  for (const { name, shape, codec } of header.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    const rows = shape[0] ?? 1;
    const columns = shape.slice(1).reduce((a, b) => a * b, 1);
    if (codec === "f8") tables.set(name, new Plain(rows, columns, new Float64Array(take(8 * count))));
    else if (codec === "f4") tables.set(name, new Plain(rows, columns, new Float32Array(take(4 * count))));
    else if (codec === "u4") tables.set(name, new Plain(rows, columns, new Uint32Array(take(4 * count))));
    else if (codec in DIFFERENCES) {
      const lo = new Float32Array(take(4 * columns));
      const step = new Float32Array(take(4 * columns));
      const low = new Uint8Array(take(count));
      const high = new Uint8Array(take(count));
      const codes = new Uint16Array(count);
      for (let i = 0; i < count; i++) codes[i] = low[i] | (high[i] << 8);
      accumulate(codes, rows, columns, DIFFERENCES[codec]);
      tables.set(name, new Quantised(rows, columns, lo, step, codes));
    } else throw new Error(`unknown codec ${codec}`);
  }
  return { header, tables };
}

/** All numbers of a table. */
export function numbers(table: Table | undefined): number[] {
  if (!table) return [];
  return Array.from({ length: table.rows * table.columns }, (_, i) =>
    table.get(Math.floor(i / table.columns), i % table.columns));
}
