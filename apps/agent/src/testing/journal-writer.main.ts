/** Writes operations into the journal of a folder and says each that is certain, until it is killed. */
import { silentLog, systemClock } from '@baton/kernel';
import { openTaskJournal } from '../journal/task-journal';

async function main(dir: string): Promise<void> {
  const journal = await openTaskJournal({ dir, clock: systemClock, log: silentLog, compactBytes: 20_000 });
  const known = journal.all().map(({ taskId }) => Number(taskId.slice(1)));
  for (let i = Math.max(0, ...known) + 1; ; i++) {
    const taskId = `t${i}`;
    await journal.begin({ taskId, executionId: 'e', attempt: 1, tenant: 't', startedAt: '' });
    process.stdout.write(`begin ${i}\n`);
    if (i % 2 === 0) continue;
    await journal.ended(taskId, outcomeOf(taskId));
    process.stdout.write(`ended ${i}\n`);
    if (i % 5 === 0) journal.done(taskId, 1);
  }
}

const outcomeOf = (taskId: string) => ({
  taskId,
  executionId: 'e',
  attempt: 1,
  kind: 1,
  resultJson: 'x'.repeat(200),
  errorJson: '',
  retryAfter: -1,
  startedAt: '',
  endedAt: '',
  untilExecution: '',
});

void main(process.argv[2]!);
