import { type Cli, noun } from '../layer/define';
import { estateCommands } from './estates';
import { importJobCommands } from './import-jobs';

export function importCommands(cli: Cli): void {
  const imports = noun(cli, 'import', {
    about: 'take over what another manager has',
    examples: [
      'import check snapshot.zip --tenant-map default_tenant=moved',
      'import record old.ndjson.gz --url https://cloudify.example.org -U admin',
    ],
  });
  estateCommands(cli, imports);
  importJobCommands(cli, imports);
}
