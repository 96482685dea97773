import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import { argumentsOf, readFlags, valueOfFlag, withoutFlags } from '../program/flags';
import { type ReleaseScope, withRelease } from '../release/release-scope';
import { fetchChart } from './fetch-chart';

/** What is known of a chart that was pulled or pushed. */
interface MovedChart {
  file: string;
  bytes: number;
  sha256: string;
}

/** Pulls the chart, and tells its file, size and digest. The file itself is not kept: no later operation would find it. */
export async function pullChart(scope: ReleaseScope): Promise<MovedChart> {
  return await withRelease(scope, async (open) => {
    const { helm, folder, config } = open;
    const chart = await fetchChart(scope, open, config.chart);
    if (chart.startsWith(folder.path))
      throw new FatalError('helm.pull: the chart is a file of the blueprint');
    const target = join(folder.path, 'pulled');
    await mkdir(target);
    const flags = withoutFlags(readFlags('inputs.flags', scope.inputs.flags), [
      'destination',
      'untar',
      'untardir',
    ]);
    await helm.run(['pull', chart, `--destination=${target}`, ...argumentsOf(flags)]);
    const [file] = await readdir(target);
    if (file === undefined) throw new FatalError('helm.pull: helm has written no file');
    return moved(file, await readFile(join(target, file)));
  });
}

/** Pushes a packed chart of the blueprint to the registry that the flag `remote` names. */
export async function pushChart(scope: ReleaseScope): Promise<MovedChart> {
  return await withRelease(scope, async (open) => {
    const flags = readFlags('inputs.flags', scope.inputs.flags);
    const remote = valueOfFlag(flags, 'remote') ?? '';
    if (!/^oci:\/\/\S+$/.test(remote))
      throw new FatalError('helm.push: the flag remote must be an address oci://host/path');
    const chart = await fetchChart(scope, open, open.config.chart);
    if (!chart.startsWith(open.folder.path) || !chart.endsWith('gz'))
      throw new FatalError('helm.push: the chart must be a packed file (.tgz) of the blueprint');
    await open.helm.run(['push', chart, remote, ...argumentsOf(withoutFlags(flags, ['remote']))]);
    return moved(chart.slice(chart.lastIndexOf('/') + 1), await readFile(chart));
  });
}

const moved = (file: string, content: Uint8Array): MovedChart => ({
  file,
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});
