// Install scripts with real shells, on a machine of their own (mount namespace).
import { type PackageServer, packageServer } from '../testing/package-server';
import { type ScriptHost, scriptHost } from '../testing/script-host';
import { renderInstallScript } from './render';
import { renderUninstallScript } from './uninstall';

jest.setTimeout(60_000);

let host: ScriptHost;
let manager: PackageServer;
const DIR = '/opt/baton-agent/host_abc123';
/** A systemctl that keeps states in files: the machine has no systemd. */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >>/run/systemctl.log
case "$1 $2" in
  'restart fails.service' ) exit 1 ;;
  'is-active --quiet') exit 0 ;;
esac
`;

beforeEach(async () => {
  host = await scriptHost();
  manager = await packageServer();
});
afterEach(async () => {
  host?.stop();
  await manager?.stop();
});

const install = (more = {}, shell = 'dash', args: string[] = [], env = {}) =>
  host.script(renderInstallScript(manager.options(more)), shell, args, env);

describe.each([
  ['dash', true],
  ['busybox sh', false],
  ['bash', true],
])('with %s', (shell, isByHand) => {
  it('installs, repairs on a second run, and leaves nothing after the removal', async () => {
    const before = host.sh('getent passwd; ls -A /etc /opt /var/log');
    const first = await install({}, shell);
    expect(first).toMatchObject({
      code: 0,
      text: expect.stringContaining('the agent host_abc123 is installed'),
    });
    expect(host.sh(`stat -c '%a %U' ${DIR}/agent.json ${DIR} ${DIR}/current/baton-agent`)).toBe(
      '600 baton-agent\n700 baton-agent\n700 baton-agent\n',
    );
    expect(JSON.parse(host.sh(`cat ${DIR}/agent.json`))).toEqual({
      name: 'host_abc123',
      tenant: 'default_tenant',
      nodeInstanceId: 'host_abc123',
      addresses: [manager.url],
      authorities: manager.options().authorities,
      processManagement: 'detach',
    });
    expect(first.text).toContain('enrolled as baton-agent');
    expect(host.sh(`cat /run/crontab.baton-agent`)).toContain(`@reboot ${DIR}/keep-alive.sh`);
    expect(host.sh(`find ${DIR} /opt -name 'token*'; cat /var/log/*.log`)).not.toContain('good');

    host.sh(`rm ${DIR}/current; echo broken > ${DIR}/agent.json`);
    const second = await install({}, shell);
    expect(second).toMatchObject({ code: 0, text: expect.stringContaining('has its certificate already') });
    expect(host.sh(`cat ${DIR}/enrolments; test -x ${DIR}/current/baton-agent && echo there`)).toBe(
      'once\nthere\n',
    );

    const pid = host.sh(`cat ${DIR}/supervise.pid`).trim();
    expect(host.sh('stat -c %U /opt/baton-agent/uninstall-host_abc123.sh')).toBe('root\n');
    const own = host.sh('cat /opt/baton-agent/uninstall-host_abc123.sh');
    const removed = await host.script(isByHand ? own : renderUninstallScript({ name: 'host_abc123' }), shell);
    expect(removed).toMatchObject({ code: 0 });
    // Its processes end meanwhile: nothing is said of files of theirs that are gone.
    expect(removed.text).not.toContain('/proc/');
    expect(host.sh('cat /run/ended')).toBe(`${DIR}
`);
    expect(
      host.sh(
        `test -d /proc/${pid} && echo alive; getent passwd; ls -A /etc /opt /var/log; ls /run | grep crontab || :`,
      ),
    ).toBe(before.replace(/\n$/, '\n'));
  });
});

it('takes hostile values as they are, and runs nothing of them', async () => {
  const name = `a'b"$(touch /run/pwned)\`touch /run/pwned\`\n; touch /run/pwned #`;
  const { code, text } = await install({
    name,
    tenant: `t'$(touch /run/pwned)`,
    nodeInstanceId: '$(touch /run/pwned)',
  });
  expect({ code, text }).toMatchObject({ code: 0 });
  const config = JSON.parse(host.sh('cat /opt/baton-agent/*/agent.json'));
  expect(config).toMatchObject({
    name,
    tenant: `t'$(touch /run/pwned)`,
    nodeInstanceId: '$(touch /run/pwned)',
  });
  expect(host.sh('ls /run')).not.toContain('pwned');
});

