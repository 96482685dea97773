import { buildProgram } from '../../apps/cli/src/program';
import { quietIo } from '../../apps/cli/src/testing-io';
import { uncovered } from '../../apps/cli/src/uncovered';
import { notice, table } from './markdown';

/** Returns docs/generated/cli.md: each command with the operations of the API that it uses, and those without a command. */
export function cliPage(): string {
  const { declared } = buildProgram(quietIo().io);
  const commands = [...declared].sort((a, b) => (a.path < b.path ? -1 : 1));
  const reasons = Object.entries(uncovered).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '# Commands',
    '',
    notice,
    '',
    'Each command of `baton` with the operations of the API that it may call (`openapi.json`). [../cli.md](../cli.md) is the manual.',
    '',
    table(
      ['Command', 'What it does', 'Operations'],
      commands.map(({ path, about, uses }) => [
        `\`${path}\``,
        about,
        uses.length === 0 ? 'none' : uses.join(', '),
      ]),
    ),
    '',
    '## Operations without a command',
    '',
    table(['Operation', 'Reason'], reasons),
    '',
  ].join('\n');
}
