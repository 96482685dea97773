import { posix } from 'node:path';
import type { RemoteFiles } from '../context';
import { FatalError } from '../errors';
import type { SshConnection } from './connection';
import type { FileOptions } from './files';
import { quote } from './quote';

/** Folders at the host. */
export interface RemotePlaces {
  base: string;
  scripts: string;
  work: string;
}

/** `ctx.py` under the name of the package that scripts in Python import. */
const NAMES: Readonly<Record<string, string[]>> = { 'ctx.py': ['ctx.py', 'cloudify.py'] };
/** The command `ctx` where there is no /bin/bash. */
const PORTABLE = `#!/bin/sh
here=\${0%/*}
if command -v bash >/dev/null 2>&1; then exec bash -p "$here/ctx-bash" "$@"; fi
for python in python3 python python2; do
  if command -v "$python" >/dev/null 2>&1; then exec "$python" "$here/ctx-client.py" "$@"; fi
done
echo 'RuntimeError: ctx needs bash or Python at this host' >&2
exit 1
`;
const MARK = 'baton-place:';

/**
 * Makes the folders and programs of scripts at the host. Others may write into /tmp: a folder of somebody else is not used.
 * @param mode of folders and programs: 0700, or 0755 when another user runs the script
 * @throws FatalError when there is no place
 */
export async function makePlaces(
  connection: SshConnection,
  baseDir: string | undefined,
  programs: Readonly<Record<string, string>>,
  mode: string,
): Promise<RemotePlaces> {
  const top = baseDir === undefined ? '"${CFY_EXEC_TEMP:-$(dirname "$(mktemp -u)")}"' : quote(baseDir);
  const files = Object.entries(programs).flatMap(([name, text]) =>
    (NAMES[name] ?? [name]).map((file) => writeLine(file, text, mode)),
  );
  if (programs.ctx !== undefined)
    files.push(
      `[ -x /bin/bash ] || { ${writeLine('ctx-bash', programs.ctx, mode)} && ${writeLine('ctx', PORTABLE, mode)}; }`,
    );
  const command = [
    'umask 077',
    `top=${top}`,
    'base=$top/cloudify-ctx',
    'mkdir -p "$top"',
    `mkdir -m ${mode} "$base" 2>/dev/null`,
    // A link of somebody else could lead into a folder of this user.
    'if [ -L "$base" ] || ! [ -O "$base" ]; then base=$top/cloudify-ctx-$(id -u); ' +
      `mkdir -m ${mode} "$base" 2>/dev/null; if [ -L "$base" ] || ! [ -O "$base" ]; then echo "$base belongs to somebody else" >&2; exit 77; fi; fi`,
    `chmod ${mode} "$base" && mkdir -p "$base/scripts" "$base/work" && chmod ${mode} "$base/scripts" "$base/work" || exit 1`,
    ...files.map((file) => `{ ${file}; } || exit 1`),
    `printf '${MARK}%s' "$base"`,
  ].join('; ');
  const { stdout } = await connection.run(command, { exitCodes: { 77: 'fatal' } });
  const base = stdout.slice(stdout.lastIndexOf(MARK) + MARK.length);
  if (!stdout.includes(MARK) || !base.startsWith('/'))
    throw new FatalError(
      `${connection.name} has no folder for scripts: expected process.base_dir, or a TMPDIR there`,
    );
  return { base, scripts: `${base}/scripts`, work: `${base}/work` };
}

/** Another operation may run a script beside this one: the file is replaced at once. */
function writeLine(file: string, text: string, mode: string): string {
  const part = `"$base/.${file}.$$"`;
  return `printf %s ${quote(text)} > ${part} && chmod ${mode} ${part} && mv -f ${part} "$base/${file}"`;
}

/** Where `ctx download-resource` of a script writes its files. */
export function filesAt(
  connection: SshConnection,
  { work }: RemotePlaces,
  options: FileOptions,
): RemoteFiles {
  const put = async (content: { path: string } | { text: string }, place: string): Promise<string> => {
    await connection.run(`mkdir -p -- ${quote(posix.dirname(place))}`, options);
    await connection.put('text' in content ? content.text : content, place, { ...options, mode: 0o644 });
    return place;
  };
  return {
    file: (content, name, target) => put(content, placeOf(target, `${work}/${name}`)),
    folder: async (files, target) => {
      const place = placeOf(target, `${work}/resource`);
      for (const { inside, read } of files) await put({ path: await read() }, posix.join(place, inside));
      return place;
    },
  };
}

const placeOf = (target: string | null, otherwise: string): string =>
  target === null ? otherwise : target.endsWith('/') ? posix.join(target, posix.basename(otherwise)) : target;
