import { AppError, silentLog } from '@baton/kernel';
import type { Place } from '../store/round.sql';
import { inTurn, newRound, type Round } from './rounds';

const ALL = [...'abcdefgh'];
const away = () => new AppError('service_unavailable_error', 'away');

/** Runs one batch of five of eight rows, two at once; returns the keys that it tried, in order. */
async function batch(round: Round, work: (key: string) => Promise<unknown>): Promise<string[]> {
  const tried: string[] = [];
  const [limit, atOnce] = [5, 2];
  const read = async (place: Place | null) =>
    ALL.filter((id) => place === null || id > place.id)
      .slice(0, limit)
      .map((id) => ({ id, at: '2030-01-01', now: '2030-01-02' }));
  const keyOf = ({ id }: { id: string }) => id;
  const noted = (key: string) => {
    tried.push(key);
    return work(key);
  };
  await inTurn({ log: silentLog }, round, { limit, atOnce, read, keyOf, work: noted });
  return tried;
}

const later = () => new Promise((resolve) => setImmediate(resolve));

test('of several at once none is left out, however long one takes', async () => {
  const round = newRound();
  let [atWork, most, finish] = [0, 0, () => undefined as void];
  const work = async (key: string) => {
    most = Math.max(most, ++atWork);
    await (key === 'a' ? new Promise<void>((resolve) => (finish = resolve)) : later());
    if (key === 'e') finish();
    atWork--;
  };
  expect(await batch(round, work)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(most).toBe(2);
  expect(await batch(round, later)).toEqual(['f', 'g', 'h']);
  expect(await batch(round, later)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('where nothing answers the next batch begins with the first that was not tried', async () => {
  const round = newRound();
  const fail = () =>
    later().then(() => {
      throw away();
    });
  expect(await batch(round, fail)).toEqual(['a', 'b', 'c', 'd']);
  expect((await batch(round, later))[0]).toBe('e');
});
