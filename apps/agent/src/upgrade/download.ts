import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Credentials, type ProxySettings, requestOf } from '@baton/agent-link';
import { agentPaths } from '@baton/contracts';

export interface WantedPackage {
  platform: string;
  version: string;
  sha256: string;
  size: number;
}

/** A program is larger than its package by at most this factor; what unpacks to more is refused. */
const MOST_FACTOR = 8;

/**
 * Downloads the package to `file`, from where an earlier try has stopped, and checks its digest. A file with another digest is
 * removed. @throws Error that says what failed
 */
export async function download(
  address: string,
  wanted: WantedPackage,
  file: string,
  credentials: Credentials,
  proxy: ProxySettings,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.part`;
  let done = (await stat(part).catch(() => null))?.size ?? 0;
  if (done > wanted.size) done = 0;
  if (done < wanted.size) {
    const headers: Record<string, string> = done > 0 ? { range: `bytes=${done}-` } : {};
    const path = `${agentPaths.packages}/${wanted.platform}`;
    const { status, body } = await requestOf(address, { method: 'GET', path, headers }, credentials, proxy);
    if (status !== 200 && status !== 206) {
      body.destroy();
      throw new Error(`${address}${path}: status ${status}`);
    }
    const isResumed = status === 206 && done > 0;
    await pipeline(
      body,
      atMost(wanted.size - (isResumed ? done : 0)),
      createWriteStream(part, { flags: isResumed ? 'a' : 'w', mode: 0o600 }),
    );
  }
  const found = await digestOf(part);
  if (found === wanted.sha256) return await rename(part, file);
  await rm(part, { force: true });
  throw new Error(`the downloaded package has the digest ${found}, expected ${wanted.sha256}`);
}

/** Unpacks the package into an executable file. @throws Error that says what failed */
export async function unpack(file: string, program: string): Promise<void> {
  const { size } = await stat(file);
  await mkdir(dirname(program), { recursive: true, mode: 0o755 });
  const part = `${program}.part`;
  try {
    await pipeline(
      createReadStream(file),
      createGunzip(),
      atMost(size * MOST_FACTOR),
      createWriteStream(part, { mode: 0o755 }),
    );
    await rename(part, program);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest('hex');
}

function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      left -= part.length;
      if (left < 0) done(new Error(`it is longer than ${bytes} bytes`));
      else done(null, part);
    },
  });
}
