import { readFileSync } from 'node:fs';
import { saveDownload } from '../download';
import { UsageFailure } from '../failure';
import { type Cli, command, noun, option } from '../layer/define';

export function bundleCommands(cli: Cli): void {
  const bundles = noun(cli, 'bundle', {
    about: 'move a tenant or a deployment to another Baton',
    examples: [
      'bundle create --of production --passphrase-file key.txt',
      'import check production.zip --passphrase-file key.txt',
    ],
  });
  command(cli, bundles, {
    name: 'create [file]',
    about: 'write a tenant, or one deployment with what it needs, as an archive for `baton import check`',
    uses: ['exportBundle'],
    options: [
      option('--of <tenant>', 'the tenant; default: that of the session'),
      option('--deployment <id>', 'only this deployment with what it needs'),
      option('--with-dependencies', 'also the deployments that it depends on'),
      option('--without-events', 'leave events and log lines out'),
      option(
        '--passphrase-file <path>',
        'file with the passphrase; without one no value of a secret is in the bundle',
      ),
    ],
    run: async (run) => {
      const { args, options, client, session } = run;
      const tenant = options.of ?? session.tenant;
      const download = await client.download('exportBundle', {
        body: {
          tenant,
          ...(options.deployment === undefined ? {} : { deployment_id: options.deployment }),
          ...(options.withDependencies ? { with_dependencies: true } : {}),
          include_events: !options.withoutEvents,
          ...(options.passphraseFile === undefined ? {} : { passphrase: textOf(options.passphraseFile) }),
        },
      });
      await saveDownload(run, download, args[0], `${options.deployment ?? tenant}.zip`);
    },
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UsageFailure(`${path}: ${(cause as Error).message}`);
  }
}
