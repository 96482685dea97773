/**
 * Main-thread side of the parsing worker. It parses one text at a time, in rounds until all imports are available, with a time
 * limit.
 */
import type { ArchiveTask, Completions, Fetched } from '@baton/dsl';
import type { ParseResult, WorkerReply, WorkerRequest } from './parse-messages';

export interface Parser {
  /** Returns the result of the newest text; null: a newer text arrived meanwhile. */
  parse(files: ArchiveTask['files'], mainFile: string): Promise<ParseResult | null>;
  complete(text: string, offset: number): Promise<Completions | null>;
  /** Forgets failed imports, so that they are requested again. */
  forget(): void;
  stop(): void;
}

export interface ParserOptions {
  createWorker: () => Worker;
  /** Fetches an import. */
  obtain: (need: string) => Promise<Fetched>;
  nowMs: () => number;
  delay: (ms: number, run: () => void) => () => void;
}

/** Maximum of rounds: imports may import further files, which may import further files ... */
const MOST_ROUNDS = 20;
/** Time limit of a text. When it is exceeded, the worker is terminated. */
const PARSE_MS = 20_000;

type Ask = { kind: 'parse'; task: ArchiveTask } | { kind: 'complete'; text: string; offset: number };

export function createParser(o: ParserOptions): Parser {
  const fetched: Record<string, Fetched> = Object.create(null) as Record<string, Fetched>;
  const waiting = new Map<number, { resolve: (reply: WorkerReply) => void; takeBack: () => void }>();
  let worker: Worker | null = null;
  let lastId = 0;
  let newest = 0;

  const end = (fault: string): void => {
    worker?.terminate();
    worker = null;
    for (const [id, { resolve, takeBack }] of waiting) {
      takeBack();
      resolve({ id, fault });
    }
    waiting.clear();
  };
  const started = (): Worker => {
    if (worker) return worker;
    worker = o.createWorker();
    worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
      const one = waiting.get(data.id);
      waiting.delete(data.id);
      one?.takeBack();
      one?.resolve(data);
    };
    worker.onerror = ({ message }) => end(message);
    return worker;
  };
  const ask = async (request: Ask): Promise<WorkerReply['result']> => {
    const id = ++lastId;
    const reply = await new Promise<WorkerReply>((resolve) => {
      waiting.set(id, { resolve, takeBack: o.delay(PARSE_MS, () => end('parsing takes too long')) });
      started().postMessage({ id, ...request } satisfies WorkerRequest);
    });
    if (reply.fault !== undefined) throw new Error(reply.fault);
    return reply.result;
  };

  return {
    async parse(files, mainFile) {
      const turn = ++newest;
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const task: ArchiveTask = { mainFile, files, fetched: { ...fetched }, nowMs: o.nowMs() };
        const result = (await ask({ kind: 'parse', task })) as ParseResult;
        if (turn !== newest) return null;
        if (result.needs.length === 0) return result;
        const found = await Promise.all(result.needs.map(o.obtain));
        for (const [i, need] of result.needs.entries()) fetched[need] = found[i] ?? null;
        if (turn !== newest) return null;
      }
      throw new Error('it imports too much from elsewhere');
    },
    complete: async (text, offset) => (await ask({ kind: 'complete', text, offset })) as Completions | null,
    forget() {
      for (const need of Object.keys(fetched))
        if (fetched[need] === null || fetched[need]?.kind === 'unreadable') delete fetched[need];
    },
    stop: () => end('stopped'),
  };
}
