import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { gather } from './index';

const who = new AsyncLocalStorage<string>();

/** A reader whose statements end on command, and the questions and the asker of each statement. */
function reader() {
  const statements: { asks: readonly number[]; by: string | undefined }[] = [];
  const ends: { answer(): void; fail(error: Error): void }[] = [];
  const gathered = gather<number, string>(
    (asks) =>
      new Promise((resolve, reject) => {
        statements.push({ asks, by: who.getStore() });
        ends.push({ answer: () => resolve(asks.map((n) => (n < 0 ? null : `row ${n}`))), fail: reject });
      }),
  );
  return { ...gathered, statements, ends, asks: () => statements.map(({ asks }) => asks) };
}

test('questions of the same moment are one statement, and each gets its own answer', async () => {
  const { read, ends, asks } = reader();
  const answers = Promise.all([read('g', 1), read('g', -1), read('g', 3)]);
  await turn();
  expect(asks()).toEqual([[1, -1, 3]]);
  ends[0]!.answer();
  expect(await answers).toEqual(['row 1', null, 'row 3']);
});

test('what is asked while two statements are under way is read by a later one', async () => {
  const { read, ends, asks } = reader();
  const first = read('g', 1);
  await turn();
  const second = read('g', 2);
  await turn();
  const third = [read('g', 3), read('g', 1)];
  await turn();
  expect(asks()).toEqual([[1], [2]]);
  ends[1]!.answer();
  expect(await second).toBe('row 2');
  // One turn until the end of the statement is noticed, one until the next begins.
  await turn();
  await turn();
  expect(asks()).toEqual([[1], [2], [3, 1]]);
  ends[2]!.answer();
  ends[0]!.answer();
  expect(await Promise.all([first, ...third])).toEqual(['row 1', 'row 3', 'row 1']);
});

test('groups share nothing, neither statements nor places for them', async () => {
  const { read, asks } = reader();
  for (const group of ['a', 'b', 'c']) void read(group, group.charCodeAt(0));
  await turn();
  expect(asks()).toEqual([[97], [98], [99]]);
});

test('a statement that fails fails those it was asked for, and nobody after them', async () => {
  const { read, ends } = reader();
  const failing = [read('g', 1), read('g', 2)].map((one) => one.catch((error: Error) => error.message));
  await turn();
  ends[0]!.fail(new Error('lost'));
  expect(await Promise.all(failing)).toEqual(['lost', 'lost']);
  const next = read('g', 1);
  await turn();
  ends[1]!.answer();
  expect(await next).toBe('row 1');
});

test('each statement runs as one of those who asked for it, also when many ask at once', async () => {
  const { read, statements } = reader();
  for (let i = 0; i < 120; i++) who.run(`asker ${i}`, () => void read('g', i));
  await turn();
  expect(statements.map(({ asks, by }) => [asks[0], asks.length, by])).toEqual([
    [0, 50, 'asker 0'],
    [50, 50, 'asker 50'],
  ]);
});
