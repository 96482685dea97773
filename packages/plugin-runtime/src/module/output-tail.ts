import type { ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';

const KEPT_CHARS = 4_096;

/** Reads the output of a process, of which the last part is kept for the error that its end causes. */
export class OutputTail {
  #kept = '';
  readonly #over: Promise<unknown>;

  /** `hide` is applied to what arrives: the secrets of the operations that run at that time. */
  constructor({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>, hide: (text: string) => string) {
    const over = [stdout, stderr].map((stream) => {
      const decoder = new StringDecoder('utf8');
      stream?.on('data', (chunk: Buffer) => {
        const all = hide(this.#kept + decoder.write(chunk));
        this.#kept = all.slice(-KEPT_CHARS);
      });
      stream?.on('error', () => undefined);
      return new Promise((resolve) => (stream ? stream.once('close', resolve) : resolve(null)));
    });
    this.#over = Promise.all(over);
  }

  /** Resolves at the end of the output, or soon: another process may hold it open. */
  async settled(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const soon = new Promise((resolve) => {
      timer = setTimeout(resolve, 200);
    });
    await Promise.race([this.#over, soon]);
    clearTimeout(timer);
  }

  /** The last lines. */
  text(): string {
    return this.#kept.trim();
  }
}
