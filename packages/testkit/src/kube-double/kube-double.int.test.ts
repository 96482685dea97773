// The stand-in is judged by the real clients: kubectl 1.32 and helm 3.17.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type KubeDouble, type KubeTools, kubeTools, startKubeDouble } from './index';

let tools: KubeTools;
let double: KubeDouble;
let folder: string;

beforeAll(async () => {
  tools = await kubeTools();
});
beforeEach(async () => {
  double = await startKubeDouble();
  folder = mkdtempSync(join(tmpdir(), 'baton-double-'));
  writeFileSync(join(folder, 'config'), double.kubeconfig());
});
afterEach(async () => {
  await double.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  code: number;
  out: string;
  err: string;
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  const home = { HOME: folder, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
  const env = { ...home, PATH: process.env.PATH, KUBECONFIG: join(folder, 'config') };
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd: folder }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
    });
  });
}

/** Runs a command that must succeed; the words are its arguments. */
async function ok(program: 'kubectl' | 'helm', words: string): Promise<string> {
  const ended = await run(tools[program], words.split(' '));
  if (ended.code !== 0) throw new Error(`${program} ${words}: ${ended.err}`);
  return ended.out;
}

const web = (image: string, replicas = 2) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] },
    },
  },
});
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};
const config = (value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'conf' },
  data: { a: value },
});

const file = (name: string, ...objects: object[]): string => {
  writeFileSync(join(folder, name), objects.map((one) => stringify(one)).join('---\n'));
  return name;
};

describe('kubectl', () => {
  it('applies, waits, shows, describes and deletes', async () => {
    const first = file('first.yaml', web('nginx:1.25'), service, config('1'));
    expect(await ok('kubectl', `apply -f ${first}`)).toBe(
      'deployment.apps/web created\nservice/web created\nconfigmap/conf created\n',
    );
    expect(await ok('kubectl', 'rollout status deployment/web --timeout=20s')).toContain(
      'successfully rolled out',
    );
    await ok('kubectl', 'wait --for=condition=Available deployment/web --timeout=20s');
    expect(await ok('kubectl', 'get all')).toMatch(
      /pod\/web-.* 1\/1 +Running[\s\S]*service\/web[\s\S]*deployment\.apps\/web +2\/2/,
    );
    expect(await ok('kubectl', 'describe deployment web')).toMatch(
      /Replicas: +2 desired \| 2 updated \| 2 total \| 2 available/,
    );
    expect(await ok('kubectl', 'get pods -l app=web -o name')).toMatch(/^(pod\/web-\S+\n){2}$/);
    expect(await ok('kubectl', `delete -f ${first} --timeout=20s`)).toContain(
      'deployment.apps "web" deleted',
    );
    expect(await ok('kubectl', 'get all,configmap')).toBe('');
  });

  it('changes an object by apply, scale, patch, and takes a rollout back', async () => {
    await ok('kubectl', `apply -f ${file('a.yaml', web('nginx:1.25'), service)}`);
    expect(await ok('kubectl', `apply -f ${file('b.yaml', web('nginx:1.26'), service)}`)).toBe(
      'deployment.apps/web configured\nservice/web unchanged\n',
    );
    await ok('kubectl', 'rollout status deployment/web --timeout=20s');
    await ok('kubectl', 'rollout undo deployment/web');
    await ok('kubectl', 'rollout status deployment/web --timeout=20s');
    await ok('kubectl', 'scale deployment web --replicas=3');
    await ok('kubectl', 'label deployment web team=x');
    const shown = await ok(
      'kubectl',
      'get deployment web -o jsonpath={.spec.replicas}/{.spec.template.spec.containers[0].image}/{.metadata.labels.team}',
    );
    expect(shown).toBe('3/nginx:1.25/x');
  });

  it('applies on the server: owners, conflicts, force, fields that leave', async () => {
    await ok('kubectl', `apply --server-side --field-manager=one -f ${file('a.yaml', config('1'))}`);
    const other = `apply --server-side --field-manager=two -f ${file('b.yaml', config('2'))}`;
    const refused = await run(tools.kubectl, other.split(' '));
    expect(refused.err).toContain('conflict with "one": .data.a');
    await ok('kubectl', `${other} --force-conflicts`);
    const { data: _, ...empty } = config('');
    await ok('kubectl', `apply --server-side --field-manager=two -f ${file('c.yaml', empty)}`);
    expect(await ok('kubectl', 'get configmap conf -o jsonpath={.data}')).toBe('');
  });

  it('changes nothing by a dry run, and shows what would change', async () => {
    await ok('kubectl', `apply -f ${file('a.yaml', config('1'))}`);
    await ok('kubectl', `apply --dry-run=server -f ${file('b.yaml', config('2'))}`);
    expect((await run(tools.kubectl, ['diff', '-f', 'b.yaml'])).out).toMatch(/-\s+a: "1"\n\+\s+a: "2"/);
    expect(await ok('kubectl', 'get configmap conf -o jsonpath={.data.a}')).toBe('1');
  });

  it('removes a namespace with all that is in it', async () => {
    await ok('kubectl', 'create namespace team');
    await ok('kubectl', `apply -n team -f ${file('a.yaml', web('nginx:1.25'), config('1'))}`);
    await ok('kubectl', 'delete namespace team --timeout=20s');
    expect(await ok('kubectl', 'get deployments,configmaps,pods -A -o name')).toBe('');
  });

  it('defines a kind, and uses it', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'crontabs.stable.example.com' },
      spec: {
        group: 'stable.example.com',
        scope: 'Namespaced',
        names: { plural: 'crontabs', kind: 'CronTab' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    };
    await ok('kubectl', `apply -f ${file('crd.yaml', definition)}`);
    await ok('kubectl', 'wait --for=condition=Established crd/crontabs.stable.example.com --timeout=20s');
    const object = {
      apiVersion: 'stable.example.com/v1',
      kind: 'CronTab',
      metadata: { name: 'mine' },
      spec: { cron: 'x' },
    };
    await ok('kubectl', `apply -f ${file('object.yaml', object)}`);
    expect(await ok('kubectl', 'get crontabs -o jsonpath={.items[0].spec.cron}')).toBe('x');
  });

  it('sees pods that cannot start, and waits in vain while the controllers are held', async () => {
    double.fate(/^missing:/, 'no-image');
    await ok('kubectl', `apply -f ${file('a.yaml', web('missing:1', 1))}`);
    expect(await ok('kubectl', 'get pods')).toContain('ImagePullBackOff');
    expect(
      (await run(tools.kubectl, 'wait --for=condition=Available deployment/web --timeout=1s'.split(' ')))
        .code,
    ).not.toBe(0);
    double.hold();
    await ok('kubectl', `apply -f ${file('b.yaml', web('nginx:1', 1))}`);
    expect((await run(tools.kubectl, 'rollout status deployment/web --timeout=1s'.split(' '))).code).not.toBe(
      0,
    );
    double.release();
    await ok('kubectl', 'rollout status deployment/web --timeout=20s');
  });

  it('is refused with a wrong token, a wrong object, and an object that is not there', async () => {
    const wrong = double.kubeconfig().replace(double.token, 'x');
    expect((await run(tools.kubectl, ['get', 'pods'])).code).toBe(0);
    const bad = {
      ...web('nginx'),
      spec: { ...web('nginx').spec, selector: { matchLabels: { app: 'other' } } },
    };
    const refused = await run(tools.kubectl, ['apply', '-f', file('bad.yaml', bad)]);
    expect(refused.err).toContain('`selector` does not match template `labels`');
    expect((await run(tools.kubectl, ['get', 'pod', 'none'])).err).toContain('pods "none" not found');
    writeFileSync(join(folder, 'config'), wrong);
    expect((await run(tools.kubectl, ['get', 'pods'])).err).toContain('You must be logged in to the server');
  });
});

