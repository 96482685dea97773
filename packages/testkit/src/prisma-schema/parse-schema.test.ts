import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSchema } from './parse-schema';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-schema-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function parse(text: string) {
  const path = join(dir, 'schema.prisma');
  writeFileSync(path, text);
  return parseSchema(path);
}

test('reads tables under their names in the database, those that the client leaves out too', () => {
  const { tables } = parse(`
// A comment.
/// unique index things_name_key (lower(name)) where (is_on)
model Thing {
  /// What it is called.
  name  String  @id @default("a (b) \\"c\\"")
  is_on Boolean @default(true)
  of    Thing?  @relation(fields: [name], references: [name], onDelete: Cascade, onUpdate: NoAction) @ignore

  @@index([is_on, name])
  @@map("things")
  @@ignore
}
`);
  expect(tables).toEqual([
    {
      name: 'things',
      columns: [
        { name: 'is_on', type: 'boolean', isList: false, isNullable: false, default: 'true' },
        { name: 'name', type: 'text', isList: false, isNullable: false, default: 'a (b) "c"' },
      ],
      key: ['name'],
      uniques: [],
      indexes: [{ name: 'things_is_on_name_idx', columns: ['is_on', 'name'] }],
      sqlIndexes: ['unique index things_name_key (lower(name)) where (is_on)'],
      references: [
        {
          ...{ name: 'things_name_fkey', columns: ['name'], table: 'things', of: ['name'] },
          ...{ onDelete: 'Cascade', onUpdate: 'NoAction' },
        },
      ],
    },
  ]);
});

test.each([
  ['an unknown type', 'model A {\n id Thing @id\n}'],
  ['an unknown attribute', 'model A {\n id String @id @other\n}'],
  ['another native type', 'model A {\n id String @id @db.VarChar(3)\n}'],
  ['a renamed column', 'model A {\n id String @id @map("key")\n}'],
  ['an unknown rule', 'model A {\n id String @id\n @@fulltext([id])\n}'],
  ['an index with options', 'model A {\n id String @id\n @@index([id(sort: Desc)])\n}'],
  ['a line outside of a block', 'nonsense'],
])('%s is an error, not passed over', (_, text) => {
  expect(() => parse(text)).toThrow('not understood');
});
