import type { Json } from '@baton/kernel';
import { isFalsy, pythonText } from '@baton/plugin-sdk/template';
import { textOf } from '../thrown';
import { splitCalls } from './call-lines';

/** The answer to one call, as programs get it (reference/workflows.md 5.4). */
export type Reply =
  | { type: 'result'; payload: Json }
  | { type: 'error'; payload: { type: string; message: string; traceback: string } }
  | { type: 'stop_operation'; payload: { message: string } };

/** What the command-line client prints, and its exit code. */
export interface Told {
  text: string;
  exit: number;
}

/** Content types of the command-line client: the words of one call, and a text with a call in each line. */
export const ARGS_TYPE = 'application/x-ctx-args';
export const LINES_TYPE = 'application/x-ctx-lines';

/** Most calls in one text, so that other calls of the run get their turn. */
const MAX_CALLS = 10_000;

type Run = (args: Json[]) => Promise<Reply>;

/**
 * Answers the command-line client. It sends netstrings (`5:hello,`): the prefix of JSON words, `1` for JSON output, then
 * the arguments, or the text of the calls. The server decodes and formats, so that the client needs only a few lines of
 * shell. Never throws.
 */
export async function answerClient(body: () => Buffer, isLines: boolean, run: Run): Promise<Told> {
  try {
    const [prefix = '@', asJson = '', ...words] = readNetstrings(body());
    return isLines
      ? await toldLines(words.join(''), prefix, asJson === '1', run)
      : await told(words, prefix, asJson === '1', run);
  } catch (error) {
    return failed(textOf(error));
  }
}

function failed(text: string): Told {
  return { text: `RequestError: ${text}\n`, exit: 1 };
}

async function told(words: readonly string[], prefix: string, isJson: boolean, run: Run): Promise<Told> {
  const reply = await run(words.map((word) => argument(word, prefix)));
  if (reply.type === 'stop_operation') return { text: `${reply.payload.message}\n`, exit: 1 };
  if (reply.type === 'error') return failed(`${reply.payload.type}: ${reply.payload.message}`);
  if (isJson) return { text: JSON.stringify(reply.payload), exit: 0 };
  return { text: isFalsy(reply.payload) ? '' : pythonText(reply.payload), exit: 0 };
}

/**
 * Runs the calls in order and prints an answer in each line. The first call that fails is the last one that runs; its
 * message names its line.
 */
async function toldLines(text: string, prefix: string, isJson: boolean, run: Run): Promise<Told> {
  const calls = splitCalls(text);
  if (calls.length > MAX_CALLS)
    throw new Error(`${calls.length} calls; at most ${MAX_CALLS} may come together`);
  const answers: string[] = [];
  for (const { line, words } of calls) {
    const args = words.filter((word) => !JSON_WORDS.includes(word));
    const isJsonLine = isJson || args.length < words.length;
    const one = await told(args, prefix, isJsonLine, run).catch((error: unknown) => failed(textOf(error)));
    if (one.exit !== 0) return { text: `line ${line}: ${one.text}`, exit: one.exit };
    answers.push(`${one.text}\n`);
  }
  return { text: answers.join(''), exit: 0 };
}

const JSON_WORDS: readonly string[] = ['-j', '--json-output'];

function argument(word: string, prefix: string): Json {
  if (prefix === '' || !word.startsWith(prefix)) return word;
  try {
    return JSON.parse(word.slice(prefix.length)) as Json;
  } catch (error) {
    throw new Error(`an argument with ${prefix} is not JSON: ${(error as Error).message}`);
  }
}

function readNetstrings(body: Buffer): string[] {
  const words: string[] = [];
  for (let at = 0; at < body.length; ) {
    const colon = body.indexOf(0x3a, at);
    const digits = colon < 0 ? '' : body.subarray(at, colon).toString('latin1');
    const length = /^\d{1,9}$/.test(digits) ? Number(digits) : Number.NaN;
    // A negative length would lead back to this position.
    if (!(colon + 1 + length <= body.length)) throw new Error('malformed arguments');
    words.push(body.subarray(colon + 1, colon + 1 + length).toString('utf8'));
    at = colon + 1 + length + 1;
  }
  return words;
}
