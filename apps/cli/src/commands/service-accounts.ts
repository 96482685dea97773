import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { UsageFailure } from '../failure';
import { collectTexts } from '../key-values';
import { type Cli, command, noun, option, repeated, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand } from '../layer/resource';
import { secretText } from '../prompt';
import * as yaml from '../yaml-value';

const SHOWN = {
  columns: ['name', 'description', 'role', 'active', 'created_at', 'created_by'],
  wide: ['trust'],
  name: 'name',
};
const TYPES = 'urn:ietf:params:oauth';

/** `baton service-accounts ...`: users for programs (docs/login.md). */
export function serviceAccountCommands(cli: Cli): void {
  const accounts = noun(cli, 'service-accounts', {
    alias: 'service-account',
    about: 'users for programs, without a password',
    examples: [
      'service-accounts create ci --in default_tenant=user',
      'service-accounts create-token ci --description pipeline --expiration-date +90d',
      'service-accounts exchange ci --jwt-file token.jwt',
    ],
  });
  command(cli, accounts, {
    name: 'list',
    about: 'list service accounts',
    uses: ['listServiceAccounts'],
    run: async ({ client, out }) =>
      out.table((await client.call('listServiceAccounts')).items, SHOWN.columns, SHOWN),
  });
  getCommand(cli, accounts, {
    ...SHOWN,
    operation: 'getServiceAccount',
    param: 'account_name',
    argument: '<name>',
    about: 'show a service account',
    more: ['trust'],
  });
  writeCommands(cli, accounts);
  tokenCommands(cli, accounts);
}

function writeCommands(cli: Cli, accounts: Command): void {
  callCommand(cli, accounts, {
    name: 'create <name>',
    about: 'create a service account',
    operation: 'createServiceAccount',
    options: [
      option('--description <text>', 'what it is for'),
      option('-r, --security-role <role>', 'role in the whole manager'),
      repeated('--in <tenant=role>', 'role in a tenant'),
    ],
    request: ([name], o) => ({
      body: {
        name,
        description: o.description,
        role: o.securityRole,
        tenants: Object.entries(collectTexts('--in', o.in)).map(([tenant, role]) => ({ name: tenant, role })),
      },
    }),
    done: ([name]) => `Service account ${name} created.`,
  });
  callCommand(cli, accounts, {
    name: 'trust <name> <file>',
    about: 'replace the rules about workloads that may be it: a YAML list of issuer, audience, subject',
    operation: 'setServiceAccountTrust',
    request: ([account_name, file]) => ({ params: { account_name }, body: { trust: rulesIn(file) } }),
    done: ([name], { trust }) => `Service account ${name} has ${trust.length} rules.`,
  });
  deleteCommand(cli, accounts, {
    operation: 'deleteServiceAccount',
    param: 'account_name',
    argument: '<name>',
    about: 'delete a service account; its tokens end',
    kind: 'Service account',
  });
}

function tokenCommands(cli: Cli, accounts: Command): void {
  callCommand(cli, accounts, {
    name: 'create-token <name>',
    about: 'create a token, which is shown this once',
    operation: 'createServiceAccountToken',
    options: [
      required('--description <text>', 'what it is for'),
      required('--expiration-date <time>', 'its end, at most 366 days ahead: +90d, or a date'),
    ],
    request: ([account_name], o) => ({
      params: { account_name },
      body: { description: o.description, expiration_date: o.expirationDate },
    }),
    fields: ['id', 'value', 'expiration_date'],
  });
  command(cli, accounts, {
    name: 'exchange <name>',
    about: 'exchange the JWT of a workload for a token of at most 15 minutes',
    uses: ['exchangeToken'],
    options: [required('--jwt-file <path>', 'file that holds the JWT; - = standard input')],
    run: async ({ args: [name], options, client, out, io }) => {
      const source = { file: options.jwtFile, label: 'JWT of the workload', options: '--jwt-file' };
      const body = {
        grant_type: `${TYPES}:grant-type:token-exchange`,
        subject_token: await secretText(io, source),
        subject_token_type: `${TYPES}:token-type:jwt`,
        service_account: name,
      } as never;
      out.record(await client.call('exchangeToken', { body }), ['access_token', 'expires_in']);
    },
  });
}

function rulesIn(file: string): never[] {
  const rules = yaml.parseValue(readFileSync(file, 'utf8'));
  if (!Array.isArray(rules)) throw new UsageFailure(`${file}: expected a list of rules`);
  return rules as never[];
}
