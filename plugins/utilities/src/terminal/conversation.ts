import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { FatalError, RetryableError } from '@baton/plugin-sdk';
import { plainLine } from '@baton/plugin-sdk/ssh';
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
  /** What was typed: the terminal shows it first. Nothing in it is a prompt or a question. */
  echo?: string;
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
  async read({ prompts, responses, echo = '' }: Expectations): Promise<string> {
    let answered = 0;
    for (;;) {
      if (this.#signal.aborted)
        throw new RetryableError(`the terminal of ${this.#name} was closed: the operation is stopped`);
      const begin = this.#endOfEcho(echo);
      answered = this.#answer(responses, Math.max(begin, answered));
      const end = this.#promptIn(prompts, Math.max(begin, answered));
      if (end === 'sure' || this.#isClosed) return this.#take(begin, end !== 'none');
      if (this.#text.length > MAX_CHARACTERS)
        throw new FatalError(`${this.#name} writes without end, and shows no prompt`);
      const hasCome = await this.#more(end === 'likely' ? SETTLE_MS : SILENCE_MS);
      if (hasCome) continue;
      if (end === 'likely') return this.#take(begin, true);
      throw new RetryableError(
        `${this.#name} wrote nothing for ${SILENCE_MS / 1000} s, and shows none of the prompts ${prompts.join(' ')}: ` +
          `it ends with ${JSON.stringify(this.#text.slice(-SHOWN_CHARACTERS))}`,
      );
    }
  }

  /** Where the output begins. As long as the echo has not come whole: behind everything. */
  #endOfEcho(echo: string): number {
    if (echo === '') return 0;
    const text = this.#text.trimStart();
    const before = this.#text.length - text.length;
    if (text.startsWith(echo)) return before + echo.length;
    return echo.startsWith(text) ? this.#text.length : 0;
  }

  /** Whether the last line is a prompt. A prompt in its middle is likely one. */
  #promptIn(prompts: readonly string[], from: number): 'none' | 'likely' | 'sure' {
    const lastLine = plainLine(this.#text.slice(Math.max(this.#text.lastIndexOf('\n') + 1, from)));
    if (prompts.some((prompt) => prompt.trim() !== '' && lastLine.trimEnd().endsWith(prompt.trimEnd())))
      return 'sure';
    return prompts.some((prompt) => prompt !== '' && lastLine.includes(prompt)) ? 'likely' : 'none';
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

  /** The output without the echo, the line of the prompt, and what only terminals understand. */
  #take(begin: number, hasPrompt: boolean): string {
    const end = hasPrompt ? Math.max(this.#text.lastIndexOf('\n') + 1, begin) : this.#text.length;
    const text = this.#text.slice(begin, end);
    this.#text = '';
    return text.split('\n').map(plainLine).join('\n');
  }

  #receive(piece: Buffer): void {
    const text = this.#decoder.write(piece);
    this.#onText(text);
    this.#text = withoutBackspaces(this.#text + text.replaceAll('\r\n', '\n'));
    this.#wake();
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
