import { outputOf } from './output';
import { progressReader } from './progress';

const frame = (kind: number, text: string): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = kind;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
};

test('frames arrive in any pieces, also in the middle of a character', () => {
  const whole = Buffer.concat([frame(1, 'grün '), frame(2, ''), frame(2, 'rot\n')]);
  for (let size = 1; size < whole.length; size++) {
    const output = outputOf(false);
    for (let at = 0; at < whole.length; at += size) output.onData(whole.subarray(at, at + size));
    expect(output.text()).toBe('grün rot\n');
  }
});

test('of an output without end the last 64 KiB are kept', () => {
  const output = outputOf(false);
  for (let n = 0; n < 100; n++) output.onData(frame(1, 'x'.repeat(10_000)));
  output.onData(frame(1, 'end'));
  expect([output.text().length, output.text().slice(-4)]).toEqual([64 * 1024, 'xend']);
});

test('of a build without end 1 MiB is logged; its error is told', () => {
  let logged = 0;
  const log = { info: (line: string) => (logged += line.length) } as never;
  const reader = progressReader(log);
  for (let n = 0; n < 300; n++)
    reader.onData(Buffer.from(`${JSON.stringify({ stream: 'y'.repeat(10_000) })}\n`));
  reader.onData(Buffer.from('{"errorDetail": {"message": "no \\u001b[31mspace"}}'));
  expect(() => reader.result('the build failed')).toThrow('the build failed: no space');
  expect(logged).toBeLessThan(1_100_000);
});
