import { isUtf8 } from 'node:buffer';
import { ArchiveRefused, type Place } from '../archive-refused';

const TAB = 0x09;
const BACKSLASH = 0x5c;
const ESCAPES = new Map<number, number>([
  [0x62, 0x08], // b
  [0x66, 0x0c], // f
  [0x6e, 0x0a], // n
  [0x72, 0x0d], // r
  [0x74, 0x09], // t
  [0x76, 0x0b], // v
]);

/** Field `index` of a row, still escaped; undefined where the row has fewer. */
export function rawField(row: Buffer, index: number): Buffer | undefined {
  let from = 0;
  for (let i = 0; i < index; i++) {
    const tab = row.indexOf(TAB, from);
    if (tab === -1) return undefined;
    from = tab + 1;
  }
  const end = row.indexOf(TAB, from);
  return row.subarray(from, end === -1 ? row.length : end);
}

/** Fields of a row, still escaped. @throws ArchiveRefused copy where they are not as many as the columns */
export function splitRow(row: Buffer, columns: number, place: Place): Buffer[] {
  const fields: Buffer[] = [];
  let from = 0;
  for (;;) {
    const tab = row.indexOf(TAB, from);
    fields.push(row.subarray(from, tab === -1 ? row.length : tab));
    if (fields.length > columns || tab === -1) break;
    from = tab + 1;
  }
  if (fields.length !== columns)
    throw new ArchiveRefused(
      'copy',
      `the row has ${fields.length > columns ? 'more' : fields.length} fields; expected the ${columns} of the header`,
      place,
    );
  return fields;
}

const isNull = (field: Buffer): boolean => field.length === 2 && field[0] === BACKSLASH && field[1] === 0x4e;

/** Content of a field: null for \N, otherwise its bytes without escapes. */
export function unescaped(field: Buffer): Buffer | null {
  if (isNull(field)) return null;
  let at = field.indexOf(BACKSLASH);
  if (at === -1) return field;
  const target = Buffer.allocUnsafe(field.length);
  let length = field.copy(target, 0, 0, at);
  while (at < field.length) {
    const byte = field[at]!;
    if (byte !== BACKSLASH || at + 1 === field.length) {
      target[length++] = byte;
      at++;
      continue;
    }
    const [value, used] = escapeAt(field, at + 1);
    target[length++] = value;
    at += 1 + used;
  }
  return target.subarray(0, length);
}

/** The byte that an escape stands for, and how many bytes it takes after the backslash. */
function escapeAt(field: Buffer, at: number): [number, number] {
  const first = field[at]!;
  const known = ESCAPES.get(first);
  if (known !== undefined) return [known, 1];
  const rest = field.toString('latin1', at, at + 3);
  const octal = /^[0-7]{1,3}/.exec(rest)?.[0];
  if (octal) return [Number.parseInt(octal, 8) & 0xff, octal.length];
  const hex = /^x[0-9a-fA-F]{1,2}/.exec(rest)?.[0];
  if (hex) return [Number.parseInt(hex.slice(1), 16), hex.length];
  return [first, 1];
}

/** @throws ArchiveRefused copy for what is no UTF-8 */
export function textOf(bytes: Buffer, place: Place): string {
  if (!isUtf8(bytes)) throw new ArchiveRefused('copy', 'a text is no UTF-8', place);
  return bytes.toString('utf8');
}

/** bytea, as PostgreSQL writes it in hex or, before 9.0, with escapes. @throws ArchiveRefused copy */
export function byteaOf(bytes: Buffer, place: Place): Buffer {
  if (bytes[0] !== BACKSLASH || bytes[1] !== 0x78) return unescaped(bytes) ?? bytes;
  const digits = bytes.toString('latin1', 2);
  const decoded = Buffer.from(digits, 'hex');
  // Buffer.from stops at what is no digit.
  if (decoded.length * 2 !== digits.length)
    throw new ArchiveRefused('copy', 'a value of bytes cannot be read', place);
  return decoded;
}

/** An array of texts in one dimension: `{a,"b,c",NULL}`; NULL is left out. @throws ArchiveRefused copy */
export function textArrayOf(text: string, place: Place): string[] {
  if (!text.startsWith('{') || !text.endsWith('}'))
    throw new ArchiveRefused('copy', 'a list cannot be read', place);
  const items: string[] = [];
  let at = 1;
  const end = text.length - 1;
  while (at < end) {
    const isQuoted = text[at] === '"';
    let item = '';
    if (isQuoted) at++;
    while (at < end && text[at] !== (isQuoted ? '"' : ',')) {
      if (text[at] === '\\') at++;
      item += text[at++] ?? '';
    }
    if (isQuoted) at++;
    if (at < end && text[at] !== ',') throw new ArchiveRefused('copy', 'a list cannot be read', place);
    at++;
    if (isQuoted || item !== 'NULL') items.push(item);
  }
  return items;
}
