// Generates the lists in the README of each service: tables, REST resources, rpc methods, messages and loops, from its composed
// parts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { publishersOf, topology } from '../../packages/broker/src/index';
import { allRoutes } from '../../packages/contracts/src/http/all';
import { rpcRules } from '../../packages/contracts/src/index';
import type { ServiceParts } from '../../packages/service-runtime/src/index';
import { table } from './markdown';
import { composedParts } from './service-parts';

const begin = '<!-- begin: generated from src/service.ts by `npm run gen`; do not edit -->';
const end = '<!-- end: generated -->';

type Row = [string, string];
const code = (text: string): string => `\`${text}\``;
const codes = (texts: Iterable<string>): string => [...new Set(texts)].map(code).join(', ');
const orNone = (rows: Row[]): Row[] => rows.map(([what, text]) => [what, text === '' ? 'none' : text]);

/** Returns the path of each README with its new text. @throws Error for a README without the two markers */
export async function serviceReadmes(root: string, services: readonly string[]): Promise<[string, string][]> {
  const pages: [string, string][] = [];
  for (const service of services) {
    const name = `services/${service}/README.md`;
    const lists = listsOf(root, service, await composedParts(root, service));
    pages.push([name, withLists(name, readFileSync(join(root, name), 'utf8'), lists)]);
  }
  return pages;
}

function withLists(name: string, text: string, lists: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${name} lacks the lines\n${begin}\n${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${lists}\n\n${text.slice(to)}`;
}

function listsOf(root: string, service: string, parts: ServiceParts): string {
  const facts = table(
    ['Kind', 'Names'],
    orNone([
      ['Tables', tables(root, service)],
      ['REST resources', resources(service)],
      ['rpc used', rpcUsed(service)],
      [
        'Messages out',
        codes(topology.filter((e) => publishersOf(e).includes(service)).map((e) => e.message.type)),
      ],
      ['Messages in', codes(parts.consumers.map((part) => part.message.type))],
      ['Messages in, to every replica', codes(parts.subscriptions.map((part) => part.message.type))],
    ]),
  );
  return [facts, rpcServed(parts), loops(root, service, parts)].filter((text) => text !== '').join('\n\n');
}

function tables(root: string, service: string): string {
  const file = join(root, 'services', service, 'src/store/tables.gen.ts');
  if (!existsSync(file)) return '';
  const [, body = ''] = readFileSync(file, 'utf8').split('export interface DB {');
  const names = [...body.slice(0, body.indexOf('}')).matchAll(/^ {2}"?([\w.]+)"?:/gm)].map(
    ([, name]) => name!,
  );
  return `schema ${code(service.replaceAll('-', '_'))}: ${names.join(', ')}`;
}

/** Returns the first segments of the paths: `/sites` also stands for `/sites/{name}`. */
function resources(service: string): string {
  const own = allRoutes.filter((route) => route.owner === service);
  return codes(own.map(({ path }) => `/${path.split('/')[1]}`).sort());
}

const shortName = (path: string): Row => {
  const [, definition = '', method = ''] = path.split('/');
  return [definition.slice(definition.lastIndexOf('.') + 1), method];
};

/** Returns the methods of other services that the rules allow this service to call. */
function rpcUsed(service: string): string {
  const used = new Map<string, string[]>();
  for (const [path, { callers }] of rpcRules) {
    if (!callers.some((caller) => caller === service)) continue;
    const [definition, method] = shortName(path);
    used.set(definition, [...(used.get(definition) ?? []), method]);
  }
  return [...used].map(([definition, methods]) => `${definition}: ${methods.join(', ')}`).join('; ');
}

/** Returns one row per definition for its methods with the same callers. */
function rpcServed(parts: ServiceParts): string {
  const rows = new Map<string, { row: Row; methods: string[] }>();
  for (const { definition } of parts.rpc) {
    for (const { name } of Object.values(definition.methods)) {
      const path = `/${definition.fullName}/${name}`;
      const row: Row = [shortName(path)[0], rpcRules.get(path)?.callers.join(', ') || 'nobody'];
      const same = rows.get(row.join()) ?? { row, methods: [] };
      same.methods.push(name);
      rows.set(row.join(), same);
    }
  }
  if (rows.size === 0) return '';
  return table(
    ['rpc served', 'Callers', 'Methods'],
    [...rows.values()].map(({ row, methods }) => [...row, methods.join(', ')]),
  );
}

function loops(root: string, service: string, parts: ServiceParts): string {
  const rows = parts.loops.map(({ name, intervalMs }) => [
    code(name),
    intervalMs % 60_000 === 0 ? `${intervalMs / 60_000} min` : `${intervalMs / 1000} s`,
    code(relative(root, fileOfLoop(root, service, name))),
  ]);
  return rows.length === 0 ? '' : table(['Loop', 'Every', 'Source'], rows);
}

function fileOfLoop(root: string, service: string, name: string): string {
  for (const folder of [`services/${service}/src`, 'packages/service-runtime/src']) {
    const file = readdirSync(join(root, folder), { recursive: true })
      .map((path) => join(root, folder, String(path)))
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .sort()
      .find((path) => readFileSync(path, 'utf8').includes(`name: '${name}'`));
    if (file !== undefined) return file;
  }
  throw new Error(`the loop ${name} of ${service} is in no file as name: '${name}'`);
}
