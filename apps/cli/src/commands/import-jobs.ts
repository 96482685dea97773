/** `baton import check`, `apply` and the other commands of an import that the manager does. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnswerOf } from '@baton/client';
import type { Command, Option } from 'commander';
import { CommandFailure, UsageFailure } from '../failure';
import type { ClientOf } from '../layer/declared-client';
import { type Cli, command, type Options, option, type Run, repeated } from '../layer/define';
import { deleteCommand, listCommand } from '../layer/resource';
import { fileUpload } from '../upload';

type Import = AnswerOf<'getImport'>;
type Line = Record<string, unknown> & { kind: string; text: string };

/** Exit codes of a check: a script decides by them whether to apply. */
const CHECK_CODES = { clean: 0, losses: 2, refused: 3 } as const;
const POLL_MS = 500;
const PAGE = 1_000;
/** Lines of a report that people see; programs get all. */
const MOST_SHOWN = 200;
const COLUMNS = ['id', 'state', 'verdict', 'source_version', 'created_at', 'created_by'];
const UNSETTLED = new Set(['waiting', 'checking', 'preparing', 'applying']);

export function importJobCommands(cli: Cli, imports: Command): void {
  checkCommand(cli, imports);
  applyCommand(cli, imports);
  reportCommand(cli, imports);
  activateCommand(cli, imports);
  listCommand(cli, imports, {
    operation: 'listImports',
    about: 'list imports',
    columns: COLUMNS,
    wide: ['format', 'archive_bytes', 'has_archive', 'deployments_with_agents', 'error'],
  });
  deleteCommand(cli, imports, {
    operation: 'deleteImport',
    param: 'import_id',
    about: 'delete the archive and the report of an import; what was imported stays',
    kind: 'Import',
  });
}

const named = (id: string) => ({ import_id: id });

const optionsOfCheck = (): Option[] => [
  repeated('--tenant-map <old=new>', 'only this tenant, and its name here; `old` alone keeps its name'),
  repeated('--deployment <tenant/id>', 'only this deployment with what it needs'),
  option('--with-dependencies', 'also the deployments that the chosen ones depend on'),
  option('--users <how>', 'create, map to users who are here, or ignore').choices([
    'create',
    'map',
    'ignore',
  ]),
  repeated('--role <old=new>', 'role of the archive that is this role here'),
  option('--passwords <how>', 'keep them where that is possible, or reset').choices(['keep', 'reset']),
  option('--on-conflict <how>', 'what is here with other content: fail, skip or replace').choices([
    'fail',
    'skip',
    'replace',
  ]),
  option('--events <which>', 'all, none, or an ISO time from which on'),
  option('--schedules <how>', 'disabled, or as_was').choices(['disabled', 'as_was']),
  option('--blueprints <how>', 'reparse, stored or both').choices(['reparse', 'stored', 'both']),
  option('--key-file <path>', 'file with the encryption key of the secrets'),
  option('--salt-file <path>', 'file with the salt of the password hashes'),
  option('--passphrase-file <path>', 'file with the passphrase of a bundle'),
];

function checkCommand(cli: Cli, imports: Command): void {
  command(cli, imports, {
    name: 'check <archive>',
    about:
      'upload the snapshot of another manager and tell what an import would do; changes nothing; exits with 0 when nothing is lost, 2 with losses, 3 when it cannot be imported',
    uses: ['createImport', 'checkImport', 'getImport', 'readImportReport'],
    options: [
      ...optionsOfCheck(),
      option('--again', 'the argument is the id of an import: check its archive again'),
      option('--snapshot', 'the argument is a snapshot that was uploaded to this manager: TENANT/ID'),
    ],
    examples: [
      'import check snapshot.zip',
      'import check snapshot.zip --tenant-map default_tenant=moved --events none',
      'import check snapshot.zip --deployment default_tenant/web --with-dependencies',
      'import check default_tenant/old --snapshot',
    ],
    run: async (run) => {
      const { args, options, client, io, session } = run;
      // --tenant is the option of every command: the tenant of the session.
      if (session.tenant.includes('='))
        throw new UsageFailure(`--tenant ${session.tenant}: did you mean --tenant-map ${session.tenant}?`);
      const asked = importOptionsOf(options);
      const keys = keysOf(options);
      const hasKeys = Object.keys(keys).length > 0;
      let id = args[0] as string;
      if (!options.again) {
        const query = { options: JSON.stringify(asked), ...(hasKeys ? { hold: true } : {}) };
        const made = options.snapshot
          ? await client.call('createImport', { query: { ...query, snapshot: id } })
          : await client.upload('createImport', { query, content: fileUpload(io, id) });
        id = (made as Import).id;
      }
      // An options object replaces the former one, so what is not asked again is as it was.
      const body = {
        ...keys,
        ...(options.again && Object.keys(asked).length === 0 ? {} : { options: asked }),
      };
      if (options.again || hasKeys)
        await client.call('checkImport', { params: named(id), body: body as never });
      const found = await settled(run, id);
      if (found.state === 'failed') throw new CommandFailure(found.error || 'The check failed', 1, found);
      await showCheck(run, found);
      return CHECK_CODES[found.verdict ?? 'refused'];
    },
  });
}

