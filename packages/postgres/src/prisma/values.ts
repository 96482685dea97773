/** Conversion of values between a Prisma client and the driver `pg`. */
import type { ArgType, ColumnType, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { isoOfTimestamp } from '../column-types';

/** Prisma's type numbers. Not imported: services without a client would load the module too. */
const COLUMN = {
  Int32: 0,
  Int64: 1,
  Float: 2,
  Double: 3,
  Numeric: 4,
  Boolean: 5,
  Text: 7,
  Date: 8,
  DateTime: 10,
  Json: 11,
  Bytes: 13,
  Uuid: 15,
  Int32Array: 64,
  Int64Array: 65,
  FloatArray: 66,
  DoubleArray: 67,
  NumericArray: 68,
  BooleanArray: 69,
  TextArray: 71,
  DateArray: 72,
  DateTimeArray: 74,
  JsonArray: 75,
  BytesArray: 77,
  UuidArray: 78,
} as const satisfies Partial<typeof ColumnTypeEnum>;

/** Column types in use, by their OID in PostgreSQL: type for Prisma, and OID and type of the list. */
const KNOWN: readonly [oid: number, type: ColumnType, list?: [oid: number, type: ColumnType]][] = [
  [16, COLUMN.Boolean, [1000, COLUMN.BooleanArray]],
  [17, COLUMN.Bytes, [1001, COLUMN.BytesArray]],
  [19, COLUMN.Text],
  [20, COLUMN.Int64, [1016, COLUMN.Int64Array]],
  [21, COLUMN.Int32, [1005, COLUMN.Int32Array]],
  [23, COLUMN.Int32, [1007, COLUMN.Int32Array]],
  [25, COLUMN.Text, [1009, COLUMN.TextArray]],
  [114, COLUMN.Json, [199, COLUMN.JsonArray]],
  [700, COLUMN.Float, [1021, COLUMN.FloatArray]],
  [701, COLUMN.Double, [1022, COLUMN.DoubleArray]],
  [1043, COLUMN.Text, [1015, COLUMN.TextArray]],
  [1082, COLUMN.Date, [1182, COLUMN.DateArray]],
  [1114, COLUMN.DateTime, [1115, COLUMN.DateTimeArray]],
  [1184, COLUMN.DateTime, [1185, COLUMN.DateTimeArray]],
  [1700, COLUMN.Numeric, [1231, COLUMN.NumericArray]],
  [2950, COLUMN.Uuid, [2951, COLUMN.UuidArray]],
  [3802, COLUMN.Json, [3807, COLUMN.JsonArray]],
];
/** Types with lower numbers belong to PostgreSQL; the others are enums, which arrive as text. */
const FIRST_OWN_OID = 16_384;
const TEXT_LIST = 1009;

const types = new Map<number, ColumnType>(
  KNOWN.flatMap(([oid, type, list]) => (list ? [[oid, type] as const, list] : [[oid, type] as const])),
);

/** @throws Error for a type that none of our columns has. */
export function columnTypeOf(oid: number): ColumnType {
  const type = types.get(oid) ?? (oid >= FIRST_OWN_OID ? COLUMN.Text : undefined);
  if (type === undefined) throw new Error(`packages/postgres/src/prisma/values.ts knows no type ${oid}`);
  return type;
}

const asIs = (text: string): unknown => text;

/**
 * Cuts an instant to the millisecond, as everywhere else; a Date cannot hold more. @throws RangeError for infinity, which a Date
 * cannot hold.
 */
function instant(text: string): string {
  const iso = isoOfTimestamp(text);
  if (!iso.endsWith('Z')) throw new RangeError(`the instant ${text} does not fit a Date`);
  return iso;
}

/**
 * Prisma reads 64-bit integers, decimals and JSON from text. It takes int2, int4, floats, booleans and bytes as the driver parses
 * them.
 */
const scalars = new Map<number, (text: string) => unknown>([
  [20, asIs],
  [114, asIs],
  [1082, asIs],
  [1114, asIs],
  [1184, instant],
  [1700, asIs],
  [3802, asIs],
]);
const parserOf = (oid: number): ((text: string) => unknown) =>
  scalars.get(oid) ?? (pg.types.getTypeParser(oid, 'text') as (text: string) => unknown);

const readTexts = pg.types.getTypeParser(TEXT_LIST as number) as (text: string) => (string | null)[];
const parsers = new Map<number, (text: string) => unknown>(
  KNOWN.flatMap(([oid, , list]) => {
    const one = parserOf(oid);
    const many = (text: string) => readTexts(text).map((item) => (item === null ? null : one(item)));
    return list ? [[oid, one] as const, [list[0], many] as const] : [[oid, one] as const];
  }),
);

/** Column parsers of the rows that Prisma gets. */
export const prismaTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number) => parsers.get(oid) ?? asIs) as pg.CustomTypesConfig['getTypeParser'],
};

/** Converts a parameter into the value that the driver sends. Prisma passes instants as ISO text and bytes as base64. */
export function parameter(value: unknown, type: ArgType | undefined): unknown {
  if (Array.isArray(value) && type?.arity === 'list') return value.map((item) => parameter(item, type));
  if (typeof value === 'string' && type?.scalarType === 'bytes') return Buffer.from(value, 'base64');
  if (value instanceof Date) return value.toISOString();
  return value;
}
