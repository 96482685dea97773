import { ApiError } from '@baton/client';
import type { Command } from 'commander';
import { saveDownload } from '../download';
import { UsageFailure } from '../failure';
import { followExecution, followOf, followOptions } from '../follow';
import { collectTexts, collectValues } from '../key-values';
import { type Cli, command, noun, option, type Run, repeated, visibilityOption } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import { BUNDLED, bundledNamed, bundledPlugins, shortName } from '../plugin-package/bundled';
import { fileUpload, isUrl } from '../upload';
import { pluginAuthoringCommands } from './plugin-authoring';
import { pluginDevCommand } from './plugin-dev';

const SHOWN = {
  columns: [
    'id',
    'package_name',
    'package_version',
    'distribution',
    'supported_platform',
    'uploaded_at',
    'visibility',
  ],
  wide: ['title', 'archive_name', 'created_by', 'tenant_name', 'package_source', 'signature'],
};
const id = (plugin: string) => ({ plugin_id: plugin });

export function pluginCommands(cli: Cli): void {
  const plugins = noun(cli, 'plugins', {
    alias: 'plugin',
    about: 'plugins of the tenant',
    examples: ['plugins upload my-plugin.zip', 'plugins list --where package_name=my-plugin'],
  });
  pluginAuthoringCommands(cli, plugins);
  uploadCommand(cli, plugins);
  bundledCommand(cli, plugins);
  pluginDevCommand(cli, plugins);
  listCommand(cli, plugins, { ...SHOWN, operation: 'listPlugins', about: 'list plugins' });
  getCommand(cli, plugins, {
    ...SHOWN,
    operation: 'getPlugin',
    param: 'plugin_id',
    about: 'show a plugin',
    more: [
      'signature',
      'labels',
      'blueprint_labels',
      'resource_tags',
      'yaml_files_paths',
      'installation_state',
    ],
  });
  downloadCommands(cli, plugins);
  deleteCommand(cli, plugins, {
    operation: 'deletePlugin',
    param: 'plugin_id',
    about: 'delete a plugin that no blueprint uses',
    kind: 'Plugin',
    options: [option('-f, --force', 'also when a blueprint uses it')],
    queryOf: ({ force }) => ({ force }),
  });
  changeCommands(cli, plugins);
  updateCommands(cli);
}

function uploadCommand(cli: Cli, plugins: Command): void {
  command(cli, plugins, {
    name: 'upload <path>',
    about: 'upload a .bplug, a wagon, a zip of a wagon and its plugin.yaml files, a URL, or bundled:NAME',
    uses: ['uploadPlugin'],
    options: [
      option('--id <uuid>', 'id of the plugin; default: a new one'),
      option('--title <text>', 'title for people'),
      option('-y, --yaml-url <url>', 'address of the plugin.yaml of a bare wagon'),
      visibilityOption('tenant'),
    ],
    examples: [
      'plugins upload dist/my-plugin-0.1.0.bplug',
      'plugins upload bundled:ansible',
      'plugins upload bundled:all --visibility global',
      'plugins upload https://example.org/my-plugin.wgn',
    ],
    run: async (run) => {
      const { args, options, client, out, io } = run;
      const path: string = args[0];
      if (path.startsWith(BUNDLED)) return await uploadBundled(run, path);
      const plugin = await client.upload('uploadPlugin', {
        query: {
          id: options.id,
          title: options.title,
          plugin_path: options.yamlUrl,
          plugin_archive_url: isUrl(path) ? path : undefined,
          visibility: options.visibility,
        },
        content: isUrl(path) ? undefined : fileUpload(io, path),
      });
      out.done(
        `Plugin ${plugin.package_name} ${plugin.package_version ?? ''} uploaded: ${plugin.id}`,
        plugin,
      );
    },
  });
}

/** Uploads plugins that come with this program. One that the manager has already, with this content, is no failure. */
async function uploadBundled({ options, client, out, io }: Run<'uploadPlugin'>, path: string): Promise<void> {
  const plugins = await bundledNamed(path);
  if (options.id && plugins.length > 1) throw new UsageFailure('--id fits one plugin');
  for (const { name, version, file } of plugins) {
    const query = { id: options.id, title: options.title, visibility: options.visibility };
    try {
      const plugin = await client.upload('uploadPlugin', { query, content: fileUpload(io, file) });
      out.line(`Plugin ${name} ${version} uploaded: ${plugin.id}`, plugin);
    } catch (error) {
      const isThere = error instanceof ApiError && error.details.is_same_content === true;
      if (!isThere) throw error;
      out.line(`Plugin ${name} ${version} is there already.`, {
        package_name: name,
        package_version: version,
      });
    }
  }
}

function bundledCommand(cli: Cli, plugins: Command): void {
  command(cli, plugins, {
    name: 'bundled',
    about: 'list the plugins that come with this program; `plugins upload bundled:NAME` uploads one',
    uses: [],
    examples: ['plugins bundled', 'plugins upload bundled:all'],
    run: async ({ out }) => {
      const rows = (await bundledPlugins()).map(({ name, version, description, types }) => ({
        upload: `${BUNDLED}${shortName(name)}`,
        package_name: name,
        package_version: version,
        description,
        types,
      }));
      out.table(rows, ['upload', 'package_name', 'package_version', 'description'], {
        wide: ['types'],
        name: 'upload',
      });
    },
  });
}

