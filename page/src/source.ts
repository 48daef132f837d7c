// Where messages come from: a server, or the file that the page stands in.
import { type Message, read } from "./messages";

export interface BlockRequest { run: number; start: number; stop: number; stride: number; forces: boolean }
export interface SeriesRequest { run: number; name: string; from: number; to: number; points: number }

export interface Source {
  block(asked: BlockRequest): Promise<Message | null>;
  series(asked: SeriesRequest): Promise<Message | null>;
  /** Tell a server something; a file does not listen. */
  send(words: Record<string, unknown>): void;
}

export type Listener = (message: Message) => void | Promise<void>;

/** The data in this very file. */
export class FileSource implements Source {
  private blocks = new Map<string, string>();
  private lines = new Map<string, string>();

  static async open(scripts: string[], listener: Listener): Promise<FileSource> {
    const source = new FileSource();
    for (const text of scripts.slice(1)) {
      const header = headerOf(text);
      const key = header.kind === "block" ? `${header.run} ${header.start}` : `${header.run} ${header.name}`;
      (header.kind === "block" ? source.blocks : source.lines).set(key, text);
    }
    await listener(await read(bytesOf(scripts[0])));
    return source;
  }

  async block(asked: BlockRequest): Promise<Message | null> {
    const text = this.blocks.get(`${asked.run} ${asked.start}`);
    return text ? read(bytesOf(text)) : null;
  }

  async series(asked: SeriesRequest): Promise<Message | null> {
    const text = this.lines.get(`${asked.run} ${asked.name}`);
    return text ? read(bytesOf(text)) : null;
  }

  send(): void {}
}

export function bytesOf(text: string): ArrayBuffer {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes.buffer;
}

/** The header alone, without decoding all that follows it. */
function headerOf(text: string): Record<string, unknown> {
  const start = new Uint8Array(bytesOf(text.trim().slice(0, 8)));
  const length = start[0] | (start[1] << 8) | (start[2] << 16) | (start[3] << 24);
  const whole = 4 * Math.ceil((4 + length) / 3) + 4;
  const bytes = new Uint8Array(bytesOf(text.trim().slice(0, whole)));
  return JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
}

/** A server on this machine. Questions wait in line, so that neither side is swamped. */
export class ServerSource implements Source {
  private pending = new Map<number, (message: Message | null) => void>();
  private line: string[] = [];
  private asked = 0;
  private underway = 0;

  private constructor(private socket: WebSocket, listener: Listener, lost: (why: string) => void) {
    socket.binaryType = "arraybuffer";
    // Messages are inflated one after the other, so that they arrive in the order in which they were sent.
    let last: Promise<void> = Promise.resolve();
    socket.onmessage = (event) => {
      last = last.then(async () => {
        const message = await read(event.data as ArrayBuffer);
        const id = message.header.id as number | undefined;
        if (id === undefined) await listener(message);
        else this.answer(id, message.header.kind === "problem" ? null : message);
      }).catch((error) => lost(String(error)));
    };
    socket.onclose = () => lost("the server has ended; start taut view again");
  }

  static open(address: string, listener: Listener, lost: (why: string) => void): Promise<ServerSource> {
    return new Promise((resolve) => {
      const socket = new WebSocket(address);
      const source = new ServerSource(socket, listener, lost);
      socket.onopen = () => resolve(source);
    });
  }

  private answer(id: number, message: Message | null): void {
    this.underway--;
    this.pending.get(id)?.(message);
    this.pending.delete(id);
    this.next();
  }

  private next(): void {
    while (this.underway < 3 && this.line.length) {
      this.underway++;
      this.socket.send(this.line.shift()!);
    }
  }

  private ask(words: Record<string, unknown>): Promise<Message | null> {
    return new Promise((resolve) => {
      const id = ++this.asked;
      this.pending.set(id, resolve);
      this.line.push(JSON.stringify({ ...words, id }));
      this.next();
    });
  }

  block(asked: BlockRequest): Promise<Message | null> {
    return this.ask({ ask: "block", ...asked });
  }

  series(asked: SeriesRequest): Promise<Message | null> {
    return this.ask({ ask: "series", ...asked });
  }

  send(words: Record<string, unknown>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(words));
  }
}
