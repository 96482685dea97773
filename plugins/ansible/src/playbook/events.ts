import * as z from 'zod';

const COUNTS = z.object({
  ok: z.int(),
  changed: z.int(),
  failed: z.int(),
  unreachable: z.int(),
  skipped: z.int(),
  rescued: z.int(),
  ignored: z.int(),
});
/** Numbers of tasks of one host by their end. */
export type Counts = z.output<typeof COUNTS>;

const DIFF = z.object({
  header: z.string().nullish(),
  before: z.string().nullish(),
  after: z.string().nullish(),
});

/** What files/callback/baton_events.py tells. */
const EVENT = z.discriminatedUnion('e', [
  z.object({ e: z.literal('play'), t: z.string().nullish() }),
  z.object({ e: z.literal('task'), t: z.string().nullish() }),
  z.object({ e: z.literal('no_hosts') }),
  z.object({ e: z.literal('stats'), hosts: z.record(z.string(), COUNTS) }),
  z.object({
    e: z.literal('result'),
    s: z.enum(['ok', 'changed', 'failed', 'unreachable', 'skipped', 'retry']),
    h: z.string(),
    t: z.string(),
    ignored: z.boolean().optional(),
    m: z.string().optional(),
    out: z.string().optional(),
    err: z.string().optional(),
    rc: z.number().optional(),
    d: z.array(DIFF).optional(),
  }),
]);
export type PlaybookEvent = z.output<typeof EVENT>;
export type TaskResult = Extract<PlaybookEvent, { e: 'result' }>;

/** Reads a line of output. Null: the line is no event, or not one of this run. */
export function eventOf(line: string, prefix: string): PlaybookEvent | null {
  if (!line.startsWith(prefix)) return null;
  try {
    return EVENT.safeParse(JSON.parse(line.slice(prefix.length))).data ?? null;
  } catch {
    return null;
  }
}

export type Level = 'debug' | 'info' | 'warning' | 'error';

/** The lines of the log for an event. */
export function linesOf(event: PlaybookEvent): { level: Level; text: string }[] {
  if (event.e === 'play' || event.e === 'task')
    return [{ level: 'info', text: `${event.e.toUpperCase()} [${plain(event.t ?? '')}]` }];
  if (event.e === 'no_hosts')
    return [{ level: 'warning', text: 'No host of the inventory matches the play' }];
  if (event.e === 'stats')
    return Object.entries(event.hosts).map(([host, counts]) => ({
      level: 'info',
      text: `RECAP [${plain(host)}]: ${Object.entries(counts)
        .map(([name, count]) => `${name}=${count}`)
        .join(' ')}`,
    }));
  return [{ level: levelOf(event), text: resultText(event) }];
}

function levelOf({ s: state, ignored }: TaskResult): Level {
  if (state === 'skipped') return 'debug';
  if (state === 'retry') return 'warning';
  if (state !== 'failed' && state !== 'unreachable') return 'info';
  return ignored ? 'warning' : 'error';
}

function resultText({ s: state, h: host, m, out, err, rc, ignored, d: diffs = [] }: TaskResult): string {
  const isFailure = state === 'failed' || state === 'unreachable' || state === 'retry';
  const said = [
    m,
    ...(rc === undefined || (rc === 0 && !isFailure) ? [] : [`exit code ${rc}`]),
    ...(isFailure || state === 'changed' ? [out] : []),
    ...(isFailure ? [err] : []),
    ...diffs.map(diffText),
  ].filter((part) => part !== undefined && part !== '');
  const tail = said.length === 0 ? '' : `: ${plain(said.join('\n'))}`;
  return `${state}${ignored ? ' (ignored)' : ''} [${plain(host)}]${tail}`;
}

const diffText = ({ header, before, after }: z.output<typeof DIFF>): string =>
  `${header ?? 'difference'}\n- ${before ?? ''}\n+ ${after ?? ''}`;

/** Text without characters that control a terminal. */
export const plain = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
