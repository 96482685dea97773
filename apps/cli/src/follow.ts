import type { ItemOf } from '@baton/client';
import type { Option } from 'commander';
import { exactTime } from './cells';
import type { CliIo } from './cli-io';
import { exitCodes } from './exit-codes';
import { CommandFailure } from './failure';
import type { ClientOf } from './layer/declared-client';
import { number, type Options, option } from './layer/define';
import type { Printer } from './output';

type ShownEvent = ItemOf<'listEvents'>;

/** Returns one event as a line: date and time, kind, place, text (reference/workflows.md 3.5). Further lines are indented. */
export function eventLine(event: ShownEvent): string {
  const isLog = event.type?.endsWith('_log') ?? false;
  const kind = isLog ? 'LOG' : 'CFY';
  const operation = event.operation?.split('.').at(-1) ?? null;
  const place = event.source_id
    ? `[${event.source_id}->${event.target_id}${operation ? `|${operation}` : ''}] `
    : event.node_instance_id
      ? `[${event.node_instance_id}${operation ? `.${operation}` : ''}] `
      : '';
  const level = isLog && event.level ? `${event.level.toUpperCase()}: ` : '';
  // An operation that prints line ends could otherwise write lines that look like events.
  const message = (event.message ?? '').replace(/\r?\n/g, '\n    ');
  return `${exactTime(event.reported_timestamp ?? '')}  ${kind} <${event.deployment_id ?? '-'}> ${place}${level}${message}`;
}

/** Internal task messages: shown only with --verbose. */
const QUIET = /^(Subgraph |Sending task )|: nothing to do$/;

export interface FollowOptions {
  isVerbose: boolean;
  /** Seconds after which following ends; 0 = never. */
  timeoutS: number;
  /** Shows only what happens from now on. */
  isFromNow?: boolean;
}

/** Options of commands that start something and follow it. */
export const followOptions = (): Option[] => [
  option('--detach', 'do not wait for the end'),
  option('-v, --verbose', 'every event'),
  number('--timeout <seconds>', 'stop following after this time, 0 = never', 0),
];

export const followOf = ({ verbose, timeout }: Options): FollowOptions => ({
  isVerbose: verbose ?? false,
  timeoutS: timeout ?? 0,
});

/** What following needs of a run. */
export interface Follower {
  client: ClientOf<'streamEvents'>;
  out: Printer;
  io: CliIo;
}

/**
 * Shows an execution live until it has ended, without polling: the stream reconnects by itself after a lost connection.
 * Ctrl-C and the time limit end only the following; the execution goes on.
 * @throws CommandFailure when the execution failed or was cancelled, or when following ended first
 */
export async function followExecution(
  { client, out, io }: Follower,
  executionId: string,
  { isVerbose, timeoutS, isFromNow }: FollowOptions,
): Promise<void> {
  const interrupt = new AbortController();
  const stopListening = io.onInterrupt(() => interrupt.abort());
  const signals = [interrupt.signal, ...(timeoutS > 0 ? [AbortSignal.timeout(timeoutS * 1000)] : [])];
  const query = { execution_id: executionId, from: isFromNow ? 'tail:1' : undefined };
  try {
    for await (const event of client.events('streamEvents', query, { signal: AbortSignal.any(signals) })) {
      if (event.event === 'end') {
        endOf(out, executionId, event.data as { status: string; error: string | null });
        return;
      }
      const shown = event.data as ShownEvent;
      if (isVerbose || !QUIET.test(shown.message ?? '')) out.say(eventLine(shown));
    }
  } finally {
    stopListening();
  }
  throw goesOn(executionId, interrupt.signal.aborted ? null : timeoutS);
}

function goesOn(id: string, timeoutS: number | null): CommandFailure {
  const about = timeoutS === null ? '' : `; its events were followed for ${timeoutS} s`;
  return new CommandFailure(
    `execution ${id} goes on${about}. To come back to it: baton executions follow ${id}`,
    timeoutS === null ? exitCodes.interrupted : exitCodes.waitEnded,
    { execution_id: id },
  );
}

function endOf(out: Printer, id: string, end: { status: string; error: string | null }): void {
  const result = { execution_id: id, status: end.status, error: end.error };
  if (end.status !== 'terminated') {
    throw new CommandFailure(
      `execution ${id} ended as ${end.status}${end.error ? `: ${end.error}` : ''}`,
      exitCodes.executionFailed,
      result,
    );
  }
  out.done(`Execution ${id} completed.`, result, { name: 'execution_id' });
}
