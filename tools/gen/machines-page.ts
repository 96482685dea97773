import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { notice } from './markdown';

interface Drawn {
  name: string;
  initial: string;
  terminal: readonly string[];
  states: readonly string[];
  mermaid(): string;
}

function filesWithMachines(root: string): string[] {
  return ['packages', 'services']
    .flatMap((area) => readdirSync(join(root, area)).map((name) => join(root, area, name, 'src')))
    .filter(existsSync)
    .flatMap((src) => readdirSync(src, { recursive: true }).map((file) => join(src, String(file))))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('node_modules'))
    .filter(
      (file) =>
        !file.includes(join('packages', 'kernel')) && /= defineMachine[(<]/.test(readFileSync(file, 'utf8')),
    )
    .sort();
}

const isMachine = (value: unknown): value is Drawn => typeof (value as Drawn | null)?.mermaid === 'function';

/** Returns the page of every state machine as a diagram. */
export async function machinesPage(root: string): Promise<string> {
  const parts = [`${notice}\n\n# State machines`];
  for (const file of filesWithMachines(root)) {
    const exported = (await import(file)) as Record<string, unknown>;
    for (const machine of Object.values(exported).filter(isMachine)) {
      parts.push(
        `## ${machine.name}\n\nTable: \`${relative(root, file)}\`. Terminal: ${machine.terminal.map((s) => `\`${s}\``).join(', ')}.\n\n\`\`\`mermaid\n${machine.mermaid()}\n\`\`\``,
      );
    }
  }
  return `${parts.join('\n\n')}\n`;
}
