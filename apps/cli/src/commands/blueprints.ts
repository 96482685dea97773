import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { packBlueprint } from '../archive';
import { collect } from '../collect';
import { collectLabels, gather } from '../key-values';
import { sessionOf } from '../session';
import { validatePaths } from '../validate';

const COLUMNS = ['id', 'state', 'main_file_name', 'created_at', 'created_by', 'visibility'];

export function blueprintCommands(program: Command): void {
  const blueprints = program
    .command('blueprints')
    .alias('blueprint')
    .description('blueprints of the manager');
  uploadCommand(blueprints);
  listCommand(blueprints);
  getCommand(blueprints);
  downloadCommand(blueprints);
  deleteCommand(blueprints);
  validateCommand(blueprints);
}

function uploadCommand(blueprints: Command): void {
  blueprints
    .command('upload <path>')
    .description('upload a folder, a YAML file with its folder, an archive, or a URL')
    .requiredOption('--id <id>', 'id of the blueprint')
    .option('--main-file <name>', 'main file inside the archive (default blueprint.yaml)')
    .option('--visibility <visibility>', 'private, tenant or global', 'tenant')
    .option('-l, --label <key=value>', 'label, repeatable', gather, [])
    .action(async (path: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const isUrl = /^https?:\/\//.test(path);
      const packed = isUrl ? null : packBlueprint(path);
      const labels = (options.label as string[]).join(',');
      collectLabels(options.label);
      const blueprint = await client.upload('uploadBlueprint', {
        params: { blueprint_id: options.id },
        query: {
          application_file_name: options.mainFile ?? packed?.mainFile ?? undefined,
          blueprint_archive_url: isUrl ? path : undefined,
          visibility: options.visibility,
          labels: labels === '' ? undefined : labels,
          _include: 'id,state,main_file_name,description,created_at,labels',
        },
        content: packed?.content,
      });
      out.done(`Blueprint ${options.id} uploaded.`, blueprint as object);
    });
}

function listCommand(blueprints: Command): void {
  blueprints
    .command('list')
    .description('list blueprints')
    .option('--search <text>', 'part of the id')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const items = await collect(
        client.all('listBlueprints', {
          query: { _include: COLUMNS.join(','), _search: options.search },
        }),
      );
      out.table(items, COLUMNS);
    });
}

function getCommand(blueprints: Command): void {
  blueprints
    .command('get <id>')
    .description('show a blueprint')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const blueprint = await client.call('getBlueprint', {
        params: { blueprint_id: id },
      });
      out.record(blueprint, [...COLUMNS, 'description', 'labels', 'error']);
    });
}

function downloadCommand(blueprints: Command): void {
  blueprints
    .command('download <id> [file]')
    .description('download the archive')
    .action(async (id: string, file: string | undefined, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const download = await client.download('downloadBlueprint', {
        params: { blueprint_id: id },
      });
      const target = file ?? download.filename ?? `${id}.tar.gz`;
      await pipeline(Readable.fromWeb(download.body), createWriteStream(target));
      out.done(`Archive written to ${target}.`, { file: target });
    });
}

function deleteCommand(blueprints: Command): void {
  blueprints
    .command('delete <id>')
    .description('delete a blueprint')
    .option('-f, --force', 'also when another blueprint imports it')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      await client.call('deleteBlueprint', {
        params: { blueprint_id: id },
        query: { force: options.force },
      });
      out.done(`Blueprint ${id} deleted.`, { id });
    });
}

function validateCommand(blueprints: Command): void {
  blueprints
    .command('validate <paths...>')
    .description('check blueprints on this machine, without a manager; folders are searched')
    .action(async (paths: string[], _options, command: Command) => {
      const { out } = sessionOf(command);
      process.exitCode = await validatePaths(paths, out);
    });
}
