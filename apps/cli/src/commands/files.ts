import { type Command, Option } from 'commander';
import { saveDownload } from '../download';
import { UsageFailure } from '../failure';
import { type Cli, command, noun, type Options, option } from '../layer/define';
import { fileUpload } from '../upload';

/** Places of files, with the operation that reads them. */
const READS = {
  tenant: 'getTenantFile',
  global: 'getGlobalFile',
  deployment: 'getDeploymentFile',
  blueprint: 'getBlueprintResource',
  plugin: 'getPluginResource',
} as const;
const WRITES = { tenant: 'putTenantFile', global: 'putGlobalFile', deployment: 'putDeploymentFile' } as const;
const DELETES = {
  tenant: 'deleteTenantFile',
  global: 'deleteGlobalFile',
  deployment: 'deleteDeploymentFile',
} as const;
type Place = keyof typeof READS;

/** `baton files ...`: files of tenants, of all tenants, of deployments; read only: of blueprints and plugins. */
export function fileCommands(cli: Cli): void {
  const files = noun(cli, 'files', {
    alias: 'file',
    about: 'files that the manager keeps',
    examples: [
      'files list scripts/',
      'files get log.txt --in deployment --of web',
      'files put scripts/run.sh ./run.sh',
    ],
  });
  readCommands(cli, files);
  command(cli, files, {
    name: 'put <path> <file>',
    about: 'write a file',
    uses: Object.values(WRITES),
    options: [...placeOptions(Object.keys(WRITES)), option('--extract', 'unpack an archive there')],
    run: async ({ args: [path, file], options, client, out, io, session }) => {
      const operation = WRITES[options.in as keyof typeof WRITES];
      const params = paramsOf(options, path, session.tenant) as any;
      await client.upload(operation, {
        params,
        query: { extract: options.extract },
        content: fileUpload(io, file),
      });
      out.done(`${path} written.`, { path }, { name: 'path' });
    },
  });
  command(cli, files, {
    name: 'delete <path>',
    about: 'remove a file; with a slash at the end all below a folder',
    uses: Object.values(DELETES),
    options: placeOptions(Object.keys(DELETES)),
    run: async ({ args: [path], options, client, out, session }) => {
      const operation = DELETES[options.in as keyof typeof DELETES];
      await client.call(operation, { params: paramsOf(options, path, session.tenant) as any });
      out.done(`${path} removed.`, { path }, { name: 'path' });
    },
  });
}

function readCommands(cli: Cli, files: Command): void {
  command(cli, files, {
    name: 'list [folder]',
    about: 'list the files below a folder, with their times',
    uses: Object.values(READS),
    options: placeOptions(Object.keys(READS)),
    run: async ({ args: [folder], options, client, out, session }) => {
      const path = folder === undefined || folder === '' ? '' : `${String(folder).replace(/\/+$/, '')}/`;
      const params = paramsOf(options, path, session.tenant) as any;
      const answer = (await client.call(READS[options.in as Place], { params })) as unknown;
      const rows = Array.isArray(answer)
        ? answer.map((name) => ({ path: String(name), changed: null }))
        : Object.entries((answer ?? {}) as object).map(([name, changed]) => ({ path: name, changed }));
      out.table(rows, ['path', 'changed'], { name: 'path' });
    },
  });
  command(cli, files, {
    name: 'get <path> [file]',
    about: 'download a file',
    uses: Object.values(READS),
    options: placeOptions(Object.keys(READS)),
    run: async (run) => {
      const { args, options, client, session } = run;
      const params = paramsOf(options, args[0], session.tenant) as any;
      const download = await client.download(READS[options.in as Place], { params });
      await saveDownload(run, download, args[1], String(args[0]).split('/').at(-1) ?? 'file');
    },
  });
}

const placeOptions = (places: readonly string[]): Option[] => [
  new Option('--in <place>', 'where they belong to').choices(places).default('tenant'),
  option('--of <id>', 'deployment, blueprint or plugin'),
];

function paramsOf(options: Options, rest: string, tenant: string): Record<string, string> {
  const place = options.in as Place;
  const of = options.of as string | undefined;
  if (place === 'tenant') return { tenant_name: tenant, rest };
  if (place === 'global') return { rest };
  if (of === undefined) throw new UsageFailure(`--in ${place}: give --of, the id of the ${place}`);
  return place === 'plugin' ? { plugin_id: of, rest } : { tenant_name: tenant, [`${place}_id`]: of, rest };
}
