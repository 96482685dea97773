import { join } from 'node:path';
import {
  type ConfigRow,
  type ConfigSchema,
  defaultPorts,
  describeConfig,
  runtimeConfig,
} from '../../packages/service-runtime/src/index';
import { notice, table } from './markdown';

const head = ['Variable', 'Default', 'Meaning'];
const rowsOf = (rows: readonly ConfigRow[]): string[][] =>
  rows.map((r) => [
    `\`${r.name}\``,
    r.isRequired ? '**required**' : r.default === null ? '' : `\`${r.default}\``,
    r.doc,
  ]);

/**
 * Returns the page of all variables: first the variables of every service, then the additional ones of each. @throws for a
 * variable without doc text
 */
export async function configPage(root: string, services: readonly string[]): Promise<string> {
  const shared = describeConfig(runtimeConfig);
  const names = new Set(shared.map((row) => row.name));
  const parts = [
    `${notice}\n\n# Configuration\n\nEnvironment variables; an empty one counts as absent. A wrong configuration ends a service with exit code 78 and names every problem.`,
  ];
  parts.push(`## Every service\n\n${table(head, rowsOf(shared))}`);
  for (const service of services) {
    const { configSchema } = (await import(join(root, 'services', service, 'src/config.ts'))) as {
      configSchema: ConfigSchema;
    };
    const own = describeConfig(configSchema).filter((row) => !names.has(row.name));
    const bare = own.filter((row) => row.doc === '').map((row) => row.name);
    if (bare.length > 0) throw new Error(`${service}: no doc text for ${bare.join(', ')}`);
    if (own.length > 0) parts.push(`## ${service}\n\n${table(head, rowsOf(own))}`);
  }
  const ports = Object.entries(defaultPorts).map(([name, port]) => [
    name,
    String(port.http),
    String(port.rpc),
  ]);
  parts.push(`## Ports\n\n${table(['Service', 'HTTP', 'rpc'], ports)}`);
  return `${parts.join('\n\n')}\n`;
}
