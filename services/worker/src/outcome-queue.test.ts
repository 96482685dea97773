import type { HeldTask } from './held-task';
import { createOutcomeQueue, type OutcomeItem } from './outcome-queue';

const item = (executionId: string, characters: number): OutcomeItem =>
  ({
    task: { executionId } as HeldTask,
    outcome: { resultJson: 'x'.repeat(characters), errorJson: '' },
  }) as OutcomeItem;
const MEGA = 1024 * 1024;

it('one call carries what it can; the rest goes with the next one', () => {
  const queue = createOutcomeQueue();
  const items = [10, 5, 10, 1].map((size) => item('e', size * MEGA));
  for (const one of items) queue.add(one);
  const sent: OutcomeItem[][] = [];
  for (let due = queue.groupsDue(0, 8); due.length > 0; due = queue.groupsDue(0, 8)) {
    const batch = queue.take(due[0]!);
    queue.answered(due[0]!, batch);
    sent.push(batch);
  }
  expect(sent).toEqual([items.slice(0, 2), items.slice(2)]);
});

it('each execution of a group is told about, and what failed goes alone', () => {
  const queue = createOutcomeQueue();
  for (const id of ['a', 'b']) queue.add(item(id, 15 * MEGA));
  const [group] = queue.groupsDue(0, 1);
  expect(queue.take(group!)).toHaveLength(2);
  queue.failed(group!, 0);
  expect(queue.groupsDue(10_000, 8)).toEqual([['a'], ['b']]);
});
