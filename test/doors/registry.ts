/** A registry of npm on the loopback interface: our packed packages, and what this checkout has installed. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

export interface Registry {
  url: string;
  /** Names that somebody needs, that were asked for and are not there. Packages of other platforms are needed by nobody. */
  missing: ReadonlySet<string>;
  close(): Promise<void>;
}

interface Version {
  manifest: Record<string, unknown> & { name: string; version: string };
  tarball(): Promise<Buffer>;
}

/**
 * `packed`: tarballs of `npm pack`. `installed`: folders of installed packages; the packages that these depend on are found from
 * there. Tarballs of installed packages are made on demand.
 */
export async function startRegistry(
  packed: readonly string[],
  installed: readonly string[],
): Promise<Registry> {
  const versions = new Map<string, Version[]>();
  const add = (one: Version): void =>
    void versions.set(one.manifest.name, [...(versions.get(one.manifest.name) ?? []), one]);
  for (const file of packed) add(await packedVersion(file));
  for (const one of closureOf(installed)) add(one);
  const optional = new Set([...versions.values()].flat().flatMap(({ manifest }) => optionalOf(manifest)));
  const missing = new Set<string>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url!, 'http://registry').pathname.slice(1));
    const [, name, version] = /^(.+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
    const found = name && versions.get(name)?.find(({ manifest }) => manifest.version === version);
    if (found) return void found.tarball().then((body) => send(response, 200, body), fail(response));
    const all = versions.get(path);
    if (!all && !optional.has(path)) missing.add(path);
    if (!all) return send(response, 404, '{"error":"not found"}');
    packument(all, `http://${request.headers.host}`).then(
      (body) => send(response, 200, body),
      fail(response),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    missing,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const send = (response: ServerResponse, status: number, body: string | Buffer): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

const fail = (response: ServerResponse) => (error: Error) => send(response, 500, error.message);

async function packument(all: readonly Version[], origin: string): Promise<string> {
  const entries = await Promise.all(
    all.map(async ({ manifest, tarball }) => {
      const integrity = `sha512-${createHash('sha512')
        .update(await tarball())
        .digest('base64')}`;
      const at = `${origin}/${manifest.name}/-/${manifest.version}.tgz`;
      return [manifest.version, { ...manifest, dist: { tarball: at, integrity } }] as const;
    }),
  );
  const [latest] = entries.at(-1)!;
  return JSON.stringify({
    name: all[0]!.manifest.name,
    'dist-tags': { latest },
    versions: Object.fromEntries(entries),
  });
}

async function packedVersion(file: string): Promise<Version> {
  const manifest = JSON.parse((await tar(['-xzOf', file, 'package/package.json'])).toString('utf8'));
  return { manifest, tarball: async () => readFileSync(file) };
}

/** Returns the packages in `folders`, and all that they depend on, each version once. */
function closureOf(folders: readonly string[]): Version[] {
  const found = new Map<string, Version>();
  const waiting = [...folders];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const at = realpathSync(folder);
    if (found.has(at)) continue;
    const manifest = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
    let made: Promise<Buffer> | null = null;
    // Scripts of packages would look for the network, as installs without it are done without them.
    const { scripts: _, ...kept } = manifest;
    found.set(at, { manifest: kept, tarball: () => (made ??= tarballOf(at)) });
    const needed = Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.peerDependencies,
    });
    waiting.push(...needed.flatMap((name) => besides(at, name) ?? []));
  }
  return [...found.values()];
}

function optionalOf(manifest: Version['manifest']): string[] {
  const { optionalDependencies = {}, peerDependenciesMeta = {} } = manifest as Record<string, object>;
  return Object.keys({ ...optionalDependencies, ...peerDependenciesMeta });
}

/** Looks for an installed package as Node does; null: it is optional, and not for this platform. */
function besides(folder: string, name: string): string | null {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (at.endsWith('node_modules') && existsSync(join(at, name, 'package.json'))) return join(at, name);
  }
  return null;
}

/**
 * As `npm pack` makes it: everything below `package/`, each file with its content. Installed files of equal content may be one file
 * with several names, and npm leaves out what an archive holds as a link.
 */
function tarballOf(folder: string): Promise<Buffer> {
  const files = readdirSync(folder).filter((name) => name !== 'node_modules');
  return tar(['-czf', '-', '--hard-dereference', '--transform', 's,^,package/,S', '-C', folder, ...files]);
}

function tar(args: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0
        ? resolve(Buffer.concat(pieces))
        : reject(new Error(`tar ${args.join(' ')} ended with ${code}`)),
    );
  });
}