function downloadCommands(cli: Cli, plugins: Command): void {
  command(cli, plugins, {
    name: 'download <id> [file]',
    about: 'download the wagon',
    uses: ['downloadPlugin'],
    options: [option('--full', 'the zip with its yaml files instead')],
    run: async (run) => {
      const [plugin, file] = run.args;
      const query = { full_archive: run.options.full };
      const download = await run.client.download('downloadPlugin', { params: id(plugin), query });
      await saveDownload(run, download, file, `${plugin}.${run.options.full ? 'zip' : 'wgn'}`);
    },
  });
  command(cli, plugins, {
    name: 'yaml <id> [file]',
    about: 'download the plugin.yaml',
    uses: ['getPluginYaml'],
    options: [option('--dsl-version <version>', 'for blueprints of this version: cloudify_dsl_1_4')],
    run: async (run) => {
      const [plugin, file] = run.args;
      const query = { dsl_version: run.options.dslVersion };
      const download = await run.client.download('getPluginYaml', { params: id(plugin), query });
      await saveDownload(run, download, file, `${plugin}.yaml`);
    },
  });
}

function changeCommands(cli: Cli, plugins: Command): void {
  callCommand(cli, plugins, {
    name: 'set-visibility <id> <visibility>',
    about: 'widen who sees a plugin: tenant or global',
    operation: 'setPluginVisibility',
    request: ([plugin, visibility]) => ({ params: id(plugin), body: { visibility } }),
    done: ([plugin, visibility]) => `Plugin ${plugin} is visible to: ${visibility}.`,
  });
  callCommand(cli, plugins, {
    name: 'install <id>',
    about: 'mark a plugin to be installed ahead of its first use',
    operation: 'actOnPlugin',
    options: [
      repeated('--manager <hostname>', 'on this manager'),
      repeated('--agent <name>', 'on this agent'),
    ],
    request: ([plugin], { manager, agent }) => ({
      params: id(plugin),
      body: {
        action: 'install',
        ...(manager.length > 0 ? { managers: manager } : {}),
        ...(agent.length > 0 ? { agents: agent } : {}),
      },
    }),
    done: ([plugin]) => `Plugin ${plugin} will be installed.`,
  });
  callCommand(cli, plugins, {
    name: 'update <id>',
    about: 'change the labels, blueprint_labels or resource_tags that it gives',
    operation: 'patchPlugin',
    options: [repeated('--set <name=value|file>', 'field with its value, or a YAML file of them')],
    request: ([plugin], { set }) => {
      if (set.length === 0) throw new UsageFailure('give --set');
      return { params: id(plugin), body: collectValues(set) };
    },
    done: ([plugin]) => `Plugin ${plugin} changed.`,
  });
  listCommand(cli, plugins, {
    columns: ['id', 'created_at', 'created_by', 'visibility'],
    operation: 'listPluginUses',
    command: 'uses <id>',
    param: 'plugin_id',
    about: 'list the blueprints whose plan needs it in its version',
  });
}

const UPDATE = {
  columns: ['id', 'blueprint_id', 'state', 'execution_id', 'created_at'],
  wide: ['temp_blueprint_id', 'forced', 'all_tenants', 'created_by', 'tenant_name'],
};

function updateCommands(cli: Cli): void {
  const updates = noun(cli, 'plugins-updates', {
    alias: 'plugins-update',
    about: 'updates of the plugins of a blueprint and its deployments',
    examples: [
      'plugins-updates start web --to-latest my-plugin',
      'plugins-updates list --where blueprint_id=web',
    ],
  });
  listCommand(cli, updates, { ...UPDATE, operation: 'listPluginsUpdates', about: 'list plugins updates' });
  getCommand(cli, updates, {
    ...UPDATE,
    operation: 'getPluginsUpdate',
    param: 'plugins_update_id',
    about: 'show a plugins update',
    more: ['deployments_to_update', 'deployments_per_tenant'],
  });
  command(cli, updates, {
    name: 'start <blueprint>',
    about: "bring a blueprint's plugins, and its deployments, to newer versions",
    uses: ['initiatePluginsUpdate', 'streamEvents'],
    options: [
      repeated('--plugin <name>', 'only this plugin'),
      option('--all-to-latest', 'every plugin to its latest version'),
      repeated('--to-latest <name>', 'this plugin to its latest version'),
      option('--all-to-minor', 'every plugin to its latest minor version'),
      repeated('--to-minor <name>', 'this plugin to its latest minor version'),
      repeated('--to <name=version>', 'this plugin to this version'),
      option('-f, --force', 'also when an earlier update has not ended'),
      option('--auto-correct-types', 'convert values to the types that plugins declare now'),
      option('--reevaluate-active-statuses', 'look again which node instances are active'),
      option('--of-all-tenants', 'deployments of all tenants'),
      ...followOptions(),
    ],
    run: async (run) => {
      const { args, options: o, client, out } = run;
      const update = await client.call('initiatePluginsUpdate', {
        params: { blueprint_id: args[0] },
        body: {
          force: o.force ?? false,
          ...(o.plugin.length > 0 ? { plugin_names: o.plugin } : {}),
          ...(o.allToLatest ? { all_to_latest: true } : {}),
          ...(o.toLatest.length > 0 ? { to_latest: o.toLatest } : {}),
          ...(o.allToMinor ? { all_to_minor: true } : {}),
          ...(o.toMinor.length > 0 ? { to_minor: o.toMinor } : {}),
          ...(o.to.length > 0 ? { mapping: collectTexts('--to', o.to) } : {}),
          auto_correct_types: o.autoCorrectTypes ?? false,
          reevaluate_active_statuses: o.reevaluateActiveStatuses ?? false,
          all_tenants: o.ofAllTenants ?? false,
        },
      });
      if (o.detach || update.execution_id === null) {
        out.done(`Plugins update ${update.id} is ${update.state}.`, update);
        return;
      }
      out.say(`Plugins update ${update.id}, execution ${update.execution_id}`);
      await followExecution(run, update.execution_id, followOf(o));
    },
  });
}
