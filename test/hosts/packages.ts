/** Packages of the agent in other versions: what a gateway serves after an upgrade of the manager. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../harness/processes';

/** A folder for BATON_AGENT_PACKAGES. */
export interface AgentPackages {
  folder: string;
  /** Version of the package that the build has made, which is served first. */
  version: string;
  /**
   * Serves the program under another version from now on; `hasNoStream`: as a program that never reaches its manager, and is given
   * five seconds to.
   */
  offer(version: string, options?: { hasNoStream?: boolean }): void;
  remove(): void;
}

/** Copies the packages of `npm run build:agent`. */
export function agentPackages(): AgentPackages {
  const built = join(root, 'dist/agent');
  const folder = mkdtempSync(join(tmpdir(), 'baton-packages-'));
  cpSync(join(built, 'index.json'), join(folder, 'index.json'));
  const [{ platform, version, file }] = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  mkdirSync(join(folder, platform));
  cpSync(join(built, file), join(folder, file));
  return {
    folder,
    version,
    offer: (next, { hasNoStream = false } = {}) => {
      const program = readFileSync(join(built, platform, 'baton-agent'));
      change(program, `productVersion="${version}"`, `productVersion="${next}"`);
      if (hasNoStream) {
        change(program, '"/agent/v1/stream"', '"/agent/v1/nobody"');
        change(program, 'TRIAL_MS=6e4', 'TRIAL_MS=5e3');
      }
      const packed = gzipSync(program, { level: 1 });
      const path = join(platform, `baton-agent-${next}.gz`);
      writeFileSync(join(folder, path), packed);
      const sha256 = createHash('sha256').update(packed).digest('hex');
      const index = [{ platform, version: next, sha256, size: packed.length, file: path }];
      writeFileSync(join(folder, 'next.json'), JSON.stringify(index));
      renameSync(join(folder, 'next.json'), join(folder, 'index.json'));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Changes a text of the program, whose places are fixed. @throws Error unless it is there, and the other is as long */
function change(program: Buffer, from: string, to: string): void {
  const at = program.indexOf(from);
  if (at < 0 || from.length !== to.length)
    throw new Error(`the program of the agent has no ${from} to be ${to}`);
  program.write(to, at, 'latin1');
}
