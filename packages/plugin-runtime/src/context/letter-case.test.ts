import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caseTwins, requireCases, tellsCases } from './letter-case';

test.each([
  [['a/x', 'a/y', 'b'], null],
  [
    ['a/Read', 'a/read'],
    ['a/Read', 'a/read'],
  ],
  [
    ['Lib/x', 'lib/y'],
    ['Lib', 'lib'],
  ],
  [
    ['lib', 'LIB/x'],
    ['lib', 'LIB'],
  ],
  [['constructor', '__proto__/x'], null],
])('twins of %j: %j', (paths, twins) => expect(caseTwins(paths as string[])).toEqual(twins));

describe('a disk', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'baton-case-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is asked once for each root, and only when two paths need it', async () => {
    let probes = 0;
    const probe = async (): Promise<boolean> => {
      probes += 1;
      return true;
    };
    await requireCases(root, ['a', 'b'], probe);
    expect(probes).toBe(0);
    await requireCases(root, ['a', 'A'], probe);
    await requireCases(root, ['b', 'B'], probe);
    expect(probes).toBe(1);
  });

  it('that cannot hold both refuses and names both; a failed probe is repeated', async () => {
    const fail = (): Promise<boolean> => Promise.reject(new Error('the disk is full'));
    await expect(requireCases(root, ['a', 'A'], fail)).rejects.toThrow('the disk is full');
    const refusal = /"Run\.sh" and "run\.sh" differ only in letter case.*cannot hold both/;
    await expect(requireCases(root, ['Run.sh', 'run.sh'], async () => false)).rejects.toThrow(refusal);
  });

  it('is probed without leaving a file', async () => {
    expect(typeof (await tellsCases(root))).toBe('boolean');
    expect(readdirSync(root)).toEqual([]);
  });
});
