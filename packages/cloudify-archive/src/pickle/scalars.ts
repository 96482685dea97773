import { isUtf8 } from 'node:buffer';
import { PyBytes } from './nodes';
import { PickleFault } from './pickle-fault';

/** Digits of one number: longer ones are no data of a manager and cost quadratic time. */
const MAX_DIGITS = 4096;
const MAX_LONG_BYTES = 1700;

const exact = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;

/** A number in decimal digits, as protocol 0 writes it; `01` and `00` are true and false where `isInt`. */
export function decimalInteger(line: Buffer, isInt: boolean): number | bigint | boolean {
  const text = line.toString('latin1');
  if (isInt && text === '01') return true;
  if (isInt && text === '00') return false;
  const digits = isInt ? text : text.replace(/L$/, '');
  if (digits.length > MAX_DIGITS || !/^[+-]?\d+$/.test(digits))
    throw new PickleFault('a whole number cannot be read');
  return exact(BigInt(digits.replace(/^\+/, '')));
}

/** A number in two's complement, lowest byte first. */
export function binaryInteger(bytes: Buffer): number | bigint {
  if (bytes.length > MAX_LONG_BYTES)
    throw new PickleFault(`a whole number has more than ${MAX_LONG_BYTES} bytes`);
  if (bytes.length === 0) return 0;
  const hex = Buffer.from(bytes).reverse().toString('hex');
  return exact(BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`)));
}

export function decimalFloat(line: Buffer): number {
  const text = line.toString('latin1').trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && text.length <= MAX_DIGITS) return Number(text);
  if (/^[+-]?nan$/.test(text)) return Number.NaN;
  if (/^[+-]?inf$/.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  throw new PickleFault('a number cannot be read');
}

/** UTF-8 as Python writes it, which may hold single surrogates; these become U+FFFD. */
export const utf8 = (bytes: Buffer): string => bytes.toString('utf8');
export const isCleanUtf8 = (bytes: Buffer): boolean => isUtf8(bytes);

/** A text of protocol 0: one character a byte, with \uXXXX and \UXXXXXXXX for the others. */
export function rawUnicode(line: Buffer): string {
  return line
    .toString('latin1')
    .replace(
      /\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})/g,
      (_, short: string | undefined, long: string | undefined) => {
        const code = Number.parseInt(short ?? long!, 16);
        if (code > 0x10ffff) throw new PickleFault('a text holds what is no character');
        return short === undefined ? String.fromCodePoint(code) : String.fromCharCode(code);
      },
    );
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
};

/** A byte string of protocol 0, in quotes and with the escapes of Python. */
export function quotedBytes(line: Buffer): PyBytes {
  const text = line.toString('latin1').trim();
  const quote = text[0];
  if (text.length < 2 || (quote !== "'" && quote !== '"') || !text.endsWith(quote))
    throw new PickleFault('a text is not in quotes');
  const plain = text
    .slice(1, -1)
    .replace(
      /\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|([\s\S]))/g,
      (all, hex?: string, octal?: string, one?: string) => {
        if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
        if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
        return ESCAPES[one!] ?? all;
      },
    );
  return new PyBytes(Buffer.from(plain, 'latin1'));
}
