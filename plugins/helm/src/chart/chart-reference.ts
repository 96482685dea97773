import { FatalError } from '@baton/plugin-sdk';

/** Where a chart comes from. */
export type ChartReference =
  | { kind: 'repository'; repo: string; chart: string }
  | { kind: 'address'; url: string }
  | { kind: 'file'; path: string };

const REPOSITORY = /^([A-Za-z0-9][A-Za-z0-9._-]*)\/([A-Za-z0-9][A-Za-z0-9._-]*)$/;

/**
 * Reads a chart as blueprints write it: `repo/name` of a repository of the deployment, an address (https, oci), or a file or folder of
 * the blueprint.
 * @param repos names of the repositories of the deployment
 * @throws FatalError for paths of the machine, and paths that lead out of the blueprint
 */
export function readChart(chart: string, repos: readonly string[]): ChartReference {
  if (/^(https?|oci):\/\/\S+$/.test(chart)) return { kind: 'address', url: chart };
  if (/^[a-z][a-z0-9+.-]*:/i.test(chart) || chart.startsWith('-') || chart.includes('\0'))
    throw new FatalError(
      `resource_config.chart: expected repo/name, an https or oci address, or a file of the blueprint`,
    );
  const [, repo, name] = REPOSITORY.exec(chart) ?? [];
  if (repo !== undefined && repos.includes(repo)) return { kind: 'repository', repo, chart: name! };
  if (chart === '' || chart.startsWith('/') || chart.split('/').includes('..'))
    throw new FatalError(
      `resource_config.chart: ${JSON.stringify(chart).slice(0, 100)} is no path inside of the blueprint; charts of the machine are not used`,
    );
  return { kind: 'file', path: chart };
}
