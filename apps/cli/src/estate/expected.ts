/** What a recording says about the other manager, object by object. */
import { CommandFailure } from '../failure';
import { keyOf, kindOf } from './kinds';
import { type End, type Gap, type Header, type Line, readRecording } from './recording-file';

export type Item = Record<string, unknown>;
/** One thing that must be found here, too. `id` is the key of an object, or the deployment of an answer. */
export type Expected =
  | { kind: 'object'; what: string; tenant: string | null; id: string; item: Item; place: string }
  | { kind: 'answer'; what: string; tenant: string; id: string; item: Item; place: string }
  | { kind: 'count'; what: string; tenant: string; total: number; place: string };

export interface Recording {
  header: Header;
  end: End;
  gaps: Gap[];
  expected(): AsyncGenerator<Expected>;
}

/**
 * Opens a finished recording: it is read once here, for its end and its gaps, and once by `expected`.
 * @throws CommandFailure for a file that is no finished recording
 */
export async function openRecordingFile(path: string): Promise<Recording> {
  let header: Header | null = null;
  let end: End | null = null;
  const gaps: Gap[] = [];
  for await (const line of readRecording(path)) {
    if (line.kind === 'header') header = line;
    else if (line.kind === 'gap') gaps.push(line);
    else if (line.kind === 'end') end = line;
  }
  if (header === null || end === null)
    throw new CommandFailure(
      `${path}: the recording is not finished; expected one whose \`baton import record\` has ended`,
    );
  return { header, end, gaps, expected: () => expectedOf(path) };
}

async function* expectedOf(path: string): AsyncGenerator<Expected> {
  let number = 0;
  for await (const line of readRecording(path)) yield* ofLine(line, `line ${++number}`);
}

/** Every manager has its own filters of the system. */
export const isOfManager = (item: Item): boolean => item.is_system_filter === true;

function* ofLine(line: Line, place: string): Generator<Expected> {
  if (line.kind === 'answer' || line.kind === 'count') yield { ...line, place };
  if (line.kind !== 'page') return;
  const kind = kindOf(line.what);
  if (kind === undefined) return;
  for (const item of line.items)
    if (!isOfManager(item))
      yield { kind: 'object', what: line.what, tenant: line.tenant, id: keyOf(kind, item), item, place };
}
