// Writes test/manifests/schema.json: one strict JSON schema of the kinds that our manifests use, from the TypeScript types of the
// Kubernetes API.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';

const root = join(import.meta.dirname, '..');
const KINDS = {
  'apps/v1': ['Deployment'],
  'core/v1': ['ConfigMap', 'Secret', 'Service', 'ServiceAccount', 'Namespace'],
  'batch/v1': ['Job'],
  'policy/v1': ['PodDisruptionBudget'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'networking/v1': ['Ingress', 'NetworkPolicy'],
};

const folder = mkdtempSync(join(root, '.manifest-schema-'));
try {
  const lines = Object.entries(KINDS).flatMap(([module, kinds]) =>
    kinds.map(
      (kind) =>
        `import type { ${kind} as Api${kind} } from 'kubernetes-types/${module}';\nexport type Kind${kind} = Api${kind};`,
    ),
  );
  const source = join(folder, 'kinds.ts');
  writeFileSync(source, `${lines.join('\n')}\n`);
  const schema = createGenerator({
    path: source,
    type: '*',
    expose: 'export',
    additionalProperties: false,
    skipTypeCheck: true,
    jsDoc: 'none',
  }).createSchema('*');
  writeFileSync(join(root, 'test/manifests/schema.json'), `${JSON.stringify(schema)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
