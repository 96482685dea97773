import pg from 'pg';

const INT8 = 20;
const NUMERIC = 1700;
const TIMESTAMPTZ = 1184;
const DATE = 1082;
const TIMESTAMP = 1114;
const INT8_LIST = 1016;
const TIMESTAMPTZ_LIST = 1185;
const TEXT_LIST = 1009;

/**
 * Returns `YYYY-MM-DDThh:mm:ss.mmmZ` for a timestamp of the server (`2026-11-21 02:45:27.123456+00`; sessions run in UTC). The text
 * is sliced to milliseconds: no Date object, no rounding.
 */
export function isoOfTimestamp(text: string): string {
  // infinity, years beyond 9999 and BC stay as they are.
  if (text.charCodeAt(10) !== 32 || !text.endsWith('+00')) return text;
  const fraction = text.length > 22 ? text.slice(20, -3) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number`);
  return value;
}

const readTexts = pg.types.getTypeParser(TEXT_LIST as number) as (text: string) => unknown;
const parseList = (text: string, one: (item: string) => unknown): unknown[] =>
  (readTexts(text) as (string | null)[]).map((item) => (item === null ? null : one(item)));

const parsers = new Map<number, (text: string) => unknown>([
  [INT8, safeInteger],
  [NUMERIC, Number],
  [TIMESTAMPTZ, isoOfTimestamp],
  [DATE, (text) => text],
  [TIMESTAMP, (text) => text],
  [INT8_LIST, (text) => parseList(text, safeInteger)],
  [TIMESTAMPTZ_LIST, (text) => parseList(text, isoOfTimestamp)],
]);

/** Parsers of all columns, in one place: bigint and numeric as number, timestamptz as ISO text, jsonb parsed. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) ||
    pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
};
