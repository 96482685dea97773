/**
 * Plays a Dockerfile without a Docker engine: each stage becomes a folder, COPY copies into it, and RUN runs in it. What changes the
 * system itself (accounts, packages of the distribution) is passed over. An unknown instruction is an error, so nothing new is left out.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

export interface Image {
  /** The folder that stands for `/`. */
  folder: string;
  workdir: string;
  env: Record<string, string>;
  command: string[];
  healthcheck: string[] | null;
  stopSignal: string;
  user: string;
}

export interface PlayOptions {
  file: string;
  /** Build context. */
  context: string;
  /** Folders that stand in for stages of these names, as `--build-context name=folder` does. */
  contexts: Readonly<Record<string, string>>;
  /** Where the stages are made. */
  out: string;
  /** Runs a command of a shell to its end. @throws Error when it fails */
  run(command: string, cwd: string): Promise<unknown>;
}

interface Stage {
  name: string;
  from: string;
  steps: { word: string; rest: string }[];
}

/** Programs that change the system around the files. */
const OF_SYSTEM = /^(groupadd|useradd|apt-get|install -d|rm -rf \/var\/)/;
/** Instructions that give no file. */
const SILENT = ['EXPOSE'];

/** Returns a function that plays a target, and each stage below it once. */
export function dockerfilePlayer(o: PlayOptions): (target: string) => Promise<Image> {
  const stages = stagesOf(readFileSync(o.file, 'utf8'));
  const ignored = readFileSync(join(o.context, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const played = new Map<string, Promise<Image>>();
  const play = (name: string): Promise<Image> => {
    if (!played.has(name)) played.set(name, playStage(name));
    return played.get(name)!;
  };
  async function playStage(name: string): Promise<Image> {
    const stage = stages.find((one) => one.name === name);
    if (!stage) throw new Error(`${o.file} has no stage ${name}`);
    const image = await baseOf(stage);
    for (const { word, rest } of stage.steps) await step(image, word, rest);
    return image;
  }
  async function baseOf({ name, from }: Stage): Promise<Image> {
    const folder = join(o.out, name);
    mkdirSync(folder, { recursive: true });
    if (from === 'scratch' || from === '${NODE_IMAGE}') return emptyImage(folder);
    const base = await play(from);
    cpSync(base.folder, folder, { recursive: true, verbatimSymlinks: true });
    return { ...base, env: { ...base.env }, folder };
  }
  async function step(image: Image, word: string, rest: string): Promise<void> {
    const handler = handlers[word];
    if (handler) await handler(image, rest);
    else if (!SILENT.includes(word)) throw new Error(`${o.file}: the instruction ${word} is not played`);
  }
  const handlers: Record<string, (image: Image, rest: string) => void | Promise<void>> = {
    WORKDIR: (image, rest) => {
      image.workdir = rest;
      mkdirSync(join(image.folder, rest), { recursive: true });
    },
    ENV: (image, rest) => {
      for (const pair of rest.split(' ')) image.env[pair.split('=')[0]!] = pair.slice(pair.indexOf('=') + 1);
    },
    USER: (image, rest) => void (image.user = rest),
    STOPSIGNAL: (image, rest) => void (image.stopSignal = rest),
    CMD: (image, rest) => void (image.command = JSON.parse(rest) as string[]),
    HEALTHCHECK: (image, rest) => {
      image.healthcheck = rest === 'NONE' ? null : (JSON.parse(rest.slice(rest.indexOf('['))) as string[]);
    },
    COPY: (image, rest) => copy(image, rest),
    RUN: async (image, rest) => {
      const parts = rest.split(' && ').filter((part) => !OF_SYSTEM.test(part.trim()));
      // Absolute paths lie in the stage.
      const inStage = parts.join(' && ').replace(/(?<=\s)\/(?=[a-z])/g, `${image.folder}/`);
      if (inStage !== '') await o.run(inStage, join(image.folder, image.workdir));
    },
  };
  async function copy(image: Image, rest: string): Promise<void> {
    const words = rest.split(/\s+/);
    const from = words.find((one) => one.startsWith('--from='))?.slice('--from='.length);
    const paths = words.filter((one) => !one.startsWith('--'));
    const target = paths.pop()!;
    const source = from === undefined ? o.context : (o.contexts[from] ?? (await play(from)).folder);
    const to = target.startsWith('/')
      ? join(image.folder, target)
      : join(image.folder, image.workdir, target);
    const isFolder = target.endsWith('/') || paths.length > 1;
    for (const path of paths) {
      const file = join(source, path);
      if (!existsSync(file)) throw new Error(`COPY ${rest}: ${path} is not there`);
      const into = isFolder && statSync(file).isFile() ? join(to, basename(file)) : to;
      mkdirSync(dirname(into), { recursive: true });
      cpSync(file, into, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (one) => from !== undefined || !isIgnored(ignored, relative(source, one)),
      });
    }
  }
  return play;
}

const emptyImage = (folder: string): Image => ({
  folder,
  workdir: '/',
  env: {},
  command: [],
  healthcheck: null,
  stopSignal: 'SIGTERM',
  user: 'root',
});

/** The rules of .dockerignore that this repository uses: a name at the top, or a name anywhere with `**` before it. */
function isIgnored(rules: readonly string[], path: string): boolean {
  const parts = path.split('/');
  return rules.some((rule) => (rule.startsWith('**/') ? parts.includes(rule.slice(3)) : parts[0] === rule));
}

/** Names of the targets: the stages that no other stage needs, in their order. */
export function targetsOf(file: string): string[] {
  return stagesOf(readFileSync(file, 'utf8'))
    .filter(({ from }) => from === 'runtime')
    .map(({ name }) => name);
}

function stagesOf(text: string): Stage[] {
  const stages: Stage[] = [];
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  for (const line of lines.map((one) => one.trim()).filter(Boolean)) {
    const [word, rest] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1).trim()];
    const [, from, name] = word === 'FROM' ? (/^(\S+) AS (\S+)$/.exec(rest) ?? []) : [];
    if (word === 'FROM') stages.push({ name: name!, from: from!, steps: [] });
    else if (word !== 'ARG') stages.at(-1)!.steps.push({ word, rest });
  }
  return stages;
}

/** All files below a folder, as paths in it; links are named, not followed. */
export function filesBelow(folder: string, prefix = ''): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = join(prefix, entry.name);
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
}
