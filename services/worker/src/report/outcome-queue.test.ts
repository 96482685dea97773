import type { HeldTask } from '../claim/held-task';
import { createOutcomeQueue, type OutcomeItem } from './outcome-queue';

const item = (executionId: string, characters: number, tenant = 't'): OutcomeItem =>
  ({
    task: { executionId, assignment: { tenant } } as HeldTask,
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

it('what ends together is told in one call, as far as one can carry it', () => {
  const queue = createOutcomeQueue();
  for (let i = 0; i < 70; i++) queue.add(item(`e${i}`, 1));
  for (const id of ['large', 'larger']) queue.add(item(id, 10 * MEGA));
  const groups = queue.groupsDue(0, 8);
  expect(groups.map((group) => group.length)).toEqual([64, 7, 1]);
  expect(groups.map((group) => queue.take(group).length)).toEqual([64, 7, 1]);
  expect(queue.groupsDue(0, 8)).toEqual([]);
});

it('more of one execution goes along only where the others leave room', () => {
  const queue = createOutcomeQueue();
  for (const size of [2, 5, 4]) queue.add(item('many', size * MEGA));
  queue.add(item('one', 8 * MEGA));
  const [group] = queue.groupsDue(0, 8);
  const sizes = queue.take(group!).map(({ outcome }) => outcome.resultJson.length / MEGA);
  expect(sizes).toEqual([2, 5, 8]);
});

it('what failed together goes alone', () => {
  const queue = createOutcomeQueue();
  for (const id of ['a', 'b']) queue.add(item(id, 1));
  const [group] = queue.groupsDue(0, 1);
  expect(queue.take(group!)).toHaveLength(2);
  queue.failed(group!, 0);
  expect(queue.groupsDue(10_000, 8)).toEqual([['a'], ['b']]);
});

it('each call is about one tenant: the room that goes with it is for its operations', () => {
  const queue = createOutcomeQueue();
  for (const [id, tenant] of [
    ['a1', 'a'],
    ['b1', 'b'],
    ['a2', 'a'],
  ])
    queue.add(item(id!, 1, tenant));
  expect(queue.groupsDue(0, 8)).toEqual([['a1', 'a2'], ['b1']]);
});
