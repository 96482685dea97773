import { newId } from '@baton/kernel';
import type { Command } from 'commander';
import { packBlueprint } from '../archive';
import { saveDownload } from '../download';
import { UsageFailure } from '../failure';
import { collectLabels } from '../key-values';
import { type Cli, command, noun, option, type Run, repeated, visibilityOption } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import { progress } from '../progress';
import { fileUpload, idFromPath, isUrl } from '../upload';
import { validatePaths } from '../validate';

const SHOWN = {
  columns: ['id', 'state', 'main_file_name', 'created_at', 'created_by', 'visibility'],
  wide: ['tenant_name', 'updated_at', 'description', 'error'],
};
const id = (blueprint: string) => ({ blueprint_id: blueprint });

export function blueprintCommands(cli: Cli): void {
  const blueprints = noun(cli, 'blueprints', {
    alias: 'blueprint',
    about: 'blueprints of the tenant',
    examples: ['blueprints upload examples/hello -b hello', 'blueprints validate examples/hello'],
  });
  uploadCommands(cli, blueprints);
  listCommand(cli, blueprints, {
    ...SHOWN,
    operation: 'listBlueprints',
    search: 'searchBlueprints',
    about: 'list blueprints',
    examples: ['blueprints list --labels-rule env=prod --sort -created_at', 'blueprints list -o name'],
  });
  getCommand(cli, blueprints, {
    ...SHOWN,
    operation: 'getBlueprint',
    param: 'blueprint_id',
    about: 'show a blueprint',
    more: ['labels'],
  });
  downloadCommand(cli, blueprints);
  deleteCommand(cli, blueprints, {
    operation: 'deleteBlueprint',
    param: 'blueprint_id',
    about: 'delete a blueprint',
    kind: 'Blueprint',
    options: [option('-f, --force', 'also when another blueprint imports it')],
    queryOf: ({ force }) => ({ force }),
  });
  changeCommands(cli, blueprints);
  iconCommands(cli, blueprints);
  command(cli, blueprints, {
    name: 'validate <paths...>',
    about: 'check blueprints on this machine, without a manager; folders are searched',
    uses: [],
    options: [
      option(
        '--plugins <dir>',
        'folder with plugins that they import: plugin.yaml files, .bplug, .wgn and .zip',
      ),
    ],
    examples: ['blueprints validate my-service', 'blueprints validate my-service --plugins ./plugins'],
    run: ({ args, options, out }) => validatePaths(args as string[], out, options.plugins),
  });
}

/** Query and content of an upload, as of a check by the manager. */
function uploadOf({ args: [path], options, io }: Run<'uploadBlueprint' | 'validateBlueprint'>) {
  const isFar = isUrl(path);
  const packed = isFar ? null : packBlueprint(path);
  const labels = ((options.label ?? []) as string[]).join(',');
  collectLabels(options.label ?? []);
  return {
    query: {
      application_file_name: options.mainFile ?? packed?.mainFile ?? undefined,
      blueprint_archive_url: isFar ? path : undefined,
      visibility: options.visibility,
      labels: labels === '' ? undefined : labels,
    },
    content: packed ? streamed(io, packed) : undefined,
  };
}

function streamed(io: Run<never>['io'], packed: ReturnType<typeof packBlueprint>): AsyncIterable<Uint8Array> {
  const bytes = progress(io, 'uploaded', packed.bytes);
  packed.content.on('error', (error) => bytes.destroy(error));
  return packed.content.pipe(bytes);
}