function applyCommand(cli: Cli, imports: Command): void {
  command(cli, imports, {
    name: 'apply <id>',
    about:
      'import what was checked; refused when the archive, the options or what is here have changed since',
    uses: ['getImport', 'applyImport'],
    options: [
      option('--digest <digest>', 'digest of the report that was read; default: that of the last check'),
      option('--keep-archive', 'the archive stays here; else it is deleted after the import'),
    ],
    run: async (run) => {
      const { args, options, client, out } = run;
      const params = named(args[0]);
      const digest = options.digest ?? (await client.call('getImport', { params })).report_digest;
      if (!digest) throw new CommandFailure('The import was not checked: there is no report to apply');
      await client.call('applyImport', {
        params,
        body: { report_digest: digest, keep_archive: options.keepArchive ?? false },
      });
      const done = await settled(run, args[0]);
      if (done.state !== 'applied')
        throw new CommandFailure(done.error || `It ended as ${done.state}`, 1, done);
      out.done(
        `Imported. Nothing runs on the imported deployments before \`baton import activate ${done.id}\`.`,
        done,
      );
    },
  });
}

function reportCommand(cli: Cli, imports: Command): void {
  command(cli, imports, {
    name: 'report <id>',
    about: 'show the whole report of the last check',
    uses: ['getImport', 'readImportReport'],
    options: [option('--kind <kind>', 'only lines of this kind, e.g. fate, plan, agent, reference')],
    run: async (run) => {
      const { args, options, client, out } = run;
      const found = await client.call('getImport', { params: named(args[0]) });
      out.say(summary(found as Import));
      for await (const line of linesOf(run, args[0], options.kind)) out.line(lineText(line), line);
    },
  });
}

function activateCommand(cli: Cli, imports: Command): void {
  command(cli, imports, {
    name: 'activate <id>',
    about: 'let workflows start on imported deployments: from now on this manager drives them',
    uses: ['activateImport'],
    options: [
      option('--in <tenant>', 'only those of this tenant'),
      repeated('--deployment <tenant/id>', 'only this deployment'),
      option('--with-schedules', 'schedules that were enabled fire again'),
    ],
    run: async ({ args: [id], options, client, out }) => {
      const answer = await client.call('activateImport', {
        params: named(id),
        body: {
          ...(options.in === undefined ? {} : { tenant: options.in }),
          ...(options.deployment.length === 0 ? {} : { deployments: options.deployment }),
          with_schedules: options.withSchedules ?? false,
        },
      });
      out.done(`${answer.deployments} deployments and ${answer.schedules} schedules are active.`, answer);
    },
  });
}

/** Waits until the manager has nothing to do for an import, and says what it is doing. */
async function settled(
  { client, io }: { client: ClientOf<'getImport'>; io: Run<'getImport'>['io'] },
  id: string,
): Promise<Import> {
  let isInterrupted = false;
  const stopListening = io.onInterrupt(() => (isInterrupted = true));
  try {
    for (let told = ''; ; ) {
      const found = (await client.call('getImport', { params: named(id) })) as Import;
      if (!UNSETTLED.has(found.state)) return found;
      if (isInterrupted)
        throw new CommandFailure(`Import ${id} goes on at the manager: baton import report ${id}`, 130);
      if (io.isErrTerminal && found.step !== told && found.step !== '') io.err(`${found.step}\n`);
      told = found.step;
      await pause(POLL_MS);
    }
  } finally {
    stopListening();
  }
}

