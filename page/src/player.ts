// Time: what plays, how fast, and where it jumps to.

export class Player {
  time = 0;
  playing = false;
  loop = true;
  speed = 1;
  private listeners: (() => void)[] = [];

  constructor(public start = 0, public end = 1) {
    this.time = start;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  /** The stretch of time that is played. */
  limit(start: number, end: number): void {
    this.start = start;
    this.end = Math.max(end, start);
    this.time = Math.min(Math.max(this.time, this.start), this.end);
    this.tell();
  }

  seek(time: number): void {
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.tell();
  }

  play(): void {
    if (this.time >= this.end) this.time = this.start;
    this.playing = this.end > this.start;
    this.tell();
  }

  pause(): void {
    this.playing = false;
    this.tell();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  setSpeed(speed: number): void {
    this.speed = Math.min(Math.max(speed, 1 / 64), 64);
    this.tell();
  }

  /** Seconds of the clock have passed. */
  tick(seconds: number): void {
    if (!this.playing) return;
    let time = this.time + seconds * this.speed;
    if (time >= this.end) {
      if (this.loop) time = this.start + ((time - this.start) % Math.max(this.end - this.start, 1e-9));
      else {
        time = this.end;
        this.playing = false;
      }
    }
    this.time = time;
    this.tell();
  }

  /** To the nearest of some times after (or before) now. */
  jump(times: number[], forward: boolean): void {
    const slack = 1e-9 * Math.max(1, Math.abs(this.end));
    const next = forward
      ? times.filter((t) => t > this.time + slack).reduce((a, b) => Math.min(a, b), Infinity)
      : times.filter((t) => t < this.time - slack).reduce((a, b) => Math.max(a, b), -Infinity);
    if (Number.isFinite(next)) this.seek(next);
  }
}
