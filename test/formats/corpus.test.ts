// The current readers must read every stored format that was ever written and is still supported. The current writers must write
// the recorded documents of their number: a change of a format needs a new number (docs/adr/0027-formats-carry-numbers.md).
import { kinds, recordedNumbers, samplesOf } from './corpus';
import type { Kind } from './kind';

const all = kinds.map((kind): [string, Kind] => [kind.name, kind]);

test('no two kinds share a folder', () => {
  expect(new Set(kinds.map(({ name }) => name)).size).toBe(kinds.length);
});

describe.each(all)('%s', (_name, kind) => {
  test('every number that is read has samples, and no other has', () => {
    // If samples are missing, run: node --import tsx test/formats/record.ts
    expect(recordedNumbers(kind).sort()).toEqual([...kind.format.read].sort());
  });

  test('every sample is read as it was when it was recorded', async () => {
    for (const number of kind.format.read)
      for (const { stored, meaning } of samplesOf(kind, number))
        expect(await kind.read(stored)).toEqual(meaning);
  });

  test('the writer writes what was recorded under its number', async () => {
    const { comparable = (stored) => stored } = kind;
    const last = samplesOf(kind, kind.format.written).at(-1)!;
    expect(comparable(await kind.write())).toEqual(comparable(last.stored));
  });
});