function uploadCommands(cli: Cli, blueprints: Command): void {
  const options = [
    option('-b, --id <id>', 'id of the blueprint; default: the name of the file or folder'),
    option('--main-file <name>', 'main file inside the archive (default blueprint.yaml)'),
    visibilityOption('tenant'),
  ];
  command(cli, blueprints, {
    name: 'upload <path>',
    about: 'upload a folder, a YAML file with its folder, an archive, or a URL',
    uses: ['uploadBlueprint'],
    options: [...options, repeated('-l, --label <key=value>', 'label')],
    examples: ['blueprints upload examples/hello', 'blueprints upload -b web shop.zip --main-file web.yaml'],
    run: async (run) => {
      const blueprint = run.options.id ?? idFromPath(run.args[0]);
      const { query, content } = uploadOf(run);
      const answer = await run.client.upload('uploadBlueprint', {
        params: id(blueprint),
        query: { ...query, _include: 'id,state,main_file_name,description,created_at,labels' },
        content,
      });
      run.out.done(`Blueprint ${blueprint} uploaded.`, answer as object);
    },
  });
  command(cli, blueprints, {
    name: 'check <path>',
    about: 'let the manager check a blueprint with its plugins; nothing is stored',
    uses: ['validateBlueprint'],
    options,
    run: async (run) => {
      // An id that is taken would be refused, although nothing is stored.
      const blueprint = run.options.id ?? `check-${newId()}`;
      const answer = await run.client.upload('validateBlueprint', {
        params: id(blueprint),
        ...uploadOf(run),
      });
      run.out.done(`${run.args[0]} is valid.`, (answer as object | undefined) ?? { id: blueprint });
    },
  });
}

function downloadCommand(cli: Cli, blueprints: Command): void {
  command(cli, blueprints, {
    name: 'download <id> [file]',
    about: 'download the archive',
    uses: ['downloadBlueprint'],
    run: async (run) => {
      const [blueprint, file] = run.args;
      const download = await run.client.download('downloadBlueprint', { params: id(blueprint) });
      await saveDownload(run, download, file, `${blueprint}.tar.gz`);
    },
  });
}

function changeCommands(cli: Cli, blueprints: Command): void {
  callCommand(cli, blueprints, {
    name: 'update <id>',
    about: 'replace the labels or the description',
    operation: 'patchBlueprint',
    options: [
      repeated('-l, --label <key=value>', 'the labels become these'),
      option('--description <text>', 'description'),
    ],
    request: ([blueprint], { label, description }) => {
      if (label.length === 0 && description === undefined)
        throw new UsageFailure('give --label or --description');
      const labels = label.length > 0 ? { labels: collectLabels(label) } : {};
      return {
        params: id(blueprint),
        body: { ...labels, ...(description === undefined ? {} : { description }) },
      };
    },
    done: ([blueprint]) => `Blueprint ${blueprint} changed.`,
  });
  callCommand(cli, blueprints, {
    name: 'set-visibility <id> <visibility>',
    about: 'widen who sees a blueprint: tenant or global',
    operation: 'setBlueprintVisibility',
    request: ([blueprint, visibility]) => ({ params: id(blueprint), body: { visibility } }),
    done: ([blueprint, visibility]) => `Blueprint ${blueprint} is visible to: ${visibility}.`,
  });
  listCommand(cli, blueprints, {
    columns: ['id', 'created_at', 'created_by', 'visibility'],
    operation: 'listBlueprintUses',
    command: 'uses <id>',
    param: 'blueprint_id',
    about: 'list the blueprints that import it',
  });
}

function iconCommands(cli: Cli, blueprints: Command): void {
  command(cli, blueprints, {
    name: 'set-icon <id> [file]',
    about: 'give it an icon, a PNG image; without a file take the icon away',
    uses: ['setBlueprintIcon'],
    run: async ({ args: [blueprint, file], client, out, io }) => {
      const content = file === undefined ? new Uint8Array() : fileUpload(io, file);
      await client.upload('setBlueprintIcon', { params: id(blueprint), content });
      out.done(`Icon of blueprint ${blueprint} ${file === undefined ? 'removed' : 'set'}.`, {
        id: blueprint,
      });
    },
  });
  command(cli, blueprints, {
    name: 'icon <id> [file]',
    about: 'download the icon',
    uses: ['getBlueprintIcon'],
    run: async (run) => {
      const [blueprint, file] = run.args;
      const download = await run.client.download('getBlueprintIcon', { params: id(blueprint) });
      await saveDownload(run, download, file, `${blueprint}.png`);
    },
  });
}
