/** The WebSocket of one agent with its bounds: what comes in, what waits to go out, and whether the other end is alive. */
import type { GatewayFrame } from '@baton/contracts';
import type { Clock } from '@baton/kernel';
import type WebSocket from 'ws';

/** Codes with which the gateway closes a stream; beside those of RFC 6455. */
export const closeCodes = {
  leaving: 1001,
  notJson: 1003,
  /** The agent broke a rule of the stream. */
  wrong: 1008,
  fault: 1011,
  /** Try again later. */
  later: 1013,
  /** Certificate revoked, record gone, or order CUT. */
  refused: 4401,
  /** A later stream of the agent has taken its place. */
  replaced: 4409,
  /** The agent takes nothing of what is sent to it. */
  tooSlow: 4408,
  /** The protocols do not meet: another version of the agent is needed. */
  protocol: 4426,
} as const;

/** Above this, nothing is read from the agent until it has taken what waits for it. */
const SOFT_BYTES = 1024 * 1024;
/** Above this, the stream is closed. */
const HARD_BYTES = 24 * 1024 * 1024;
/** An agent that takes nothing for this long is gone. */
const STUCK_MS = 30_000;
/** What one agent may send between two looks; then it is read no more until the next look. */
const MAX_FRAMES = 2_000;
const MAX_BYTES = 32 * 1024 * 1024;

const PING_MS = 15_000;
const PING_JITTER = 0.2;
const SILENT_MS = 45_000;

export class AgentSocket {
  #heardMs: number;
  #pingAtMs: number;
  #frames = 0;
  #bytes = 0;
  #unsent = 0;
  #movedMs: number;
  #isPaused = false;
  #drained: (() => void)[] = [];

  constructor(
    private readonly ws: WebSocket,
    private readonly clock: Clock,
    private readonly random: () => number = Math.random,
  ) {
    const nowMs = clock.monotonic();
    this.#heardMs = nowMs;
    this.#movedMs = nowMs;
    this.#pingAtMs = nowMs + this.#untilPing();
    ws.on('pong', () => this.#heard());
    ws.on('ping', () => this.#heard());
    // Every error is followed by the end of the stream.
    ws.on('error', () => undefined);
    ws.once('close', () => this.#release());
  }

  get silentMs(): number {
    return Math.round(this.clock.monotonic() - this.#heardMs);
  }
  /** False once it is being closed: what still comes does not count. */
  get isOpen(): boolean {
    return this.ws.readyState === this.ws.OPEN;
  }
  #heard(): void {
    this.#heardMs = this.clock.monotonic();
  }
  #untilPing(): number {
    return PING_MS * (1 + PING_JITTER * (2 * this.random() - 1));
  }

  /** Counts a message that has come. */
  received(bytes: number): void {
    this.#heard();
    this.#frames += 1;
    this.#bytes += bytes;
    if (this.#frames >= MAX_FRAMES || this.#bytes >= MAX_BYTES) this.#pause();
  }
  /** Sends a message; nothing once the stream is closing. */
  send(frame: GatewayFrame): void {
    const { ws } = this;
    if (!this.isOpen) return;
    const text = JSON.stringify(frame);
    if (ws.bufferedAmount + text.length > HARD_BYTES) return this.close(closeCodes.tooSlow, 'too slow');
    ws.send(text, () => this.#afterSending());
    if (ws.bufferedAmount > SOFT_BYTES) this.#pause();
  }
  #afterSending(): void {
    if (this.ws.bufferedAmount > SOFT_BYTES) return;
    this.#release();
    if (this.#frames < MAX_FRAMES && this.#bytes < MAX_BYTES) this.#resume();
  }
  #release(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
  /** Resolves when little waits to be sent, or the stream has ended. */
  drained(): Promise<void> {
    const { ws } = this;
    if (ws.bufferedAmount <= SOFT_BYTES || ws.readyState === ws.CLOSED) return Promise.resolve();
    return new Promise((resolve) => void this.#drained.push(resolve));
  }
  #pause(): void {
    if (this.#isPaused || this.ws.readyState !== this.ws.OPEN) return;
    this.#isPaused = true;
    this.ws.pause();
  }
  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.ws.resume();
  }

  /** Called once a second: pings, and ends what is dead. Returns false when it has ended the stream. */
  look(): boolean {
    const nowMs = this.clock.monotonic();
    this.#frames = 0;
    this.#bytes = 0;
    const unsent = this.ws.bufferedAmount;
    if (unsent === 0 || unsent < this.#unsent) this.#movedMs = nowMs;
    this.#unsent = unsent;
    if (nowMs - this.#heardMs > SILENT_MS || nowMs - this.#movedMs > STUCK_MS) {
      this.ws.terminate();
      return false;
    }
    if (unsent <= SOFT_BYTES) this.#resume();
    if (nowMs >= this.#pingAtMs && this.ws.readyState === this.ws.OPEN) {
      this.#pingAtMs = nowMs + this.#untilPing();
      this.ws.ping();
    }
    return true;
  }

  /** Closes with a reason for the agent's log; nothing is read any more, and an agent that does not answer is cut. */
  close(code: number, reason: string): void {
    const { ws } = this;
    if (ws.readyState === ws.CLOSED) return;
    // A paused stream would never see the answer of the other end.
    this.#resume();
    ws.close(
      code,
      Buffer.from(reason)
        .subarray(0, 120)
        .toString('utf8')
        .replace(/\uFFFD+$/, ''),
    );
    setTimeout(() => ws.terminate(), code === closeCodes.leaving ? GOODBYE_MS : CUT_MS).unref();
  }
  terminate(): void {
    this.ws.terminate();
  }
}

/** How long the other end may take to answer the close: an agent that is cut, and one that is only sent elsewhere. */
const CUT_MS = 500;
const GOODBYE_MS = 2_000;
