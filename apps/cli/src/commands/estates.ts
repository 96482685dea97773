/** `baton import record` and `baton import verify`: what another manager answered, and whether this one answers the same. */
import type { Command } from 'commander';
import { RULES } from '../estate/allowed';
import { archiveExpected, type Skipped } from '../estate/archive-expected';
import { UNSHOWN } from '../estate/archive-items';
import type { Difference } from '../estate/compare';
import { openRecordingFile } from '../estate/expected';
import { ANSWERS, EVENTS, KINDS, WALKED } from '../estate/kinds';
import { record } from '../estate/recorder';
import { openRecording } from '../estate/recording-file';
import { reportReasons } from '../estate/report-reasons';
import { type Selection, tenantMap } from '../estate/selection';
import { type Tally, type VerifyOptions, verify } from '../estate/verifier';
import { CommandFailure, UsageFailure } from '../failure';
import type { LooseClient } from '../layer/declared-client';
import { type Cli, command, number, option, type Run, repeated } from '../layer/define';

const MOST_SHOWN = 100;
/** Requests per second: a manager that people work with hardly notices it. */
const RATE = 10;

export function estateCommands(cli: Cli, imports: Command): void {
  recordCommand(cli, imports);
  verifyCommand(cli, imports);
}

function recordCommand(cli: Cli, imports: Command): void {
  command(cli, imports, {
    name: 'record <file>',
    about: 'write down what the manager at --url answers, to compare it with another one later',
    uses: WALKED,
    options: [
      number('--rate <requests>', 'requests per second at most', RATE),
      repeated('--only <tenant>', 'only this tenant'),
    ],
    examples: ['import record old.ndjson.gz --url https://cloudify.example.org -U admin'],
    run: async ({ args: [file], options, client, out, io, session }) => {
      if (options.rate <= 0) throw new UsageFailure(`--rate ${options.rate}: expected more than 0`);
      const writer = openRecording(file);
      try {
        const { counts, gaps } = await record(writer, {
          client: client as unknown as LooseClient,
          url: session.url,
          tenant: session.tenant,
          only: options.only,
          rate: options.rate,
          say: (text) => io.isErrTerminal && io.err(`${text}\n`),
        });
        const total = Object.values(counts).reduce((sum, one) => sum + one, 0);
        out.done(`${file}: ${total} objects; ${gaps} questions were not answered.`, { file, counts, gaps });
      } finally {
        writer.close();
      }
    },
  });
}

function verifyCommand(cli: Cli, imports: Command): void {
  const whats = [...KINDS.map(({ what }) => what), ...ANSWERS.map(({ what }) => what), EVENTS];
  command(cli, imports, {
    name: 'verify [file]',
    about:
      'compare this manager with a recording, or with an archive; it ends with 0 when nothing is unexplained',
    uses: [...WALKED, 'readImportReport'],
    options: [
      option('--archive <archive>', 'compare with an archive of the other manager instead'),
      repeated('--tenant-map <old=new>', 'only this tenant, and its name here'),
      repeated('--deployment <tenant/id>', 'only this deployment'),
      repeated('--without <kind>', `leave a kind out: ${whats.join(', ')}`),
      option(
        '--import <id>',
        'objects that the report of this import calls lost or skipped are explained by it',
      ),
      option('--allowed', 'show which differences are allowed, and why'),
    ],
    examples: ['import verify old.ndjson.gz', 'import verify --archive snapshot.zip'],
    run: async (run) => {
      const { args, options, out } = run;
      if (options.allowed) return out.table(RULES, ['what', 'path', 'when', 'reason']);
      if ((args[0] === undefined) === (options.archive === undefined))
        throw new UsageFailure('expected the file of a recording, or --archive ARCHIVE');
      const unknown = (options.without as string[]).filter((what) => !whats.includes(what));
      if (unknown.length > 0)
        throw new UsageFailure(`--without ${unknown[0]}: expected one of ${whats.join(', ')}`);
      const selection: Selection = {
        tenants: tenantMap(options.tenantMap),
        deployments: options.deployment,
        without: options.without,
      };
      await (args[0] === undefined
        ? verifyArchive(run, options.archive, selection)
        : verifyRecording(run, args[0], selection));
    },
  });
}

