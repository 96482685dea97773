/** Parses the part of Prisma's schema language that we use; unknown syntax is an error, so nothing is ignored. */
import { readFileSync } from 'node:fs';
import { type Described, type DescribedColumn, type DescribedTable, inOrder } from './described-table';

/** PostgreSQL's names of the types that Prisma types have without `@db`. */
const TYPES: Record<string, string> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Float: 'double precision',
  Decimal: 'numeric(65,30)',
  Boolean: 'boolean',
  DateTime: 'timestamp(3) without time zone',
  Json: 'jsonb',
  Bytes: 'bytea',
};
/** PostgreSQL's names of the types of `@db.…`; precision 6 is PostgreSQL's default. */
const NATIVE: Record<string, string> = {
  Uuid: 'uuid',
  Date: 'date',
  Json: 'json',
  'Timestamptz(6)': 'timestamp with time zone',
  'Timestamp(6)': 'timestamp without time zone',
};

interface Block {
  kind: string;
  name: string;
  lines: string[];
}

/** Parses the tables and enums of the schema.prisma at `path`, in order, including those that the client leaves out. */
export function parseSchema(path: string): Described {
  const blocks = blocksOf(readFileSync(path, 'utf8'));
  const models = blocks.filter(({ kind }) => kind === 'model');
  const names = {
    tables: new Map(models.map((block) => [block.name, mapped(block)])),
    enums: new Map(
      blocks.filter(({ kind }) => kind === 'enum').map((block) => [block.name, enumOf(block)] as const),
    ),
  };
  return inOrder({
    tables: models.map((block) => tableOf(block, names)),
    enums: Object.fromEntries(
      [...names.enums.values()].map(({ name, values }) => [name, [...values.values()]]),
    ),
  });
}

interface Names {
  tables: Map<string, string>;
  enums: Map<string, { name: string; values: Map<string, string> }>;
}

