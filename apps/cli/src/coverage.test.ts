// Every operation of the API has a command, or a reason why it has none.
import type { OperationId } from '@baton/client';
import { allRoutes } from '@baton/contracts/http/all';
import { declaredClient } from './layer/declared-client';
import { contractOf } from './layer/list-options';
import { buildProgram } from './program';
import { quietIo } from './testing-io';
import { uncovered } from './uncovered';

const { declared, program } = buildProgram(quietIo().io);
const used = new Map<string, string[]>();
for (const { path, uses } of declared) for (const id of uses) used.set(id, [...(used.get(id) ?? []), path]);
const current = allRoutes
  .filter(({ versions }) => (versions as readonly string[]).includes('v3.1'))
  .map(({ id }) => id);

test('each operation of v3.1 has a command or a reason', () => {
  const bare = current.filter((id) => !used.has(id) && uncovered[id as OperationId] === undefined);
  expect(bare).toEqual([]);
});

test('no reason is kept for an operation that has a command, or that does not exist', () => {
  const needless = Object.keys(uncovered).filter((id) => used.has(id) || !current.includes(id));
  expect(needless).toEqual([]);
});

test('commands declare only operations of v3.1', () => {
  expect([...used.keys()].filter((id) => !current.includes(id))).toEqual([]);
});

test('each reason is one sentence', () => {
  for (const reason of Object.values(uncovered)) expect(reason).toMatch(/^[A-Z`].*\.$/);
});

test('each command is declared once and says what it does', () => {
  const paths = declared.map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  expect(declared.filter(({ about }) => about.length < 5)).toEqual([]);
});

test('each kind shows examples, whose commands exist', () => {
  const paths = new Set(declared.map(({ path }) => path));
  for (const kind of program.commands.filter(({ commands }) => commands.length > 0)) {
    let help = '';
    kind.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
    const examples = [...help.matchAll(/^ {2}baton (\S+)(?: (\S+))?/gm)];
    expect([kind.name(), examples.length > 0]).toEqual([kind.name(), true]);
    for (const [, first, second] of examples)
      expect([`${first} ${second}`, paths.has(`${first} ${second}`) || paths.has(first!)]).toEqual([
        `${first} ${second}`,
        true,
      ]);
  }
});

test('no command takes an option of the whole program away', () => {
  const globals = program.options.flatMap(({ short, long }) => [short, long]);
  const clashes: string[] = [];
  for (const kind of program.commands)
    for (const one of [kind, ...kind.commands])
      for (const { short, long } of one.options)
        for (const flag of [short, long])
          if (flag !== undefined && globals.includes(flag))
            clashes.push(`${kind.name()} ${one.name()} ${flag}`);
  expect(clashes).toEqual([]);
});

test('a command cannot call what it does not declare', async () => {
  const client = declaredClient({ call: async () => 'answered' } as never, 'sites list', ['listSites']);
  expect(await client.call('listSites')).toBe('answered');
  expect(() => (client.call as (id: string) => unknown)('deleteSite')).toThrow(
    'baton sites list calls deleteSite, which it does not declare',
  );
});

test('a name that is no operation is refused', () => {
  expect(() => contractOf('listNothing' as OperationId)).toThrow('the API has no operation listNothing');
});