describe('helm', () => {
  it('installs, upgrades, shows, rolls back, tests and uninstalls', async () => {
    await ok('helm', 'create demo');
    expect(JSON.parse(await ok('helm', 'install one demo --wait --timeout 20s -o json')).info.status).toBe(
      'deployed',
    );
    await ok('helm', 'upgrade one demo --atomic --timeout 20s --set replicaCount=2');
    expect(await ok('helm', 'status one')).toMatch(/STATUS: deployed\nREVISION: 2/);
    expect(await ok('kubectl', 'get deployment one-demo -o jsonpath={.status.readyReplicas}')).toBe('2');
    await ok('helm', 'test one --timeout 20s');
    await ok('helm', 'rollback one 1 --wait --timeout 20s');
    expect(await ok('kubectl', 'get deployment one-demo -o jsonpath={.spec.replicas}')).toBe('1');
    expect(JSON.parse(await ok('helm', 'history one -o json'))).toHaveLength(3);
    await ok('helm', 'uninstall one --wait');
    expect(await ok('kubectl', 'get deployments,services,secrets -o name')).toBe('');
  });

  it('goes back when an upgrade does not become ready', async () => {
    double.fate(/broken/, 'crash');
    await ok('helm', 'create demo');
    await ok('helm', 'install one demo --wait --timeout 20s');
    const upgrade = 'upgrade one demo --atomic --timeout 2s --set image.repository=broken';
    expect((await run(tools.helm, upgrade.split(' '))).err).toContain('rolled back');
    expect(
      await ok('kubectl', 'get deployment one-demo -o jsonpath={.spec.template.spec.containers[0].image}'),
    ).toMatch(/^nginx/);
  });
});

it('is unpacked once', () => {
  expect(readFileSync(tools.helm).subarray(1, 4).toString()).toBe('ELF');
});