/** Splits the text into blocks; documenting comments before a block become its first lines. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let comments: string[] = [];
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const head = /^(\w+) (\w+) \{$/.exec(line);
    if (head) {
      open = { kind: head[1]!, name: head[2]!, lines: comments };
      blocks.push(open);
      comments = [];
    } else if (line === '}') open = null;
    else if (line.startsWith('///')) (open?.lines ?? comments).push(line);
    else if (open && line !== '' && !line.startsWith('//')) open.lines.push(line);
    else if (!open && line !== '' && !line.startsWith('//')) throw new Error(`not understood: ${line}`);
  }
  return blocks;
}

const mapped = ({ name, lines }: Block): string =>
  lines.map((line) => /^@@map\("([^"]+)"\)$/.exec(line)?.[1]).find(Boolean) ?? name;

function enumOf(block: Block) {
  const values = block.lines
    .filter((line) => !line.startsWith('///') && !line.startsWith('@@map'))
    .map((line) => {
      const found = /^(\w+)(?: +@map\("([^"]+)"\))?$/.exec(line);
      if (!found) throw new Error(`not understood: ${line}`);
      return [found[1]!, found[2] ?? found[1]!] as const;
    });
  return { name: mapped(block), values: new Map(values) };
}

function tableOf(block: Block, names: Names): DescribedTable {
  const name = mapped(block);
  const table: DescribedTable = {
    name,
    columns: [],
    key: [],
    uniques: [],
    indexes: [],
    sqlIndexes: [],
    references: [],
  };
  for (const line of block.lines) {
    const index = /^\/\/\/ ((?:unique )?index \w+ (?:\w+ )?\(.*)$/.exec(line)?.[1];
    if (index) table.sqlIndexes.push(index);
    else if (line.startsWith('@@')) addRule(table, line);
    else if (!line.startsWith('///')) addField(table, line, names);
  }
  return table;
}

function addRule(table: DescribedTable, line: string): void {
  if (line === '@@ignore' || line.startsWith('@@map(')) return;
  const found = /^@@(id|unique|index)\(\[([\w, ]+)\](?:, map: "(\w+)")?\)$/.exec(line);
  if (!found) throw new Error(`not understood: ${line}`);
  const [, kind, list, name] = found;
  const columns = list!.split(', ');
  if (kind === 'id') table.key = columns;
  else if (kind === 'unique') table.uniques.push({ name: name ?? nameOf(table, columns, 'key'), columns });
  else table.indexes.push({ name: name ?? nameOf(table, columns, 'idx'), columns });
}

const nameOf = (table: DescribedTable, columns: string[], ending: string): string =>
  [table.name, ...columns, ending].join('_');

function addField(table: DescribedTable, line: string, names: Names): void {
  const found = /^(\w+) +(\w+)(\[\]|\?)?((?: +@.*)?)$/.exec(line);
  if (!found) throw new Error(`not understood: ${line}`);
  const [, name, type, mark, rest] = found as unknown as [string, string, string, string?, string?];
  const attributes = attributesOf(rest ?? '');
  if (names.tables.has(type)) return addRelation(table, type, attributes, names);
  const column: DescribedColumn = {
    name,
    type: names.enums.get(type)?.name ?? TYPES[type] ?? unknown(line),
    isList: mark === '[]',
    isNullable: mark === '?',
    default: null,
  };
  table.columns.push(column);
  for (const { name: attribute, text } of attributes) {
    if (attribute === 'id') table.key = [name];
    else if (attribute === 'unique')
      table.uniques.push({
        name: /map: "(\w+)"/.exec(text)?.[1] ?? nameOf(table, [name], 'key'),
        columns: [name],
      });
    else if (attribute === 'default') column.default = defaultOf(text, names.enums.get(type)?.values);
    else if (attribute === 'db') column.type = nativeOf(text) ?? unknown(line);
    else if (attribute !== 'ignore') unknown(line);
  }
}

function addRelation(table: DescribedTable, type: string, attributes: Attribute[], names: Names): void {
  const text = attributes.find(({ name }) => name === 'relation')?.text ?? '';
  const fields = /fields: \[([\w, ]+)\], references: \[([\w, ]+)\]/.exec(text);
  // The other side of the relation has the columns.
  if (!fields) return;
  const columns = fields[1]!.split(', ');
  table.references.push({
    name: /map: "(\w+)"/.exec(text)?.[1] ?? nameOf(table, columns, 'fkey'),
    columns,
    table: names.tables.get(type)!,
    of: fields[2]!.split(', '),
    onDelete: /onDelete: (\w+)/.exec(text)?.[1] ?? 'not said',
    onUpdate: /onUpdate: (\w+)/.exec(text)?.[1] ?? 'not said',
  });
}

interface Attribute {
  name: string;
  /** Text in its brackets; of `@db.X(6)` X(6). */
  text: string;
}

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const BRACKETS = String.raw`\((?:${QUOTED}|[^()"])*\)`;
const ATTRIBUTE = new RegExp(
  String.raw`^@(?:db\.(\w+(?:\([\d, ]+\))?)|(\w+)(?:\(((?:${QUOTED}|${BRACKETS}|[^()"])*)\))?)(?: +|$)`,
);

function attributesOf(text: string): Attribute[] {
  const found: Attribute[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const one = ATTRIBUTE.exec(rest);
    if (!one) throw new Error(`not understood: ${rest}`);
    found.push(one[1] === undefined ? { name: one[2]!, text: one[3] ?? '' } : { name: 'db', text: one[1] });
    rest = rest.slice(one[0].length);
  }
  return found;
}

function nativeOf(text: string): string | undefined {
  const numeric = /^Decimal\((\d+), (\d+)\)$/.exec(text);
  return numeric ? `numeric(${numeric[1]},${numeric[2]})` : NATIVE[text];
}

function defaultOf(text: string, values: Map<string, string> | undefined): string {
  const expression = /^dbgenerated\((".*")\)$/.exec(text)?.[1];
  if (expression !== undefined) return JSON.parse(expression) as string;
  if (text.startsWith('"')) return JSON.parse(text) as string;
  if (text === '[]') return '{}';
  return values?.get(text) ?? text;
}

function unknown(line: string): never {
  throw new Error(`not understood: ${line}`);
}