type Verifying = Run<(typeof WALKED)[number] | 'readImportReport'>;

async function verifyRecording(run: Verifying, file: string, selection: Selection): Promise<void> {
  const recording = await openRecordingFile(file);
  const shown = new Shown(run);
  const tally = await verify(recording.expected(), {
    ...(await optionsOf(run, selection, shown)),
    source: 'recording',
    salt: recording.header.salt,
  });
  const notes = recording.gaps.map(
    ({ what, tenant, id, text }) => `not recorded: ${[tenant, what, id].filter(Boolean).join(' ')}: ${text}`,
  );
  shown.end(tally, notes);
}

async function verifyArchive(run: Verifying, path: string, selection: Selection): Promise<void> {
  const skipped = new Map<string, number>();
  const onSkip = ({ type, reason }: Skipped): void => {
    const key = `not read from the archive: ${type}, ${reason}`;
    skipped.set(key, (skipped.get(key) ?? 0) + 1);
  };
  const shown = new Shown(run);
  const tally = await verify(archiveExpected(path, onSkip), {
    ...(await optionsOf(run, selection, shown)),
    source: 'archive',
    salt: null,
  });
  const notes = [...skipped].map(([text, count]) => `${text}: ${count}`);
  shown.end(tally, [...notes, ...Object.values(UNSHOWN)]);
}

async function optionsOf(
  { client, session, options }: Verifying,
  selection: Selection,
  shown: Shown,
): Promise<Omit<VerifyOptions, 'source' | 'salt'>> {
  return {
    client: client as unknown as LooseClient,
    tenant: session.tenant,
    selection,
    ...(options.import === undefined ? {} : { reasonOf: await reportReasons(client, options.import) }),
    onDifference: (difference) => shown.difference(difference),
  };
}

/** Shows the first differences as they are found, and the counts at the end. */
class Shown {
  readonly #differences: Difference[] = [];
  #more = 0;

  constructor(private readonly run: Verifying) {}

  difference(difference: Difference): void {
    if (difference.reason !== null) return;
    if (this.#differences.length >= MOST_SHOWN) {
      this.#more++;
      return;
    }
    this.#differences.push(difference);
    this.run.out.say(textOf(difference));
  }

  /** @throws CommandFailure when something is unexplained */
  end(tally: Tally, notes: readonly string[]): void {
    const { out } = this.run;
    if (this.#more > 0) out.say(`... and ${this.#more} more differences`);
    for (const note of notes) out.say(note);
    for (const [reason, count] of Object.entries(tally.explained))
      out.say(`allowed, ${count} times: ${reason}`);
    const compared = Object.values(tally.compared).reduce((sum, one) => sum + one, 0);
    const result = { ...tally, compared_total: compared, notes, differences: this.#differences };
    if (tally.unexplained > 0)
      throw new CommandFailure(`${tally.unexplained} differences are not explained`, 1, result);
    if (compared === 0) throw new CommandFailure('nothing was compared', 1, result);
    out.done(`${compared} objects compared: no difference that is not explained.`, result);
  }
}

/** One difference in a line. */
function textOf({ what, tenant, id, path, there, here }: Difference): string {
  const name = [tenant, what, id].filter((part) => part !== null && part !== '').join(' ');
  if (path === '') return `${name}: ${here === undefined ? 'is not here' : 'is here, but was not there'}`;
  return `${name}: ${path}: ${shortly(there)} there, ${shortly(here)} here`;
}

const SHOWN_LENGTH = 80;
function shortly(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}...` : text;
}
