import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { makeRig, type Rig } from '../testing/memory-host';

/** Runs a bash script and returns its output, as log lines. */
async function printed(rig: Rig, script: string, task = {}): Promise<string[]> {
  const end = await rig.script(`#!/bin/bash\n${script}`, {}, task);
  expect(end).toMatchObject({ kind: 'succeeded' });
  return rig.host
    .logged()
    .filter((l) => l.startsWith('<out> '))
    .map((l) => l.slice(6));
}
const properties = (rig: Rig, id = 'web_abc123') => rig.host.instances.get(id)?.runtime_properties;

describe('the ctx command', () => {
  it('reads attributes, dashes or underscores, and facts of the run', async () => {
    const lines = await printed(
      makeRig(),
      'for a in "instance id" "node name" "node type" "operation name" "operation retry-number" execution-id "deployment id" ' +
        '"deployment creator" "blueprint id" workflow_id tenant_name type plugin "plugin name"; do echo "$a=$(ctx $a)"; done',
    );
    expect(lines).toEqual([
      'instance id=web_abc123',
      'node name=web',
      'node type=t.Node',
      'operation name=cloudify.interfaces.lifecycle.start',
      'operation retry-number=',
      'execution-id=0199-execution',
      'deployment id=dep',
      'deployment creator=admin',
      'blueprint id=bp',
      'workflow_id=install',
      'tenant_name=default_tenant',
      'type=node-instance',
      'plugin=script',
      'plugin name=script',
    ]);
  });

  it('prints as Python would, or JSON with -j', async () => {
    const lines = await printed(
      makeRig(),
      'ctx node properties port; echo; ctx node properties nested; echo; ctx -j node properties nested; echo; ' +
        'ctx -j node properties "nested.list[0].name"; echo; ctx node properties nested.on; echo; ctx -j node properties keys',
    );
    expect(lines).toEqual([
      '8080',
      "{'list': [{'name': 'first'}], 'on': True}",
      '{"list":[{"name":"first"}],"on":true}',
      '"first"',
      'True',
      '["port","nested","keys"]',
    ]);
  });

  it('sets runtime properties, nested ones too, with JSON and odd characters', async () => {
    const rig = makeRig();
    await printed(
      rig,
      'ctx instance runtime-properties a.b.c @5\nctx instance runtime_properties a.b.d \'@{"x": [1, null]}\'\n' +
        'ctx instance runtime-properties text $\'zwei\\nZeilen: "ä" \\\\\'\nctx instance runtime-properties __proto__.polluted 1',
    );
    expect(JSON.parse(JSON.stringify(properties(rig)))).toMatchObject({
      a: { b: { c: 5, d: { x: [1, null] } } },
      text: 'zwei\nZeilen: "ä" \\',
    });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(rig.host.instances.get('web_abc123')?.version).toBe(2);
  });

  it('keeps a nested change of a property that existed before', async () => {
    const rig = makeRig();
    Object.assign(properties(rig) ?? {}, { a: { b: 1, list: [{}] } });
    await printed(
      rig,
      'ctx instance runtime-properties a.b 2; ctx instance runtime-properties "a.list[0].c" 3; ctx instance update',
    );
    expect(properties(rig)).toEqual({ a: { b: '2', list: [{ c: '3' }] } });
  });

  it('takes any key as one of the dictionary', async () => {
    const rig = makeRig();
    await printed(
      rig,
      `ctx instance runtime-properties update '@{"__proto__": {"a": 1}, "constructor": 2}'; ctx instance runtime-properties update '@{"toString": 3}' '@{"": 4}'; true`,
    );
    expect(JSON.stringify(properties(rig))).toBe('{"__proto__":{"a":1},"constructor":2,"toString":3,"":4}');
  });

  it('writes to both sides of a relationship and refuses ctx.instance there', async () => {
    const rig = makeRig();
    const task = { related: { nodeInstanceId: 'db_def456', nodeId: 'db', isTarget: true } };
    await printed(
      rig,
      'ctx source instance runtime-properties url "db at $(ctx target instance id)"; ctx target instance runtime-properties n @1\nctx instance id 2>&1; true',
      task,
    );
    expect([properties(rig), properties(rig, 'db_def456')]).toEqual([{ url: 'db at db_def456' }, { n: 1 }]);
    expect(rig.host.logged().join('\n')).toContain(
      'can only be used in a node-instance context but used in a relationship-instance',
    );
  });

  it('logs, sends events and fetches resources, rendered when asked', async () => {
    const rig = makeRig();
    rig.host.files = { 'etc/a.conf': 'port={{ ctx.node.properties.port }} {{ who }}\n', 'plain.txt': 'äöü' };
    const lines = await printed(
      rig,
      'ctx logger warning "careful now"; ctx send-event "half way"\n' +
        'echo "$(ctx get-resource plain.txt)"; cat "$(ctx download-resource plain.txt)"; echo\n' +
        `cat "$(ctx download-resource-and-render etc/a.conf '@{"template_variables": {"who": "me"}}')"; echo\n` +
        `ctx download-resource plain.txt '@{"target_path": "${rig.host.root}/deep/x"}'; echo; ls $TMPDIR/.. >/dev/null`,
    );
    expect(lines).toEqual(['äöü', 'äöü', 'port=8080 me', `${rig.host.root}/deep/x`]);
    expect(readFileSync(`${rig.host.root}/deep/x`, 'utf8')).toBe('äöü');
    expect(rig.host.lines).toEqual(
      expect.arrayContaining([
        { kind: 'log', level: 'warning', message: 'careful now' },
        { kind: 'event', level: 'info', message: 'half way' },
      ]),
    );
  });

  it.each([
    ['a missing property', 'ctx -j node properties missing', 'illegal path: missing'],
    ['an unknown word', 'ctx bad_property', '"bad_property"'],
    ['a write to properties', 'ctx node properties port 1', 'Cannot override read only properties'],
    ['a missing resource', 'ctx get-resource nope.txt', 'Resource not found: nope.txt'],
    ['bad JSON', "ctx instance runtime-properties a '@{'", 'not JSON'],
  ])('ends with code 1 and RequestError for %s', async (_, command, message) => {
    const rig = makeRig();
    const end = await rig.script(`#!/bin/bash -e\n${command}\necho never`);
    expect(end).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: { exceptionType: 'ProcessException' },
    });
    expect(rig.host.logged().join('\n')).toMatch(/<err> RequestError/);
    expect(rig.host.logged().join('\n')).toContain(message);
    expect(rig.host.logged().join('\n')).not.toContain('never');
  });

  it('takes several calls as lines, and prints an answer in each line', async () => {
    const rig = makeRig();
    const lines = await printed(
      rig,
      `ctx - <<'END'
instance runtime-properties a.b "two words"
# not a call
instance runtime-properties a.c '@{"x": [1]}'
node properties port
-j node properties nested
END
echo "code $?"; printf 'instance id\nnode name' | ctx -j -; printf '' | ctx -; echo "code $?"`,
    );
    expect(lines).toEqual([
      '',
      '',
      '8080',
      '{"list":[{"name":"first"}],"on":true}',
      'code 0',
      '"web_abc123"',
      '"web"',
      'code 0',
    ]);
    expect(properties(rig)).toEqual({ a: { b: 'two words', c: { x: [1] } } });
  });

  it.each([
    ['instance id\nnode nope\ninstance runtime-properties never 1', 'line 2: RequestError: '],
    ['instance id\n\nlogger info "open', 'line 3: a quote does not end'],
    ['logger info @{', 'line 1: RequestError: an argument with @ is not JSON'],
    ['abort-operation "no more"\ninstance runtime-properties never 1', 'line 1: no more'],
  ])('runs no line behind the one that fails: %s', async (calls, message) => {
    const rig = makeRig();
    await rig.script(`#!/bin/bash\nprintf '%b' '${calls}' | ctx - > out; echo "code $? $(wc -c < out)"`);
    expect(rig.host.logged().join('\n')).toContain(
      `<err> ${message.startsWith('line 3') ? 'RequestError: ' : ''}${message}`,
    );
    expect(rig.host.logged()).toContain('<out> code 1 0');
    expect(properties(rig)).toEqual({});
  });

  it('passes long texts and every character through', async () => {
    const rig = makeRig();
    const odd = Array.from({ length: 255 }, (_, i) => String.fromCharCode(i + 1)).join('');
    rig.host.files = { odd, nul: 'a\0b\n', long: 'ä'.repeat(100_000) };
    await printed(
      rig,
      'for f in odd nul long; do ctx get-resource $f > "$PWD/$f"; cp $f ../../../../$f; done',
    );
    const read = (name: string) => readFileSync(`${rig.deps.scripts.workRoot}/${name}`, 'utf8');
    expect([read('odd'), read('nul'), read('long')]).toEqual([odd, 'a\0b\n', 'ä'.repeat(100_000)]);
  });

  it('starts no program in bash, whatever the options and variables of the script are', async () => {
    const rig = makeRig();
    const lines = await printed(
      rig,
      `set -eu; readonly url=1 code=2 IFS=i; set -f; type -t ctx; echo "$(ctx instance id)"
strange=$(bash -xc 'ctx logger info quiet' 2>&1); echo "$strange"
before=$BASHPID; ctx node name; echo; [ "$before" = "$BASHPID" ] && echo "$url $code $-" | tr -dc '12 euf'; echo
if ctx nope 2>/dev/null; then echo wrong; else echo "code $?"; fi
command ctx node name; echo; env ctx node name; echo; sh -c 'ctx node name'; echo; BASH_ENV= bash -c 'type -t ctx; ctx node name'`,
    );
    expect(lines).toEqual([
      'function',
      'web_abc123',
      '+ ctx logger info quiet',
      '+ _ctx logger info quiet',
      'web',
      '1 2 efu',
      'code 1',
      'web',
      'web',
      'web',
      'file',
      'web',
    ]);
  });

  it('ends a script that has sourced ctx-sh, in bash and in sh', async () => {
    for (const shell of ['bash', 'sh']) {
      const rig = makeRig();
      const end = await rig.script(`#!/usr/bin/env ${shell}\n. ctx-sh\nctx node name\nctx nope\necho never`);
      expect([end.kind, ...rig.host.logged().filter((l) => l.startsWith('<out>'))]).toEqual([
        'failed',
        '<out> web',
      ]);
    }
  });

  it('is found without /bin/bash too', async () => {
    const rig = makeRig();
    const bin = `${rig.deps.scripts.assetsDir}/bin/portable/ctx`;
    const lines = await printed(
      rig,
      `${bin} instance id; echo; mkdir only; ln -s "$(command -v node)" only/node; PATH=$PWD/only ${bin} node name; echo; printf 'node name\nnode type' | PATH=$PWD/only ${bin} -`,
    );
    expect(lines).toEqual(['web_abc123', 'web', 'web', 't.Node']);
  });

  it('works for Node where there is no bash', async () => {
    const rig = makeRig();
    const client = `${rig.deps.scripts.assetsDir}/bin/ctx-client.cjs`;
    const lines = await printed(
      rig,
      `node ${client} -j node properties port; echo; node ${client} instance runtime-properties ä @1; node ${client} nope 2>&1; echo "code $?"`,
    );
    expect(lines.slice(0, 1)).toEqual(['8080']);
    expect(lines.at(-1)).toBe('code 1');
    expect(properties(rig)).toEqual({ ä: 1 });
  });

  it('answers what is malformed or too large, and goes on', async () => {
    const rig = makeRig();
    const post = (body: string, type = 'application/x-ctx-args') =>
      `curl -s -m 10 -H 'Content-Type: ${type}' --data-binary ${body} "$CTX_SOCKET_URL"; echo`;
    const lines = await printed(
      rig,
      `${post("'-5:hello,'")}\n${post("'9:x,'")}\n${post("'1:@,0:,99999999999:x,'")}\n${post('x', 'application/json')}\n` +
        `head -c 34000000 /dev/zero > big\n${post('@big')}\n${post('@big', 'application/json')}\nctx instance id`,
    );
    expect(lines.filter((line) => line !== '')).toEqual([
      ...Array(3).fill('RequestError: malformed arguments'),
      expect.stringMatching(/^{"type":"error","payload":{"type":"SyntaxError"/),
      expect.stringMatching(/^RequestError: one call of ctx may carry 33554432 bytes, this one has 34000000/),
      expect.stringMatching(/^{"type":"error","payload":{"type":"NonRecoverableError","message":"one call/),
      'web_abc123',
    ]);
  });

  it('lets neither other calls nor the end of the script wait for one that is never sent whole', async () => {
    const rig = makeRig();
    const half =
      'port=$(echo "$CTX_SOCKET_URL" | cut -d: -f3 | cut -d/ -f1); exec 3<>/dev/tcp/127.0.0.1/$port\n' +
      'printf "POST /$(basename $CTX_SOCKET_URL) HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 100\\r\\n\\r\\nhalf" >&3\n' +
      'sleep 100 >/dev/null 2>&1 & echo $! > "$TMPDIR/../pid"; cat "$TMPDIR/../pid"; ctx -t 5 instance id';
    const lines = await printed(rig, half);
    process.kill(Number(lines[0]), 'SIGKILL');
    expect(lines[1]).toBe('web_abc123');
  }, 20_000);

  it('is not reachable by other runs and leaves nothing behind', async () => {
    const rig = makeRig();
    const lines = await printed(
      rig,
      'exec 3<>/dev/tcp/127.0.0.1/$(echo "$CTX_SOCKET_URL" | cut -d: -f3 | cut -d/ -f1); printf "POST / HTTP/1.0\\r\\n\\r\\n" >&3; head -1 <&3; pwd; stat -c %a .',
    );
    expect(lines[0]).toContain('404');
    expect(lines[2]).toBe('700');
    expect(existsSync(lines[1] as string)).toBe(false);
  });
});

it.each([
  ['bash', '-p', 'ctx'],
  [process.execPath, 'ctx-client.cjs'],
  ['python3', 'ctx-client.py'],
])('waits as long as CTX_TIMEOUT says (%s)', async (program, ...args) => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = silent.address() as AddressInfo;
    const file = join(__dirname, '../../bin', args.pop()!);
    const env = { ...process.env, CTX_SOCKET_URL: `http://localhost:${port}/x`, CTX_TIMEOUT: '1' };
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) =>
      execFile(program, [...args, file, 'instance', 'id'], { env }, (error, _out, text) =>
        resolve({ code: error?.code, stderr: text }),
      ),
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^RuntimeError: .*(1 seconds|timed out)/);
  } finally {
    silent.close();
  }
});
