import type { Client, ItemOf } from '@baton/client';
import { CommandFailure } from './failure';
import type { Printer } from './output';

type ShownEvent = ItemOf<'listEvents'>;

/** One event as a line: time, kind, place, text (reference/workflows.md 3.5). */
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
  return `${(event.reported_timestamp ?? '').slice(11, 23)}  ${kind} <${event.deployment_id ?? '-'}> ${place}${level}${event.message ?? ''}`;
}

/** Task bookkeeping that people rarely want: shown with --verbose. */
const QUIET = /^(Subgraph |Sending task )|: nothing to do$/;

/**
 * Shows an execution live until it has ended, without polling: the stream goes on by itself after a lost connection.
 * @throws CommandFailure when it failed or was cancelled.
 */
export async function followExecution(
  client: Client,
  out: Printer,
  executionId: string,
  options: { isVerbose: boolean; timeoutS: number },
): Promise<void> {
  const signal = options.timeoutS > 0 ? AbortSignal.timeout(options.timeoutS * 1000) : undefined;
  for await (const event of client.events('streamEvents', { execution_id: executionId }, { signal })) {
    if (event.event === 'end') {
      endOf(out, executionId, event.data as { status: string; error: string | null });
      return;
    }
    const shown = event.data as ShownEvent;
    if (options.isVerbose || !QUIET.test(shown.message ?? '')) out.say(eventLine(shown));
  }
  throw new CommandFailure(
    `execution ${executionId} goes on; its events were followed for ${options.timeoutS} s`,
    2,
    {
      execution_id: executionId,
    },
  );
}

function endOf(out: Printer, id: string, end: { status: string; error: string | null }): void {
  const result = { execution_id: id, status: end.status, error: end.error };
  if (end.status !== 'terminated') {
    throw new CommandFailure(
      `execution ${id} ended as ${end.status}${end.error ? `: ${end.error}` : ''}`,
      1,
      result,
    );
  }
  out.done(`Execution ${id} completed.`, result);
}
