import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { FatalError, RetryableError } from '@baton/plugin-sdk';
import type { Response } from './schema';

/** A device that writes nothing for this time is given up. */
const SILENCE_MS = 60_000;
/** A prompt in the middle of the last line counts when nothing comes after it for this time. */
const SETTLE_MS = 300;
const MAX_CHARACTERS = 4 * 1024 * 1024;
const SHOWN_CHARACTERS = 300;

export interface Expectations {
  prompts: readonly string[];
  responses: readonly Response[];
}

/**
 * Speaks with a device line by line. A device has answered when its last line holds a prompt. Whatever the device writes, a read ends:
 * with the prompt, the end of the connection, after a minute of silence, or at 4 MiB.
 */
export class Conversation {
  readonly #stream: Duplex;
  readonly #name: string;
  readonly #signal: AbortSignal;
  readonly #onText: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  /** Received, and not yet read. */
  #text = '';
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(stream: Duplex, name: string, signal: AbortSignal, onText: (text: string) => void) {
    this.#stream = stream;
    this.#name = name;
    this.#signal = signal;
    this.#onText = onText;
    const close = (): void => {
      this.#isClosed = true;
      this.#wake();
    };
    stream.on('data', (piece: Buffer) => this.#receive(piece));
    (stream as Duplex & { stderr?: Duplex }).stderr?.on('data', (piece: Buffer) => this.#receive(piece));
    for (const event of ['end', 'close', 'error']) stream.on(event, close);
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(text: string): void {
    if (!this.#isClosed) this.#stream.write(text);
  }

  /**
   * Reads up to the next prompt, answering questions, and returns the text before the line of the prompt.
   * @throws RetryableError when the device is silent or the operation is stopped; FatalError for output without end
   */
  async read({ prompts, responses }: Expectations): Promise<string> {
    let answered = 0;
    for (;;) {
      if (this.#signal.aborted)
        throw new RetryableError(`the terminal of ${this.#name} was closed: the operation is stopped`);
      answered = this.#answer(responses, answered);
      const start = this.#text.lastIndexOf('\n') + 1;
      const lastLine = this.#text.slice(Math.max(start, answered));
      const found = prompts.find((prompt) => lastLine.trimEnd().endsWith(prompt.trimEnd()));
      const isLikely = found === undefined && prompts.some((prompt) => lastLine.includes(prompt));
      if (found !== undefined || (this.#isClosed && !this.#hasMore()))
        return this.#take(start, found !== undefined);
      if (this.#text.length > MAX_CHARACTERS)
        throw new FatalError(`${this.#name} writes without end, and shows no prompt`);
      const hasCome = await this.#more(isLikely ? SETTLE_MS : SILENCE_MS);
      if (hasCome || this.#isClosed || this.#signal.aborted) continue;
      if (isLikely) return this.#take(start, true);
      throw new RetryableError(
        `${this.#name} wrote nothing for ${SILENCE_MS / 1000} s, and shows none of the prompts ${prompts.join(' ')}: ` +
          `it ends with ${JSON.stringify(this.#text.slice(-SHOWN_CHARACTERS))}`,
      );
    }
  }

  /** Reads up to the end of the connection, answering questions. @throws as `read` */
  async readAll(responses: readonly Response[]): Promise<string> {
    return await this.read({ prompts: [], responses });
  }

  /** Answers the questions behind a position, and returns the position behind the last one. */
  #answer(responses: readonly Response[], from: number): number {
    for (let at = from; ; ) {
      const next = responses
        .map((response) => ({ response, at: this.#text.indexOf(response.question, at) }))
        .filter(({ at: place }) => place >= 0)
        .sort((a, b) => a.at - b.at)[0];
      if (next === undefined) return at;
      const { answer, newline, question } = next.response;
      this.send(`${answer}${newline ? '\n' : ''}`);
      at = next.at + question.length;
    }
  }

  #take(startOfLastLine: number, hasPrompt: boolean): string {
    const text = hasPrompt ? this.#text.slice(0, startOfLastLine) : this.#text;
    this.#text = '';
    return text;
  }

  #receive(piece: Buffer): void {
    const text = this.#decoder.write(piece);
    this.#onText(text);
    this.#text = withoutBackspaces(this.#text + text.replaceAll('\r\n', '\n'));
    this.#wake();
  }

  #hasMore(): boolean {
    return this.#stream.readableLength > 0;
  }

  /** Whether something came within the time. */
  #more(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

/** Devices move the cursor back to delete what they have written. */
function withoutBackspaces(text: string): string {
  if (!text.includes('\b')) return text;
  const kept: string[] = [];
  for (const character of text) {
    if (character === '\b') kept.pop();
    else kept.push(character);
  }
  return kept.join('');
}
