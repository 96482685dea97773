// `npm run sbom`: writes the shipped packages as a CycloneDX document and their licences as a list, from pnpm-lock.yaml and the
// installed packages. Deterministic: no time, no path, and no binaries for a single platform. Fails at a licence that is not
// allowed below.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './run-steps.mjs';

const yaml = createRequire(join(root, 'package.json'))('js-yaml');
/** Licences that do not oblige users of Baton to publish their own code. */
const ALLOWED = new Set(
  '0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BlueOak-1.0.0 CC0-1.0 ISC MIT PostgreSQL Python-2.0 Unlicense Zlib'.split(
    ' ',
  ),
);
const isAllowed = (licence) =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => ALLOWED.has(one.trim())));

const run = spawnSync('npx', ['--yes', 'pnpm@10.34.9', 'licenses', 'list', '--prod', '--json'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 28,
});
if (run.status !== 0) throw new Error(`pnpm licenses: ${run.stderr}`);
const lock = yaml.load(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'));
const packages = Object.values(JSON.parse(run.stdout))
  .flat()
  .flatMap(({ name, versions, license }) => versions.map((version) => ({ name, version, license })))
  // Binaries for one platform are left out: their selection depends on the machine.
  .filter(({ name, version }) => !lock.packages[`${name}@${version}`]?.os)
  .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));

const purl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
const components = packages.map((one) => {
  const integrity = lock.packages[`${one.name}@${one.version}`]?.resolution?.integrity ?? '';
  const [, digest] = /^sha512-(.+)$/.exec(integrity) ?? [];
  return {
    type: 'library',
    'bom-ref': purl(one),
    name: one.name,
    version: one.version,
    purl: purl(one),
    ...(digest && { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
    licenses: [{ expression: one.license }],
  };
});
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', 'bom-ref': 'baton', name: 'baton', version } },
  components,
};
const counts = Map.groupBy
  ? Map.groupBy(packages, ({ license }) => license)
  : packages.reduce((map, one) => map.set(one.license, [...(map.get(one.license) ?? []), one]), new Map());
const lines = [...counts]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(
    ([licence, all]) =>
      `## ${licence} (${all.length})\n\n${all.map((one) => `- ${one.name} ${one.version}`).join('\n')}\n`,
  );
writeFileSync(join(root, 'docs/generated/sbom.cdx.json'), `${JSON.stringify(sbom, null, 1)}\n`);
writeFileSync(
  join(root, 'docs/generated/licences.md'),
  `# Licences of what is shipped\n\nWritten by \`npm run sbom\`; the packages are those of docs/generated/sbom.cdx.json.\n\n${lines.join('\n')}`,
);
const refused = packages.filter(({ license }) => !isAllowed(license));
for (const { name, version: which, license } of refused)
  console.error(`sbom: ${name} ${which} has the licence ${license}, which tools/sbom.mjs does not allow`);
console.log(`sbom: ${components.length} packages, ${counts.size} licences`);
process.exit(refused.length === 0 ? 0 : 1);
