import { readFileSync } from 'node:fs';
import { ApiError } from '@baton/client';
import type { Command } from 'commander';
import { saveDownload } from '../download';
import { followExecution } from '../follow';
import { type Cli, command, noun, option, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import * as yaml from '../yaml-value';

/** License, maintenance mode, configuration, log bundles and provider context: the manager as a whole. */
export function managerCommands(cli: Cli): void {
  licenseCommands(cli);
  maintenanceCommands(cli);
  configCommands(cli);
  logBundleCommands(cli);
  providerContextCommands(cli);
}

function licenseCommands(cli: Cli): void {
  const license = noun(cli, 'license', {
    about: 'license of the manager',
    examples: ['license upload license.yaml'],
  });
  listCommand(cli, license, {
    columns: ['customer_id', 'license_edition', 'trial', 'expiration_date', 'expired', 'capabilities'],
    name: 'customer_id',
    operation: 'listLicenses',
    about: 'show the license, if there is one',
  });
  command(cli, license, {
    name: 'upload <file>',
    about: 'upload a license file; it replaces the one that is there',
    uses: ['putLicense'],
    run: async ({ args: [file], client, out }) => {
      const content = readFileSync(file);
      const answer = await client.upload('putLicense', { content, contentType: 'text/plain' });
      out.done('License uploaded.', answer);
    },
  });
  communityCommands(cli, license);
  callCommand(cli, license, {
    name: 'remove',
    about: 'remove the license',
    operation: 'deleteLicense',
    done: () => 'License removed.',
  });
  callCommand(cli, license, {
    name: 'check',
    about: 'whether the manager may be used',
    operation: 'checkLicense',
    done: (_args, answer) => `License: ${answer}.`,
  });
}

function communityCommands(cli: Cli, license: Command): void {
  callCommand(cli, license, {
    name: 'set-customer <id>',
    about: 'keep the customer id of a community edition',
    operation: 'postCustomer',
    request: ([customer_id]) => ({ body: { customer_id } }),
    done: ([id]) => `Customer id ${id} kept.`,
  });
  callCommand(cli, license, {
    name: 'register',
    about: 'enter who uses a community edition; nothing leaves the manager',
    operation: 'createContact',
    options: [
      required('--first-name <text>', 'first name'),
      required('--last-name <text>', 'last name'),
      required('--email <address>', 'e-mail address'),
      option('--phone <number>', 'telephone'),
      option('--accept-eula', 'you accept the terms'),
    ],
    request: (_args, o) => ({
      body: {
        first_name: o.firstName,
        last_name: o.lastName,
        email: o.email,
        phone: o.phone,
        is_eula: o.acceptEula ?? false,
      },
    }),
    done: (_args, { customer_id }) => `Registered as customer ${customer_id}.`,
  });
}

function maintenanceCommands(cli: Cli): void {
  const mode = noun(cli, 'maintenance', {
    alias: 'maintenance-mode',
    about: 'maintenance mode: no new work begins',
    examples: ['maintenance activate', 'maintenance status --watch'],
  });
  callCommand(cli, mode, {
    name: 'status',
    about: 'show the state of maintenance mode and what still runs',
    operation: 'getMaintenance',
    isWatched: true,
  });
  for (const [name, operation, already] of [
    ['activate', 'activateMaintenance', 'active, or on its way'],
    ['deactivate', 'deactivateMaintenance', 'not active'],
  ] as const) {
    command(cli, mode, {
      name,
      about: name === 'activate' ? 'enter maintenance mode' : 'leave maintenance mode',
      uses: [operation],
      run: async ({ client, out }) => {
        try {
          const answer = await client.call(operation);
          out.done(`Maintenance mode is ${answer.status}.`, answer);
        } catch (error) {
          // 304: nothing had to be done.
          if (!(error instanceof ApiError) || error.status !== 304) throw error;
          out.done(`Maintenance mode is ${already} already.`, { status: already });
        }
      },
    });
  }
}

const CONFIG = {
  columns: ['name', 'scope', 'value', 'is_editable', 'updated_at', 'updater_name'],
  name: 'name',
};

function configCommands(cli: Cli): void {
  const config = noun(cli, 'config', {
    about: 'configuration of the manager',
    examples: ['config list --scope rest', 'config set rest.default_page_size 500'],
  });
  command(cli, config, {
    name: 'list',
    about: 'list values',
    uses: ['listConfig'],
    options: [option('--scope <scope>', 'only of this scope')],
    run: async ({ options, client, out }) => {
      const { items } = await client.call('listConfig', { query: { scope: options.scope } });
      out.table(items, CONFIG.columns, { ...CONFIG, wide: ['admin_only', 'schema'] });
    },
  });
  getCommand(cli, config, {
    ...CONFIG,
    operation: 'getConfig',
    param: 'name',
    argument: '<name>',
    about: 'show one value, by name or scope.name',
    more: ['schema'],
  });
  callCommand(cli, config, {
    name: 'set <name> <value>',
    about: 'set one value, written as YAML: 3, true, text, [a, b]',
    operation: 'putConfig',
    options: [option('-f, --force', 'also a value that is not meant to be changed')],
    request: ([name, value], { force }) => ({
      params: { name },
      body: { value: yaml.parseValue(value), force },
    }),
    done: ([name], { value }) => `${name} is ${JSON.stringify(value)}.`,
  });
}

const BUNDLE = {
  columns: ['id', 'status', 'error', 'created_at', 'created_by'],
  wide: ['tenant_name', 'visibility'],
};
const bundle = (id: string) => ({ log_bundle_id: id });

function logBundleCommands(cli: Cli): void {
  const bundles = noun(cli, 'log-bundles', {
    alias: 'log-bundle',
    about: 'events, findings, configuration and status of the manager in one archive',
    examples: ['log-bundles create today', 'log-bundles download today'],
  });
  listCommand(cli, bundles, { ...BUNDLE, operation: 'listLogBundles', about: 'list log bundles' });
  getCommand(cli, bundles, {
    ...BUNDLE,
    operation: 'getLogBundle',
    param: 'log_bundle_id',
    about: 'show a log bundle',
  });
  createBundle(cli, bundles);
  command(cli, bundles, {
    name: 'download <id> [file]',
    about: 'download the archive',
    uses: ['downloadLogBundle'],
    run: async (run) => {
      const [id, file] = run.args;
      const download = await run.client.download('downloadLogBundle', { params: bundle(id) });
      await saveDownload(run, download, file, `${id}.zip`);
    },
  });
  deleteCommand(cli, bundles, {
    operation: 'deleteLogBundle',
    param: 'log_bundle_id',
    about: 'delete a log bundle',
    kind: 'Log bundle',
  });
}

function createBundle(cli: Cli, bundles: Command): void {
  command(cli, bundles, {
    name: 'create <id>',
    about: 'pack a log bundle',
    uses: ['createLogBundle', 'streamEvents'],
    options: [
      option('--queue', 'wait for another one instead of being refused'),
      option('--detach', 'do not wait for the end'),
    ],
    run: async (run) => {
      const { args, options, client, out } = run;
      const execution = await client.call('createLogBundle', {
        params: bundle(args[0]),
        body: { queue: options.queue ?? false },
      });
      if (options.detach)
        return out.done(`Log bundle ${args[0]} is made by execution ${execution.id}.`, execution);
      await followExecution(run, execution.id!, { isVerbose: true, timeoutS: 0 });
    },
  });
}

function providerContextCommands(cli: Cli): void {
  const context = noun(cli, 'provider-context', {
    about: 'provider context, which old workflows read',
    examples: ['provider-context get -o yaml'],
  });
  callCommand(cli, context, { name: 'get', about: 'show it', operation: 'getProviderContext' });
  callCommand(cli, context, {
    name: 'set <name> <file>',
    about: 'set it from a YAML file',
    operation: 'postProviderContext',
    options: [option('-u, --update', 'replace the one that is there')],
    request: ([name, file], { update }) => ({
      query: { update },
      body: { name, context: yaml.parseValue(readFileSync(file, 'utf8')) as Record<string, unknown> },
    }),
    done: ([name]) => `Provider context ${name} set.`,
  });
}
