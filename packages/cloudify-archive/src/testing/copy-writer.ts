import { createCipheriv, createHmac } from 'node:crypto';

/** A field of a COPY block. */
function copyField(value: string | null): string {
  if (value === null) return '\\N';
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\b', '\\b')
    .replaceAll('\f', '\\f')
    .replaceAll('\v', '\\v');
}

export const bytea = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

/** An array of texts, as PostgreSQL writes it. */
export const textArray = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`;

/** A COPY block as pg_dump writes it. */
export function copyBlock(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const names = columns.map((column) => (column === 'timestamp' ? '"timestamp"' : column)).join(', ');
  const lines = rows.map((row) => `${row.map(copyField).join('\t')}\n`).join('');
  return `--\n-- Data for Name: ${table}; Type: TABLE DATA; Schema: public; Owner: cloudify\n--\n\nCOPY public.${table} (${names}) FROM stdin;\n${lines}\\.\n\n\n`;
}

/** A Fernet token with the 64-byte key of a manager. The initial value is fixed: such tokens are for tests only. */
export function encrypted(text: string, key: string): string {
  const bytes = Buffer.from(key, 'base64url');
  const iv = Buffer.alloc(16, 9);
  const cipher = createCipheriv('aes-256-cbc', bytes.subarray(32), iv);
  const head = Buffer.concat([Buffer.from([0x80]), Buffer.alloc(8, 1), iv]);
  const signed = Buffer.concat([head, cipher.update(text, 'utf8'), cipher.final()]);
  const mac = createHmac('sha256', bytes.subarray(0, 32)).update(signed).digest();
  return Buffer.concat([signed, mac]).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
