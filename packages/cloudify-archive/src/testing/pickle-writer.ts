import type { Value } from '../value';

/** How texts are written: `unicode`, or as the byte strings that Python 2 wrote for most of them. */
export type TextKind = 'unicode' | 'bytes';

const float = (value: number): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes.write('G');
  bytes.writeDoubleBE(value, 1);
  return bytes;
};

const sized = (code: string, length: number): Buffer => {
  const bytes = Buffer.alloc(5);
  bytes.write(code, 'latin1');
  bytes.writeUInt32LE(length, 1);
  return bytes;
};

function long(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length++;
  const hex = BigInt.asUintN(length * 8, value)
    .toString(16)
    .padStart(length * 2, '0');
  return Buffer.concat([Buffer.from([0x8a, length]), Buffer.from(hex, 'hex').reverse()]);
}

function number(value: number): Buffer {
  if (!Number.isInteger(value)) return float(value);
  if (value >= -(2 ** 31) && value < 2 ** 31) {
    const bytes = Buffer.alloc(5);
    bytes.write('J');
    bytes.writeInt32LE(value, 1);
    return bytes;
  }
  return long(BigInt(value));
}

function text(value: string, kind: TextKind): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([sized(kind === 'unicode' ? 'X' : 'T', bytes.length), bytes]);
}

function written(value: Value, kind: TextKind): Buffer {
  if (value === null) return Buffer.from('N');
  if (typeof value === 'boolean') return Buffer.from([value ? 0x88 : 0x89]);
  if (typeof value === 'bigint') return long(value);
  if (typeof value === 'number') return number(value);
  if (typeof value === 'string') return text(value, kind);
  if (Array.isArray(value))
    return Buffer.concat([Buffer.from(']('), ...value.map((one) => written(one, kind)), Buffer.from('e')]);
  const pairs = Object.entries(value).flatMap(([key, one]) => [text(key, kind), written(one, kind)]);
  return Buffer.concat([Buffer.from('}('), ...pairs, Buffer.from('u')]);
}

/** A pickle of protocol 2, as managers wrote them. */
export const pickleOf = (value: Value, kind: TextKind): Buffer =>
  Buffer.concat([Buffer.from([0x80, 2]), written(value, kind), Buffer.from('.')]);

/** The same for a value that is an instance of a subclass of dict: `dsl_parser.models.Plan`. */
export const pickledInstance = (
  cls: { module: string; name: string },
  value: Value,
  kind: TextKind,
): Buffer =>
  Buffer.concat([
    Buffer.from([0x80, 2]),
    Buffer.from(`c${cls.module}\n${cls.name}\n)`),
    Buffer.from([0x81]),
    // The pairs of the dict go into the instance.
    written(value, kind).subarray(1),
    Buffer.from('}b.'),
  ]);
