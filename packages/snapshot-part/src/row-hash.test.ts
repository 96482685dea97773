import { linesOf } from './lines';
import { RowHash } from './row-hash';

const hashOf = (lines: string[]): string => {
  const hash = new RowHash();
  for (const line of lines) hash.add(line);
  return hash.digest();
};

describe('canonical hash', () => {
  it('does not depend on the order of rows, and tells every other difference', () => {
    expect(hashOf(['a', 'b', 'c'])).toBe(hashOf(['c', 'a', 'b']));
    const different = [[], ['a'], ['a', 'a'], ['a', 'a', 'a'], ['ab'], ['a', 'b']].map(hashOf);
    expect(new Set(different).size).toBe(different.length);
  });

  it('is the sum of the SHA-256 modulo 2^256', () => {
    const one = BigInt(`0x${hashOf(['x'])}`);
    const many = hashOf(new Array<string>(1000).fill('x'));
    expect(BigInt(`0x${many}`)).toBe((one * 1000n) % 2n ** 256n);
  });
});

describe('lines', () => {
  async function* pieces(...texts: string[]) {
    for (const text of texts) yield Buffer.from(text);
  }
  const read = async (limit: number, ...texts: string[]) => {
    const lines: string[] = [];
    for await (const line of linesOf(pieces(...texts), limit)) lines.push(line.toString());
    return lines;
  };

  it('come whole, however the bytes are cut', async () => {
    expect(await read(100, 'a', 'b\nc', '\n', 'de\nf')).toEqual(['ab', 'c', 'de', 'f']);
  });

  it('longer than the limit are refused before they are held', async () => {
    await expect(read(3, 'ab', 'cd', 'never read')).rejects.toThrow(RangeError);
    await expect(read(3, 'abcd\n')).rejects.toThrow(RangeError);
  });
});
