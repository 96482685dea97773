import { basename, join } from 'node:path';
import { type BaseScope, FatalError } from '@baton/plugin-sdk';
import type { OpenHelm } from '../program/open-helm';
import { readChart } from './chart-reference';

const PACKED = /\.(tgz|tar\.gz)$/;

/**
 * Returns what helm takes as the chart: `repo/name` with a fresh index of the repository, an address, or a file in the private folder.
 * @throws FatalError for a chart that is nowhere
 */
export async function fetchChart(
  { ctx }: Pick<BaseScope, 'ctx'>,
  { helm, folder, sources }: OpenHelm,
  chart: string,
): Promise<string> {
  const found = readChart(
    chart,
    sources.repos.map(({ name }) => name),
  );
  if (found.kind === 'address') return found.url;
  if (found.kind === 'repository') {
    await helm.run(['repo', 'update', found.repo, '--fail-on-repo-update-fail']);
    return `${found.repo}/${found.chart}`;
  }
  const { path } = found;
  if (PACKED.test(path))
    return await folder.write(join('charts', basename(path)), await ctx.getResource(path));
  try {
    await ctx.getResource(join(path, 'Chart.yaml'));
  } catch (cause) {
    const repos = sources.repos.map(({ name }) => name).join(', ') || 'none';
    throw new FatalError(
      `resource_config.chart: ${path} is no folder of the blueprint with a Chart.yaml, and no chart of a repository of the deployment ` +
        `(there: ${repos})`,
      { cause },
    );
  }
  return await ctx.downloadDirectory(path, join(folder.path, 'charts', basename(path)));
}
