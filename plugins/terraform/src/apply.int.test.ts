import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILES } from './state/state-keeper';
import { binaries } from './testing/binaries';
import { sampleModule, sampleNode } from './testing/sample-module';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-tf-test-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe.each(binaries)('with %s', (_, binary) => {
  const node = (variables: object = {}, more: object = {}) =>
    sampleNode(binary, { variables: { path: join(place, 'page'), ...variables } }, more);
  const textOf = (files: Map<string, Uint8Array>, name: string) => Buffer.from(files.get(name)!).toString();

  it('applies a module, keeps its state as a file, and tells resources and outputs', async () => {
    const module = node({ token: 'top secret' });
    await module.run('configure');
    expect(readFileSync(join(place, 'page'), 'utf8')).toBe('made');
    const state = JSON.parse(textOf(module.files, FILES.state));
    expect(state.resources.map(({ name }: { name: string }) => name)).toEqual(['greeting', 'page']);
    expect(module.runtimeProperties).toMatchObject({
      terraform_version: '1.11.4',
      last_source_location: 'module',
      resources: { greeting: { type: 'terraform_data', mode: 'managed' } },
      resources_by_address: { 'terraform_data.page': { name: 'page' } },
      outputs: { greeting: { value: { text: 'hello world' } } },
      is_drifted: false,
    });
    expect(JSON.stringify(module.runtimeProperties) + JSON.stringify(module.log)).not.toContain('top secret');
    expect([...module.runtimeSecrets.values()].map((text) => JSON.parse(text))).toEqual([
      expect.objectContaining({ value: { token: 'top secret' } }),
    ]);
    expect(module.locks.size).toBe(0);
  });

  it('leaves nothing on the machine', async () => {
    const [own, before] = [join(place, 'tmp'), process.env.TMPDIR];
    mkdirSync(own);
    process.env.TMPDIR = own;
    try {
      await node().run('configure');
      expect(readdirSync(own)).toEqual([]);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });

  it('finds what somebody has changed outside, as data; heal repairs it', async () => {
    const module = node();
    await module.run('configure');
    expect(await module.run('check_drift')).not.toBeNull();
    await module.run('heal');
    expect(await module.run('check_drift')).toBeNull();
    writeFileSync(join(place, 'page'), 'changed');
    const drift = (await module.run('check_drift')) as { path: string; stored: string; present: string }[];
    expect(drift).toContainEqual({
      path: 'terraform_data.page.triggers_replace',
      stored: expect.stringMatching(/^[0-9a-f]{64}$/),
      present: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(module.runtimeProperties.is_drifted).toBe(true);
    await module.run('heal');
    expect(readFileSync(join(place, 'page'), 'utf8')).toBe('made');
  });

  it('carries out a saved plan exactly as it is, once', async () => {
    const module = node({ who: 'plan' });
    await module.run('plan');
    expect(module.runtimeProperties.plan).toMatchObject({
      resource_changes: [
        { address: 'terraform_data.greeting', change: { actions: ['create'] } },
        { address: 'terraform_data.page', change: { actions: ['create'] } },
      ],
    });
    Object.assign((module.properties.resource_config as { variables: object }).variables, { who: 'later' });
    await module.run('configure');
    expect(module.runtimeProperties.outputs).toMatchObject({ greeting: { value: { text: 'hello plan' } } });
    expect(module.files.has(FILES.plan)).toBe(false);
    await module.run('configure');
    expect(module.runtimeProperties.outputs).toMatchObject({ greeting: { value: { text: 'hello later' } } });
  });

  it('refuses a saved plan when the state has changed since, unless it is forced', async () => {
    const module = node();
    await module.run('plan');
    const [plan, facts] = [module.files.get(FILES.plan)!, module.files.get(FILES.planFacts)!];
    await module.run('configure');
    module.files.set(FILES.plan, plan).set(FILES.planFacts, facts);
    await expect(module.run('configure')).rejects.toThrow(
      /^the saved plan does not fit any more: it was made for no state, and there is the state with serial \d+\. Run terraform_plan again, or give force: true/,
    );
    await module.run('configure', { force: true });
  });

  it('updates to other variables, which later operations go on with; destroy removes everything', async () => {
    const module = node();
    await module.run('configure');
    await module.run('update', { variables: { who: 'again', path: join(place, 'page') } });
    expect(module.runtimeProperties.outputs).toMatchObject({ greeting: { value: { text: 'hello again' } } });
    await module.run('pull');
    await module.run('heal');
    expect(module.runtimeProperties.outputs).toMatchObject({ greeting: { value: { text: 'hello again' } } });
    await module.run('delete');
    expect([...module.files.keys(), ...module.runtimeSecrets.keys()]).toEqual([]);
    expect(module.runtimeProperties).not.toHaveProperty('resources');
  });

  it('goes on from the stored state when its worker was lost, and makes nothing twice', async () => {
    const module = node();
    const lost = { taskId: 'lost' };
    await module.run('configure', {}, lost);
    const before = JSON.parse(textOf(module.files, FILES.state));
    await module.run('heal', {}, { ...lost, isResumed: true });
    const after = JSON.parse(textOf(module.files, FILES.state));
    const greeting = (state: { resources: { name: string; instances: unknown[] }[] }) =>
      state.resources.find(({ name }) => name === 'greeting');
    expect(greeting(after)).toEqual(greeting(before));
    expect(module.isResumable('configure')).toBe(true);
  });

  it('tells by check_status that nothing is there', async () => {
    const module = node();
    await expect(module.run('check_status')).rejects.toThrow('the state of the module holds no resources');
    await module.run('configure');
    await module.run('check_status');
  });

  it('gives the words of the program when it fails, and keeps what was made', async () => {
    const broken = structuredClone(sampleModule);
    broken.resource.terraform_data.page.provisioner[0]!['local-exec'].command = 'echo no luck; exit 3';
    const module = node({}, { module: broken });
    await expect(module.run('configure')).rejects.toThrow(/local-exec provisioner error.*exit status 3/s);
    const state = JSON.parse(textOf(module.files, FILES.state));
    expect(state.resources.map(({ name }: { name: string }) => name)).toContain('greeting');
    expect(module.locks.size).toBe(0);
  });

  it('refuses a second run while another one has the state', async () => {
    const module = node();
    module.locks.set(FILES.state, { id: 'x', holder: 'somebody else' });
    await expect(module.run('configure')).rejects.toThrow('terraform.tfstate is locked by somebody else');
    expect(existsSync(join(place, 'page'))).toBe(false);
  });

  it('imports a resource by its address and id, and takes no flag for one', async () => {
    const module = node();
    await module.run('import_resource', { resource_address: 'terraform_data.greeting', resource_id: 'abc' });
    expect(JSON.parse(textOf(module.files, FILES.state)).resources[0].instances[0].attributes.id).toBe('abc');
    await expect(
      module.run('import_resource', { resource_address: '-var=x', resource_id: 'abc' }),
    ).rejects.toThrow('inputs.resource_address');
  });
});
