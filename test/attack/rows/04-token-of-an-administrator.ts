import { call } from '../../harness/session';
import { control, held, type Row } from '../row';

/** A script that uses the token of its execution. Each printed line is one attempt and the status of its answer. */
const script = (victim: string): string => `
import json, os, urllib.error, urllib.request
from cloudify import utils

BASE = '%s://%s:%s/api/v3.1' % tuple(os.environ['REST_' + name] for name in ('PROTOCOL', 'HOST', 'PORT'))

def ask(what, method, path, body=None, tenant=None):
    headers = {'Execution-Token': utils.get_execution_token(), 'Content-Type': 'application/json'}
    headers['Tenant'] = tenant or 'mallory'
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    print('@token.py %s %s%s' % (what, status, ' SEEN' if 'theirs' in text and status < 300 else ''))

ask('own', 'PUT', '/secrets/ours', {'value': 'x'})
ask('user', 'PUT', '/users', {'username': 'made-by-script', 'password': 'long-enough-password', 'role': 'sys_admin'})
ask('role', 'POST', '/users/mallory', {'role': 'sys_admin'})
ask('tenant', 'POST', '/tenants/made-by-script')
ask('member', 'PUT', '/tenants/users', {'tenant_name': '${victim}', 'username': 'mallory', 'role': 'manager'})
ask('token', 'POST', '/tokens', {'description': 'longer'})
ask('snapshot', 'PUT', '/snapshots/made-by-script', {})
ask('config', 'GET', '/config')
ask('secret', 'GET', '/secrets/theirs', tenant='${victim}')
ask('all', 'GET', '/secrets?_all_tenants=true')
`;

export const row: Row = {
  name: '4',
  title: "a tenant user's blueprint, started by the administrator, uses its execution token",
  modes: ['standalone', 'ordinary user', 'services'],
  async run({ operations, admin, victim }) {
    const { status, printed } = await operations({ 'token.py': script(victim.tenant) }, { startedBy: admin });
    const tries = printed['token.py']!.split('\n');
    const own = tries.find((line) => line.startsWith('own '));
    control(status === 'terminated' && /^own 20[01]/.test(own ?? ''), `${status}: ${tries.join('; ')}`);
    control(tries.length === 10, `${tries.length} tries were made: ${tries.join('; ')}`);
    const taken = tries.filter(
      (line) => !line.startsWith('own ') && !/ 40[134]$/.test(line) && !/^all 200$/.test(line),
    );
    const { items } = await call(admin, 'listUsers', {});
    const made = items.filter(({ username }: { username: string }) => username === 'made-by-script');
    return held(
      taken.length === 0 && made.length === 0,
      taken.length === 0 ? 'nine tries refused' : taken.join('; '),
    );
  },
};
