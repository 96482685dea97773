import { type Estate, makeEstate } from '@baton/cloudify-archive/testing';
import { wagon } from '../contract/world';

/**
 * The made estate with ids of its own, so that several can be imported into one manager: ids of executions and the like, and names of
 * global objects, are unique in a manager.
 */
export function estateOfItsOwn(suffix: string): Estate {
  const digit = (Number.parseInt(Buffer.from(suffix).toString('hex').slice(-6), 16) % 0x0fff_ffff)
    .toString(16)
    .padStart(7, '0');
  const renamed = (text: string): string =>
    text
      .replaceAll(/\b([a-f])\1{7}(?=-0000-4000-8000-)/g, (_all, letter: string) => `${letter}${digit}`)
      .replace(/^multi$/, `multi-${suffix}`)
      .replace(/^mod$/, `ffff${digit.slice(-4)}-0000-4000-8000-000000000001`)
      .replace(/^(plug|web-update)$/, `$1-${suffix}`);
  const estate = deeply(makeEstate(), renamed) as Estate;
  for (const files of Object.values(estate.blobs))
    for (const name of Object.keys(files)) {
      if (name.endsWith('.wgn')) files[name] = wagon(`demo-${suffix}`);
      if (name === 'plugin.yaml') files[name] = pluginYaml(suffix);
    }
  for (const { nodes = [], node_instances: instances = [] } of Object.values(estate.tenants)) {
    // As in a real estate: a host names itself.
    for (const node of nodes) if (node.id === 'host') node.host_id = 'host';
    for (const instance of instances) if (instance.node_id === 'host') instance.host_id = instance.id;
  }
  return estate;
}

const pluginYaml = (suffix: string): Buffer =>
  Buffer.from(`plugins:
  demo:
    executor: central_deployment_agent
    package_name: demo-${suffix}
    package_version: '1.0'
`);

function deeply(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Buffer.isBuffer(value) || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => deeply(one, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [change(name), deeply(inner, change)]),
  );
}
