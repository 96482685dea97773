// ctx.agent of scripts, of Python and of operations in TypeScript.
import type { JsonObject } from '@baton/kernel';
import { makeRig, type Rig } from '../testing/memory-host';

let rig: Rig;
let asked: JsonObject[];

beforeEach(() => {
  rig = makeRig();
  asked = [];
  rig.host.agentScript = async (config) => {
    asked.push(config);
    return {
      script: '#!/bin/sh\ninstall\n',
      link: 'https://m/install/x',
      facts: { name: 'web_abc123', queue: 'web_abc123' },
    };
  };
});

const facts = (): unknown => rig.host.instances.get('web_abc123')!.runtime_properties.cloudify_agent;

it('gives a script of bash the script and the link of one enrolment', async () => {
  const end = await rig.script(`#!/bin/bash
ctx instance runtime-properties userdata "$(ctx agent init_script)"
ctx returns "$(ctx agent install-script-download-link)"
`);
  expect(end).toEqual({ kind: 'succeeded', result: 'https://m/install/x' });
  expect(rig.host.instances.get('web_abc123')!.runtime_properties.userdata).toBe('#!/bin/sh\ninstall');
  expect(facts()).toEqual({ name: 'web_abc123', queue: 'web_abc123' });
  expect(asked).toEqual([{}]);
});

it('gives Python the same, with an agent_config of the caller', async () => {
  const end = await rig.script(
    `from cloudify import ctx
assert ctx.agent.init_script({'user': 'centos'}).startswith('#!/bin/sh')
ctx.returns(ctx.agent.install_script_download_link())
`,
    { process: { eval_python: true } },
  );
  expect(end).toEqual({ kind: 'succeeded', result: 'https://m/install/x' });
  expect(asked).toEqual([{ user: 'centos' }]);
  expect(facts()).toMatchObject({ name: 'web_abc123' });
});

it('gives an operation in TypeScript the same', async () => {
  rig.deps.operations = new Map([['make', async (ctx) => await ctx.agent.initScript({ user: 'u' })]]);
  expect(await rig.run({ mapping: 'make' })).toEqual({ kind: 'succeeded', result: '#!/bin/sh\ninstall\n' });
  expect(facts()).toMatchObject({ queue: 'web_abc123' });
});

it('is refused at a host, and with a wrong agent_config', async () => {
  rig.deps.operations = new Map([['make', async (ctx) => await ctx.agent.initScript([] as never)]]);
  expect(await rig.run({ mapping: 'make' })).toMatchObject({ isRecoverable: false });
  delete rig.host.agentScript;
  rig.deps.operations = new Map([['make', async (ctx) => await ctx.agent.initScript()]]);
  expect(await rig.run({ mapping: 'make' })).toMatchObject({
    isRecoverable: false,
    failure: { message: expect.stringContaining('workers of the manager') },
  });
});
