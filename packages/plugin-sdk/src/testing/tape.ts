import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type Json, nearestName } from '@baton/kernel';
import { CassetteSecrets, withTexts } from './cassette-secrets';
import { TestFailure } from './test-failure';

/** One exchange: what was asked, and the answer. */
interface Entry {
  asked: string;
  answer: Json;
}

const FORMAT = 1;
const SHOWN_CHARACTERS = 300;
const AGAIN = 'Record with BATON_RECORD=1';

/** The entries of a cassette and its file. */
export class Tape {
  readonly secrets = new CassetteSecrets();
  #entries: Promise<Entry[]> | null = null;
  readonly #recorded: Entry[] = [];
  readonly #used = new Set<Entry>();
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Keeps an exchange for `save`. */
  add(asked: string, answer: object): void {
    this.#recorded.push({ asked, answer: answer as Json });
  }

  /** The next answer to a request. @throws TestFailure with the nearest request when there is none */
  async answer<T>(request: string): Promise<T> {
    const asked = this.secrets.without(request);
    this.#entries ??= this.#read();
    const entries = await this.#entries;
    const same = entries.filter((entry) => entry.asked === asked);
    const next = same.find((entry) => !this.#used.has(entry));
    if (next === undefined) throw this.#missing(asked, same.length, entries);
    this.#used.add(next);
    return withTexts(next.answer, (text) => this.secrets.with(text)) as T;
  }

  /** Writes what was recorded, without hidden values. */
  async save(): Promise<void> {
    const { secrets } = this;
    for (const { answer } of this.#recorded) secrets.hideNamed(bodyOf(answer));
    const entries = withTexts(this.#recorded as unknown as Json, (text) => secrets.without(text));
    await mkdir(dirname(this.#path), { recursive: true });
    // A test that is killed leaves the old file or the new one.
    await writeFile(`${this.#path}.new`, `${JSON.stringify({ format: FORMAT, entries }, null, 2)}\n`);
    await rename(`${this.#path}.new`, this.#path);
  }

  async #read(): Promise<Entry[]> {
    if (!existsSync(this.#path)) throw new TestFailure(`there is no cassette ${this.#path}. ${AGAIN}`);
    const { format, entries } = JSON.parse(await readFile(this.#path, 'utf8')) as {
      format: number;
      entries: Entry[];
    };
    if (format !== FORMAT)
      throw new TestFailure(`${basename(this.#path)} has the format ${format}; known: ${FORMAT}. ${AGAIN}`);
    return entries;
  }

  #missing(asked: string, given: number, entries: readonly Entry[]): TestFailure {
    const file = basename(this.#path);
    const what = asked.slice(0, SHOWN_CHARACTERS);
    if (given > 0)
      return new TestFailure(`${file} has ${given} answers to ${what}, and all were given. ${AGAIN}`);
    const all = entries.map((entry) => entry.asked);
    const next = entries.find((entry) => !this.#used.has(entry))?.asked;
    const nearest = (nearestName(asked, all) ?? next ?? 'nothing').slice(0, SHOWN_CHARACTERS);
    return new TestFailure(`${file} has no answer to ${what}; the nearest is ${nearest}. ${AGAIN}`);
  }
}

/** The body of an answer as JSON; null: it is none. */
function bodyOf(answer: Json): Json {
  const { body } = answer as { body?: unknown };
  try {
    return typeof body === 'string' ? (JSON.parse(body) as Json) : null;
  } catch {
    return null;
  }
}
