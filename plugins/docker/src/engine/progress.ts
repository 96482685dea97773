import { FatalError, type OperationLogger } from '@baton/plugin-sdk';
import { plainLine } from '@baton/plugin-sdk/ssh';

const KEPT_CHARACTERS = 64 * 1024;
const MAX_LINE = 1024 * 1024;
const MAX_LOGGED = 1024 * 1024;

interface Message {
  stream?: string;
  status?: string;
  error?: string;
  errorDetail?: { message?: string };
}

/** Reads the messages of a build or a pull: one JSON object in each line. */
export interface ProgressReader {
  onData(piece: Buffer): void;
  /** The last part of the texts. @throws FatalError when the engine has told an error */
  result(what: string): string;
}

export function progressReader(log: OperationLogger): ProgressReader {
  let rest = '';
  let text = '';
  let logged = 0;
  let error: string | null = null;
  const take = (line: string): void => {
    if (line.trim() === '') return;
    const message = readMessage(line);
    error ??= message.errorDetail?.message ?? message.error ?? null;
    const said = plainLine((message.stream ?? message.status ?? '').trimEnd());
    if (said === '') return;
    text = `${text}${said}\n`.slice(-KEPT_CHARACTERS);
    logged += said.length;
    if (logged < MAX_LOGGED) log.info(said);
  };
  return {
    onData: (piece) => {
      const lines = (rest + piece.toString('utf8')).split('\n');
      rest = lines.pop()!.slice(-MAX_LINE);
      for (const line of lines) take(line);
    },
    result: (what) => {
      take(rest);
      rest = '';
      if (error !== null) throw new FatalError(`${what}: ${plainLine(error)}`);
      return text;
    },
  };
}

function readMessage(line: string): Message {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return { stream: line };
  }
}