it('goes on with a download that was cut, and does not load again what is there', async () => {
  manager.cutAfter = Math.ceil(manager.package.size / 2);
  expect(await install()).toMatchObject({ code: 0 });
  expect(manager.asked).toHaveLength(2);
  expect(manager.asked[1]).toMatch(/^bytes=[1-9]/);
});

it('says by exit code and text what is wrong', async () => {
  manager.other = Buffer.alloc(manager.package.size, 'x');
  expect(await install()).toMatchObject({ code: 32, text: expect.stringContaining('sha256') });
  manager.other = null;
  expect(await install({ token: 'used' })).toMatchObject({
    code: 40,
    text: expect.stringContaining('older than an hour'),
  });
  expect(await install({ token: 'nowhere' })).toMatchObject({
    code: 41,
    text: expect.stringContaining(manager.url),
  });
  expect(await install({ packages: [] })).toMatchObject({
    code: 31,
    text: expect.stringContaining('a manager that has just started'),
  });
  expect(await install({ packages: [{ ...manager.package, size: 2 ** 50 }] })).toMatchObject({ code: 23 });
  expect(await install({ processManagement: 'systemd' })).toMatchObject({ code: 50 });
  expect(await install({}, 'dash', ['--wrong'])).toMatchObject({ code: 2 });
  expect(await install({}, 'dash', [], { AGENT_DIR: '/opt/x;touch /run/pwned' })).toMatchObject({ code: 2 });
  host.sh('mkdir -p /opt/noexec && mount -t tmpfs -o noexec tmpfs /opt/noexec');
  expect(await install({ baseDir: '/opt/noexec' })).toMatchObject({
    code: 24,
    text: expect.stringContaining('basedir'),
  });
  host.sh('touch /opt/baton-agent/fails');
  expect(await install()).toMatchObject({ code: 51, text: expect.stringContaining('supervise.out') });
});

it('does nothing with --dry-run, nor when only a part of it arrives', async () => {
  const { code, text } = await install({}, 'dash', ['--dry-run']);
  expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('nothing was changed') });
  const script = renderInstallScript(manager.options());
  await host.script(script.slice(0, -20));
  expect(host.sh('ls -A /opt /var/log')).toBe('/opt:\n\n/var/log:\n');
});

it('makes a unit that systemd accepts, with a sudo rule where it is needed', async () => {
  host.stop();
  host = await scriptHost({ systemctl: SYSTEMCTL });
  host.sh("mkdir -p /run/systemd/system; echo 'Defaults requiretty' >> /etc/sudoers");
  expect(await install({ user: 'daemon' })).toMatchObject({ code: 0 });
  const unit = '/etc/systemd/system/baton-agent-host_abc123.service';
  expect(host.sh(`systemd-analyze verify --man=no ${unit} 2>&1 | grep -F baton-agent || :`)).toBe('');
  expect(host.sh(`cat ${unit}`)).toContain('User=daemon');
  expect(host.sh('cat /etc/sudoers.d/baton-agent-host_abc123')).toBe('Defaults:daemon !requiretty\n');
  // Root removes an agent that has been told to go.
  expect(host.sh(`cat ${unit}`)).toContain(
    `exec systemd-run --no-block --collect /bin/sh /opt/baton-agent/uninstall-host_abc123.sh`,
  );
  expect(host.sh('cat /run/systemctl.log')).toContain('restart baton-agent-host_abc123.service');
  expect(
    await host.script(renderInstallScript(manager.options({ user: 'daemon' })), 'dash', ['--uninstall']),
  ).toMatchObject({ code: 0 });
  expect(host.sh('ls /etc/sudoers.d /etc/systemd/system /opt; getent passwd daemon')).not.toContain('baton');
});

it('takes the program of an image, and one in a file, without a download', async () => {
  expect(await install({ isProvided: true })).toMatchObject({
    code: 0,
    text: expect.stringContaining('it is downloaded'),
  });
  host.sh(
    `mkdir /opt/baton-agent/bin; cp ${DIR}/current/baton-agent /opt/baton-agent/bin; chmod 755 /opt/baton-agent/bin/baton-agent; rm -rf ${DIR}`,
  );
  manager.asked.length = 0;
  expect(await install({ isProvided: true, packages: [] })).toMatchObject({
    code: 0,
    text: expect.stringContaining('version 9.9.1'),
  });
  expect(
    await install({}, 'dash', [], { BATON_AGENT_FILE: '/opt/baton-agent/bin/baton-agent' }),
  ).toMatchObject({ code: 0 });
  expect(manager.asked).toEqual([]);
});
