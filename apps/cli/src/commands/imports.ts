import { type Cli, noun } from '../layer/define';
import { estateCommands } from './estates';

export function importCommands(cli: Cli): void {
  const imports = noun(cli, 'import', {
    about: 'take over what another manager has',
    examples: ['import record old.ndjson.gz --url https://cloudify.example.org -U admin'],
  });
  estateCommands(cli, imports);
}
