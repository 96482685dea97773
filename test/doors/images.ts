/** The images of deploy/Dockerfile, without a Docker engine: its steps are played in folders, and a manager runs from them. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureTestServices } from '../../tools/test-services.mjs';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, follow, upload } from '../harness/session';
import { dockerfilePlayer, filesBelow, type Image, targetsOf } from './dockerfile';
import { type Door, demand, type Shell } from './shell';

const FILE = join(root, 'deploy/Dockerfile');

export async function* imageDoors(shell: Shell): AsyncGenerator<Door> {
  const packed = join(shell.folder, 'images');
  const targets = targetsOf(FILE);
  const images = new Map<string, Image>();
  const player = (name: string, contexts: Record<string, string>) =>
    dockerfilePlayer({
      file: FILE,
      context: root,
      contexts,
      out: join(shell.folder, name),
      // With the caller's cache of packages: these steps need no network.
      run: (command, cwd) => shell.must('sh', ['-ec', command], { cwd, env: ofCaller() }),
    });

  yield {
    name: 'npm run pack: the files of the images are those of the packages',
    pass: async () => {
      const out = join(shell.folder, 'of-images');
      await shell.tool('tools/pack.mjs', ['--out', out, '--images', packed]);
      const unpacked = join(shell.folder, 'unpacked');
      mkdirSync(unpacked);
      const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
      await shell.must('tar', ['-xzf', join(out, `baton-standalone-${version}.tgz`), '-C', unpacked]);
      const differing = sharedFiles(packed, join(unpacked, 'package/dist'));
      demand(differing.length === 0, `not the same: ${differing.join(', ')}`);
    },
  };
  yield {
    name: 'docker build --build-context artefacts=.baton/images: every target has its program, and no service another one',
    pass: async () => {
      const play = player('stages', { artefacts: packed });
      for (const target of targets) images.set(target, await play(target));
      for (const [target, image] of images) checkImage(target, image);
    },
  };
  yield {
    name: 'docker build: without packed files the same files are built in a stage',
    pass: async () => {
      const { folder } = await player('building', {})('artefacts');
      const missing = filesBelow(packed).filter((path) => !existsSync(join(folder, path)));
      demand(missing.length === 0 && filesBelow(folder).length > 0, `not built: ${missing.join(', ')}`);
    },
  };
  yield {
    name: 'a manager of one process from each image runs an example, tells its health and ends at its stop signal',
    pass: () => runFromImages(shell, images),
  };
}

const ofCaller = (): Record<string, string> => ({
  HOME: process.env.HOME ?? '',
  npm_config_cache: process.env.npm_config_cache ?? '',
});

/** Paths that both have and whose bytes differ. The package makes main.js of its programs executable, with a first line. */
function sharedFiles(images: string, packaged: string): string[] {
  const first = '#!/usr/bin/env node\n';
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const read = (file: string): string => {
    const text = readFileSync(file, 'latin1');
    return digest(text.startsWith(first) ? text.slice(first.length) : text);
  };
  const shared = filesBelow(images)
    .map((path) => path.slice(path.indexOf('/') + 1))
    .filter((path) => existsSync(join(packaged, path)));
  demand(shared.length > 50, `only ${shared.length} files are in both`);
  const inImage = new Map(filesBelow(images).map((path) => [path.slice(path.indexOf('/') + 1), path]));
  return shared.filter((path) => read(join(images, inImage.get(path)!)) !== read(join(packaged, path)));
}

function checkImage(
  target: string,
  { folder, workdir, command, user, stopSignal, healthcheck }: Image,
): void {
  const [program, main] = command;
  demand(program === 'node' && existsSync(join(folder, workdir, main!)), `${target}: ${main} is not there`);
  demand(user === '10001:10001' && stopSignal === 'SIGTERM', `${target}: ${user}, ${stopSignal}`);
  const health = healthcheck === null || existsSync(join(folder, workdir, healthcheck[1]!));
  demand(health, `${target}: ${healthcheck} is not there`);
  const files = filesBelow(join(folder, workdir));
  const others = files.filter((path) => path.startsWith('services/') && path.split('/')[1] !== target);
  const maps = files.filter((path) => path.endsWith('.map') && !path.startsWith('node_modules'));
  demand(others.length + maps.length === 0, `${target} holds ${[...others, ...maps].slice(0, 5).join(', ')}`);
}

async function runFromImages(shell: Shell, images: ReadonlyMap<string, Image>): Promise<void> {
  const services = await ensureTestServices();
  Object.assign(process.env, services.env);
  const ops = await shell.freePort();
  let fleet: Fleet | null = null;
  try {
    fleet = await startFleet({
      mode: 'services',
      distOf: (image) => join(images.get(image)!.folder, images.get(image)!.workdir),
      envOf: (name): Record<string, string> => (name === 'gateway' ? { BATON_OPS_PORT: ops } : {}),
    });
    const client = adminClient(fleet);
    await upload(client, 'hello', archiveOf(join(root, 'test/e2e/blueprints/scripts-one')));
    await call(
      client,
      'createDeployment',
      { id: 'hello' },
      { blueprint_id: 'hello', inputs: { word: 'doors' } },
    );
    const { status, messages } = await follow(client, 'hello', 'install');
    demand(status === 'terminated' && messages.includes('script one says doors'), `${status}: ${messages}`);
    const page = await fetch(`${fleet.baseUrl}/ui/`);
    demand(page.ok, `the console answers ${page.status}`);
    const { folder, workdir, healthcheck } = images.get('gateway')!;
    const health = (port: string) =>
      shell.run(healthcheck![0]!, healthcheck!.slice(1), {
        cwd: join(folder, workdir),
        env: { BATON_OPS_PORT: port },
      });
    demand((await health(ops)).code === 0, 'the health check fails beside a gateway that is ready');
    demand(
      (await health(await shell.freePort())).code === 1,
      'the health check believes a port where nobody is',
    );
    const gateway = fleet.processes.get('gateway')!;
    gateway.signal(images.get('gateway')!.stopSignal as NodeJS.Signals);
    await gateway.ended();
  } finally {
    await fleet?.stop();
    await services.stop();
  }
}
