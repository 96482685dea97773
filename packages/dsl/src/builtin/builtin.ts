import type { ImportResolver } from '../imports/resolver';
import type { Source } from '../yaml/source';
import { dataTypesText } from './data-types';
import { nodeTypesText } from './node-types';
import { policiesText } from './policies';
import { relationshipsText } from './relationships';
import { type BuiltinVersion, forVersion } from './variant';
import { workflowsText } from './workflows';

export type { BuiltinVersion } from './variant';

const plugins = `
plugins:

  cfy_extensions:
    executor: central_deployment_agent
    install: false

  agent:
    executor: central_deployment_agent
    install: false

  default_workflows:
    executor: central_deployment_agent
    install: false

  script:
    executor: host_agent
    install: false
`;

const texts = new Map<BuiltinVersion, string>();

/**
 * Returns our built-in types for blueprints of a definitions version, as YAML text (reference 5.7). Versions before 1_3
 * have none: the oldest file declares 1_3. Each call returns the same string, so that caches by text find it.
 */
export function builtinTypes(version: BuiltinVersion): string {
  let text = texts.get(version);
  if (text === undefined) {
    // the newest file declares 1_4 too: features are checked against the version of the main file
    const declared = version === '1_3' ? '1_3' : '1_4';
    text = [
      `tosca_definitions_version: cloudify_dsl_${declared}\n\nmetadata:\n  cloudify_types: true\n`,
      plugins,
      dataTypesText(version !== '1_3'),
      forVersion(nodeTypesText, version),
      forVersion(relationshipsText, version),
      workflowsText(version),
      policiesText,
    ].join('');
    texts.set(version, text);
  }
  return text;
}

const FILES: Record<string, BuiltinVersion> = {
  'types.yaml': '1_5',
  'types_1_3.yaml': '1_3',
  'types_1_4.yaml': '1_4',
};
const RESOURCE = /^(?:resource:\/?|file:.*\/resources\/)cloudify\/types\/(types(?:_1_[34])?\.yaml)$/;
/** Public addresses, which no longer answer; each release had its own folder. */
const PUBLIC =
  /^https?:\/\/(?:www\.)?(?:getcloudify\.org|cloudify\.co)\/spec\/cloudify\/([\w.]{1,40})\/types\.yaml$/;

/** Returns the variant that is closest to the types of a release such as `4.5.5` or `6.4.0`. */
function ofRelease(release: string): BuiltinVersion {
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10) || 0);
  if (major >= 7) return '1_5';
  return major === 6 && minor >= 4 ? '1_4' : '1_3';
}

const publicTexts = new Map<BuiltinVersion, string>();

/** Returns the types for a public address: without a declared version, because blueprints of any version import it. */
function publicTypes(version: BuiltinVersion): string {
  let text = publicTexts.get(version);
  if (text === undefined) {
    text = builtinTypes(version).replace(/^tosca_definitions_version:.*\n/, '');
    publicTexts.set(version, text);
  }
  return text;
}

/** Whether a document is valid in every definitions version, even if our text of it uses newer features. */
export function fitsEveryVersion({ name, text }: Source): boolean {
  const release = PUBLIC.exec(name ?? '')?.[1];
  return release !== undefined && text === publicTypes(ofRelease(release));
}

/** Returns our text for an address of the built-in types; null for other addresses. */
export function builtinTypesAt(url: string): string | null {
  const file = RESOURCE.exec(url)?.[1];
  if (file !== undefined) return builtinTypes(FILES[file]!);
  const release = PUBLIC.exec(url)?.[1];
  return release === undefined ? null : publicTypes(ofRelease(release));
}

/** Wraps `inner`: adds the built-in types at `cloudify/types/types.yaml` and the public addresses, where `inner` finds none. */
export function withBuiltinTypes(inner: ImportResolver): ImportResolver {
  return {
    ...inner,
    read: async (url) => {
      const found = await inner.read(url);
      if (found !== null) return found;
      const text = builtinTypesAt(url);
      return text === null ? null : { text, location: url };
    },
  };
}
