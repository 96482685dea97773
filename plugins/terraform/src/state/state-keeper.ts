import { readFile, stat, writeFile } from 'node:fs/promises';
import { FatalError, type HeldLock, type OperationLogger } from '@baton/plugin-sdk';

/** Names of the files of a module's instance. */
export const FILES = {
  state: 'terraform.tfstate',
  plan: 'terraform.tfplan',
  planFacts: 'terraform.tfplan.json',
  source: 'source.tar.gz',
  settings: 'settings.json',
} as const;

/** Which state a file holds. `serial` grows with each change. */
export interface StateMark {
  lineage: string;
  serial: number;
}

/** Reads the mark of a state; null: the text is no state, for instance half of one. */
export function markOf(text: string): StateMark | null {
  try {
    const { lineage, serial, version } = JSON.parse(text) as Record<string, unknown>;
    if (typeof lineage !== 'string' || typeof serial !== 'number' || typeof version !== 'number') return null;
    return { lineage, serial };
  } catch {
    return null;
  }
}

const LOOK_MS = 250;
const TRIES = 5;
const TRY_AGAIN_MS = 1_000;

/**
 * Writes each state that terraform puts into its file through to the files of the instance, while terraform runs: terraform writes the
 * file after each resource, and a worker that dies loses at most what a look every quarter of a second has not seen.
 */
export class StateKeeper {
  readonly #path: string;
  readonly #lock: HeldLock;
  readonly #log: Pick<OperationLogger, 'debug' | 'error'>;
  #kept: string;
  #seen = '';
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();

  /** `kept`: the stored state; null: none. */
  constructor(
    path: string,
    lock: HeldLock,
    kept: string | null,
    log: Pick<OperationLogger, 'debug' | 'error'>,
  ) {
    this.#path = path;
    this.#lock = lock;
    this.#kept = kept ?? '';
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#work = this.#work.then(() => this.#look()).catch(() => undefined);
    }, LOOK_MS);
  }

  /**
   * Ends the looking and stores the last state, also after a cancel.
   * @throws FatalError with the state's serial when it cannot be stored: it would be lost
   */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#work;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#store();
      } catch (cause) {
        if (attempt === TRIES) {
          const serial = markOf(await readFile(this.#path, 'utf8').catch(() => ''))?.serial;
          throw new FatalError(
            `the state (serial ${serial}) could not be stored: ${(cause as Error).message}. Resources may be there that no state knows`,
            { cause },
          );
        }
        this.#log.error(`The state could not be stored yet: ${(cause as Error).message}`);
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
      }
    }
  }

  /** One look. A failure is left to the next one. */
  async #look(): Promise<void> {
    const found = await stat(this.#path).catch(() => null);
    const stamp = found === null ? '' : `${found.mtimeMs} ${found.size}`;
    if (stamp === this.#seen) return;
    await this.#store();
    this.#seen = stamp;
  }

  async #store(): Promise<void> {
    const text = await readFile(this.#path, 'utf8').catch(() => null);
    if (text === null || text === this.#kept) return;
    // Half of a file, while terraform writes it.
    if (markOf(text) === null) {
      if (text.trim() === '') return;
      throw new Error('the file of the state is not complete');
    }
    await this.#lock.write(text);
    this.#kept = text;
    this.#log.debug(`Stored the state with serial ${markOf(text)!.serial}`);
  }
}

/** Puts a stored state to its place. */
export async function placeState(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
}
