import { frameOf, scanRecords } from './record-file';

const records = ['{"t":"begin"}', '{"t":"outcome"}', '{"t":"done"}'].map((text) => Buffer.from(text));
const whole = Buffer.concat(records.map(frameOf));
const texts = (data: Buffer): string[] => scanRecords(data).records.map(String);

test('a file that is cut at any byte has the records before the cut, and is not damaged', () => {
  const ends = records.map((_, i) => Buffer.concat(records.slice(0, i + 1).map(frameOf)).length);
  for (let length = 0; length <= whole.length; length++) {
    const scan = scanRecords(whole.subarray(0, length));
    const count = ends.filter((end) => end <= length).length;
    expect(scan.records.map(String)).toEqual(records.slice(0, count).map(String));
    expect(scan).toMatchObject({ isDamaged: false, end: count === 0 ? 0 : ends[count - 1] });
    expect(scan.isTorn).toBe(length !== 0 && !ends.includes(length));
  }
});

test('room of zeros behind the records is no record, and not torn', () => {
  const scan = scanRecords(Buffer.concat([whole, Buffer.alloc(5_000)]));
  expect(scan).toMatchObject({ isTorn: false, isDamaged: false, end: whole.length });
  expect(scan.records).toHaveLength(3);
});

test('a changed byte in the middle is found; the records around it are still read', () => {
  const middle = frameOf(records[0]!).length;
  for (let at = middle; at < middle + frameOf(records[1]!).length; at++) {
    const data = Buffer.from(whole);
    data[at] = data[at]! ^ 0x55;
    expect(scanRecords(data).isDamaged).toBe(true);
    expect(texts(data)).toEqual([String(records[0]), String(records[2])]);
  }
});

test('a length beyond the file, and beyond all bounds, reads nothing', () => {
  const data = Buffer.from(whole);
  data.writeUInt32LE(0xffffffff, 4);
  expect(texts(data)).toEqual([String(records[1]), String(records[2])]);
});
