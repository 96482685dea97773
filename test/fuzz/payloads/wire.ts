/** A manual protobuf encoder: encodes values of described messages, and creates invalid bytes. */
import type { Random } from '../../sim/random';
import { nonsenseText, textFor } from '../values';
import type { Descriptors, Field } from './descriptors';

/** A message as fields by their JSON names. */
export type Value = string | number | bigint | boolean | Buffer | Message | Value[];
export interface Message {
  [name: string]: Value;
}

const DEEPEST = 4;
const MEGABYTE = 1024 * 1024;
const NUMBERS = [
  0,
  1,
  1,
  2,
  10,
  1000,
  -1,
  2_147_483_647,
  -2_147_483_648,
  4_294_967_295,
  Number.MAX_SAFE_INTEGER,
];
/** Texts for fields that hold JSON: shapes that the manager never writes. */
const JSON_TEXTS = [
  ...[
    '{}',
    '[]',
    'null',
    '1',
    '"x"',
    'true',
    '',
    '{',
    '[1,',
    'undefined',
    '{"a":1}',
    '{"__proto__":{"a":1}}',
  ],
  ...[
    '[null]',
    '[[]]',
    '[{}]',
    '{"inputs":null}',
    '{"get_secret":"s1"}',
    '{"concat":[{"get_secret":"s1"}]}',
    '1e999',
  ],
  ...[
    '"\\ud800"',
    '{"a":"\\u0000"}',
    `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
    `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  ],
  `"${'x'.repeat(200_000)}"`,
];

function textOf(random: Random, { jsonName, name }: Field, known: Readonly<Record<string, string>>): string {
  if (/_json$/.test(name)) return random.pick(JSON_TEXTS);
  if (random.chance(0.08)) return nonsenseText(random);
  if (/tenant/.test(name)) return known.tenant ?? 'default_tenant';
  const text = random.chance(0.7) ? (known[jsonName] ?? textFor(random, name)) : textFor(random, name);
  return text.startsWith('$') ? (known[text.slice(1)] ?? text) : text;
}

export interface Maker {
  descriptors: Descriptors;
  random: Random;
  /** Known ids, by field name. */
  known: Readonly<Record<string, string>>;
}

/** Returns a message of this type with odd and likely values. */
export function messageOf(maker: Maker, type: string, depth = 0): Message {
  const { descriptors, random } = maker;
  const message: Message = {};
  const fullness = random.pick([0.3, 0.9, 1]);
  for (const field of descriptors.messages.get(type) ?? []) {
    if (!random.chance(fullness)) continue;
    const one = (): Value => fieldValue(maker, field, depth);
    message[field.jsonName] = field.isRepeated ? Array.from({ length: random.below(4) }, one) : one();
  }
  return message;
}

function fieldValue(maker: Maker, field: Field, depth: number): Value {
  const { random, known } = maker;
  switch (field.type) {
    case 'TYPE_STRING':
      return textOf(random, field, known);
    case 'TYPE_BYTES':
      return bytesOf(random, random.pick([0, 1, 100, 5_000]));
    case 'TYPE_BOOL':
      return random.chance(0.5);
    case 'TYPE_MESSAGE':
      return depth >= DEEPEST ? {} : messageOf(maker, field.typeName, depth + 1);
    default:
      return random.pick(NUMBERS);
  }
}

const bytesOf = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  do {
    bytes.push(Number(left & 127n) | (left > 127n ? 128 : 0));
    left >>= 7n;
  } while (left > 0n);
  return Buffer.from(bytes);
}
const tag = (number: number, wireType: number): Buffer => varint(BigInt(number * 8 + wireType));
const sized = (number: number, content: Buffer): Buffer =>
  Buffer.concat([tag(number, 2), varint(BigInt(content.length)), content]);

/** Encodes a value of `messageOf`. */
export function encode({ messages }: Descriptors, type: string, message: Message): Buffer {
  const parts = (messages.get(type) ?? []).flatMap((field) => {
    const value = message[field.jsonName];
    if (value === undefined) return [];
    const all = Array.isArray(value) ? value : [value];
    return all.map((one) => fieldBytes({ messages, methods: [] }, field, one));
  });
  return Buffer.concat(parts);
}

function fieldBytes(descriptors: Descriptors, { number, type, typeName }: Field, value: Value): Buffer {
  if (typeof value === 'string') return sized(number, Buffer.from(value));
  if (value instanceof Uint8Array) return sized(number, Buffer.from(value));
  if (type === 'TYPE_MESSAGE') return sized(number, encode(descriptors, typeName, value as Message));
  if (type === 'TYPE_DOUBLE') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(Number(value));
    return Buffer.concat([tag(number, 1), bytes]);
  }
  return Buffer.concat([tag(number, 0), varint(BigInt(value as number))]);
}

/** Returns bytes that are not a message of the type; `good` is a valid message. `isFramed`: the bytes include the gRPC frame. */
export function brokenBytes(random: Random, good: Buffer): { body: Buffer; isFramed: boolean } {
  const plain = (body: Buffer) => ({ body, isFramed: false });
  const field = 1 + random.below(6);
  const kinds = [
    () => plain(bytesOf(random, random.pick([1, 10, 1_000]))),
    () => plain(good.subarray(0, random.below(good.length + 1))),
    () => plain(Buffer.concat([good, bytesOf(random, 5)])),
    // Every field with a wrong wire type: a number instead of a text, a text instead of a message.
    () => plain(Buffer.concat([1, 2, 3, 4, 5, 6].map((n) => Buffer.concat([tag(n, 0), varint(2n ** 63n)])))),
    () => plain(Buffer.concat([1, 2, 3, 4, 5, 6].map((n) => sized(n, Buffer.from([255, 254, 0, 128]))))),
    // A text with a declared length of 2 GB.
    () => plain(Buffer.concat([tag(field, 2), varint(2n ** 31n), Buffer.from('x')])),
    () => plain(Buffer.concat([tag(field, 2), varint(2n ** 63n)])),
    // Deeply nested groups and messages.
    () => plain(Buffer.concat(Array.from({ length: 50_000 }, () => tag(15, 3)))),
    () => plain(nested(field, 3_000)),
    () => plain(sized(field, Buffer.alloc(random.pick([1, 5]) * MEGABYTE, 120))),
    () => plain(Buffer.concat(Array.from({ length: 100_000 }, () => sized(field, Buffer.from('a'))))),
    () => ({ body: Buffer.concat([Buffer.from([0, 255, 255, 255, 255]), good]), isFramed: true }),
    () => ({ body: Buffer.concat([Buffer.from([1, 0, 0, 0, good.length % 256]), good]), isFramed: true }),
    () => ({ body: bytesOf(random, 4), isFramed: true }),
  ];
  return random.pick(kinds)();
}

function nested(field: number, levels: number): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  for (let i = 0; i < levels; i++) inner = sized(field, inner);
  return inner;
}
