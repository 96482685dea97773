/** A manager that imports archives, for the suites of this folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { runCli } from '../../apps/cli/src/run';
import { quietIo } from '../../apps/cli/src/testing-io';
import { type Fleet, type FleetOptions, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { type Caller, callerOf } from '../security/caller';

/** Written by a Cloudify Manager 7.1 (community). */
export const S71 = join(root, 'packages/cloudify-archive/test-archives/cloudify-7.1-community.zip');

// biome-ignore lint/suspicious/noExplicitAny: answers of all routes; the tests say what they expect.
type Answer = any;

export interface Importer {
  fleet: Fleet;
  caller: Caller;
  /** Runs a command line as admin. */
  baton(...line: string[]): Promise<{ code: number; out: string; err: string }>;
  /** Writes an archive to a file. @returns its path */
  file(name: string, archive: Buffer): string;
  /** Uploads and waits for the end of the check. */
  check(archive: Buffer, options?: object, keys?: object): Promise<Answer>;
  /** Applies a finished check and waits for its end. */
  apply(checked: Answer, more?: object): Promise<Answer>;
  report(id: string): Promise<Answer[]>;
  /** Compares the manager with an archive. @returns what is not explained, in lines */
  verify(path: string, ...more: string[]): Promise<{ compared: number; found: string[] }>;
  stop(): Promise<void>;
}

export async function startImporter(options: Partial<FleetOptions> = {}): Promise<Importer> {
  const fleet = await startFleet({
    mode: 'standalone',
    ...options,
    env: { BATON_WIRE: 'cloudify', ...options.env },
  });
  const caller = callerOf(fleet);
  const { admin, must } = caller;
  const folder = mkdtempSync(join(tmpdir(), 'baton-import-'));
  const baton: Importer['baton'] = async (...line) => {
    const quiet = quietIo({
      BATON_URL: fleet.baseUrl,
      BATON_USERNAME: 'admin',
      BATON_PASSWORD: fleet.adminPassword,
    });
    const code = await runCli(['node', 'baton', ...line], quiet.io);
    return { code, out: quiet.out(), err: quiet.err() };
  };
  return {
    fleet,
    caller,
    baton,
    file(name, archive) {
      const path = join(folder, name);
      writeFileSync(path, archive);
      return path;
    },
    async check(archive, wanted = {}, keys) {
      const query = `options=${encodeURIComponent(JSON.stringify(wanted))}`;
      const { id } = await must(
        admin,
        'POST',
        `/imports?${query}${keys ? '&hold=true' : ''}`,
        undefined,
        archive,
      );
      if (keys) await must(admin, 'POST', `/imports/${id}/check`, keys);
      return await settled(caller, id);
    },
    async apply({ id, report_digest }, more = {}) {
      await must(admin, 'POST', `/imports/${id}/apply`, { report_digest, ...more });
      return await settled(caller, id);
    },
    report: async (id) => (await must(admin, 'GET', `/imports/${id}/report?_size=10000`)).items,
    async verify(path, ...more) {
      const { out } = await baton('import', 'verify', '--archive', path, '--json', ...more);
      const document = JSON.parse(out);
      const { compared_total: compared, differences } = document.error ?? document;
      if (differences === undefined) throw new Error(out);
      return { compared, found: differences.map(lineOf) };
    },
    async stop() {
      await fleet.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const lineOf = ({ tenant, what, id, path, there, here }: Answer): string =>
  `${tenant} ${what} ${id} ${path}: ${JSON.stringify(there)} -> ${JSON.stringify(here)}`;

/** Waits for the end of what an import is doing. */
async function settled({ admin, must }: Caller, id: string): Promise<Answer> {
  return await eventually(
    async () => {
      const found = await must(admin, 'GET', `/imports/${id}`);
      expect(['checked', 'applied', 'refused', 'failed']).toContain(found.state);
      return found;
    },
    { deadlineMs: 90_000, everyMs: 100 },
  );
}
