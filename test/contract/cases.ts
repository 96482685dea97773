import { part1 } from './cases-part1';
import { part2 } from './cases-part2';
import { part2Resources } from './cases-part2-resources';
import { v21 } from './cases-v21';
import type { SpecCases } from './spec-case';

/** Every case, by the row that it tests. */
export const specCases: SpecCases = { ...part1, ...part2, ...part2Resources, ...v21 };

/** Key of a row in `specCases`. */
export const caseKey = (row: { version: string; method: string; path: string }): string =>
  `${row.version} ${row.method} ${row.path}`;