async function showCheck(run: Run<'readImportReport'>, found: Import): Promise<void> {
  const { out } = run;
  if (out.isMachine) {
    const lines: Line[] = [];
    for await (const line of linesOf(run, found.id)) lines.push(line);
    out.record({ ...found, lines });
    return;
  }
  out.table(found.counts, ['type', 'read', 'imported', 'same', 'skipped', 'replaced', 'lost', 'conflicts']);
  let shown = 0;
  for await (const line of linesOf(run, found.id)) {
    if (++shown > MOST_SHOWN) {
      out.say(`... further lines: baton import report ${found.id}`);
      break;
    }
    out.say(lineText(line));
  }
  out.say(summary(found));
  if (found.verdict !== 'refused') out.say(`To import it: baton import apply ${found.id}`);
}

function summary({
  id,
  verdict,
  error,
  source_version: source,
  deployments_with_agents: agents,
}: Import): string {
  const about = `Import ${id} of ${source ?? 'an archive'}: ${verdict ?? 'not checked'}`;
  const host = agents === null ? '' : `; ${agents} deployments need agents`;
  return `${about}${host}${error === '' ? '' : `. ${error}`}`;
}

function lineText({ kind, type, tenant, id, fate, code, text, place }: Line): string {
  const what = [fate ?? kind, type, tenant ? `${tenant}/${id ?? ''}` : id].filter(Boolean).join(' ');
  return `${what}: ${[text, code ? `[${code}]` : '', place ? `(${place})` : ''].filter(Boolean).join(' ')}`;
}

async function* linesOf(
  { client }: { client: ClientOf<'readImportReport'> },
  id: string,
  kind?: string,
): AsyncGenerator<Line, void, void> {
  for (let offset = 0; ; offset += PAGE) {
    const query = { _offset: offset, _size: PAGE, ...(kind === undefined ? {} : { kind }) };
    const { items } = await client.call('readImportReport', { params: named(id), query });
    yield* items as Line[];
    if (items.length < PAGE) return;
  }
}

function importOptionsOf(options: Options): Record<string, unknown> {
  const asked: Record<string, unknown> = {};
  if (options.tenantMap.length > 0) asked.tenants = pairsOf('--tenant-map', options.tenantMap, true);
  if (options.role.length > 0) asked.roles = pairsOf('--role', options.role, false);
  if (options.deployment.length > 0) asked.deployments = options.deployment;
  if (options.withDependencies) asked.with_dependencies = true;
  for (const name of ['users', 'passwords', 'schedules', 'blueprints'])
    if (options[name] !== undefined) asked[name] = options[name];
  if (options.onConflict !== undefined) asked.on_conflict = options.onConflict;
  if (options.events === 'all' || options.events === 'none') asked.events = options.events;
  else if (options.events !== undefined) {
    if (Number.isNaN(Date.parse(options.events)))
      throw new UsageFailure(`--events ${options.events}: expected all, none or an ISO time`);
    Object.assign(asked, { events: 'since', events_since: options.events });
  }
  return asked;
}

function pairsOf(flag: string, given: readonly string[], mayBeAlone: boolean): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const [old, name = mayBeAlone ? old : undefined, ...more] = one.split('=');
      if (!old || !name || more.length > 0) throw new UsageFailure(`${flag} ${one}: expected old=new`);
      return [old, name];
    }),
  );
}

const KEY_FILES = { keyFile: 'encryption_key', saltFile: 'hash_salt', passphraseFile: 'passphrase' } as const;

/** Keys come from files, so that they are in no list of processes and no history of a shell. @throws UsageFailure */
function keysOf(options: Options): Record<string, string> {
  const keys: Record<string, string> = {};
  for (const [name, key] of Object.entries(KEY_FILES)) {
    const path = options[name];
    if (path === undefined) continue;
    try {
      keys[key] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    } catch (cause) {
      throw new UsageFailure(`${path}: ${(cause as Error).message}`);
    }
  }
  return keys;
}
